"""The conversation logic behind every transport: a request in, a reply out."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._checks import Refusal, check_body, check_http
from ._conversation import Conversation
from ._turns import Answer, Attempts, HttpError, Turn, http_error, slow
from ._wire import Step, body, completed, encode, stream

Script = Sequence[Turn] | Mapping[str, Sequence[Turn]] | Callable[[Conversation], Turn]
Chunking = int | Callable[[bytes], Iterable[bytes]]


@dataclass(frozen=True)
class Reply:
    """What goes back: status (0: no connection), headers, and the timed bytes of the body."""

    status: int
    headers: dict[str, str]
    steps: Iterable[Step]
    dropped: bool = False


@dataclass
class Service:
    """Chat Completions for one script. Safe under concurrent requests: all it remembers is the count of attempts.

    `token_delay`: seconds before each delta. `chunking` cuts the bytes of a body anew, without pauses: into pieces
    of that many bytes, or as the function says for all of them. `key`: the only API key accepted (None: any).
    `on_request` is called with the JSON body of each accepted request.
    """

    script: Script
    token_delay: float = 0.0
    chunking: Chunking | None = None
    key: str | None = None
    on_request: Callable[[dict[str, Any]], object] | None = None
    _asked: Counter[str] = field(default_factory=Counter, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        lists = self.script.values() if isinstance(self.script, Mapping) else [self.script]
        for turns in lists:
            if not callable(turns) and not (
                isinstance(turns, Sequence) and all(isinstance(turn, Turn) for turn in turns)
            ):
                raise TypeError(f"a script is a list of turns, a mapping of such lists, or a function; not {turns!r}")

    def answer(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> Reply:
        """Return the reply to an HTTP request; whatever the client sent, it gets one."""
        try:
            check_http(method, path, {name.lower(): value for name, value in headers.items()}, self.key)
            request = check_body(content)
            if self.on_request:
                self.on_request(request)
            turn = self._turn(Conversation(request))
        except Refusal as refusal:
            turn = refusal.error
        except Exception as error:  # of the caller's script: say so, instead of "Connection error"
            turn = http_error(500, f"The script itself failed: {type(error).__name__}: {error}", code="script_failed")
        return _refused(turn) if isinstance(turn, HttpError) else self._answered(Conversation(request), turn)

    def _turn(self, conversation: Conversation) -> Answer | HttpError:
        turn = pick(self.script, conversation)
        while isinstance(turn, Attempts):
            with self._lock:
                self._asked[conversation.digest] += 1
                attempt = self._asked[conversation.digest]
            turn = turn.turns[min(attempt, len(turn.turns)) - 1]
        if not isinstance(turn, Turn):
            raise TypeError(f"{turn!r} is not a turn: return say(...), call(...) or another of them")
        return turn

    def _answered(self, conversation: Conversation, answer: Answer) -> Reply:
        answer = completed(slow(answer, each=self.token_delay), conversation)
        if conversation.request.get("stream"):
            kind, steps = "text/event-stream; charset=utf-8", stream(conversation, answer)
        else:
            wait = sum(pause for pause, _ in answer.beats) + answer.last_pause
            kind, steps = "application/json", iter([(wait, b"" if answer.dropped else body(conversation, answer))])
        headers = {"content-type": kind, "x-request-id": f"req_{conversation.digest[:32]}"}
        return Reply(200, headers, steps if self.chunking is None else _cut(steps, self.chunking), answer.dropped)


def pick(script: Script, conversation: Conversation) -> Turn:
    """Return the turn a script has for a conversation. Raises Refusal when there is none."""
    if callable(script):
        return script(conversation)
    turns = _listed(script, conversation) if isinstance(script, Mapping) else script
    if conversation.turn < len(turns):
        return turns[conversation.turn]
    raise Refusal(
        f"The script has run out: turn {conversation.turn + 1} was asked for, {len(turns)} scripted. "
        "Add a turn, or find out why the run asked again.",
        code="script_exhausted",
    )


def _listed(script: Mapping[str, Sequence[Turn]], conversation: Conversation) -> Sequence[Turn]:
    opening = next(iter(conversation.user_texts), "")
    found = [key for key in script if key in opening]
    if not found:
        raise Refusal(f"No key of the script is in the first user message: {list(script)}.", code="script_unmatched")
    return script[max(found, key=len)]


def _cut(steps: Iterable[Step], chunking: Chunking) -> Iterator[Step]:
    whole = b"".join(data for _, data in steps)
    if not callable(chunking):
        yield from ((0.0, whole[start : start + chunking]) for start in range(0, len(whole), chunking))
    else:
        yield from ((0.0, piece) for piece in chunking(whole))


def _refused(error: HttpError) -> Reply:
    headers = {"content-type": "application/json"}
    if error.retry_after is not None:
        headers["retry-after"] = f"{error.retry_after:g}"
    return Reply(error.status, headers, [(0.0, encode(error.body))])
