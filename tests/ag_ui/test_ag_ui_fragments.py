"""Fragments that are not whole: half characters, half calls, half answers; and values that are no JSON."""

import json

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from runbook_lib.ag_ui import run_events
from runbook_lib.ag_ui._messages import Fragments, json_value
from runbook_lib.ag_ui._stream import MessageStream
from runbook_lib.model import chat_model, ending, raw, say


@tool
def look(city: str) -> str:
    """Look a city up."""
    return city


def answered(turn):
    return list(run_events(create_agent(chat_model([turn, say("done")]), [look]), {"messages": [("user", "hi")]}))


def test_halves_of_a_character_wait_for_each_other():
    fragments = Fragments()
    assert [fragments.whole(part) for part in ("a\ud83d", "\ude00b", "", "c\ud83d")] == ["a", "😀b", "", "c"]
    assert fragments.rest() == "\ufffd"
    assert fragments.rest() == ""


def test_reasoning_arrives_in_whole_characters():
    seen = []
    stream = MessageStream("m", "t", None, seen.append)
    for part in ("a\ud83d", "\ude00"):
        delta = {"type": "reasoning-delta", "reasoning": part}
        stream.handle({"event": "content-block-delta", "index": 0, "delta": delta})
    stream.close()
    assert "".join(event.get("delta", "") for event in seen) == "a😀"
    assert seen[-1]["type"] == "REASONING_END"


def test_a_call_whose_name_is_emptied_by_later_fragments_is_reported_and_never_started():
    call = {"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": '{"city": "Oslo"}'}}
    events = answered(raw({"tool_calls": [call]}))
    assert all(event["toolCallId"] and event["toolCallName"] for event in events if event["type"] == "TOOL_CALL_START")
    assert [event["name"] for event in events if event["type"] == "CUSTOM"] == ["openui.invalid_tool_call"]


def test_a_stream_that_just_ends_is_reported():
    names = [event.get("name") for event in answered(ending(None, say("Half"))) if event["type"] == "CUSTOM"]
    assert names == ["openui.no_finish_reason"]
    assert not [event for event in answered(say("Whole")) if event["type"] == "CUSTOM"]


@pytest.mark.parametrize("value", [{"\ud83d": 1}, {"k": "\ud83d"}, "\ud83d", [float("nan")], {1: {2, 3}}, object()])
def test_any_value_has_a_json_form_in_utf_8(value):
    json.dumps(json_value(value), ensure_ascii=False).encode()


def test_a_value_that_holds_itself_has_one_too():
    value = []
    value.append(value)
    assert isinstance(json_value(value), str)
