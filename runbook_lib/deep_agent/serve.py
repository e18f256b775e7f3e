"""What `langgraph dev` loads (see langgraph.json): the agent, the transformers of its runs, the route `/ag-ui`."""

import os
from functools import cache
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from runbook_lib.ag_ui import OpenUIStreamTransformer

from .agent import build_agent
from .dev_server import ALLOWED_HOSTS

graph = build_agent()
"""The agent that is served. The server gives it the checkpointer below."""

checkpointer = InMemorySaver()
"""Where the server keeps its threads: one store for the LangGraph API and for `/ag-ui`."""


def stream_transformers() -> list[Any]:
    """The transformers of every run; the LangGraph API makes fresh ones from these classes for each run."""
    return [OpenUIStreamTransformer]


def __getattr__(name: str) -> Any:
    if name == "app":
        return _app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _app() -> Any:
    """The server's `http.app`, made when the server asks: without the server there is no Starlette to make it with."""
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from runbook_lib.ag_ui.endpoint import ag_ui_app

    app = ag_ui_app(graph.copy(update={"checkpointer": checkpointer}), _register)
    hosts = os.environ.get(ALLOWED_HOSTS, "*").split(",")
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)  # for every route of the server
    return app


async def _register(thread_id: str) -> bool:
    """Make the thread known to the LangGraph API, which can then read its state; False while it runs there."""
    from langgraph_sdk import get_client

    thread = await get_client().threads.create(thread_id=thread_id, if_exists="do_nothing", graph_id="agent")
    return thread["status"] != "busy"
