"""One run as AG-UI events, framed: RUN_STARTED first, RUN_FINISHED or RUN_ERROR last."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from time import time_ns
from typing import Any, ClassVar
from uuid import uuid4

from langchain_core._api import suppress_langchain_beta_warning
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.pregel import Pregel
from langgraph.types import Interrupt

from ._messages import Event, json_value, whole_characters
from ._secrets import without_secrets
from .transformer import OpenUIStreamTransformer

Graph = Pregel[Any, Any, Any, Any]


def run_events(
    graph: Graph,
    input: Any,
    config: RunnableConfig | None = None,
    *,
    run_id: str | None = None,
    **kwargs: Any,
) -> Iterator[Event]:
    """Run a graph and yield its AG-UI events, from RUN_STARTED to RUN_FINISHED or RUN_ERROR.

    `input` and `config` are what `graph.invoke` takes, `Command(resume=...)` included; messages without an id get
    one before they enter the graph, because deepagents 0.7.32 stores id None for tuples and strings. A thread id
    is made up when `config` has none. A failing run ends with RUN_ERROR and raises nothing; a run that pauses
    finishes with the outcome `interrupt`, one drained by a `RunControl` with `cancelled`. Closing the iterator
    stops the run once the model or tool call under way has returned; `arun_events` can stop at once. Of two runs at
    the same time on one thread both succeed and the thread keeps one: start them one after the other. `kwargs` go to
    `graph.stream_events`.
    """
    config, frame = _frame(config, run_id)
    yield _stamped(frame | {"type": "RUN_STARTED"})
    run = None
    try:
        with suppress_langchain_beta_warning():  # version="v3", which transformers need, is still marked so
            run = graph.stream_events(_identified(input), config, version="v3", **_transformers(graph, kwargs))
        yield from run.extensions["openui"]
        yield _finished(frame, run.interrupts)
    except GraphDrained:
        yield _finished(frame, (), "cancelled")
    except Exception as error:
        yield _failed(error)
    finally:
        if run is not None:
            run.abort()


async def arun_events(
    graph: Graph,
    input: Any,
    config: RunnableConfig | None = None,
    *,
    run_id: str | None = None,
    cancel: asyncio.Event | None = None,
    **kwargs: Any,
) -> AsyncIterator[Event]:
    """`run_events` for `async for`, with a way to stop: once `cancel` is set the run is cancelled wherever it is.

    What was open is closed then, and the run finishes with the outcome `cancelled`. Closing the iterator, or
    cancelling the task that reads it, also cancels the run, but nobody is left to read how it ends.
    """
    config, frame = _frame(config, run_id)
    yield _stamped(frame | {"type": "RUN_STARTED"})
    run = None
    try:
        with suppress_langchain_beta_warning():
            run = await graph.astream_events(_identified(input), config, version="v3", **_transformers(graph, kwargs))
        open_ends = OpenEnds()
        events = run.extensions["openui"]
        async for event in events if cancel is None else _until(cancel, aiter(events)):
            open_ends.follow(event)
            yield event
        if cancel is not None and cancel.is_set():
            for event in open_ends.close():  # what a transformer emits after a cancel is not delivered
                yield event
            yield _finished(frame, (), "cancelled")
        else:
            yield _finished(frame, await run.interrupts())
    except GraphDrained:
        yield _finished(frame, (), "cancelled")
    except Exception as error:
        yield _failed(error)
    finally:
        if run is not None:
            await run.abort()


class OpenEnds:
    """Follows a stream of events and knows how to end what is open."""

    _ENDS: ClassVar[dict[str, tuple[str, str]]] = {
        "TEXT_MESSAGE_START": ("TEXT_MESSAGE_END", "messageId"),
        "REASONING_START": ("REASONING_END", "messageId"),
        "REASONING_MESSAGE_START": ("REASONING_MESSAGE_END", "messageId"),
        "TOOL_CALL_START": ("TOOL_CALL_END", "toolCallId"),
        "SUBAGENT_STARTED": ("SUBAGENT_ERROR", "subagentRunId"),
    }

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Event] = {}

    def follow(self, event: Event) -> None:
        """Note what an event opens or ends."""
        kind = event["type"].replace("SUBAGENT_FINISHED", "SUBAGENT_ERROR")
        if kind in self._ENDS:
            end, key = self._ENDS[kind]
            self._open[end, event[key]] = {"type": end} | {k: event[k] for k in (key, "subagentRunId") if k in event}
        elif self._open and kind.endswith(("_END", "_ERROR")):
            key = next(key for end, key in self._ENDS.values() if end == kind)
            self._open.pop((kind, event[key]), None)

    def close(self) -> list[Event]:
        """The events that end what is open, innermost first."""
        ends = [self._open.popitem()[1] for _ in range(len(self._open))]
        cancelled = {"SUBAGENT_ERROR": {"message": "cancelled"}}
        return [_stamped(end | cancelled.get(end["type"], {})) for end in ends]


async def _until(cancel: asyncio.Event, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """The events until `cancel` is set. The wait for the next one, which is what drives the run, is cancelled then."""
    stop = asyncio.create_task(cancel.wait())
    try:
        while True:
            coming = asyncio.ensure_future(anext(events, None))
            await asyncio.wait((coming, stop), return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                return
            if (event := coming.result()) is None:
                return
            yield event
    finally:
        stop.cancel()


def _transformers(graph: Graph, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The call's transformers with ours among them, unless the graph was compiled with it."""
    extra = list(kwargs.pop("transformers", ()))
    if OpenUIStreamTransformer not in (*extra, *(graph.stream_transformers or ())):
        extra.append(OpenUIStreamTransformer)
    return kwargs | {"transformers": extra}


