"""Playing a situation: one thread, one or more runs, and what a client holds after each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages

from runbook_lib.ag_ui import arun_events, fold_events, run_events
from runbook_lib.ag_ui._messages import as_wire

Event = dict[str, Any]
Next = Any  # an input of the graph, or a function of the turn before that returns one
Run = Callable[[Any, Any, list[Event]], list[Event]]
CONFIG = {"configurable": {"thread_id": "thread"}}


@dataclass
class Turn:
    """One run: its events, the checkpoint's messages after it, and a client's messages before and after it."""

    events: list[Event]
    state: list[BaseMessage]
    held: list[Event]
    client: list[Event]

    @property
    def outcome(self) -> str:
        """The outcome of RUN_FINISHED, or RUN_ERROR's code."""
        last = self.events[-1]
        return last["outcome"]["type"] if last["type"] == "RUN_FINISHED" else last["code"]

    @property
    def interrupts(self) -> list[Event]:
        return self.events[-1]["outcome"]["interrupts"]

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["type"] == kind]

    def texts(self, owner: str | None = None) -> list[str]:
        """The streamed texts, message by message, of the agent or of one subagent."""
        texts: dict[str, str] = {}
        for event in self.of("TEXT_MESSAGE_CONTENT"):
            if event.get("subagentRunId") == owner:
                texts[event["messageId"]] = texts.get(event["messageId"], "") + event["delta"]
        return list(texts.values())

    def calls(self) -> list[tuple[str, Any]]:
        """Each streamed call as (name, parsed arguments), in the order of START."""
        pieces: dict[str, str] = {event["toolCallId"]: "" for event in self.of("TOOL_CALL_START")}
        for event in self.of("TOOL_CALL_ARGS"):
            pieces[event["toolCallId"]] += event["delta"]
        return [
            (event["toolCallName"], json.loads(pieces[event["toolCallId"]])) for event in self.of("TOOL_CALL_START")
        ]

    def results(self) -> list[str]:
        """Contents of the results in the order of their calls (parallel tools finish in any order)."""
        order = [event["toolCallId"] for event in self.of("TOOL_CALL_START")]
        results = sorted(self.of("TOOL_CALL_RESULT"), key=lambda e: [*order, e["toolCallId"]].index(e["toolCallId"]))
        return [event["content"] for event in results]

    def custom(self, name: str) -> list[Any]:
        return [event["value"] for event in self.of("CUSTOM") if event["name"] == name]

    def subagents(self) -> dict[str, list[str]]:
        """The streamed texts of each subagent, by name."""
        return {event["name"]: self.texts(event["subagentRunId"]) for event in self.of("SUBAGENT_STARTED")}

    def everything(self) -> str:
        return json.dumps(self.events, ensure_ascii=False)


@dataclass
class Situation:
    """A graph, the inputs of its runs, and what must be seen (`see` gets the turns).

    `settled`: after each run the client holds exactly the checkpoint's messages. False only where a run fails or
    is cancelled, so that half an answer stays on the screen.
    """

    name: str
    build: Callable[[], Any]
    see: Callable[..., None]
    inputs: list[Next] = field(default_factory=lambda: ["What is the weather?"])
    modes: tuple[str, ...] = ("sync", "async")
    settled: bool = True
    ordered: bool = True  # False where parallel branches speak: their order in the state is not that of time


def play(situation: Situation, mode: str, run: Run | None = None) -> list[Turn]:
    """Run all inputs on one thread; a new client starts with nothing and keeps what each run leaves.

    `run` may be another translator: it gets the graph, the input and the client's messages, and returns events.
    """
    graph = situation.build()
    client: list[Event] = []
    turns: list[Turn] = []
    for given in situation.inputs:
        asked = given(turns[-1]) if callable(given) else given
        asked = (
            {"messages": [{"role": "user", "content": asked, "id": f"user-{len(turns)}"}]}
            if isinstance(asked, str)
            else asked
        )
        held = sent(client, asked)
        events = run(graph, asked, held) if run else _asked(graph, asked, mode)
        state = stored(graph)
        client = fold_events(events, held)
        turns.append(Turn(events, state, held, client))
    return turns


def _asked(graph: Any, asked: Any, mode: str) -> list[Event]:
    if mode == "sync":
        return list(run_events(graph, asked, CONFIG))

    async def collect() -> list[Event]:
        return [event async for event in arun_events(graph, asked, CONFIG)]

    return asyncio.run(collect())


def sent(held: list[Event], asked: Any) -> list[Event]:
    """A client's own list when it sends this input: what it removes is gone, what it edits stays in place."""
    messages = {message["id"]: message for message in held}
    for message in convert_to_messages(asked.get("messages", [])) if isinstance(asked, dict) else []:
        if isinstance(message, RemoveMessage):
            messages.clear()
        else:
            messages[str(message.id)] = as_wire(message)
    return list(messages.values())


def stored(graph: Any) -> list[BaseMessage]:
    values = graph.get_state(CONFIG).values
    return list(values.get("messages", [])) if isinstance(values, dict) else []


def own(messages: list[Event]) -> list[Event]:
    """A client's messages without subagents' and reasoning, results of parallel calls in the order of the calls."""
    mine = (m for m in messages if m.get("subagentRunId") is None and m["role"] != "reasoning")
    kept = [_plain(m) for m in mine if m.get("content") or m.get("toolCalls") or m["role"] != "assistant"]
    order = [call["id"] for message in kept for call in message.get("toolCalls", ())]
    results = sorted((m for m in kept if m.get("toolCallId") in order), key=lambda m: order.index(m["toolCallId"]))
    return [results.pop(0) if message.get("toolCallId") in order else message for message in kept]


def _plain(message: Event) -> Event:
    """Without what is empty, without what only a snapshot can say, and with arguments parsed."""
    plain = {key: value for key, value in message.items() if value and key not in ("error", "toolCalls")}
    calls = [_parsed(call) for call in message.get("toolCalls") or ()]
    return plain | {"toolCalls": calls} if calls else plain


def _parsed(call: Event) -> Event:
    return {"id": call["id"], "name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}


def wire(messages: list[BaseMessage]) -> list[Event]:
    return [as_wire(message) for message in messages]
