"""Streaming v2: the few helpers typed parts deserve. No wrapper round the API: feed them what `stream` yields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, message_chunk_to_message

__all__ = ["Spoken", "fold_messages", "group_by_origin", "origin", "part_keys", "shape"]

Part = Mapping[str, Any]


def origin(part: Part) -> tuple[str, ...]:
    """Return the path of node names a part came through, without task ids: () for the root graph.

    `("tools:20b0b2e7-…", "model:46921284-…")` becomes `("tools", "model")`. Two subagents called side by side by
    one tools node have the same path; their `ns` differ.
    """
    return tuple(str(scope).partition(":")[0] for scope in part["ns"])


def group_by_origin(parts: Iterable[Part]) -> dict[tuple[str, ...], list[Part]]:
    """Return the parts of each scope in order, by `ns`: two runs of the same subgraph are two groups."""
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(tuple(part["ns"]), []).append(part)
    return groups


@dataclass(frozen=True)
class Spoken:
    """One message of a run and who said it.

    `agent` is the name given to `create_agent` or `create_deep_agent` ("" when no named agent was at work), `node`
    the graph node, `ns` the scope.
    """

    ns: tuple[str, ...]
    agent: str
    node: str
    message: BaseMessage


def fold_messages(parts: Iterable[Part]) -> list[Spoken]:
    """Return the whole messages in `messages` parts, in order of their first part; other parts are skipped.

    Chunks with one id in one scope are added up; a message that arrives whole, or again, is kept once. A message
    without an id is always one of its own. A stream that broke off gives what was said until then.
    """
    heard: dict[tuple[Any, ...], tuple[Part, BaseMessage]] = {}
    for number, part in enumerate(part for part in parts if part["type"] == "messages"):
        message: BaseMessage = part["data"][0]
        key = (tuple(part["ns"]), message.id or number)
        heard[key] = (part, _added(heard[key][1], message)) if key in heard else (part, message)
    return [_spoken(part, message) for part, message in heard.values()]


def _added(before: BaseMessage, message: BaseMessage) -> BaseMessage:
    if isinstance(before, AIMessageChunk) and isinstance(message, AIMessageChunk):
        return before + message
    return before if isinstance(message, AIMessageChunk) else message


def _spoken(part: Part, message: BaseMessage) -> Spoken:
    metadata = part["data"][1]
    whole = message_chunk_to_message(message) if isinstance(message, AIMessageChunk) else message
    return Spoken(tuple(part["ns"]), metadata.get("lc_agent_name") or "", metadata.get("langgraph_node") or "", whole)


def part_keys(parts: Iterable[Part]) -> dict[str, tuple[str, ...]]:
    """Return, for each `type` in order of appearance, the keys that parts of that type have."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        found.setdefault(part["type"], {}).update(dict.fromkeys(part))
    return {kind: tuple(keys) for kind, keys in found.items()}


def shape(value: Any, depth: int = 1) -> str:
    """Return a value's type in one line, opened `depth` levels deep: `(str, {messages: list})`.

    Strings are `str` whatever their subclass. A mapping with more than six keys is cut, since what a checkpoint
    or a message's metadata holds is a chapter of its own.
    """
    if isinstance(value, str):
        return "str"
    if depth <= 0 or not isinstance(value, (Mapping, tuple)):
        return type(value).__name__
    if isinstance(value, tuple):
        return f"({_joined([shape(each, depth - 1) for each in value])})"
    return f"{{{_joined([f'{key}: {shape(each, depth - 1)}' for key, each in value.items()])}}}"


def _joined(items: Sequence[str], most: int = 6) -> str:
    return ", ".join(items[:most]) + (f", … {len(items) - most} more" if len(items) > most else "")
