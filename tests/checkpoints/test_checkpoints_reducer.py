import random
import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import _messages_delta_reducer, add_messages

from runbook_lib.checkpoints import check_reducer

ITEMS = [["a"], ["b", "c"], ["d"]]


def append(state, writes):
    return [*state, *(item for write in writes for item in write)]


def trim_each_batch(state, writes):
    return append(state, writes)[-5:] if len(writes) == 1 else append(state, writes)


def number(state, writes):
    return [*state, *(f"{len(state)}:{item}" for write in writes for item in write)]


def stamp(state, writes):
    return [*state, *((time.perf_counter_ns(), item) for write in writes for item in write)]


def shuffle(state, writes):
    new = append(state, writes)
    random.shuffle(new)
    return new


def extend_in_place(state, writes):
    state.extend(item for write in writes for item in write)
    return state


def make_tuples(state, writes):
    return [*state, *((item,) for write in writes for item in write)]


def join(state, writes):
    return state + "".join(writes)


def rules(reducer, examples=ITEMS, **options):
    return [broken.rule for broken in check_reducer(reducer, examples, **options)]


def test_good_reducers_pass():
    messages = [
        [HumanMessage("a", id="1")],
        [AIMessage("b", id="2")],
        [RemoveMessage(id="1")],
        HumanMessage("c", id="1"),
    ]
    assert rules(append) == []
    assert rules(join, ["a", "b"], empty=str) == []
    assert rules(_messages_delta_reducer, messages) == []
    assert (
        rules(lambda state, writes: {**state, **{k: v for w in writes for k, v in w.items()}}, [{"a": 1}], empty=dict)
        == []
    )


@pytest.mark.parametrize(
    ("reducer", "rule"),
    [
        (trim_each_batch, "batching-invariant"),
        (number, "batching-invariant"),
        (stamp, "pure"),
        (shuffle, "pure"),
        (extend_in_place, "leaves its input alone"),
    ],
)
def test_each_broken_reducer_is_found(reducer, rule):
    assert rule in rules(reducer)


def test_counterexample_is_small_and_says_both_results():
    [broken] = check_reducer(number, ITEMS)
    assert len(broken.writes) <= 2
    assert broken.got != broken.expected
    assert "batching-invariant" in str(broken)


def test_add_messages_is_found_by_its_error():
    [broken] = check_reducer(add_messages, [[HumanMessage("a", id="1")], [AIMessage("b", id="2")]])
    assert broken.rule == "takes a list of writes"
    assert "Error" in broken.got


def test_a_value_that_a_snapshot_changes_is_found():
    class Odd(list):
        pass

    def odd(state, writes):
        return (
            Odd(append(state, writes)) if isinstance(state, Odd) or not state else append(state, ["changed", *writes])
        )

    assert "survives a snapshot" in rules(odd)


def test_the_same_counterexample_every_time():
    assert check_reducer(number, ITEMS) == check_reducer(number, ITEMS)


def test_examples_are_needed():
    with pytest.raises(ValueError, match="examples"):
        check_reducer(append, [])
