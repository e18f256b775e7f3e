"""`fold_events`: the messages a client holds after a stream of events."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ._messages import Event


def fold_events(events: Iterable[Event]) -> list[Event]:
    """The messages that a run's events build, in the order a client shows them, in wire form.

    Follows the reducer of `@ag-ui/client` 1.0.0 in what matters for a transcript: text is appended to its
    message, a call joins the message named by `parentMessageId`, a result becomes a tool message, and a
    MESSAGES_SNAPSHOT replaces everything. Arguments that parse are compared by value, so they are normalised.
    """
    messages: dict[str, Event] = {}
    calls: dict[str, dict[str, Any]] = {}
    for event in events:
        match event.get("type"):
            case "TEXT_MESSAGE_START":
                _assistant(messages, event["messageId"], event)
            case "TEXT_MESSAGE_CONTENT" if event["messageId"] in messages:
                message = messages[event["messageId"]]
                message["content"] = message.get("content", "") + event["delta"]
            case "TOOL_CALL_START":
                parent = _assistant(messages, event.get("parentMessageId") or event["toolCallId"], event)
                call = {"name": event["toolCallName"], "arguments": ""}
                calls[event["toolCallId"]] = call
                entry = {"id": event["toolCallId"], "type": "function", "function": call}
                parent.setdefault("toolCalls", []).append(entry)
            case "TOOL_CALL_ARGS" if event["toolCallId"] in calls:
                calls[event["toolCallId"]]["arguments"] += event["delta"]
            case "TOOL_CALL_END" if event["toolCallId"] in calls:
                _normalise(calls[event["toolCallId"]])
            case "TOOL_CALL_RESULT":
                messages[event["messageId"]] = _tool(event)
            case "MESSAGES_SNAPSHOT":
                messages = {message["id"]: dict(message) for message in event["messages"]}
    return list(messages.values())


def _assistant(messages: dict[str, Event], message_id: str, event: Event) -> Event:
    if message_id not in messages:
        messages[message_id] = {"id": message_id, "role": "assistant"} | _owner(event)
    return messages[message_id]


def _tool(event: Event) -> Event:
    message = {"id": event["messageId"], "role": "tool"} | _owner(event)
    return message | {"content": event["content"], "toolCallId": event["toolCallId"]}


def _owner(event: Event) -> Event:
    return {"subagentRunId": event["subagentRunId"]} if "subagentRunId" in event else {}


def _normalise(call: dict[str, Any]) -> None:
    with suppress(ValueError):
        call["arguments"] = json.dumps(json.loads(call["arguments"]), ensure_ascii=False)
