"""The vocabulary of scripts: what the model says in one turn, in which pieces, and what goes wrong on the way.

A turn is rendered to `Beats`: the deltas of a Chat Completions stream, the pause before each, and how it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

Delta = dict[str, Any]
Pieces = int | Sequence[str] | Literal["tokens", "whole"]
CallKeys = Iterator[tuple[int, str]]

_TOKEN = re.compile(r"\s?\w{1,4}|\s?[^\w\s]|\s")
_DERIVED = "derived from the content"


def tokens(text: str) -> list[str]:
    """Cut `text` into token-sized pieces: an estimate (up to four letters, or one sign), joined they are `text`."""
    return _TOKEN.findall(text)


def fragments(text: str, pieces: Pieces) -> list[str]:
    """Cut `text` as asked: token by token, whole, into a number of pieces, or into exactly the given ones.

    Raises ValueError when the given pieces do not join to `text`.
    """
    if pieces == "tokens":
        return tokens(text)
    if pieces == "whole":
        return [text]
    if isinstance(pieces, int):
        if pieces < 1:
            raise ValueError(f"pieces={pieces}: a text is cut into one piece or more")
        return [text[len(text) * i // pieces : len(text) * (i + 1) // pieces] for i in range(pieces)]
    if "".join(pieces) != text:
        raise ValueError(f"pieces {list(pieces)!r} do not join to {text!r}: give fragments of the same text")
    return list(pieces)


@dataclass(frozen=True)
class Beats:
    """A turn ready to be sent: `pauses[i]` seconds before `deltas[i]`, the last before the end of the stream."""

    deltas: list[Delta]
    pauses: list[float]
    finish: str | None
    dropped: bool = False
    verbatim: bool = False
    """The script gives every delta itself: no opening delta with the role is added."""


class Turn:
    """What the model does when it is asked once: an answer, an answer with a fault, or an HTTP error."""

    def beats(self, keys: CallKeys) -> Beats:
        """Render the turn; `keys` yields the index and default id of each tool call in order."""
        raise NotImplementedError


class Answer(Turn):
    """A turn made of text and tool calls. Combine answers, tool calls and text alike, with three operators.

    `a + b` one after the other, `a | b` interleaved chunk by chunk, `a & b` fragments of both in each chunk.
    """

    @property
    def verbatim(self) -> bool:
        """Whether the answer begins with deltas given by the script."""
        return False

    def deltas(self, keys: CallKeys) -> list[Delta]:
        """Return the deltas of the streamed answer in order."""
        raise NotImplementedError

    def beats(self, keys: CallKeys) -> Beats:
        """Render without pauses or faults."""
        deltas = self.deltas(keys)
        finish = "tool_calls" if any(delta.get("tool_calls") for delta in deltas) else "stop"
        return Beats(deltas, [0.0] * (len(deltas) + 1), finish, verbatim=self.verbatim)

    def __add__(self, other: Answer) -> Answer:
        return Joined("+", self, _answer(other))

    def __or__(self, other: Answer) -> Answer:
        return Joined("|", self, _answer(other))

    def __and__(self, other: Answer) -> Answer:
        return Joined("&", self, _answer(other))


def _answer(turn: object) -> Answer:
    if not isinstance(turn, Answer):
        raise TypeError(
            f"{turn!r} cannot be joined: join say() and call() first, then wrap the whole in a fault"
        )
    return turn


@dataclass(frozen=True)
class Text(Answer):
    """Text of an answer. Made by `say`."""

    text: str
    pieces: Pieces = "tokens"

    def __post_init__(self) -> None:
        fragments(self.text, self.pieces)

    def deltas(self, keys: CallKeys) -> list[Delta]:
        """One delta for each fragment."""
        return [{"content": piece} for piece in fragments(self.text, self.pieces)]


@dataclass(frozen=True)
class Call(Answer):
    """A tool call. Made by `call`; `arguments` is the JSON text that is sent."""

    name: str
    arguments: str
    id: str | None = None
    pieces: Pieces = "tokens"

    def __post_init__(self) -> None:
        fragments(self.arguments, self.pieces)

    def deltas(self, keys: CallKeys) -> list[Delta]:
        """An opening delta with id and name, then the arguments; everything in one delta when whole."""
        index, default_id = next(keys)
        whole = self.pieces == "whole"
        function = {"name": self.name, "arguments": self.arguments if whole else ""}
        opening = {"index": index, "id": self.id or default_id, "type": "function", "function": function}
        rest = [] if whole else fragments(self.arguments, self.pieces)
        return [
            {"tool_calls": [entry]}
            for entry in [opening, *({"index": index, "function": {"arguments": piece}} for piece in rest)]
        ]


@dataclass(frozen=True)
class Raw(Answer):
    """Deltas exactly as a compatible server might send them. Made by `raw`."""

    chunks: tuple[Delta, ...]

    @property
    def verbatim(self) -> bool:
        """Always."""
        return True

    def deltas(self, keys: CallKeys) -> list[Delta]:
        """The given deltas, untouched."""
        return list(self.chunks)


@dataclass(frozen=True)
class Joined(Answer):
    """Two answers in one turn, joined by one of the operators of `Answer`."""

    how: Literal["+", "|", "&"]
    left: Answer
    right: Answer

    @property
    def verbatim(self) -> bool:
        """As its left side begins."""
        return self.left.verbatim

    def deltas(self, keys: CallKeys) -> list[Delta]:
        """The deltas of both sides: in sequence, alternating, or merged pair by pair."""
        left, right = self.left.deltas(keys), self.right.deltas(keys)
        if self.how == "+":
            return left + right
        pairs = [[delta for delta in pair if delta is not None] for pair in zip_longest(left, right)]
        if self.how == "|":
            return [delta for pair in pairs for delta in pair]
        return [_merged(pair) for pair in pairs]


def _merged(deltas: list[Delta]) -> Delta:
    merged: Delta = {}
    for delta in deltas:
        for key, value in delta.items():
            merged[key] = merged[key] + value if key in merged else value
    return merged


@dataclass(frozen=True)
class HttpError(Turn):
    """The service refuses with `status` and an error body. Made by `http_error`."""

    status: int
    message: str
    type: str
    code: str | None
    retry_after: float | None


@dataclass(frozen=True)
class Attempts(Turn):
    """Another turn each time the same conversation is asked again. Made by `attempts`."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Fault(Turn):
    """A turn that pauses, or breaks off. Made by `slow`, `stall`, `drop` and `ending`."""

    turn: Turn
    first: float = 0.0
    each: float = 0.0
    pause_at: tuple[int, float] | None = None
    drop_after: int | None = None
    finish: str | None = _DERIVED

    def beats(self, keys: CallKeys) -> Beats:
        """Render the inner turn, then add this fault."""
        beats = self.turn.beats(keys)
        count = len(beats.deltas)
        pauses = [pause + self.each for pause in beats.pauses[:-1]] + beats.pauses[-1:]
        pauses[0] += self.first
        if self.pause_at:
            pauses[min(self.pause_at[0], count)] += self.pause_at[1]
        if self.finish != _DERIVED:
            beats = replace(beats, finish=self.finish)
        if self.drop_after is None:
            return replace(beats, pauses=pauses)
        kept = min(self.drop_after, count)
        return replace(
            beats, deltas=beats.deltas[:kept], pauses=pauses[: kept + 1], finish=None, dropped=True
        )


