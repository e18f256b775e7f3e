"""The runbook's deep agent: three demo tools, a prompt that asks for OpenUI Lang, and a look inside.

`graph` and `stream_transformers` are what `langgraph dev` serves (see langgraph.json); the graph is built when it is
first asked for, because building an agent takes longer than importing one.
"""

from typing import TYPE_CHECKING, Any

from ._stack import captured_middleware, tool_names
from .agent import PROMPT_PATH, build_agent, system_prompt
from .hooks import HookCall, record_hooks
from .tools import TOOLS, get_stock_price, get_weather, search_web

if TYPE_CHECKING:
    from .serve import graph, stream_transformers

__all__ = [
    "PROMPT_PATH",
    "TOOLS",
    "HookCall",
    "build_agent",
    "captured_middleware",
    "get_stock_price",
    "get_weather",
    "graph",
    "record_hooks",
    "search_web",
    "stream_transformers",
    "system_prompt",
    "tool_names",
]


def __getattr__(name: str) -> Any:
    if name in ("graph", "stream_transformers"):
        from . import serve

        return getattr(serve, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
