"""`check_events`: is this stream legal, complete, and true to the state it came from?

`ag-ui-validate` judges the protocol. The rules here see what it does not: a call that never settles, a result
under a wrong id, text that was lost, doubled, or put into the wrong mouth. A rule is a function from a run's
events to violations, so a reader can write one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui_validate import create_validator
from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ._messages import Event, as_wire
from .fold import fold_events


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: the position of the event (-1 when it concerns the whole stream), the rule, what is wrong."""

    index: int
    rule: str
    message: str


Rule = Callable[[Sequence[Event]], Iterable[Violation]]


def check_events(
    events: Iterable[Event],
    messages: Iterable[BaseMessage] | None = None,
    *,
    held: Iterable[Event] = (),
    rules: Iterable[Rule] | None = None,
) -> list[Violation]:
    """Every violation in a framed stream of events, in order of position; an empty list means legal.

    With `messages` (the messages of the run's final state) the stream must also rebuild exactly these: every
    assistant and tool message under its own id, with its text, its calls and their arguments. `held` are the
    messages, in wire form, that the client had before the run; of those it never had, only what follows the last
    user message must have reached it.
    """
    stream = [_as_event(event) for event in events]
    found = [violation for rule in (RULES if rules is None else rules) for violation in _judged(rule, stream)]
    if messages is not None:
        stored = [as_wire(message) for message in messages]
        found += _judged(lambda events: _true_to_state(fold_events(events, held), stored), stream)
    return sorted(found, key=lambda violation: violation.index)


def _as_event(event: Any) -> Event:
    """An event as a dict: `ag_ui.core` objects in wire form, and what is no event as one of an unknown type."""
    if isinstance(event, BaseModel):
        return event.model_dump(mode="json", by_alias=True, exclude_none=True)
    return event if isinstance(event, dict) else {"type": type(event).__name__}


def _judged(rule: Rule, events: Sequence[Event]) -> list[Violation]:
    """A rule's violations; when an event is too malformed for the rule to read, that is one."""
    try:
        return list(rule(events))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return [Violation(-1, "malformed", f"An event lacks a field, or holds one of another type: {error!r}")]


def protocol(events: Sequence[Event]) -> Iterator[Violation]:
    """The rules of AG-UI as `ag-ui-validate` knows them (AGUI...), errors and warnings."""
    if not events:
        yield Violation(-1, "AGUI003", "No event at all: a run has at least RUN_STARTED and RUN_FINISHED or RUN_ERROR")
    validator = create_validator()
    found = [diagnostic for event in events for diagnostic in validator.feed(event)]
    for diagnostic in (*found, *validator.finalize()):
        if diagnostic.severity != "info":
            yield Violation(diagnostic.event_index, diagnostic.rule, diagnostic.message)


def calls_settle(events: Sequence[Event]) -> Iterator[Violation]:
    """In a run that succeeded each ended call has one result, unless a snapshot settled it or took it away."""
    results = Counter(event.get("toolCallId") for _, event in _of(events, "TOOL_CALL_RESULT"))
    snapshots = [index for index, _ in _of(events, "MESSAGES_SNAPSHOT")]
    for index, event in _of(events, "TOOL_CALL_END"):
        settled = bool(results[event.get("toolCallId")]) or any(
            _settles(events[at], event.get("toolCallId")) for at in snapshots if at > index
        )
        if not settled and _succeeded(events):
            message = f"Call '{event.get('toolCallId')}' ended but has no TOOL_CALL_RESULT"
            yield Violation(index, "result-missing", message)
    for index, event in _of(events, "TOOL_CALL_RESULT"):
        if results[event.get("toolCallId")] > 1:
            yield Violation(index, "result-twice", f"Call '{event.get('toolCallId')}' has several results")


def _settles(snapshot: Event, call_id: object) -> bool:
    """True when a snapshot holds the call's result, or no longer holds the call."""
    calls = {call.get("id") for message in snapshot["messages"] for call in message.get("toolCalls") or ()}
    return call_id not in calls or any(message.get("toolCallId") == call_id for message in snapshot["messages"])