def say(text: str, *, pieces: Pieces = "tokens") -> Answer:
    """Answer with text. `pieces`: "tokens", "whole", a number of fragments, or the exact fragments.

    Example: `say("Hello", pieces=["He", "", "llo"])`
    """
    return Text(text, pieces)


def call(
    name: str, arguments: dict[str, Any] | str | None = None, /, *, id: str | None = None,
    pieces: Pieces = "tokens", **named: Any,
) -> Answer:  # fmt: skip
    """Call a tool. Arguments by name, as a mapping, or as the JSON text itself (which may be broken).

    `id` defaults to one made from the conversation. Example: `call("get_weather", city="Seoul")`
    """
    text = (
        arguments
        if isinstance(arguments, str)
        else json.dumps({**(arguments or {}), **named}, ensure_ascii=False)
    )
    return Call(name, text, id, pieces)


def raw(*chunks: Delta) -> Answer:
    """Send deltas verbatim, or whole chunks (objects that have `choices` or `error`).

    Example: `raw({"tool_calls": [{"id": "A", "function": {"name": "f", "arguments": "{}"}}]})` (no index)
    """
    return Raw(chunks)


def ending(finish: str | None, turn: Turn) -> Turn:
    """Send `turn` with another finish_reason ("length", "content_filter"), or with none at all (None)."""
    return Fault(turn, finish=finish)


def http_error(
    status: int,
    message: str = "",
    *,
    type: str = "",
    code: str | None = None,
    retry_after: float | None = None,
) -> Turn:
    """Refuse with an HTTP status and the service's error body; `retry_after` in seconds."""
    kind = type or (
        "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    )
    return HttpError(status, message or f"Scripted error {status}.", kind, code, retry_after)


def drop(after: int | None = None, turn: Turn | None = None) -> Turn:
    """Break the connection after `after` deltas of `turn`; without `after`, before there is any response."""
    if after is None:
        return HttpError(0, "Scripted: the connection was refused.", "connection", None, None)
    return Fault(turn or say(""), drop_after=after)


def stall(after: int, seconds: float, turn: Turn) -> Turn:
    """Stop for `seconds` after `after` deltas of `turn`, then go on."""
    return Fault(turn, pause_at=(after, seconds))


def slow(turn: Turn, *, first: float = 0.0, each: float = 0.0) -> Turn:
    """Wait `first` seconds before the first delta and `each` seconds before every one."""
    return Fault(turn, first=first, each=each)


def attempts(*turns: Turn) -> Turn:
    """Answer the k-th request for one and the same conversation with the k-th turn; the last one repeats.

    For retries: `attempts(http_error(503), say("Better now."))`. A new model counts from the start again.
    """
    if not turns:
        raise ValueError("attempts() needs a turn at least")
    return Attempts(turns)
