"""Run a graph and record its attempts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.types import StreamMode

from ._records import Recording
from ._watch import Graph, Watch

MODES: tuple[StreamMode, ...] = ("values", "custom")


async def record(
    graph: Graph,
    input: Any,
    config: RunnableConfig | None = None,
    *,
    stream_mode: Sequence[StreamMode] = MODES,
    linger_seconds: float = 0.0,
    **kwargs: Any,
) -> Recording:
    """Run a compiled graph once and return what each attempt of each of its nodes did.

    The graph is left as it is: a copy runs. `input`, `config` and `kwargs` go to `graph.astream`. An `Exception`
    of the run becomes `Recording.error` and is not raised; a cancellation is raised. `linger_seconds`: watch on
    after the run, for what cancelled work still does. Only the graph's own nodes are attempts; what happens in a
    subgraph is seen as signals of the node around it.

    Add "messages" to `stream_mode` to record `text`. Beware: that mode makes every model stream, also one that
    would not, and so it changes what the idle clock sees.
    """
    AsyncCallbackManager.configure()  # loads what LangChain's first callback loads, so that no attempt pays for it
    watch = Watch(graph)
    seen: dict[str, Any] = {"values": None, "custom": [], "text": [], "error": None}
    begin = time.monotonic()
    try:
        parts = watch.graph.astream(input, config, stream_mode=list(stream_mode), version="v2", **kwargs)
        async for part in parts:
            _keep(seen, part)
    except Exception as error:
        seen["error"] = error
    wall = time.monotonic() - begin
    await asyncio.sleep(linger_seconds)
    now = time.monotonic()
    attempts = tuple(draft.freeze(begin, now) for draft in watch.drafts)
    return Recording(attempts, seen["values"], seen["error"], tuple(seen["custom"]), "".join(seen["text"]), wall)


async def record_all(
    graphs: Mapping[str, Graph], input: Any, *, apart_seconds: float = 0.05, **options: Any
) -> dict[str, Recording]:
    """Record one run of each graph, side by side, and return them by name.

    Each begins `apart_seconds` after the one before, so that starting one does not eat up the time of another.
    `options` go to `record`.
    """

    async def one(place: int, graph: Graph) -> Recording:
        await asyncio.sleep(place * apart_seconds)
        return await record(graph, input, **options)

    recordings = await asyncio.gather(*(one(place, graph) for place, graph in enumerate(graphs.values())))
    return dict(zip(graphs, recordings, strict=True))


def _keep(seen: dict[str, Any], part: Any) -> None:
    if part["type"] == "values":
        seen["values"] = part["data"]
    elif part["type"] == "custom":
        seen["custom"].append(part["data"])
    elif part["type"] == "messages" and isinstance(part["data"][0], AIMessageChunk):
        seen["text"].append(part["data"][0].text)
