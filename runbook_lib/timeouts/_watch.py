"""Watching a node from inside its attempt: after the runtime has put its clocks in place, before the node runs.

A copy of the graph gets each node wrapped. The wrapper receives the attempt's own config, puts a note-taker in
front of every channel through which progress is made, and passes everything on unchanged. The errors come from a
retry policy that takes part in no retry: it is asked first, notes the exception and answers "not mine".
The config keys are LangGraph's own (`langgraph._internal._constants`, 1.2.24); there is no public way to them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._config import merge_configs
from langgraph._internal._constants import CONFIG_KEY_CALL, CONFIG_KEY_RUNTIME, CONFIG_KEY_SEND, CONFIG_KEY_STREAM
from langgraph.constants import START
from langgraph.errors import GraphBubbleUp, NodeTimeoutError, ParentCommand
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import StreamProtocol
from langgraph.types import RetryPolicy, TimeoutPolicy

from ._records import Attempt, Outcome, Signal, SignalKind

Graph = Pregel[Any, Any, Any, Any]
_CALLBACKS: dict[str, SignalKind] = {
    "on_chat_model_start": "model start", "on_llm_start": "model start", "on_llm_new_token": "model chunk",
    "on_llm_end": "model end", "on_llm_error": "model end",
    **dict.fromkeys(
        [f"on_{what}_{when}" for what in ("chain", "tool", "retriever") for when in ("start", "end", "error")]
        + ["on_agent_action", "on_agent_finish", "on_text", "on_retry", "on_custom_event"], "child event"),
}  # fmt: skip

_TIMEOUTS: dict[str, Outcome] = {"run": "run timeout", "idle": "idle timeout"}


@dataclass
class Draft:
    """An attempt while it goes on. Worker threads add signals too: `list.append` is safe for that."""

    node: str
    task_id: str
    number: int
    policy: TimeoutPolicy | None
    start: float
    end: float | None = None
    stopped: float | None = None
    outcome: Outcome = "running"
    error: str = ""
    signals: list[Signal] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    def freeze(self, begin: float, now: float) -> Attempt:
        """Return the attempt with times relative to `begin`; what has not ended is `running` until `now`."""
        policy = self.policy
        return Attempt(
            self.node, self.task_id, self.number, self.start - begin, (self.end or now) - begin,
            None if self.stopped is None else self.stopped - begin, self.outcome, self.error,
            tuple(Signal(each.kind, each.at_seconds - begin, each.late) for each in tuple(self.signals)),
            tuple(dict.fromkeys(self.writes)), _seconds(policy, "run_timeout"), _seconds(policy, "idle_timeout"),
            policy.refresh_on if policy and policy.idle_timeout is not None else None,
        )  # fmt: skip


def _seconds(policy: TimeoutPolicy | None, name: str) -> float | None:
    value: float | timedelta | None = getattr(policy, name, None)
    return value.total_seconds() if isinstance(value, timedelta) else value


class Watch:
    """The drafts of one run, and the copy of the graph that fills them."""

    def __init__(self, graph: Graph) -> None:
        self.drafts: list[Draft] = []
        self.channels = frozenset(graph.stream_channels_list)
        nodes = {name: self._watched(graph, name) for name in graph.nodes}
        self.graph: Graph = graph.copy({"nodes": nodes})

    def _watched(self, graph: Graph, name: str) -> Any:
        original = graph.nodes[name]
        spy = RetryPolicy(max_attempts=1, retry_on=partial(self._note_error, name))
        policies = [spy, *(original.retry_policy or graph.retry_policy)]
        node = original.copy({"retry_policy": policies})
        if original.node is not None and name != START:
            node.__dict__["node"] = _Watched(self, name, original.node, original.timeout)
        return node

    def open(self, name: str, config: RunnableConfig, policy: TimeoutPolicy | None) -> Draft:
        """Begin a draft for the attempt that `config` belongs to."""
        info = config["configurable"][CONFIG_KEY_RUNTIME].execution_info
        draft = Draft(name, info.task_id, info.node_attempt, policy, time.monotonic())
        self.drafts.append(draft)
        return draft

    def decide(self, draft: Draft, outcome: Outcome) -> None:
        """Note how an attempt ended, unless that is known already: what comes after a deadline changes nothing."""
        if draft.end is None:
            draft.end, draft.outcome = time.monotonic(), outcome

    def _note_error(self, name: str, error: Exception) -> bool:
        """The spy's `retry_on`. LangGraph has added a note with the task's id to the error by then."""
        notes = " ".join(getattr(error, "__notes__", ()))
        for draft in reversed(self.drafts):
            if draft.node == name and draft.task_id in notes:
                draft.end, draft.error = time.monotonic(), type(error).__name__
                draft.outcome = _TIMEOUTS[error.kind] if isinstance(error, NodeTimeoutError) else "error"
                break
        return False


class _Watched(Runnable[Any, Any]):
    """A node's runnable with note-takers in its config."""

    def __init__(self, watch: Watch, name: str, inner: Runnable[Any, Any], policy: TimeoutPolicy | None) -> None:
        self.watch, self.node, self.inner, self.policy = watch, name, inner, policy

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Pass on: only async runs are recorded."""
        return self.inner.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and note how it went."""
        config = config or {}
        draft = self.watch.open(self.node, config, self.policy)
        try:
            result = await self.inner.ainvoke(input, _noting(config, draft, self.watch.channels), **kwargs)
            self.watch.decide(draft, "done")
            return result
        except asyncio.CancelledError:
            self.watch.decide(draft, "cancelled" if _was_asked_to_stop() else "error")
            raise
        except ParentCommand:
            self.watch.decide(draft, "done")
            raise
        except GraphBubbleUp:
            self.watch.decide(draft, "interrupted")
            raise
        finally:
            draft.stopped = time.monotonic()