def ids_are_their_own(events: Sequence[Event]) -> Iterator[Violation]:
    """A message id names one message: a result does not borrow the call's id, or another message's."""
    used: dict[str, int] = {}
    for index, event in enumerate(events):
        if event.get("type") not in ("TEXT_MESSAGE_START", "TOOL_CALL_RESULT"):
            continue
        message_id = str(event.get("messageId"))
        if message_id == event.get("toolCallId"):
            yield Violation(index, "result-id", f"The result of call '{message_id}' uses the call's id as its own")
        if message_id in used:
            yield Violation(index, "id-reused", f"Message id '{message_id}' was used by event {used[message_id]}")
        used[message_id] = index


def speakers_are_known(events: Sequence[Event]) -> Iterator[Violation]:
    """Nothing is said for a subagent that has not started or has already finished."""
    open_: set[str] = set()
    for index, event in enumerate(events):
        speaker = event.get("subagentRunId")
        if event.get("type") == "SUBAGENT_STARTED":
            open_.add(str(speaker))
        elif speaker is not None and speaker not in open_:
            yield Violation(index, "speaker-unknown", f"Subagent '{speaker}' is not running")
        if event.get("type") in ("SUBAGENT_FINISHED", "SUBAGENT_ERROR"):
            open_.discard(str(speaker))


def nothing_is_left_open(events: Sequence[Event]) -> Iterator[Violation]:
    """Also a failing run ends what it opened (ag-ui-validate lets RUN_ERROR leave debris)."""
    if not events or events[-1].get("type") != "RUN_ERROR":
        return
    for opened, closed, key in _PAIRS:
        ended = {event.get(key) for _, event in _of(events, *closed)}
        for index, event in _of(events, opened):
            if event.get(key) not in ended:
                yield Violation(index, "left-open", f"{opened} '{event.get(key)}' is still open at RUN_ERROR")


_PAIRS = (
    ("TEXT_MESSAGE_START", ("TEXT_MESSAGE_END",), "messageId"),
    ("TOOL_CALL_START", ("TOOL_CALL_END",), "toolCallId"),
    ("SUBAGENT_STARTED", ("SUBAGENT_FINISHED", "SUBAGENT_ERROR"), "subagentRunId"),
)

RULES: tuple[Rule, ...] = (
    protocol,
    calls_settle,
    ids_are_their_own,
    speakers_are_known,
    nothing_is_left_open,
)
"""The rules that `check_events` applies."""


def _of(events: Sequence[Event], *types: str) -> Iterator[tuple[int, Event]]:
    return ((index, event) for index, event in enumerate(events) if event.get("type") in types)


def _succeeded(events: Sequence[Event]) -> bool:
    last = events[-1] if events else {}
    outcome: Any = last.get("outcome") or {"type": "success"}
    return last.get("type") == "RUN_FINISHED" and outcome.get("type") == "success"


def _true_to_state(client: list[Event], state: list[Event]) -> Iterator[Violation]:
    """What the client holds against what the state holds, message by message."""
    for message in (*client, *state):
        message.pop("error", None)  # only a snapshot can say that a tool failed; a result cannot
    shown = {m["id"]: m for m in client if m.get("subagentRunId") is None and m["role"] != "reasoning"}
    stored = {m["id"]: m for m in state}
    for message_id, message in shown.items():
        if message_id not in stored:
            yield Violation(-1, "not-in-state", f"The client shows message '{message_id}', the state has none")
        elif _content(message) != _content(stored[message_id]):
            yield Violation(-1, "differs", f"Message '{message_id}': client {message}, state {stored[message_id]}")
    last = max((index for index, m in enumerate(state) if m["role"] == "user"), default=-1)
    for message in state[last + 1 :]:
        if message["id"] not in shown and (message.get("content") or message.get("toolCalls")):
            yield Violation(-1, "lost", f"Message '{message['id']}' is in the state and never reached the client")


def _content(message: Event) -> Event:
    return {key: value for key, value in message.items() if value}
