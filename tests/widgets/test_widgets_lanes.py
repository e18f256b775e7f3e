"""Which lane an event belongs to, what is paired, and what is attributed to whom."""

from typing import Any, get_args

import pytest
from ag_ui.core import EventType

from runbook_lib.widgets._lanes import KINDS, Kind, StreamReader, attribution, one_line

Event = dict[str, Any]


def event(event_type: str, **fields: Any) -> Event:
    return {"type": event_type, **fields}


def call(call_id: str, name: str, *, result: bool = True) -> list[Event]:
    events = [
        event("TOOL_CALL_START", toolCallId=call_id, toolCallName=name),
        event("TOOL_CALL_ARGS", toolCallId=call_id, delta="{"),
        event("TOOL_CALL_ARGS", toolCallId=call_id, delta="}"),
        event("TOOL_CALL_END", toolCallId=call_id),
    ]
    answer = [event("TOOL_CALL_RESULT", toolCallId=call_id, messageId=f"m-{call_id}", content="21 °C")]
    return events + answer if result else events


def message(message_id: str, *deltas: str, **fields: Any) -> list[Event]:
    content = [event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=delta, **fields) for delta in deltas]
    start = event("TEXT_MESSAGE_START", messageId=message_id, role="assistant", **fields)
    return [start, *content, event("TEXT_MESSAGE_END", messageId=message_id, **fields)]


def names(events: list[Event]) -> list[str]:
    return [lane.name for lane in StreamReader(events).lanes_in_reading_order()]


def test_interleaved_calls_are_paired_by_id() -> None:
    first, second = call("a", "get_weather"), call("b", "search_web")
    reader = StreamReader([each for pair in zip(first, second, strict=True) for each in pair])
    one, two = reader.lanes()
    assert (one.name, two.name) == ("call 1 get_weather", "call 2 search_web")
    assert (one.start, one.end, one.result) == (0, 6, 8)
    assert (two.start, two.end, two.result) == (1, 7, 9)
    assert one.steps == (("START", 1), ("ARGS", 2), ("END", 1), ("RESULT", 1))
    assert (one.text, one.answer) == ("{}", "21 °C")


def test_a_call_that_ended_without_a_result_is_waiting() -> None:
    assert StreamReader(call("a", "get_weather", result=False)).lane(0).is_waiting
    assert not StreamReader(call("a", "get_weather")).lane(0).is_waiting


def test_an_id_that_starts_again_gets_a_second_lane() -> None:
    assert names(call("a", "get_weather") + call("a", "get_weather")) == [
        "call 1 get_weather",
        "call 2 get_weather",
    ]
    assert names(message("m", "half") + message("m", "whole")) == ["message 1", "message 2"]


def test_a_result_from_an_earlier_run_has_a_lane_of_its_own() -> None:
    lane = StreamReader([event("TOOL_CALL_RESULT", toolCallId="old", messageId="m", content="x")]).lane(0)
    assert (lane.name, lane.start, lane.result) == ("call 1", None, 0)


def test_chunks_without_an_id_continue_the_latest() -> None:
    chunks = [
        event("TOOL_CALL_CHUNK", toolCallId="a", toolCallName="f", delta="1"),
        event("TOOL_CALL_CHUNK", delta="2"),
    ]
    (lane,) = StreamReader(chunks).lanes()
    assert (lane.name, lane.text, lane.steps) == ("call 1 f", "12", (("CHUNK", 2),))


def test_the_run_holds_steps_state_and_whatever_is_unknown() -> None:
    types = ["RUN_STARTED", "STEP_STARTED", "STATE_DELTA", "MESSAGES_SNAPSHOT", "CUSTOM", "NEW", "RUN_ERROR"]
    reader = StreamReader([*map(event, types)])
    assert names([*map(event, types)]) == ["run"]
    assert [row.kind for row in reader.rows] == ["run", "run", "state", "state", "other", "other", "run"]
    assert reader.lane(0).failed


def test_a_second_run_in_one_recording_is_a_second_lane() -> None:
    run = [event("RUN_STARTED", runId="1"), event("RUN_FINISHED", runId="1")]
    assert names(run + run) == ["run", "run 2"]


def test_a_speaker_other_than_the_assistant_is_named() -> None:
    assert names([event("TEXT_MESSAGE_START", messageId="m", role="user")]) == ["message 1 user"]


@pytest.mark.parametrize("event_type", [each.value for each in EventType])
def test_every_protocol_type_has_a_lane_of_its_family(event_type: str) -> None:
    row = StreamReader([event(event_type)]).rows[0]
    family = {"TEXT": "text", "REASONING": "text", "TOOL": "tool", "STATE": "state", "MESSAGES": "state"}
    expected = family | {"ACTIVITY": "state", "RAW": "other", "CUSTOM": "other"}
    assert row.kind == expected.get(event_type.split("_")[0], "run")


def test_kinds_are_those_of_the_type() -> None:
    assert get_args(Kind) == KINDS


def test_lanes_of_a_subagent_are_gathered_under_it_and_named_after_it() -> None:
    owned = message("s", "found", subagentRunId="tools:uuid")
    start = event("SUBAGENT_STARTED", subagentRunId="tools:uuid", name="researcher")
    finish = event("SUBAGENT_FINISHED", subagentRunId="tools:uuid")
    own = message("m", "hello")
    events = [start, *own[:2], *owned, own[2], finish]
    lanes = StreamReader(events).lanes_in_reading_order()
    assert [lane.name for lane in lanes] == ["subagent 1 researcher", "message 2", "message 1"]
    assert [lane.agent for lane in lanes] == ["", "subagent 1 researcher", ""]


def test_two_subagents_of_one_name_stay_apart() -> None:
    started = [event("SUBAGENT_STARTED", subagentRunId=str(each), name="researcher") for each in (7, 8)]
    assert names(started) == ["subagent 1 researcher", "subagent 2 researcher"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"subagentRunId": "s-1"}, ("s-1", "")),
        ({"agentName": "writer"}, ("writer", "writer")),
        ({"subagent": "writer"}, ("writer", "writer")),
        ({"namespace": ["tools:1", "model:2"]}, ("tools:1/model:2", "")),
        ({"namespace": []}, ("", "")),
        ({"subagentRunId": 7}, ("", "")),
        ({}, ("", "")),
    ],
)
def test_attribution(fields: Event, expected: tuple[str, str]) -> None:
    assert attribution(event("TEXT_MESSAGE_START", **fields)) == expected


def test_one_line_removes_what_could_deceive_and_keeps_joined_emoji() -> None:
    assert one_line("a\nb\tc\x1b[31m") == "a b c [31m"
    assert one_line("abc\u202egnp.exe") == "abc\ufffdgnp.exe"
    assert one_line("half \ud83d emoji") == "half \ufffd emoji"
    assert one_line("👨‍👩‍👧 서울") == "👨‍👩‍👧 서울"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"
