"""A deadline LangGraph does not have: over all attempts of a node, back-off included."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from langgraph.runtime import Runtime


def node_deadline(runtime: Runtime[Any], seconds: float) -> asyncio.Timeout:
    """Return an `asyncio.timeout` that ends `seconds` after the first attempt of the current node began.

    Use it inside the node, around everything it awaits. Each attempt gets what the ones before have left. When the
    time is over it raises the built-in `TimeoutError`, an `OSError`, which the default `RetryPolicy` does not
    retry. Its accuracy is that of the system clock, from which `node_first_attempt_time` is taken.

        async with node_deadline(runtime, 60):
            answer = await model.ainvoke(messages)

    Raises ValueError outside a node, where there is no first attempt.
    """
    info = runtime.execution_info
    if info is None or info.node_first_attempt_time is None:
        raise ValueError("node_deadline() is for the inside of a node: this Runtime knows of no attempt")
    return asyncio.timeout(info.node_first_attempt_time + seconds - time.time())
