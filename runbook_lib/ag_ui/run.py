"""One run as AG-UI events, framed: RUN_STARTED first, RUN_FINISHED or RUN_ERROR last."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any
from uuid import uuid4

from langchain_core._api import suppress_langchain_beta_warning
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Interrupt

from ._messages import Event, json_value
from .transformer import OpenUIStreamTransformer

Graph = Pregel[Any, Any, Any, Any]

_KEY = re.compile(r"\b(?:sk|lsv2|ls__)[-_][\w-]{6,}")


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
    finishes with the outcome `interrupt`. `kwargs` go to `graph.stream_events`.
    """
    config, frame = _frame(config, run_id)
    yield frame | {"type": "RUN_STARTED"}
    try:
        with suppress_langchain_beta_warning():  # version="v3", which transformers need, is still marked so
            run = graph.stream_events(_identified(input), config, version="v3", **_transformers(graph, kwargs))
        yield from run.extensions["openui"]
        yield _finished(frame, run.interrupts)
    except Exception as error:
        yield _failed(error)


async def arun_events(
    graph: Graph,
    input: Any,
    config: RunnableConfig | None = None,
    *,
    run_id: str | None = None,
    **kwargs: Any,
) -> AsyncIterator[Event]:
    """`run_events` for `async for`. A run that is cancelled from inside finishes with the outcome `cancelled`.

    Closing the iterator, or cancelling the task that reads it, cancels the run.
    """
    config, frame = _frame(config, run_id)
    yield frame | {"type": "RUN_STARTED"}
    run = None
    try:
        with suppress_langchain_beta_warning():
            run = await graph.astream_events(_identified(input), config, version="v3", **_transformers(graph, kwargs))
        async for event in run.extensions["openui"]:
            yield event
        yield _finished(frame, await run.interrupts())
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        yield _finished(frame, (), "cancelled")
    except Exception as error:
        yield _failed(error)
    finally:
        if run is not None:
            await run.abort()


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
    return frame | {"type": "RUN_FINISHED", "outcome": described}


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
    return {"type": "RUN_ERROR", "message": without_secrets(str(error)), "code": type(error).__name__}


def without_secrets(text: str) -> str:
    """`text` without API keys: those in the environment, and whatever has the shape of one."""
    for name, value in os.environ.items():
        if name.endswith(("_API_KEY", "_TOKEN", "_SECRET")) and len(value) > 7:
            text = text.replace(value, "[redacted]")
    return _KEY.sub("[redacted]", text)
