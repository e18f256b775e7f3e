"""LangChain messages as AG-UI sees them: text, calls, and the message dicts of a snapshot."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic_core import to_jsonable_python

Event = dict[str, Any]
"""One AG-UI event in wire form: camelCase keys, JSON values."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ROLES = {"human": "user", "system": "system"}


def whole_characters(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced, so that it can be encoded as UTF-8."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Fragments:
    """Fragments of one text in whole characters: half of a surrogate pair waits for its other half."""

    def __init__(self) -> None:
        self._half = ""

    def whole(self, text: str) -> str:
        """What can be shown after this fragment."""
        if not self._half and text.isascii():
            return text
        text = self._half + text
        self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole_characters(text[:-1] if self._half else text)

    def rest(self) -> str:
        """The replacement character when the text ended with half of a pair, else nothing."""
        rest, self._half = "\ufffd" if self._half else "", ""
        return rest


def json_value(value: Any) -> Any:
    """`value` as JSON data that can be encoded as UTF-8; what has no JSON form becomes its `str`."""
    try:
        data = to_jsonable_python(value, fallback=str, inf_nan_mode="null", bytes_mode="base64")
        text = json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):  # a value that holds itself, or a key that is no text
        return whole_characters(repr(value))
    return data if text.isascii() else json.loads(whole_characters(text))


def as_json(value: Any) -> str:
    """`value` as one line of JSON text that can be encoded as UTF-8."""
    return whole_characters(json.dumps(json_value(value), ensure_ascii=False))


def text_of(message: BaseMessage) -> str:
    """The text of a message, whether its content is a string or a list of blocks."""
    return whole_characters(str(message.text))


def calls_of(message: BaseMessage) -> list[tuple[str, str, dict[str, Any]]]:
    """The tool calls of a message that have an id and a name, as (id, name, arguments); none for other messages."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return [(call["id"], call["name"], call["args"]) for call in calls if call["id"] and call["name"]]


def result_of(message: ToolMessage) -> str:
    """What a tool returned, as the string that TOOL_CALL_RESULT carries."""
    content = message.content
    if isinstance(content, str):
        return whole_characters(content)
    if all(isinstance(block, str) or block.get("type") == "text" for block in content):
        return text_of(message)
    return as_json(content)


def same(one: BaseMessage, other: BaseMessage) -> bool:
    """True when a client that shows `one` need not be told about `other`."""
    if one is other:
        return True
    return one.type == other.type and text_of(one) == text_of(other) and calls_of(one) == calls_of(other)


def messages_in(result: object) -> Iterator[BaseMessage]:
    """Every message among the values that a task wrote; several writes to one channel come as `$writes`."""
    for value in result.values() if isinstance(result, Mapping) else ():
        writes = value["$writes"] if isinstance(value, dict) and "$writes" in value else [value]
        for write in writes:
            items = write if isinstance(write, list | tuple) else [write]
            yield from (item for item in items if isinstance(item, BaseMessage))


def as_wire(message: BaseMessage, owner: str | None = None) -> Event:
    """A message as MESSAGES_SNAPSHOT carries it; `owner` is the subagentRunId, if a subagent said it."""
    if isinstance(message, AIMessage):
        return assistant_message(message.id or "", text_of(message), calls_of(message), owner)
    wire: Event = {"id": message.id or "", "role": _ROLES.get(message.type, message.type)}
    if owner is not None:
        wire["subagentRunId"] = owner
    if not isinstance(message, ToolMessage):
        return wire | {"content": text_of(message)}
    wire |= {"content": result_of(message), "toolCallId": message.tool_call_id}
    return wire | {"error": wire["content"]} if message.status == "error" else wire


def assistant_message(
    message_id: str, text: str, calls: Iterable[tuple[str, str, dict[str, Any]]], owner: str | None
) -> Event:
    """An assistant's message in wire form; what it does not have is left out."""
    wire: Event = {"id": message_id, "role": "assistant"}
    if owner is not None:
        wire["subagentRunId"] = owner
    if text:
        wire["content"] = text
    if functions := [_call_as_wire(*call) for call in calls]:
        wire["toolCalls"] = functions
    return wire


def _call_as_wire(call_id: str, name: str, arguments: dict[str, Any]) -> Event:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": as_json(arguments)}}
