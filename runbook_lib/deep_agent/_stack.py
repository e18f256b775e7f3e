"""What `create_deep_agent` puts into an agent, read from the agent it really builds."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import deepagents.graph
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel

Middleware = AgentMiddleware[Any, Any, Any]


@contextmanager
def captured_middleware() -> Iterator[list[Middleware]]:
    """Collect the middleware of every agent that `create_deep_agent` builds inside the block, in stack order.

    A finished graph does not keep its middleware. `create_deep_agent` hands the stack to `create_agent`, and that
    call is the one place where it can be read (deepagents 0.7.32, `deepagents.graph`). What is in the list when the
    call goes on is what the agent gets, so a hook may also be replaced on the instances.
    """
    stack: list[Middleware] = []
    create_agent = vars(deepagents.graph)["create_agent"]

    def capture(*args: Any, middleware: Sequence[Middleware] = (), **kwargs: Any) -> Any:
        stack.extend(middleware)
        return create_agent(*args, middleware=middleware, **kwargs)

    with patch.object(deepagents.graph, "create_agent", capture):
        yield stack


@cache
def built_in_names() -> tuple[frozenset[str], frozenset[str]]:
    """The names of the tools and of the middleware that a deep agent has before anything is added."""
    with captured_middleware() as stack:
        graph = deepagents.graph.create_deep_agent(GenericFakeChatModel(messages=iter(())))
    return frozenset(tool_names(graph)), frozenset(middleware.name for middleware in stack)


def tool_names(graph: Any) -> list[str]:
    """The names of the tools that an agent can run, in order."""
    return list(graph.nodes["tools"].bound.tools_by_name)