def _frame(config: RunnableConfig | None, run_id: str | None) -> tuple[RunnableConfig, Event]:
    config = {**(config or {})}
    configurable = {"thread_id": str(uuid4()), **config.get("configurable", {})}
    config["configurable"] = configurable
    return config, {"type": "", "threadId": str(configurable["thread_id"]), "runId": run_id or str(uuid4())}


def _identified(input: Any) -> Any:
    """`input` with an id on every message."""
    if not isinstance(input, Mapping) or "messages" not in input:
        return input
    given = input["messages"]
    several = isinstance(given, list)
    messages = convert_to_messages(given if several else [given])
    return {**input, "messages": [m if m.id else _with_id(m) for m in messages]}


def _with_id(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"id": str(uuid4())})


def _finished(frame: Event, interrupts: Iterable[Interrupt], outcome: str = "success") -> Event:
    pending = [_interrupt(interrupt) for interrupt in interrupts]
    described: Event = {"type": "interrupt", "interrupts": pending} if pending else {"type": outcome}
    return _stamped(frame | {"type": "RUN_FINISHED", "outcome": described})


def _interrupt(interrupt: Interrupt) -> Event:
    """An interrupt as AG-UI describes it; `Command(resume={id: value})` answers it.

    `HumanInTheLoopMiddleware` asks for one call (`interrupt_mode="per_call"`) or for all calls of a message at once.
    """
    value = json_value(interrupt.value)
    asked: Event = value if isinstance(value, dict) else {"description": value if isinstance(value, str) else None}
    requests = asked.get("action_requests") or [asked]
    approval = "action_requests" in asked or asked.get("type") == "tool_approval"
    described: Event = {"id": interrupt.id, "reason": "tool_approval" if approval else "interrupt"}
    described |= {"message": requests[0].get("description"), "toolCallId": asked.get("tool_call_id")}
    described |= {"responseSchema": interrupt.response_schema, "metadata": {"value": value}}
    return {key: field for key, field in described.items() if field is not None}


def _failed(error: BaseException) -> Event:
    message = whole_characters(without_secrets(str(error)))
    return _stamped({"type": "RUN_ERROR", "message": message, "code": type(error).__name__})


def _stamped(event: Event) -> Event:
    """`event` with the time at which it was made, in milliseconds since the epoch, as the transformer's have it."""
    return event | {"timestamp": time_ns() // 1_000_000}
