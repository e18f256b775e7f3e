"""Safety drills on every saver: live == reloaded == a hand-written expectation, and abandoned branches unchanged."""

import operator
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import Overwrite, interrupt

CONFIG = {"configurable": {"thread_id": "t"}}


def append(state, writes):
    return [*(state or []), *(item for write in writes for item in write)]


class Delta(TypedDict):
    log: Annotated[list, DeltaChannel(append, snapshot_frequency=1000)]


class Plain(TypedDict):
    log: Annotated[list, operator.add]


def chain(saver, *nodes, state=Delta):
    builder = StateGraph(state)
    names = [f"n{i}" for i in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=saver)


def tagged(saver, tag):
    return chain(saver, lambda state: {"log": [tag + "!"]}, lambda state: {"log": [tag + "?"]})


def log(graph, config=CONFIG):
    return graph.get_state(config).values["log"]


def by_input(saver, tag, at):
    return tagged(saver, tag).invoke({"log": [tag]}, at)["log"]


def by_update(saver, tag, at):
    graph = tagged(saver, tag)
    return graph.invoke(None, graph.update_state(at, {"log": [tag]}, as_node="__start__"))["log"]


@pytest.mark.parametrize("way", [by_input, by_update])
def test_a_fork_holds_nothing_of_the_branch_it_left(store, way):
    by_input(store.saver, "one", CONFIG)
    graph = tagged(store.saver, "x")
    base = graph.get_state(CONFIG).config
    way(store.saver, "two", CONFIG)
    abandoned = graph.get_state(CONFIG).config
    before = log(graph, abandoned)
    live = way(store.saver, "three", base)
    assert live == log(graph) == ["one", "one!", "one?", "three", "three!", "three?"]
    assert log(graph, abandoned) == before == ["one", "one!", "one?", "two", "two!", "two?"]


def test_running_an_addressed_checkpoint_again_forks_there(store):
    by_input(store.saver, "one", CONFIG)
    graph = tagged(store.saver, "two")
    middle = next(state for state in graph.get_state_history(CONFIG) if state.next == ("n1",)).config
    abandoned = graph.get_state(CONFIG).config
    live = graph.invoke(None, middle)["log"]
    assert live == log(graph) == ["one", "one!", "two?"]
    assert log(graph, abandoned) == ["one", "one!", "one?"]


def test_update_state_on_a_fresh_thread(store):
    graph = chain(store.saver, lambda state: {"log": ["n"]})
    graph.update_state(CONFIG, {"log": ["seed"]}, as_node="n0")
    assert log(graph) == ["seed"]
    assert graph.invoke({"log": ["a"]}, CONFIG)["log"] == log(graph) == ["seed", "a", "n"]


def test_overwrite_resets_the_value(store):
    graph = chain(store.saver, lambda state: {"log": Overwrite(["fresh"])})
    graph.invoke({"log": ["a", "b"]}, CONFIG)
    assert log(graph) == ["fresh"]
    graph.update_state(CONFIG, {"log": ["later"]}, as_node="n0")
    assert log(graph) == ["fresh", "later"]


