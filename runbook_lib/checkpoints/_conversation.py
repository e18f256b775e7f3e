"""The graph whose thread is measured: a conversation of a fixed shape, with text and ids that never change."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, TypedDict
from uuid import UUID

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

_LETTERS = "etaoin shrdlu cmfwyp vbgkqjxz "

Channel = DeltaChannel[Any] | Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A turn is one human message, then one AI message from each node; `whole_list` nodes return all so far."""

    message_bytes: int
    nodes: int = 1
    whole_list: bool = False

    def question(self, turn: int) -> HumanMessage:
        """The human message that opens a turn, counted from 1."""
        return HumanMessage(self._text(turn, 0), id=self._id(turn, 0))

    def answer(self, turn: int, node: int) -> AIMessage:
        """What a node, counted from 1, says in a turn."""
        return AIMessage(self._text(turn, node), id=self._id(turn, node))

    def turn(self, turn: int) -> list[AnyMessage]:
        """All messages of a turn, in order."""
        return [self.question(turn), *(self.answer(turn, node) for node in range(1, self.nodes + 1))]

    def graph(self, channel: Channel, saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
        """A compiled graph of one channel, `messages`, and `nodes` nodes in a row."""

        class State(TypedDict):
            messages: Annotated[list[AnyMessage], channel]

        builder = StateGraph(State)
        names = [START, *(f"node_{node}" for node in range(1, self.nodes + 1)), END]
        for node, name in enumerate(names[1:-1], 1):
            builder.add_node(name, self._node(node))
        for before, after in pairwise(names):
            builder.add_edge(before, after)
        return builder.compile(checkpointer=saver)

    def _node(self, node: int) -> Any:
        def speak(state: Any) -> Any:
            messages = state["messages"]
            new = self.answer(len(messages) // (self.nodes + 1) + 1, node)
            return {"messages": [*messages, new] if self.whole_list else [new]}

        return speak

    def _text(self, turn: int, node: int) -> str:
        return "".join(random.Random(turn * 1000 + node).choices(_LETTERS, k=self.message_bytes))

    def _id(self, turn: int, node: int) -> str:
        return str(UUID(int=turn * 1000 + node))


def as_plain(channel: Channel) -> BaseChannel[Any, Any, Any]:
    """The plain channel that keeps the same value: a delta channel's reducer, given one write at a time."""
    if not isinstance(channel, DeltaChannel):
        return BinaryOperatorAggregate(list, channel)
    reducer = channel.reducer
    return BinaryOperatorAggregate(list, lambda state, write: reducer(state, [write]))


@contextmanager
def repeatable() -> Iterator[None]:
    """Two runs store the same bytes: LangGraph draws part of each channel version from `random`."""
    state = random.getstate()
    random.seed(0)
    try:
        yield
    finally:
        random.setstate(state)
