"""The vocabulary of scripts: what the model says in one turn, in which pieces, and what goes wrong on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

Delta = dict[str, Any]
Beat = tuple[float, Delta]  # seconds to wait, then what to send
Pieces = int | Sequence[str] | Literal["tokens", "whole"]

_TOKEN = re.compile(r"\s?\w{1,4}|\s?[^\w\s]|\s")


class Verbatim(dict[str, Any]):
    """A delta, or a whole chunk, that is sent as the script gives it."""


@dataclass(frozen=True)
class Answer:
    """Text and tool calls of one turn, as the deltas of a stream. Made by `say`, `call` and `raw`.

    Answers combine with three operators: `a + b` one after the other, `a | b` interleaved delta by delta,
    `a & b` pieces of both in each delta.
    """

    beats: tuple[Beat, ...]
    finish: str | None = "stop"
    last_pause: float = 0.0
    dropped: bool = False
    strands: tuple[tuple[Beat, ...], ...] = ()
    """What `|` has interleaved, so that a third strand takes its turn with the first two."""

    @property
    def deltas(self) -> list[Delta]:
        """What is sent, in order."""
        return [delta for _, delta in self.beats]

    def __add__(self, other: Answer) -> Answer:
        return self._joined(other, (*self.beats, *self._renumbered(other.beats)))

    def __or__(self, other: Answer) -> Answer:
        strands = (*(self.strands or (self.beats,)), *map(self._renumbered, other.strands or (other.beats,)))
        beats = tuple(beat for row in zip_longest(*strands) for beat in row if beat)
        return replace(self._joined(other, beats), strands=strands)

    def __and__(self, other: Answer) -> Answer:
        nothing: Beat = (0.0, {})
        pairs = zip_longest(self.beats, self._renumbered(other.beats), fillvalue=nothing)
        return self._joined(other, tuple((max(a, b), _merged(left, right)) for (a, left), (b, right) in pairs))

    def _joined(self, other: Answer, beats: tuple[Beat, ...]) -> Answer:
        if self.dropped or other.dropped:
            raise ValueError("a dropped answer cannot be joined: join say() and call() first, then drop the whole")
        finish = self.finish if self.finish == "tool_calls" else other.finish
        return Answer(beats, finish, max(self.last_pause, other.last_pause))

    def _renumbered(self, beats: tuple[Beat, ...]) -> tuple[Beat, ...]:
        """Count the tool calls of `beats` on from ours."""
        indices = [entry.get("index", -1) for delta in self.deltas for entry in delta.get("tool_calls") or []]
        offset = max(indices, default=-1) + 1
        return tuple((pause, _shifted(delta, offset)) for pause, delta in beats)


@dataclass(frozen=True)
class HttpError:
    """An error instead of an answer: HTTP status (0: no connection) and the service's error body."""

    status: int
    body: dict[str, Any]
    retry_after: float | None = None


@dataclass(frozen=True)
class Attempts:
    """Another turn each time the same conversation is asked again. Made by `attempts`."""

    turns: tuple[Turn, ...]


Turn = Answer | HttpError | Attempts


def say(text: str, *, pieces: Pieces = "tokens") -> Answer:
    """Answer with text. `pieces`: "tokens", "whole", a number of fragments, or the exact fragments.

    Example: `say("Hello", pieces=["He", "", "llo"])`
    """
    return _answer([{"content": piece} for piece in fragments(text, pieces)])


def call(
    name: str,
    arguments: dict[str, Any] | str | None = None,
    /,
    *,
    id: str | None = None,
    pieces: Pieces = "tokens",
    **named: Any,
) -> Answer:
    """Call a tool, with arguments by name, as a mapping, or as the JSON text itself (which may be broken).

    `id` defaults to one made from the conversation. `pieces` cut the arguments as in `say`; "whole" sends name and
    arguments in one delta. Example: `call("get_weather", city="Seoul")`
    """
    text = arguments if isinstance(arguments, str) else json.dumps({**(arguments or {}), **named}, ensure_ascii=False)
    whole = pieces == "whole"
    opening = {
        "index": 0,
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": text if whole else ""},
    }
    rest = [] if whole else [{"index": 0, "function": {"arguments": piece}} for piece in fragments(text, pieces)]
    return _answer([{"tool_calls": [entry]} for entry in [opening, *rest]], "tool_calls")


