"""`record_hooks`: which middleware hooks ran, in what order, around which node."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import deepagents.graph
from langchain.agents.middleware import AgentMiddleware

_WRAPPED = {"wrap_model_call": "model", "wrap_tool_call": "tools"}
_HOOKS = ("before_agent", "before_model", "after_model", "after_agent", *_WRAPPED)
_depth: ContextVar[int] = ContextVar("wrappers around the hook that runs", default=0)


@dataclass(frozen=True, slots=True)
class HookCall:
    """One moment of one hook.

    `moment` is "run" for a hook that is a graph node of its own (before and after the agent and the model), "enter"
    or "exit" for one that wraps the call inside a node. `depth` counts the wrappers that are around it.
    """

    middleware: str
    hook: str
    node: str
    moment: str
    depth: int

    def __str__(self) -> str:
        """One line, indented by depth, as a trace prints it."""
        mark = {"run": "·", "enter": "→", "exit": "←"}[self.moment]
        return f"{'  ' * self.depth}{mark} {self.middleware}.{self.hook}"


@contextmanager
def record_hooks() -> Iterator[list[HookCall]]:
    """Record the hooks of every deep agent that is built inside the block, for as long as that agent lives.

    Yields the list that fills up while such an agent runs, the default stack included. Async hooks are recorded
    under their sync names. Subagents are agents of their own and are not recorded.
    """
    calls: list[HookCall] = []
    create_agent = vars(deepagents.graph)["create_agent"]

    def recorded(*args: Any, middleware: list[AgentMiddleware[Any, Any, Any]], **kwargs: Any) -> Any:
        for instance in middleware:
            _record(instance, calls)
        return create_agent(*args, middleware=middleware, **kwargs)

    with patch.object(deepagents.graph, "create_agent", recorded):
        yield calls


def _record(instance: AgentMiddleware[Any, Any, Any], calls: list[HookCall]) -> None:
    """Replace the hooks that this middleware's class defines by recording ones, on the instance only."""
    for hook in _HOOKS:
        for name in (hook, f"a{hook}"):
            if getattr(type(instance), name) is not getattr(AgentMiddleware, name):
                setattr(instance, name, _recording(getattr(instance, name), instance.name, hook, calls))


def _recording(function: Callable[..., Any], middleware: str, hook: str, calls: list[HookCall]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            with _noted(middleware, hook, calls):
                return await function(*args, **kwargs)

        return run_async

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with _noted(middleware, hook, calls):
            return function(*args, **kwargs)

    return run


@contextmanager
def _noted(middleware: str, hook: str, calls: list[HookCall]) -> Iterator[None]:
    depth = _depth.get()
    if hook not in _WRAPPED:
        calls.append(HookCall(middleware, hook, f"{middleware}.{hook}", "run", depth))
        yield
        return
    calls.append(HookCall(middleware, hook, _WRAPPED[hook], "enter", depth))
    token = _depth.set(depth + 1)
    try:
        yield
    finally:
        _depth.reset(token)
        calls.append(HookCall(middleware, hook, _WRAPPED[hook], "exit", depth))
