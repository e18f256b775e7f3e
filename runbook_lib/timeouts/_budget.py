"""The worst-case wall clock of a node, of steps in a row, and of a graph.

Facts behind the arithmetic (langgraph 1.2.24): a TimeoutPolicy bounds one attempt, not their sum; before attempt
k + 1 LangGraph sleeps `min(max_interval, initial_interval * backoff_factor ** (k - 1))` seconds, plus up to one
second of jitter whatever the interval; an idle timeout alone bounds nothing, since a node may go on signalling.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from langgraph.constants import END, START
from langgraph.types import RetryPolicy, TimeoutPolicy

from ._watch import Graph

Timeout = float | timedelta | TimeoutPolicy | None
Retry = RetryPolicy | Sequence[RetryPolicy] | None
JITTER_SECONDS = 1.0


@dataclass(frozen=True)
class Budget:
    """The longest one node can take: every attempt runs to its deadline, every pause is as long as it gets.

    `attempt_seconds` is infinite without a run timeout. `back_off_seconds` has one entry for each pause.
    `jitter_seconds` is the most that jitter adds in all.
    """

    attempts: int
    attempt_seconds: float
    back_off_seconds: tuple[float, ...] = ()
    jitter_seconds: float = 0.0

    @property
    def total_seconds(self) -> float:
        """Attempts, back-off and jitter together."""
        return self.attempts * self.attempt_seconds + sum(self.back_off_seconds) + self.jitter_seconds

    @property
    def formula(self) -> str:
        """The sum in words and numbers, in seconds."""
        pauses = " + ".join(f"{pause:g}" for pause in self.back_off_seconds) or "0"
        return (
            f"{self.attempts} attempt{'s' * (self.attempts > 1)} x {self.attempt_seconds:g} + back-off ({pauses}) "
            f"+ jitter up to {self.jitter_seconds:g} = {self.total_seconds:g} s"
        )


@dataclass(frozen=True)
class GraphBudget:
    """The longest a run can take: in each superstep the slowest of the nodes that may run then.

    `steps` holds, for each superstep, that node's name and seconds.
    """

    steps: tuple[tuple[str, float], ...]

    @property
    def total_seconds(self) -> float:
        """All supersteps together: one begins when the last node of the one before has ended."""
        return sum(seconds for _, seconds in self.steps)

    @property
    def formula(self) -> str:
        """The sum in words and numbers, in seconds."""
        return " + ".join(f"{node} {seconds:g}" for node, seconds in self.steps) + f" = {self.total_seconds:g} s"


def budget(timeout: Timeout, retry: Retry = None) -> Budget:
    """Return the worst case of one node with this `timeout` and `retry_policy`, as `add_node` takes them.

    With several retry policies the bound holds whichever error each attempt ends with: the most attempts, and for
    each pause the longest. Raises TypeError for a timeout that `add_node` does not take.
    """
    policies = [retry] if isinstance(retry, RetryPolicy) else list(retry or ())
    attempts = max([1, *(policy.max_attempts for policy in policies)])
    pauses = [_longest_pause(policies, failed) for failed in range(1, attempts)]
    return Budget(
        attempts, _run_seconds(timeout), tuple(pause for pause, _ in pauses), sum(jitter for _, jitter in pauses)
    )


def graph_budget(graph: Graph, steps: int | None = None) -> GraphBudget:
    """Return the worst case of a run of a compiled graph, from the policies its nodes were given.

    Which nodes may run in a superstep is read off the edges, conditional ones included. `steps` bounds a graph
    with a loop: how many supersteps it may take (`recursion_limit`). A node with an error handler is unbounded:
    LangGraph 1.2.24 applies no timeout to handlers, not even the one `set_node_defaults` gave them. What
    `graph.step_timeout` sets caps every step. Raises ValueError for a loop without `steps`. Not covered:
    `max_concurrency`, which makes tasks of one step wait for each other.
    """
    following: dict[str, set[str]] = {}
    for edge in graph.get_graph().edges:
        following.setdefault(edge.source, set()).add(edge.target)
    worst: list[tuple[str, float]] = []
    now = _after({START}, following)
    while now and (steps is None or len(worst) < steps):
        if steps is None and len(worst) > len(graph.nodes):
            raise ValueError("the graph has a loop: say with steps= how many supersteps it may take at most")
        worst.append(max(((node, _node_seconds(graph, node)) for node in sorted(now)), key=lambda each: each[1]))
        now = _after(now, following)
    return GraphBudget(tuple(worst))


def path_budget(graph: Graph, path: Sequence[str]) -> GraphBudget:
    """Return the worst case of the named nodes one after the other, as if nothing else ran in their steps.

    Raises KeyError for a node the graph does not have.
    """
    return GraphBudget(tuple((node, _node_seconds(graph, node)) for node in path))


def _after(nodes: Iterable[str], following: dict[str, set[str]]) -> set[str]:
    return {target for node in nodes for target in following.get(node, ())} - {END}


def _node_seconds(graph: Graph, name: str) -> float:
    node = graph.nodes[name]
    own = budget(node.timeout, node.retry_policy or graph.retry_policy).total_seconds
    return min(math.inf if node.error_handler_node else own, graph.step_timeout or math.inf)


def _run_seconds(timeout: Timeout) -> float:
    if not isinstance(timeout, int | float | timedelta | TimeoutPolicy | None):
        raise TypeError(f"a timeout is seconds, a timedelta, a TimeoutPolicy or None, not {timeout!r}")
    policy = TimeoutPolicy.coerce(timeout)
    if policy is None or policy.run_timeout is None:
        return math.inf
    run = policy.run_timeout
    return run.total_seconds() if isinstance(run, timedelta) else run


def _longest_pause(policies: Sequence[RetryPolicy], failed: int) -> tuple[float, float]:
    """Back-off and jitter, in seconds, before the attempt that follows `failed` failed ones."""
    pauses = [
        (
            min(policy.max_interval, policy.initial_interval * policy.backoff_factor ** (failed - 1)),
            JITTER_SECONDS if policy.jitter else 0.0,
        )
        for policy in policies
        if failed < policy.max_attempts
    ]
    return max(pauses, key=sum)