def _was_asked_to_stop() -> bool:
    """Whether somebody cancelled the current task; a node that raises CancelledError itself has failed."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _noting(config: RunnableConfig, draft: Draft, channels: frozenset[str]) -> RunnableConfig:
    """The attempt's config with a note-taker in front of each way to show progress."""

    def note(kind: SignalKind, go_on: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        draft.signals.append(Signal(kind, time.monotonic(), late=draft.end is not None))
        return go_on(*args, **kwargs)

    def write(send: Callable[[Sequence[tuple[str, Any]]], None], writes: Sequence[tuple[str, Any]]) -> None:
        named = [channel for channel, _ in writes if channel in channels]
        draft.writes += named
        if named:
            note("channel write", send, writes)
        else:
            send(writes)

    keys = dict(config["configurable"])
    runtime = keys[CONFIG_KEY_RUNTIME]
    keys[CONFIG_KEY_RUNTIME] = runtime.override(
        heartbeat=partial(note, "heartbeat", runtime.heartbeat),
        stream_writer=partial(note, "stream writer", runtime.stream_writer),
    )
    keys[CONFIG_KEY_SEND] = partial(write, keys[CONFIG_KEY_SEND])
    if call := keys.get(CONFIG_KEY_CALL):
        keys[CONFIG_KEY_CALL] = partial(note, "child task", call)
    if stream := keys.get(CONFIG_KEY_STREAM):
        keys[CONFIG_KEY_STREAM] = StreamProtocol(partial(note, "subgraph part", stream), stream.modes)
    noted: RunnableConfig = {**config, "configurable": keys}
    return merge_configs(noted, {"callbacks": [_Callbacks(draft)]})


class _Callbacks(BaseCallbackHandler):
    """Notes LangChain's callbacks below the node.

    Left out: the node's own start and end, and errors after the deadline, which are the cancellation itself.
    """

    run_inline = True

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.own: Any = None
        for name, kind in _CALLBACKS.items():
            setattr(self, name, partial(self._note, kind, name.endswith("_error")))

    def _note(self, kind: SignalKind, is_error: bool, *args: Any, run_id: Any = None, **kwargs: Any) -> None:
        self.own = self.own or run_id
        late = self.draft.end is not None
        if run_id != self.own and not (is_error and late):
            self.draft.signals.append(Signal(kind, time.monotonic(), late))
