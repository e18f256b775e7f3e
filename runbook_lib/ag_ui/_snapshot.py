"""What the client shows, held against what the state says: the source of MESSAGES_SNAPSHOT."""

from collections.abc import Iterable, Sequence

from langchain_core.messages import BaseMessage, RemoveMessage

from ._messages import Event, as_wire
from ._speakers import Subagent
from ._stream import MessageStream


class Transcript:
    """The conversation as the client should have it.

    `known` maps message ids to the messages the client has; None until the first state was seen. `outdated` is
    True when the client shows something that no longer agrees with the state. Only references are kept, so the
    cost per superstep does not grow with the thread.
    """

    def __init__(self) -> None:
        self.known: dict[str, BaseMessage] | None = None
        self.outdated = False
        self._state: Sequence[BaseMessage] = ()
        self._since: list[BaseMessage] = []  # written in the running superstep
        self._aside: list[tuple[Subagent, BaseMessage]] = []  # subagents' messages, which no root state holds

    def get(self, message_id: str | None) -> BaseMessage | None:
        """The message the client has under this id, or None."""
        return (self.known or {}).get(message_id or "")

    def add(self, message: BaseMessage, subagent: Subagent | None) -> None:
        """Note a message that a task wrote and the client now has."""
        if self.known is not None and message.id:
            self.known[message.id] = message
        if subagent is None:
            self._since.append(message)
        else:
            self._aside.append((subagent, message))

    def rewrite(self, written: Iterable[BaseMessage], subagent: Subagent | None) -> None:
        """A task removed messages (summary, repaired history): nothing of it is new, all of it may have changed."""
        if subagent is not None:
            return
        self.outdated = True
        for message in written:
            if not isinstance(message, RemoveMessage):
                self.add(message, None)

    def advance(self, state: Sequence[BaseMessage]) -> None:
        """Take the messages of the state after a superstep."""
        if self.known is None:
            self.known = {message.id: message for message in state if message.id}
        self._state = state
        self._since.clear()

    def as_wire(self, live: Iterable[MessageStream]) -> list[Event]:
        """All messages of the conversation in wire form, in order, and the client is up to date again.

        Subagents' messages follow the call that started them; messages that still stream come last.
        """
        self.outdated = False
        settled = {message.id: message for message in (*self._state, *self._since)}
        wire: list[Event] = []
        for message in settled.values():
            wire.append(as_wire(message))
            wire += self._said_for({call["id"] for call in wire[-1].get("toolCalls", ())})
        for stream in live:
            if stream.shown and not stream.abandoned and stream.id not in settled:
                wire.append({"id": stream.id, "role": "assistant", "content": stream.text})
                if stream.owner is not None:
                    wire[-1]["subagentRunId"] = stream.owner
        return wire

    def _said_for(self, calls: set[str]) -> list[Event]:
        return [as_wire(m, agent.id) for agent, m in self._aside if agent.parent_call in calls]
