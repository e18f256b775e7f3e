"""What an AG-UI event costs: CPU per event, bytes per turn. Run: python bench/ag_ui_cost.py

Fifty thousand protocol events as LangGraph's v3 stream carries them go through a mux with a transformer that does
nothing, with a bare one that makes dicts, and with ours. The net cost is what a transformer adds to the first. Ratios
of one run are comparable between machines; the times are not. CPU time, median of five interleaved rounds.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import orjson
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.stream import StreamChannel, StreamTransformer
from langgraph.stream._mux import StreamMux

from runbook_lib.ag_ui import OpenUIStreamTransformer, run_events
from runbook_lib.model import call, chat_model, say

EVENTS, PER_MESSAGE, ROUNDS = 50_000, 100, 5
Event = dict[str, Any]


class NoOp(StreamTransformer):
    """Looks at nothing."""

    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._channel: StreamChannel[Event] = StreamChannel("openui")

    def init(self) -> dict[str, Any]:
        """A channel, as the others have."""
        return {"openui": self._channel}

    def process(self, event: Any) -> bool:
        """Nothing."""
        return True


class Bare(NoOp):
    """The least that can be called a translation: no owner, no check, no state."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._ids: dict[str, str] = {}

    def process(self, event: Any) -> bool:
        """A dict for each event."""
        if event["method"] != "messages":
            return True
        payload, metadata = event["params"]["data"]
        run = metadata["run_id"]
        match payload["event"]:
            case "message-start":
                self._ids[run] = payload["id"]
                self._push("TEXT_MESSAGE_START", run, role="assistant")
            case "content-block-delta":
                self._push("TEXT_MESSAGE_CONTENT", run, delta=payload["delta"]["text"])
            case "message-finish":
                self._push("TEXT_MESSAGE_END", run)
        return True

    def _push(self, kind: str, run: str, **fields: Any) -> None:
        self._channel.push({"type": kind, "messageId": self._ids[run], **fields})


def protocol_events(count: int) -> Iterator[Event]:
    """Messages of `PER_MESSAGE` events each, one model call and one task after the other."""
    state: list[AIMessage] = []
    for number in range(count // PER_MESSAGE):
        yield from _message(number, state)


def _message(number: int, state: list[AIMessage]) -> Iterator[Event]:
    metadata = {"run_id": f"run-{number}", "langgraph_node": "model", "langgraph_checkpoint_ns": f"model:{number}"}
    payloads: list[Event] = [{"event": "message-start", "id": f"lc_run--{number}", "role": "ai"}]
    payloads.append({"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}})
    delta = {"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": "word "}}
    payloads += [delta] * (PER_MESSAGE - 7)
    text = {"type": "text", "text": "word " * (PER_MESSAGE - 7)}
    payloads += [{"event": "content-block-finish", "index": 0, "content": text}, {"event": "message-finish"}]
    task = {"id": str(number), "name": "model", "input": {}, "triggers": ["branch:to:model"]}
    answer = AIMessage(text["text"], id=f"lc_run--{number}")
    result = {"id": str(number), "name": "model", "error": None, "result": {"messages": [answer]}, "interrupts": []}
    yield _protocol_event("tasks", task)
    for payload in payloads:
        yield _protocol_event("messages", (payload, metadata))
    yield _protocol_event("tasks", result)
    state.append(answer)
    yield _protocol_event("values", {"messages": list(state)})


def _protocol_event(method: str, data: Any) -> Event:
    return {"type": "event", "method": method, "params": {"namespace": [], "timestamp": 1, "data": data}}


def encode(event: Event) -> bytes:
    """One event as a frame of server-sent events; lone surrogates take the slower way."""
    try:
        return b"data: " + orjson.dumps(event) + b"\n\n"
    except TypeError:
        return b"data: " + json.dumps(event).encode() + b"\n\n"


def run(transformer: Callable[..., StreamTransformer], events: Iterable[Event], sse: bool) -> tuple[float, int]:
    """Seconds of CPU for all protocol events, and the number of AG-UI events."""
    mux = StreamMux(factories=[transformer])
    source = iter(events)

    def pump() -> bool:
        for event in source:
            mux.push(event)
            return True
        return False

    mux.bind_pump(pump)
    gc.collect()
    count = 0
    start = time.process_time()
    for event in mux.extensions["openui"]:
        if sse:
            encode(event)
        count += 1
    return time.process_time() - start, count


def net_costs(sse: bool) -> dict[str, float]:
    """Microseconds per AG-UI event above the transformer that does nothing."""
    events = list(protocol_events(EVENTS))
    kinds = {"no-op": NoOp, "bare": Bare, "ours": OpenUIStreamTransformer}
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    counts: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, kind in kinds.items():
            spent, counts[name] = run(kind, events, sse)
            seconds[name].append(spent)
    assert counts["ours"] == counts["bare"], "both translate the same"
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return {name: (median[name] - median["no-op"]) / counts[name] * 1e6 for name in ("bare", "ours")}


def memory_growth() -> tuple[int, int]:
    """Peak bytes allocated by our transformer for 2,000 events, and for ten times as many."""
    peaks = []
    for times in (1, 10):
        events = protocol_events(times * 2_000)
        tracemalloc.start()
        run(OpenUIStreamTransformer, events, sse=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return peaks[0], peaks[1]


def bytes_per_turn(turns: int = 50) -> list[int]:
    """Bytes of server-sent events for each turn of one thread: a call, its result, an answer of forty pieces."""

    def weather(city: str) -> str:
        """The weather."""
        return f"21 degrees in {city}"

    def script(conversation: Any) -> Any:
        asked = conversation.messages[-1]["role"] == "user"
        return call("weather", city="Seoul") if asked else say("word " * 40, pieces=40)

    graph = create_agent(chat_model(script), [weather], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "thread"}}
    asked = {"messages": [{"role": "user", "content": "And in Seoul?"}]}
    return [sum(len(encode(event)) for event in run_events(graph, asked, config)) for _ in range(turns)]


def main() -> None:
    """Print the figures."""
    for sse in (False, True):
        costs = net_costs(sse)
        what = "with SSE encoding" if sse else "dicts"
        ratio = costs["ours"] / costs["bare"]
        print(f"{what:18} bare {costs['bare']:.2f} us, ours {costs['ours']:.2f} us per event: ratio {ratio:.2f}")
    small, large = memory_growth()
    print(f"peak memory        {small:,} bytes for 2,000 protocol events, {large:,} for 20,000")
    sizes = bytes_per_turn()
    print(f"bytes per turn     first {sizes[0]:,}, tenth {sizes[9]:,}, fiftieth {sizes[-1]:,}")


if __name__ == "__main__":
    main()
