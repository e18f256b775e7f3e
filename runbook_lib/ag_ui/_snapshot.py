"""What the client shows, held against what the state says: the source of MESSAGES_SNAPSHOT."""

from collections.abc import Iterable, Iterator, Sequence
from operator import is_

from langchain_core.messages import BaseMessage, ToolMessage

from ._messages import Event, as_wire, assistant_message, calls_of, same
from ._speakers import Subagent
from ._stream import MessageStream


class Transcript:
    """The conversation as the client has it, and as it should be.

    `outdated` is True when the client shows something that the state does not hold. `calls` and `answered` are
    the ids of the tool calls that the client knows, and of those that have a result. Messages are kept as
    references, so a superstep costs a comparison of identities for each message of the thread and no copy.
    """

    def __init__(self) -> None:
        self.begun = False  # True once the first state was seen
        self.outdated = False
        self.calls: set[str] = set()
        self.answered: set[str] = set()
        self._known: dict[str | None, BaseMessage] = {}
        self._state: Sequence[BaseMessage] = ()
        self._since: list[BaseMessage] = []  # written in the running superstep
        self._aside: dict[str | None, tuple[Subagent, BaseMessage]] = {}  # no state of the root holds these

    def knows(self, message: BaseMessage) -> bool:
        """True when the client has had this message, in whatever form."""
        return message.id in self._known or message.id in self._aside

    def add(self, message: BaseMessage, subagent: Subagent | None) -> None:
        """Note a message that the client now has, as it is in the state."""
        if subagent is not None:
            self._aside[message.id] = (subagent, message)
            return
        self._known[message.id] = message
        self._since.append(message)

    def advance(self, state: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Take the state after a superstep; returns the messages at its end that the client has never had.

        Everything else that differs (messages changed, inserted, or gone) makes the transcript outdated. Of the
        first state of a run the client is taken to have everything.
        """
        if not self.begun:
            self.begun = True
            self._take_over(state)
        grown = len(state) >= len(self._state) and all(map(is_, self._state, state))
        unseen: list[BaseMessage] = []
        for message in state[len(self._state) if grown else 0 :]:
            known = self._known.get(message.id)
            if known is None:
                unseen.append(message)
            elif unseen or not same(known, message):
                self.outdated = True
        if len(self._known) + len(unseen) > len(state):
            self.outdated = True
        self._state = state
        self._since.clear()
        return [] if self.outdated else unseen

    def _take_over(self, state: Sequence[BaseMessage]) -> None:
        self._known = {message.id: message for message in state}
        for message in state:
            self.calls.update(call_id for call_id, _, _ in calls_of(message))
            if isinstance(message, ToolMessage):
                self.answered.add(message.tool_call_id)

    def snapshots(self, live: Iterable[MessageStream]) -> Iterator[list[Event]]:
        """The messages to send, in wire form, so that the client is up to date again.

        A client that gets a snapshot removes, updates and appends, but never moves a message. So where a message
        was inserted before others that the client has, a first snapshot takes those others away.
        """
        settled = {message.id: message for message in (*self._state, *self._since)}
        unfinished = [stream for stream in live if stream.shown and not stream.abandoned and stream.id not in settled]
        wire = [*self._settled(settled.values()), *map(_unfinished, unfinished)]
        had = {*self._known, *self._aside, *(stream.id for stream in unfinished)}
        first_new = next((at for at, message in enumerate(wire) if message["id"] not in had), len(wire))
        if any(message["id"] in had for message in wire[first_new:]):
            yield wire[:first_new]
        yield wire
        self.outdated = False
        self._take_over(list(settled.values()))

    def _settled(self, messages: Iterable[BaseMessage]) -> Iterator[Event]:
        """The settled messages; what a subagent said follows the results of the calls it was started by."""
        calls: set[str] = set()
        for message in messages:
            if not isinstance(message, ToolMessage):
                yield from self._said_for(calls)
                calls = {call_id for call_id, _, _ in calls_of(message)}
            yield as_wire(message)
        yield from self._said_for(calls)

    def _said_for(self, calls: set[str]) -> Iterator[Event]:
        return (as_wire(m, agent.id) for agent, m in self._aside.values() if agent.parent_call in calls)


def _unfinished(stream: MessageStream) -> Event:
    calls = stream.valid_calls() if stream.finished else []
    return assistant_message(stream.id, stream.text, calls, stream.owner)