def raw(*deltas: Delta) -> Answer:
    """Send deltas, or whole chunks (objects with `choices` or `error`), exactly as a compatible server might.

    With a whole chunk among them no finish_reason is added: it is the script's to give.
    Example, a call without index: `raw({"tool_calls": [{"id": "A", "function": {"name": "f", "arguments": "{}"}}]})`
    """
    finish = "tool_calls" if any("tool_calls" in delta for delta in deltas) else "stop"
    whole = any("choices" in delta for delta in deltas)
    return _answer([Verbatim(delta) for delta in deltas], None if whole else finish)


def ending(finish: str | None, answer: Answer) -> Answer:
    """Give `answer` another finish_reason ("length", "content_filter"), or none at all (None)."""
    return replace(answer, finish=finish)


def slow(answer: Answer, *, first: float = 0.0, each: float = 0.0) -> Answer:
    """Wait `first` seconds before the first delta and `each` seconds before every one."""
    beats = tuple((pause + each, delta) for pause, delta in answer.beats)
    return stall(0, first, replace(answer, beats=beats))


def stall(after: int, seconds: float, answer: Answer) -> Answer:
    """Stop for `seconds` after `after` deltas of `answer`, then go on."""
    if after >= len(answer.beats):
        return replace(answer, last_pause=answer.last_pause + seconds)
    pause, delta = answer.beats[after]
    return replace(answer, beats=(*answer.beats[:after], (pause + seconds, delta), *answer.beats[after + 1 :]))


def drop(after: int | None = None, answer: Answer | None = None) -> Turn:
    """Break the connection after `after` deltas of `answer`; without arguments, before there is any response."""
    if after is None or answer is None:
        return HttpError(0, {})
    return replace(answer, beats=answer.beats[:after], dropped=True)


def http_error(
    status: int, message: str | None = None, *, code: str | None = None, retry_after: float | None = None
) -> HttpError:
    """Refuse with an HTTP status and the service's error body; `retry_after` in seconds."""
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status, "invalid_request_error")
    kind = "server_error" if status >= 500 else kind
    error = {"message": message or f"Scripted error {status}.", "type": kind, "param": None, "code": code}
    return HttpError(status, {"error": error}, retry_after)


def attempts(*turns: Turn) -> Attempts:
    """Answer the k-th request for one and the same conversation with the k-th turn; the last one repeats.

    For retries: `attempts(http_error(503), say("Better now."))`. A new model counts from the start again.
    """
    if not turns:
        raise ValueError("attempts() needs at least one turn")
    return Attempts(turns)


def tokens(text: str) -> list[str]:
    """Cut `text` into token-sized pieces: an estimate (up to four letters, or one sign). Joined they are `text`."""
    return _TOKEN.findall(text)


def fragments(text: str, pieces: Pieces) -> list[str]:
    """Cut `text` into `pieces` (see `say`). Raises ValueError when given fragments do not join to `text`."""
    if pieces == "tokens":
        return tokens(text)
    if pieces == "whole":
        return [text]
    if isinstance(pieces, int):
        if pieces < 1:
            raise ValueError(f"pieces={pieces}: a text is cut into one piece or more")
        return [text[len(text) * i // pieces : len(text) * (i + 1) // pieces] for i in range(pieces)]
    if "".join(pieces) != text:
        raise ValueError(f"pieces {list(pieces)!r} do not join to {text!r}: give fragments of that text")
    return list(pieces)


def _answer(deltas: Sequence[Delta], finish: str | None = "stop") -> Answer:
    return Answer(tuple((0.0, delta) for delta in deltas), finish)


def _shifted(delta: Delta, offset: int) -> Delta:
    if isinstance(delta, Verbatim) or "tool_calls" not in delta:
        return delta
    return {**delta, "tool_calls": [{**entry, "index": entry["index"] + offset} for entry in delta["tool_calls"]]}


def _merged(left: Delta, right: Delta) -> Delta:
    return {**left, **right, **{key: left[key] + right[key] for key in left.keys() & right.keys()}}
