"""Chat Completions on the wire: a turn as one JSON body, or as the chunks of an event stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ._conversation import Conversation, cached_tokens, prompt_tokens
from ._turns import Beats, Delta, tokens

CREATED = 1767225600  # 2026-01-01T00:00:00Z: a fixed instant, so that equal conversations get equal bytes
Step = tuple[float, bytes]


def encode(value: Any) -> bytes:
    """Return compact JSON in UTF-8; lone surrogates, which UTF-8 cannot hold, make it all escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def body(conversation: Conversation, beats: Beats) -> bytes:
    """Return the answer of a request without `stream`."""
    message = _message(beats.deltas)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": beats.finish}
    answer = {**_head(conversation, "chat.completion"), "choices": [choice]}
    return encode({**answer, "usage": _usage(conversation, beats.deltas)})


def stream(conversation: Conversation, beats: Beats) -> Iterator[Step]:
    """Yield (pause in seconds, bytes of one server-sent event) until the stream ends or is dropped."""
    head = _head(conversation, "chat.completion.chunk")
    with_usage = bool((conversation.request.get("stream_options") or {}).get("include_usage"))
    if with_usage:
        head["usage"] = None
    for pause, delta in _opened(beats):
        yield pause, _event(_chunk(head, delta))
    if beats.dropped:
        return
    pause = beats.pauses[-1]
    if beats.finish is not None:
        yield pause, _event(_chunk(head, {}, beats.finish))
        pause = 0.0
    if with_usage:
        yield pause, _event({**head, "choices": [], "usage": _usage(conversation, beats.deltas)})
        pause = 0.0
    yield pause, b"data: [DONE]\n\n"


def limited(beats: Beats, limit: int | None) -> Beats:
    """Cut the answer after `limit` tokens, inside a tool call if need be, with finish_reason "length"."""
    if limit is None or sum(map(_delta_tokens, beats.deltas)) <= limit:
        return beats
    kept: list[Delta] = []
    for delta in beats.deltas:
        if limit <= 0:
            break
        size = _delta_tokens(delta)
        kept.append(delta if size <= limit else _shortened(delta, limit))
        limit -= size
    return replace(beats, deltas=kept, pauses=beats.pauses[: len(kept)] + [0.0], finish="length")


def _opened(beats: Beats) -> Iterator[tuple[float, Delta]]:
    """Add the role: in a delta of its own before text, in the first delta of a tool call."""
    timed = list(zip(beats.pauses, beats.deltas, strict=False))
    if beats.verbatim:
        yield from timed
    elif timed and "content" not in timed[0][1]:
        yield timed[0][0], {"role": "assistant", "content": None, **timed[0][1]}
        yield from timed[1:]
    else:
        yield timed[0][0] if timed else 0.0, {"role": "assistant", "content": "", "refusal": None}
        yield from [(0.0, delta) for _, delta in timed[:1]] + timed[1:]


def _head(conversation: Conversation, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{conversation.digest[:29]}",
        "object": kind,
        "created": CREATED,
        "model": conversation.request["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_offline",
    }


def _chunk(head: dict[str, Any], delta: Delta, finish: str | None = None) -> dict[str, Any]:
    if "choices" in delta or "error" in delta:  # raw() may give whole chunks
        return delta if "error" in delta else {**head, **delta}
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
        made = calls.setdefault(
            index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        function = entry.get("function") or {}
        made["id"] = made["id"] or entry.get("id") or ""
        made["function"]["name"] = made["function"]["name"] or function.get("name") or ""
        made["function"]["arguments"] += function.get("arguments") or ""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text if text or not calls else None,
        "refusal": None,
    }
    return {**message, "tool_calls": list(calls.values())} if calls else message


def _delta_tokens(delta: Delta) -> int:
    functions = [entry.get("function") or {} for entry in _entries(delta)]
    texts = [delta.get("content")] + [
        function.get(key) for function in functions for key in ("name", "arguments")
    ]
    return sum(len(tokens(text)) for text in texts if text)


def _shortened(delta: Delta, limit: int) -> Delta:
    """Keep the first `limit` tokens of a delta's text, or of its first tool call's arguments."""
    if delta.get("content"):
        return {"content": "".join(tokens(delta["content"])[:limit])}
    entry, *_ = _entries(delta)
    function = dict(entry["function"])
    room = max(0, limit - len(tokens(function.get("name") or "")))
    function["arguments"] = "".join(tokens(function.get("arguments") or "")[:room])
    return {"tool_calls": [{**entry, "function": function}]}


def _usage(conversation: Conversation, deltas: list[Delta]) -> dict[str, Any]:
    prompt, completion = prompt_tokens(conversation), sum(map(_delta_tokens, deltas))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": cached_tokens(conversation)},
        "completion_tokens_details": {
            "accepted_prediction_tokens": 0,
            "audio_tokens": 0,
            "reasoning_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
