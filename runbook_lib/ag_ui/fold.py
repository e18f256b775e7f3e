"""`fold_events`: the messages a client holds after a stream of events."""

import json
from collections.abc import Iterable
from contextlib import suppress

from ._messages import Event, as_json


def fold_events(events: Iterable[Event], messages: Iterable[Event] = ()) -> list[Event]:
    """The messages that a client holds after `events`, in the order it shows them, in wire form.

    `messages` are those it held before. Follows the reducer of `@ag-ui/client` 1.0.0 in what matters for a
    transcript: text is appended to its message, a call joins the message named by `parentMessageId`, a result
    goes behind its call, and a MESSAGES_SNAPSHOT removes, updates and appends, but never moves a message. The
    arguments of an ended call are normalised when they parse, so that they compare by value.
    """
    held = [dict(message) for message in messages]
    for event in events:
        held = _apply(event, held)
    return held


def _apply(event: Event, held: list[Event]) -> list[Event]:
    match event.get("type"):
        case "TEXT_MESSAGE_START":
            _message(held, event["messageId"], "assistant", event).setdefault("content", "")
        case "REASONING_MESSAGE_START":
            _message(held, event["messageId"], "reasoning", event).setdefault("content", "")
        case "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT":
            if (message := _find(held, event["messageId"])) is not None:
                message["content"] = message.get("content", "") + event["delta"]
        case "TOOL_CALL_START":
            _start_call(held, event)
        case "TOOL_CALL_ARGS":
            if (function := _function(held, event)) is not None:
                function["arguments"] += event["delta"]
        case "TOOL_CALL_END":
            if (function := _function(held, event)) is not None:
                with suppress(ValueError):
                    function["arguments"] = as_json(json.loads(function["arguments"]))
        case "TOOL_CALL_RESULT":
            _place_result(held, event)
        case "MESSAGES_SNAPSHOT":
            return _replaced(held, event["messages"])
    return held


def _find(held: list[Event], message_id: str) -> Event | None:
    return next((message for message in reversed(held) if message["id"] == message_id), None)


def _message(held: list[Event], message_id: str, role: str, event: Event) -> Event:
    message = _find(held, message_id)
    if message is None:
        message = {"id": message_id, "role": role} | _owner(event)
        held.append(message)
    return message


def _owner(event: Event) -> Event:
    return {"subagentRunId": event["subagentRunId"]} if "subagentRunId" in event else {}


def _calling(held: list[Event], call_id: str) -> int | None:
    """The position of the message that made a call."""
    return next((at for at, m in enumerate(held) if any(c["id"] == call_id for c in m.get("toolCalls") or ())), None)


def _function(held: list[Event], event: Event) -> Event | None:
    at = _calling(held, event["toolCallId"])
    calls = held[at]["toolCalls"] if at is not None else ()
    return next((call["function"] for call in calls if call["id"] == event["toolCallId"]), None)


def _start_call(held: list[Event], event: Event) -> None:
    if _calling(held, event["toolCallId"]) is not None:
        return
    parent = _message(held, event.get("parentMessageId") or event["toolCallId"], "assistant", event)
    function = {"name": event["toolCallName"], "arguments": ""}
    call = {"id": event["toolCallId"], "type": "function", "function": function}
    parent["toolCalls"] = [*parent.get("toolCalls", ()), call]


def _place_result(held: list[Event], event: Event) -> None:
    message = {"id": event["messageId"], "role": "tool"} | _owner(event)
    message |= {"content": event["content"], "toolCallId": event["toolCallId"]}
    caller = _calling(held, event["toolCallId"])
    at = len(held) if caller is None else caller + 1
    while at < len(held) and held[at]["role"] == "tool":
        at += 1
    held.insert(at, message)


def _replaced(held: list[Event], snapshot: list[Event]) -> list[Event]:
    new = {message["id"]: dict(message) for message in snapshot}
    kept = [new.pop(m["id"], m) for m in held if m["id"] in new or m["role"] == "reasoning"]
    return [*kept, *new.values()]
