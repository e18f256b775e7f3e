"""budget() and graph_budget(): the arithmetic, and that no recorded run exceeds it."""

from __future__ import annotations

import asyncio
import math
import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy, TimeoutPolicy
from typing_extensions import TypedDict

from runbook_lib.timeouts import budget, graph_budget, node_deadline, path_budget, record


class State(TypedDict, total=False):
    x: str


async def hung(state: State) -> None:
    await asyncio.sleep(30)


async def quick(state: State) -> None:
    return None


def test_formula_of_the_defaults() -> None:
    found = budget(TimeoutPolicy(run_timeout=60, idle_timeout=10), RetryPolicy())
    assert (found.attempts, found.back_off_seconds, found.jitter_seconds) == (3, (0.5, 1.0), 2.0)
    assert found.total_seconds == 183.5
    assert found.formula == "3 attempts x 60 + back-off (0.5 + 1) + jitter up to 2 = 183.5 s"


@pytest.mark.parametrize("timeout", [2, 2.0, timedelta(seconds=2), TimeoutPolicy(run_timeout=timedelta(seconds=2))])
def test_timeout_in_every_form_and_no_retry(timeout: Any) -> None:
    assert budget(timeout).total_seconds == 2
    assert budget(timeout).formula == "1 attempt x 2 + back-off (0) + jitter up to 0 = 2 s"


@pytest.mark.parametrize("timeout", ["5", [5]])
def test_what_is_no_timeout_is_refused(timeout: Any) -> None:
    with pytest.raises(TypeError, match="seconds, a timedelta, a TimeoutPolicy or None, not"):
        budget(timeout)


@pytest.mark.parametrize("timeout", [None, TimeoutPolicy(idle_timeout=1)])
def test_without_a_run_timeout_there_is_no_bound(timeout: Any) -> None:
    assert budget(timeout, RetryPolicy()).total_seconds == math.inf


@given(
    attempts=st.integers(1, 8),
    initial=st.floats(0, 100),
    factor=st.floats(1, 4),
    longest=st.floats(0, 200),
    jitter=st.booleans(),
)
def test_budget_equals_the_runtime_loop_written_out(
    attempts: int, initial: float, factor: float, longest: float, jitter: bool
) -> None:
    policy = RetryPolicy(initial, factor, longest, attempts, jitter)
    total, failed = 10.0, 1
    while failed < attempts:
        total += min(longest, initial * factor ** (failed - 1)) + (1 if jitter else 0) + 10.0
        failed += 1
    assert budget(10, policy).total_seconds == pytest.approx(total)


def test_several_policies_are_bounded_by_the_longest() -> None:
    few = RetryPolicy(max_attempts=2, initial_interval=50, jitter=False, retry_on=ConnectionError)
    many = RetryPolicy(max_attempts=4, initial_interval=1, jitter=False)
    assert budget(10, [few, many]).back_off_seconds == (50, 2, 4)


