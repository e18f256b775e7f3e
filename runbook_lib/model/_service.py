"""The conversation logic behind every transport: a request in, a reply out."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ._checks import Refusal, check_body, check_http
from ._conversation import Conversation
from ._turns import Attempts, HttpError, Turn
from ._wire import Step, body, encode, limited, stream

Script = Sequence[Turn] | Mapping[str, Sequence[Turn]] | Callable[[Conversation], Turn]
Chunking = int | Callable[[bytes], Iterable[bytes]]


@dataclass(frozen=True)
class Reply:
    """What goes back: status (0: the connection is refused), headers, and the timed bytes of the body."""

    status: int
    headers: dict[str, str]
    steps: Iterable[Step]
    dropped: bool = False


@dataclass
class Service:
    """Chat Completions for one script. Safe under concurrent requests: it keeps nothing but attempts.

    `chunking` cuts the bytes of a body anew: pieces of that many bytes, or what the function returns for all.
    `key`: the only API key accepted; None accepts any. `on_request` is called with each accepted request.
    """

    script: Script
    token_delay: float = 0.0
    chunking: Chunking | None = None
    key: str | None = None
    on_request: Callable[[dict[str, Any]], object] | None = None
    _asked: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> Reply:
        """Return the reply to one HTTP request; never raises for what the client sent."""
        try:
            check_http(method, path, {name.lower(): value for name, value in headers.items()}, self.key)
            request = check_body(content)
            if self.on_request:
                self.on_request(request)
            return self._reply(Conversation(request))
        except Refusal as refusal:
            return _refused(refusal)

    def _reply(self, conversation: Conversation) -> Reply:
        turn = self._turn(conversation)
        if isinstance(turn, HttpError):
            return _scripted_error(turn)
        request = conversation.request
        beats = turn.beats((index, _call_id(conversation, index)) for index in count())
        beats = limited(beats, request.get("max_completion_tokens") or request.get("max_tokens"))
        if self.token_delay:
            beats = replace(
                beats, pauses=[pause + self.token_delay for pause in beats.pauses[:-1]] + beats.pauses[-1:]
            )
        if request.get("stream"):
            steps: Iterator[Step] = stream(conversation, beats)
            kind = "text/event-stream; charset=utf-8"
        else:
            steps = iter([(sum(beats.pauses), b"" if beats.dropped else body(conversation, beats))])
            kind = "application/json"
        return Reply(200, _headers(conversation, kind), self._cut(steps), beats.dropped)

    def _turn(self, conversation: Conversation) -> Turn:
        turn = pick(self.script, conversation)
        while isinstance(turn, Attempts):
            with self._lock:
                self._asked[conversation.digest] += 1
                attempt = self._asked[conversation.digest]
            turn = turn.turns[min(attempt, len(turn.turns)) - 1]
        return turn

    def _cut(self, steps: Iterator[Step]) -> Iterator[Step]:
        if self.chunking is None:
            yield from steps
            return
        whole = b"".join(data for _, data in steps)
        size = self.chunking
        pieces = size(whole) if callable(size) else (whole[i : i + size] for i in range(0, len(whole), size))
        yield from ((0.0, piece) for piece in pieces)


def pick(script: Script, conversation: Conversation) -> Turn:
    """Return the turn a script has for a conversation. Raises Refusal when a list has run out."""
    if callable(script):
        return script(conversation)
    turns = _listed(script, conversation) if isinstance(script, Mapping) else script
    if conversation.turn < len(turns):
        return turns[conversation.turn]
    raise Refusal(
        f"The script has run out: turn {conversation.turn + 1} was asked for, {len(turns)} scripted. "
        "Add a turn, or look why the run asked again.",
        code="script_exhausted",
    )


def _listed(script: Mapping[str, Sequence[Turn]], conversation: Conversation) -> Sequence[Turn]:
    opening = conversation.user_texts[0] if conversation.user_texts else ""
    found = [key for key in script if key in opening]
    if not found:
        raise Refusal(
            f"No list of the script fits the first user message; keys: {list(script)}.",
            code="script_unmatched",
        )
    return script[max(found, key=len)]


def _call_id(conversation: Conversation, index: int) -> str:
    return f"call_{conversation.digest[:20]}{index:04d}"


def _headers(conversation: Conversation, kind: str) -> dict[str, str]:
    return {
        "content-type": kind,
        "x-request-id": f"req_{conversation.digest[:32]}",
        "openai-version": "2020-10-01",
    }


def _refused(refusal: Refusal) -> Reply:
    headers = {"content-type": "application/json"}
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    return Reply(refusal.status, headers, [(0.0, encode(refusal.body))])


def _scripted_error(turn: HttpError) -> Reply:
    refusal = Refusal(
        turn.message, None, turn.code, status=turn.status, type=turn.type, retry_after=turn.retry_after
    )
    return _refused(refusal)
