"""Chat Completions on the wire: an answer as one JSON body, or as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ._conversation import Conversation, cached_tokens, prompt_tokens
from ._turns import Answer, Beat, Delta, Verbatim, tokens

CREATED = 1767225600  # 2026-01-01T00:00:00Z: a fixed instant, so that equal conversations get equal bytes
Step = tuple[float, bytes]  # seconds to wait, then what to send


def encode(value: Any) -> bytes:
    """Return compact JSON in UTF-8; lone surrogates, which UTF-8 cannot hold, are escaped with all the rest."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def completed(answer: Answer, conversation: Conversation) -> Answer:
    """Give each call its id, and end the answer where the request's limit of tokens ends it."""
    beats = tuple((pause, _with_id(delta, conversation)) for pause, delta in answer.beats)
    limit = conversation.request.get("max_completion_tokens") or conversation.request.get("max_tokens")
    answer = replace(answer, beats=beats)
    if limit is None or sum(map(_delta_tokens, answer.deltas)) <= limit:
        return answer
    return replace(answer, beats=tuple(_within(limit, beats)), finish="length")


def body(conversation: Conversation, answer: Answer) -> bytes:
    """Return the answer to a request without `stream`."""
    message = _message(answer.deltas)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}
    head = _head(conversation, "chat.completion")
    return encode({**head, "choices": [choice], "usage": _usage(conversation, answer)})


def stream(conversation: Conversation, answer: Answer) -> Iterator[Step]:
    """Yield the server-sent events, each after its pause; a dropped answer ends without a word."""
    head = _head(conversation, "chat.completion.chunk")
    with_usage = (conversation.request.get("stream_options") or {}).get("include_usage")
    if with_usage:
        head["usage"] = None
    for pause, delta in _opened(answer):
        yield pause, _event(_chunk(head, delta, None))
    if answer.dropped:
        return
    yield answer.last_pause, b""
    if answer.finish is not None:
        yield 0.0, _event(_chunk(head, {}, answer.finish))
    if with_usage:
        yield 0.0, _event({**head, "choices": [], "usage": _usage(conversation, answer)})
    yield 0.0, b"data: [DONE]\n\n"


def _with_id(delta: Delta, conversation: Conversation) -> Delta:
    if isinstance(delta, Verbatim) or "tool_calls" not in delta:
        return delta
    return {**delta, "tool_calls": [_identified(entry, conversation) for entry in delta["tool_calls"]]}


def _identified(entry: dict[str, Any], conversation: Conversation) -> dict[str, Any]:
    if "id" not in entry or entry["id"]:
        return entry
    return {**entry, "id": f"call_{conversation.digest[:20]}{entry['index']:04d}"}


def _within(limit: int, beats: tuple[Beat, ...]) -> Iterator[Beat]:
    for pause, delta in beats:
        if limit <= 0:
            return
        size = _delta_tokens(delta)
        yield pause, delta if size <= limit else _shortened(delta, limit)
        limit -= size


def _shortened(delta: Delta, limit: int) -> Delta:
    """Keep `limit` tokens of a delta's text, or else of its first call: the name, then arguments."""
    if delta.get("content"):
        return {"content": "".join(tokens(delta["content"])[:limit])}
    entry = delta["tool_calls"][0]
    function = entry.get("function") or {}
    room = max(0, limit - len(tokens(function.get("name") or "")))
    return {
        "tool_calls": [
            {**entry, "function": {**function, "arguments": "".join(tokens(function.get("arguments") or "")[:room])}}
        ]
    }


def _opened(answer: Answer) -> Iterator[Beat]:
    """Add the role, as the service does: in a delta of its own before text, in the first delta of a call."""
    first, rest = answer.beats[:1], answer.beats[1:]
    pause, delta = first[0] if first else (0.0, {})
    if isinstance(delta, Verbatim):
        yield from answer.beats
    elif delta and "content" not in delta:
        yield pause, {"role": "assistant", "content": None, **delta}
        yield from rest
    else:
        yield pause, {"role": "assistant", "content": "", "refusal": None}
        yield from ((0.0, delta) for _, delta in first)
        yield from rest


def _head(conversation: Conversation, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{conversation.digest[:29]}",
        "object": kind,
        "created": CREATED,
        "model": conversation.request["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_offline",
    }


def _chunk(head: dict[str, Any], delta: Delta, finish: str | None) -> dict[str, Any]:
    if "error" in delta:
        return delta
    if "choices" in delta:
        return {**head, **delta}
    return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def _event(value: Any) -> bytes:
    return b"data: " + encode(value) + b"\n\n"


def _entries(delta: Delta) -> list[dict[str, Any]]:
    return list(delta.get("tool_calls") or [])


def _message(deltas: list[Delta]) -> dict[str, Any]:
    """Put deltas together as one message; a fragment without an index belongs to the call before it."""
    text = "".join(delta.get("content") or "" for delta in deltas)
    calls: dict[int, dict[str, Any]] = {}
    index = 0
    for entry in (entry for delta in deltas for entry in _entries(delta)):
        index = entry.get("index", index)
        made = calls.setdefault(index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        function = entry.get("function") or {}
        made["id"] = made["id"] or entry.get("id") or ""
        made["function"]["name"] = made["function"]["name"] or function.get("name") or ""
        made["function"]["arguments"] += function.get("arguments") or ""
    message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
    return {**message, "tool_calls": list(calls.values())} if calls else message


def _delta_tokens(delta: Delta) -> int:
    functions = [entry.get("function") or {} for entry in _entries(delta)]
    texts = [delta.get("content"), *(function.get(key) for function in functions for key in ("name", "arguments"))]
    return sum(len(tokens(text)) for text in texts if text)


def _usage(conversation: Conversation, answer: Answer) -> dict[str, Any]:
    prompt, completion = prompt_tokens(conversation), sum(map(_delta_tokens, answer.deltas))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": cached_tokens(conversation)},
        "completion_tokens_details": {"audio_tokens": 0, "reasoning_tokens": 0},
    }