def test_recorded_attempts_stay_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order and parts, not the clock: each pause is at least its back-off, the attempts are as many as said."""
    monkeypatch.setattr(random, "uniform", lambda low, high: 0.02)
    retry = RetryPolicy(max_attempts=3, initial_interval=0.02)
    builder = StateGraph(State)
    builder.add_node("n", hung, timeout=0.05, retry_policy=retry)
    builder.add_edge(START, "n")
    recording = asyncio.run(record(builder.compile(), {}))
    found = budget(0.05, retry)
    assert len(recording.attempts) == found.attempts
    pauses = [recording.back_off_seconds(attempt) for attempt in recording.attempts[1:]]
    assert all(seen >= said for seen, said in zip(pauses, found.back_off_seconds, strict=True))
    assert recording.wall_seconds < found.total_seconds


def diamond(**more: Any) -> StateGraph[Any]:
    builder = StateGraph(State)
    for name, seconds in {"a": 10, "b": 1, "c": 2, "d": 30}.items():
        builder.add_node(name, quick, timeout=seconds, **more)
    for edge in [(START, "a"), (START, "c"), ("a", "b"), ("c", "d"), ("b", END), ("d", END)]:
        builder.add_edge(*edge)
    return builder


def test_supersteps_wait_for_their_slowest_node() -> None:
    found = graph_budget(diamond().compile())
    assert found.steps == (("a", 10), ("d", 30))
    assert found.formula == "a 10 + d 30 = 40 s"
    assert path_budget(diamond().compile(), ["a", "b"]).formula == "a 10 + b 1 = 11 s"


def test_conditional_edges_and_step_timeout_count() -> None:
    builder = diamond()
    builder.add_node("e", quick, timeout=7)
    builder.add_conditional_edges("d", lambda state: "e", ["e", END])
    graph = builder.compile()
    assert [node for node, _ in graph_budget(graph).steps] == ["a", "d", "e"]
    graph.step_timeout = 5
    assert graph_budget(graph).total_seconds == 15


def test_loop_needs_a_number_of_steps() -> None:
    builder = StateGraph(State)
    builder.add_node("a", quick, timeout=2)
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda state: END, ["a", END])
    graph = builder.compile()
    with pytest.raises(ValueError, match="steps="):
        graph_budget(graph)
    assert graph_budget(graph, steps=25).total_seconds == 50


def test_error_handler_makes_a_node_unbounded_as_it_is_not_timed() -> None:
    seen: list[str] = []

    async def fails(state: State) -> None:
        raise RuntimeError

    async def handler(state: State, error: NodeError) -> None:
        await asyncio.sleep(0.2)
        seen.append("handler went on")

    builder = StateGraph(State).set_node_defaults(timeout=0.02, error_handler=handler)
    builder.add_node("n", fails)
    builder.add_edge(START, "n")
    graph = builder.compile()
    assert graph_budget(graph).total_seconds == math.inf
    assert asyncio.run(record(graph, {})).verdict == "done"
    assert seen == ["handler went on"]
    graph.step_timeout = 0.02
    assert graph_budget(graph).total_seconds == 0.02
    assert asyncio.run(record(graph, {}, linger_seconds=0.3)).verdict == "TimeoutError"
    assert seen == ["handler went on"]


def test_node_deadline_covers_all_attempts_and_is_not_retried() -> None:
    late: list[str] = []

    async def within(state: State, runtime: Runtime) -> None:
        async with node_deadline(runtime, 0.6):
            await asyncio.sleep(5)
            late.append("side effect")

    async def main() -> Any:
        builder = StateGraph(State)
        retry = RetryPolicy(max_attempts=1000, initial_interval=0.01, jitter=False)
        builder.add_node("n", within, timeout=0.1, retry_policy=retry)
        builder.add_edge(START, "n")
        recording = await record(builder.compile(), {})
        return recording, asyncio.all_tasks() - {asyncio.current_task()}

    recording, leaked = asyncio.run(main())
    assert recording.verdict == "TimeoutError"
    assert 2 <= len(recording.attempts) < 10
    assert {attempt.outcome for attempt in recording.attempts[:-1]} == {"run timeout"}
    assert recording.attempts[-1].outcome == "error"
    assert (leaked, late) == (set(), [])


@pytest.mark.parametrize("bound", ["step_timeout", "asyncio.timeout"])
def test_bounds_around_all_attempts_leave_no_task_and_no_late_effect(bound: str) -> None:
    late: list[str] = []

    async def works(state: State) -> None:
        await asyncio.sleep(0.2)
        late.append("side effect")

    async def main() -> set[asyncio.Task[Any]]:
        builder = StateGraph(State)
        retry = RetryPolicy(max_attempts=1000, initial_interval=0.01, jitter=False)
        builder.add_node("n", works, timeout=0.04, retry_policy=retry)
        builder.add_edge(START, "n")
        graph = builder.compile()
        if bound == "step_timeout":
            graph.step_timeout = 0.4
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.4 if bound == "asyncio.timeout" else None):
                await graph.ainvoke({})
        await asyncio.sleep(0.2)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()
    assert late == []


def test_node_deadline_outside_a_node() -> None:
    with pytest.raises(ValueError, match="inside of a node"):
        node_deadline(Runtime(), 1)
