"""`check_events` and `fold_events`: each rule fires on a stream broken on purpose, and only that rule."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import ag_ui.core as core
import pytest
from ag_ui_play import CONFIG, Turn, play
from ag_ui_situations import ROWS, deep, say
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from runbook_lib.ag_ui import RULES, Violation, check_events, fold_events, run_events
from runbook_lib.model import call, chat_model

Event = dict[str, Any]
Edit = Callable[[list[Event]], Any]


@cache
def _real(name: str) -> Turn:
    return play(next(row for row in ROWS if row.name == name), "sync")[-1]


def _at(events: list[Event], kind: str, nth: int = 0) -> int:
    return [index for index, event in enumerate(events) if event["type"] == kind][nth]


def _rules(found: list[Violation]) -> set[str]:
    return {violation.rule for violation in found}


def drop_event(kind: str, nth: int = 0) -> Edit:
    return lambda events: events.pop(_at(events, kind, nth))


def twice(kind: str) -> Edit:
    return lambda events: events.insert(_at(events, kind), deepcopy(events[_at(events, kind)]))


def change(kind: str, nth: int = 0, **fields: Any) -> Edit:
    return lambda events: events[_at(events, kind, nth)].update(fields)


def move(kind: str, to: str) -> Edit:
    def edit(events: list[Event]) -> None:
        event = events.pop(_at(events, kind))
        events.insert(_at(events, to), event)

    return edit


CALL, SUB, FAILED = "text_then_call", "subagent", "connection_dropped_in_text"


def borrow_call_id(events: list[Event]) -> None:
    result = events[_at(events, "TOOL_CALL_RESULT")]
    result["messageId"] = result["toolCallId"]


def reuse_message_id(events: list[Event]) -> None:
    first = events[_at(events, "TEXT_MESSAGE_START")]["messageId"]
    events[_at(events, "TOOL_CALL_RESULT")]["messageId"] = first


def swap_speaker(events: list[Event]) -> None:
    for event in events:
        if event["type"].startswith("TEXT_MESSAGE"):
            event.pop("subagentRunId", None)


@pytest.mark.parametrize(
    ("run", "edit", "rules"),
    [
        (CALL, drop_event("RUN_STARTED"), {"AGUI001"}),
        (CALL, twice("RUN_STARTED"), {"AGUI002"}),
        (CALL, drop_event("RUN_FINISHED"), {"AGUI003"}),
        (CALL, twice("RUN_FINISHED"), {"AGUI004"}),
        (CALL, drop_event("TEXT_MESSAGE_START"), {"AGUI101", "AGUI102", "differs"}),
        (CALL, drop_event("TEXT_MESSAGE_END"), {"AGUI103"}),
        (CALL, change("TEXT_MESSAGE_CONTENT", delta=""), {"AGUI105", "differs"}),
        (CALL, drop_event("TOOL_CALL_END"), {"AGUI203", "AGUI206"}),
        (CALL, change("TOOL_CALL_ARGS", delta="oops"), {"AGUI204", "differs"}),
        (CALL, change("TOOL_CALL_RESULT", content=17), {"AGUI504", "differs"}),
        (CALL, drop_event("TOOL_CALL_RESULT"), {"result-missing", "lost"}),
        (CALL, twice("TOOL_CALL_RESULT"), {"result-twice", "id-reused"}),
        (CALL, move("TOOL_CALL_RESULT", "TOOL_CALL_START"), {"AGUI207"}),
        (CALL, borrow_call_id, {"result-id", "not-in-state", "lost"}),
        (CALL, reuse_message_id, {"id-reused", "lost", "differs"}),
        (CALL, drop_event("TEXT_MESSAGE_CONTENT"), {"differs"}),
        (CALL, twice("TEXT_MESSAGE_CONTENT"), {"differs"}),
        (SUB, drop_event("SUBAGENT_STARTED"), {"AGUI602", "speaker-unknown"}),
        (SUB, drop_event("SUBAGENT_FINISHED"), {"AGUI604"}),
        (SUB, twice("SUBAGENT_STARTED"), {"AGUI601"}),
        (SUB, move("SUBAGENT_FINISHED", "SUBAGENT_STARTED"), {"AGUI602", "AGUI604", "speaker-unknown"}),
        (SUB, swap_speaker, {"not-in-state"}),
        (FAILED, drop_event("TEXT_MESSAGE_END"), {"left-open"}),
        (FAILED, drop_event("RUN_ERROR"), {"AGUI003"}),
    ],
)
def test_broken_on_purpose(run: str, edit: Edit, rules: set[str]) -> None:
    turn = _real(run)
    events = deepcopy(turn.events)
    state = None if run == FAILED else turn.state
    assert check_events(events, state, held=turn.held) == []
    edit(events)
    assert _rules(check_events(events, state, held=turn.held)) == rules


def test_violation_names_the_event() -> None:
    events = deepcopy(_real(CALL).events)
    at = _at(events, "TOOL_CALL_RESULT")
    events[at]["messageId"] = events[at]["toolCallId"]
    (found,) = [violation for violation in check_events(events) if violation.rule == "result-id"]
    assert found.index == at
    assert events[at]["toolCallId"] in found.message


def test_own_rules() -> None:
    def no_shouting(events: Any) -> Any:
        for index, event in enumerate(events):
            if event["type"] == "TEXT_MESSAGE_CONTENT" and event["delta"].isupper():
                yield Violation(index, "shouting", event["delta"])

    events = list(run_events(deep(say("HELLO", pieces="whole"))(), {"messages": "Hi"}))
    assert _rules(check_events(events, rules=[*RULES, no_shouting])) == {"shouting"}
    assert check_events(events, rules=[]) == []


def test_no_events_at_all_is_a_violation() -> None:
    assert _rules(check_events([])) == {"AGUI003"}


# -- the sequences that the official client refuses or accepts, and what we say --------------------------------------


@dataclass
class Row:
    """A sequence between RUN_STARTED and RUN_FINISHED; `refused` by @ag-ui/client 1.0.0, `rules` are ours."""

    name: str
    events: list[Event]
    refused: bool
    rules: set[str]


FRAME = {"threadId": "t", "runId": "r"}
R, F = {"type": "RUN_STARTED", **FRAME}, {"type": "RUN_FINISHED", **FRAME}
X = {"type": "RUN_ERROR", "message": "x"}


def s(name: str) -> Event:
    return {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"}


def c(name: str, delta: str = "x") -> Event:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": delta}


def e(name: str) -> Event:
    return {"type": "TEXT_MESSAGE_END", "messageId": name}


def ts(name: str) -> Event:
    return {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "f"}


def ta(name: str) -> Event:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": "{}"}


def te(name: str) -> Event:
    return {"type": "TOOL_CALL_END", "toolCallId": name}


def tr(name: str, message: str = "m") -> Event:
    return {"type": "TOOL_CALL_RESULT", "toolCallId": name, "messageId": message, "content": "x"}


STEP = {"type": "STEP_STARTED", "stepName": "model"}

CLIENT_TABLE = [
    Row("same message started twice", [R, s("m"), s("m"), c("m"), e("m"), F], True, {"AGUI106", "id-reused"}),
    Row("two messages open at once", [R, s("a"), s("b"), c("a"), c("b"), e("a"), e("b"), F], False, set()),
    Row("call inside open text", [R, s("a"), c("a"), ts("t"), ta("t"), te("t"), tr("t"), e("a"), F], False, set()),
    Row("finishes with open text", [R, s("a"), c("a"), F], True, {"AGUI103"}),
    Row("finishes with an open call", [R, ts("t"), F], True, {"AGUI203"}),
    Row("content without start", [R, c("a"), F], True, {"AGUI101"}),
    Row("args without start", [R, ta("t"), F], True, {"AGUI201"}),
    Row("RUN_STARTED twice", [R, R, F], True, {"AGUI002"}),
    Row("anything after RUN_FINISHED", [R, F, s("a")], True, {"AGUI004"}),
    Row("RUN_ERROR with open text", [R, s("a"), c("a"), X], False, {"left-open"}),
    Row("RUN_ERROR, then RUN_FINISHED", [R, X, F], True, {"AGUI005"}),
    Row("no RUN_STARTED", [s("a"), e("a"), F], True, {"AGUI001"}),
    Row("same step open twice", [R, STEP, STEP, F], True, {"AGUI007"}),
    Row(
        "message id used again",
        [R, s("a"), c("a"), e("a"), s("a"), c("a"), e("a"), F],
        False,
        {"AGUI101", "AGUI102", "AGUI104", "id-reused"},
    ),
    Row("call id used again", [R, ts("t"), te("t"), ts("t"), te("t"), tr("t"), F], False, {"AGUI202", "AGUI205"}),
    Row("empty delta", [R, s("a"), c("a", ""), e("a"), F], False, {"AGUI105"}),
    Row("result of an unknown call", [R, tr("zz"), F], False, {"AGUI207"}),
]


@pytest.mark.parametrize("row", CLIENT_TABLE, ids=lambda row: row.name)
def test_client_table(row: Row) -> None:
    found = _rules(check_events([event | {"timestamp": 1} for event in row.events]))
    assert found == row.rules
    assert found or not row.refused, "what the client refuses is a violation"


# -- fold_events -----------------------------------------------------------------------------------------------------


def test_fold_builds_messages_in_order() -> None:
    call_ = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    parent = ts("t") | {"parentMessageId": "a"}
    assert fold_events([s("a"), c("a", "Hel"), c("a", "lo"), e("a"), parent, ta("t"), te("t"), s("b"), tr("t")]) == [
        {"id": "a", "role": "assistant", "content": "Hello", "toolCalls": [call_]},
        {"id": "m", "role": "tool", "content": "x", "toolCallId": "t"},
        {"id": "b", "role": "assistant", "content": ""},
    ]


def test_fold_leaves_the_given_messages_alone() -> None:
    held = [{"id": "a", "role": "assistant", "content": "A"}]
    assert fold_events([c("a", "!"), ts("t") | {"parentMessageId": "a"}], held)[0]["content"] == "A!"
    assert held == [{"id": "a", "role": "assistant", "content": "A"}]


def test_fold_ignores_what_belongs_to_nothing() -> None:
    assert fold_events([c("a"), ta("t"), te("t"), {"type": "CUSTOM", "name": "x", "value": 1}, {}]) == []


def test_fold_keeps_reasoning_through_a_snapshot() -> None:
    thought = {"id": "r", "role": "reasoning", "content": "hm"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "b", "role": "user", "content": "B"}]}
    held = [{"id": "a", "role": "user", "content": "A"}, thought]
    assert fold_events([snapshot], held) == [thought, snapshot["messages"][0]]


# -- any chunking of a scripted answer -------------------------------------------------------------------------------


@tool
def echo(text: str) -> str:
    """Echo."""
    return text


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
PIECES = st.one_of(st.integers(1, 9), st.sampled_from(["tokens", "whole"]))


JOINS = {"+": lambda a, b: a + b, "|": lambda a, b: a | b, "&": lambda a, b: a & b}


@settings(max_examples=25, deadline=None)
@given(
    texts=st.tuples(TEXT, TEXT, TEXT),
    cuts=st.tuples(PIECES, PIECES, PIECES),
    joins=st.tuples(st.sampled_from("+|&"), st.sampled_from("+|&")),
    sse=st.integers(1, 60),
)
def test_any_chunking_gives_the_same_texts_arguments_and_order(
    texts: tuple[str, str, str], cuts: tuple[Any, Any, Any], joins: tuple[str, str], sse: int
) -> None:
    said, first, second = texts
    one, two = call("echo", text=first, pieces=cuts[1]), call("echo", text=second, pieces=cuts[2])
    turn = JOINS[joins[1]](JOINS[joins[0]](say(said, pieces=cuts[0]), one), two)
    graph = create_agent(chat_model([turn, say("End.")], chunking=sse), [echo], checkpointer=InMemorySaver())
    events = list(run_events(graph, {"messages": "Hi"}, CONFIG))
    assert check_events(events, graph.get_state(CONFIG).values["messages"]) == []
    messages = fold_events(events)
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "assistant"]
    assert messages[0]["content"] == said
    arguments = [json.loads(call["function"]["arguments"])["text"] for call in messages[0]["toolCalls"]]
    assert sorted(arguments) == sorted([first, second])
    assert sorted(message["content"] for message in messages[1:3]) == sorted([first, second])
    assert messages[3]["content"] == "End."


@pytest.mark.parametrize(
    "stream",
    [
        [None],
        "abc",
        [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}, {"type": "MESSAGES_SNAPSHOT"}],
        [{"type": "RUN_STARTED", "threadId": [], "runId": {}}, {"type": "TEXT_MESSAGE_START", "messageId": []}],
        [{"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": "success"}],
    ],
)
def test_what_is_no_stream_of_events_is_judged_not_refused(stream):
    assert check_events(stream, []) != []


def test_events_may_be_the_protocol_s_own_objects():
    events = [core.RunStartedEvent(thread_id="t", run_id="r"), core.RunFinishedEvent(thread_id="t", run_id="r")]
    assert check_events(events) == []


def test_every_event_of_a_run_says_when_it_was_made():
    agent = create_agent(chat_model([say("Hello")]))
    events = list(run_events(agent, {"messages": [("user", "hi")]}))
    times = [event["timestamp"] for event in events]
    assert times == sorted(times)
    assert times[0] > 1_700_000_000_000  # milliseconds, not seconds