def test_parallel_branches_come_in_order(store):
    builder = StateGraph(Delta)
    for name in "cab":
        builder.add_node(name, lambda state, name=name: {"log": [name]})
        builder.add_edge(START, name)
    graph = builder.compile(checkpointer=store.saver)
    lives = [graph.invoke({"log": [str(turn)]}, CONFIG)["log"] for turn in range(2)]
    assert lives[-1] == log(graph) == ["0", "a", "b", "c", "1", "a", "b", "c"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_failing_write_is_raised_and_never_lost(store, durability, monkeypatch):
    saver, broken = store.saver, []
    stored = saver.put_writes

    def put_writes(config, writes, *rest):
        if broken and any(channel == "log" and value == ["second"] for channel, value in writes):
            raise OSError("disk full")
        return stored(config, writes, *rest)

    monkeypatch.setattr(saver, "put_writes", put_writes)
    answers = iter(["first", "second", "second"])
    graph = chain(saver, lambda state: {"log": [next(answers)]})
    graph.invoke({"log": ["a"]}, CONFIG, durability=durability)
    kept = graph.get_state(CONFIG).config
    broken.append(True)
    with pytest.raises(OSError, match="disk full"):
        graph.invoke({"log": ["b"]}, CONFIG, durability=durability)
    broken.clear()
    state = graph.get_state(CONFIG)
    assert state.config == kept or state.next == ("n0",)
    assert log(graph)[:2] == ["a", "first"]
    resumed = graph.invoke(None if state.next else {"log": ["b"]}, CONFIG)["log"]
    assert resumed == log(graph) == ["a", "first", "b", "second"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_every_durability_keeps_the_order(store, durability):
    graph = chain(store.saver, lambda state: {"log": ["x"]}, lambda state: {"log": ["y"]})
    for turn in "ab":
        live = graph.invoke({"log": [turn]}, CONFIG, durability=durability)["log"]
    assert live == log(graph) == ["a", "x", "y", "b", "x", "y"]


def test_a_subgraphs_own_state_is_read_whole(store):
    inner = chain(None, lambda state: {"log": ["x"]}, lambda state: interrupt("?") and {})
    outer = StateGraph(Delta)
    outer.add_node("sub", inner)
    outer.add_edge(START, "sub")
    graph = outer.compile(checkpointer=store.saver)
    graph.invoke({"log": ["in"]}, CONFIG)
    nested = graph.get_state(CONFIG, subgraphs=True).tasks[0].state
    assert nested.values["log"] == ["in", "x"]
    assert next(iter(graph.get_state_history(nested.config))).values["log"] == ["in", "x"]


def test_a_saver_injected_by_the_server_reads_everything(store):
    graph = chain(None, lambda state: {"log": ["n"]})
    config = {"configurable": {"thread_id": "t", "__pregel_checkpointer": store.saver}}
    for turn in "ab":
        graph.invoke({"log": [turn]}, config)
    assert log(graph, config) == ["a", "n", "b", "n"]
    graph.update_state(config, {"log": ["edit"]}, as_node="n0")
    assert log(graph, config) == ["a", "n", "b", "n", "edit"]


def test_a_thread_moves_from_plain_to_delta_and_back(store):
    def count(state):
        return {"log": [f"n{len(state['log'])}"]}

    plain, delta = (chain(store.saver, count, state=state) for state in (Plain, Delta))
    plain.invoke({"log": ["a"]}, CONFIG)
    assert log(delta) == ["a", "n1"]
    for turn in "bc":
        live = delta.invoke({"log": [turn]}, CONFIG)["log"]
    assert live == log(delta) == log(plain) == ["a", "n1", "b", "n3", "c", "n5"]
    assert plain.invoke({"log": ["d"]}, CONFIG)["log"] == log(plain) == log(delta) == [*live, "d", "n7"]


MESSAGES = {
    "message": HumanMessage("hi"),
    "dict": {"role": "user", "content": "hi"},
    "tuple": ("user", "hi"),
    "string": "hi",
}


@pytest.mark.parametrize("shape", MESSAGES)
def test_the_shipped_reducer_gives_one_id_that_stays(store, shape):
    class State(TypedDict):
        messages: Annotated[list, DeltaChannel(_messages_delta_reducer, snapshot_frequency=1000)]

    graph = chain(store.saver, lambda state: {"messages": [AIMessage("yo")]}, state=State)
    live = [message.id for message in graph.invoke({"messages": [MESSAGES[shape]]}, CONFIG)["messages"]]
    first, second = ([message.id for message in graph.get_state(CONFIG).values["messages"]] for _ in range(2))
    assert None not in live
    assert live == first == second
    graph.update_state(CONFIG, {"messages": [RemoveMessage(id=first[0])]})
    assert [message.id for message in graph.get_state(CONFIG).values["messages"]] == first[1:]


def test_folding_add_messages_mints_a_new_id_at_every_read(store):
    def fold(state, writes):
        for write in writes:
            state = add_messages(state, write)
        return state

    class State(TypedDict):
        messages: Annotated[list, DeltaChannel(fold, snapshot_frequency=1000)]

    graph = chain(store.saver, lambda state: {"messages": [AIMessage("yo")]}, state=State)
    graph.invoke({"messages": [("user", "hi")]}, CONFIG)
    first, second = (graph.get_state(CONFIG).values["messages"][0].id for _ in range(2))
    assert first != second


def test_an_edited_message_starts_a_branch_without_the_old_answer(store):
    class State(TypedDict):
        messages: Annotated[list, DeltaChannel(_messages_delta_reducer, snapshot_frequency=1000)]

    answers = iter(["r1", "r2", "r3"])
    graph = chain(store.saver, lambda state: {"messages": [AIMessage(next(answers))]}, state=State)
    for id, text in (("u1", "first"), ("u2", "second")):
        graph.invoke({"messages": [HumanMessage(text, id=id)]}, CONFIG)
    kept = graph.get_state(CONFIG).config
    before_first = list(graph.get_state_history(CONFIG))[-1].config
    live = graph.invoke({"messages": [HumanMessage("first, edited", id="u1")]}, before_first)["messages"]
    texts = [message.text for message in graph.get_state(CONFIG).values["messages"]]
    assert [message.text for message in live] == texts == ["first, edited", "r3"]
    assert [m.text for m in graph.get_state(kept).values["messages"]] == ["first", "r1", "second", "r2"]


def test_the_newest_row_alone_says_nothing_about_a_delta_channel(store):
    graph = chain(store.saver, lambda state: {"log": ["n"]})
    for turn in range(3):
        graph.invoke({"log": [turn]}, CONFIG)
    assert "log" not in store.saver.get_tuple(CONFIG).checkpoint["channel_values"]
    assert len(log(graph)) == 6


def test_pruning_is_refused_and_deletes_nothing(store):
    graph = chain(store.saver, lambda state: {"log": ["n"]})
    for turn in range(7):
        graph.invoke({"log": [turn]}, CONFIG)
    before, rows = log(graph), store.tables.sizes("t")
    for refused in (
        lambda: store.saver.prune(["t"], strategy="keep_latest"),
        lambda: store.saver.copy_thread("t", "u"),
        lambda: store.saver.delete_for_runs(["no-such-run"]),
    ):
        with pytest.raises(NotImplementedError):
            refused()
    assert log(graph) == before
    assert store.tables.sizes("t") == rows


def test_keep_latest_by_hand_empties_the_channel_without_a_word(database):
    from runbook_lib.checkpoints import open_store

    with open_store(database) as store:
        graph = chain(store.saver, lambda state: {"log": ["n"]})
        for turn in range(7):
            graph.invoke({"log": [turn]}, CONFIG)
        newest = graph.get_state(CONFIG).config["configurable"]["checkpoint_id"]
        mark, writes = ("?", "writes") if database == "sqlite" else ("%s", "checkpoint_writes")
        for table in ("checkpoints", writes):
            store.saver.conn.execute(f"DELETE FROM {table} WHERE checkpoint_id <> {mark}", (newest,))
        assert log(graph) == []


def test_a_fresh_thread_seeded_with_the_value_is_a_safe_prune(store):
    graph = chain(store.saver, lambda state: {"log": ["n"]})
    for turn in range(7):
        graph.invoke({"log": [turn]}, CONFIG)
    value, rows = log(graph), store.tables.sizes("t").rows
    fresh = {"configurable": {"thread_id": "fresh"}}
    graph.update_state(fresh, graph.get_state(CONFIG).values, as_node="n0")
    assert log(graph, fresh) == value
    store.saver.delete_thread("t")
    assert log(graph, fresh) == value
    assert store.tables.sizes("fresh").rows < rows / 10
    assert graph.invoke({"log": ["on"]}, fresh)["log"] == log(graph, fresh) == [*value, "on", "n"]
