"""record(): attempts, their signals and outcomes. Competing deadlines differ at least fivefold."""

from __future__ import annotations

import asyncio
import operator
import threading
import time
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.errors import NodeError
from langgraph.func import task
from langgraph.graph import START, StateGraph
from langgraph.pregel._write import ChannelWrite, ChannelWriteEntry
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send, TimeoutPolicy, interrupt
from typing_extensions import TypedDict

from runbook_lib.model import chat_model, say, slow, stall
from runbook_lib.timeouts import Recording, record, record_all

IDLE, TICK, TICKS = 0.3, 0.03, 15
AT_ONCE = RetryPolicy(max_attempts=3, initial_interval=0.01, jitter=False)


class State(TypedDict, total=False):
    x: str
    log: Annotated[list[Any], operator.add]


def build(node: Any, **options: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("n", node, **options)
    builder.add_edge(START, "n")
    return builder.compile()


def run(node: Any, timeout: Any, retry: Any = None, **options: Any) -> Recording:
    return asyncio.run(record(build(node, timeout=timeout, retry_policy=retry), {}, **options))


async def hung(state: State) -> None:
    await asyncio.sleep(30)


async def quiet(state: State) -> dict[str, Any]:
    await asyncio.sleep(TICK * TICKS)
    return {"x": "done"}


async def writing(state: State) -> dict[str, Any]:
    write = get_stream_writer()
    for number in range(TICKS):
        await asyncio.sleep(TICK)
        write(number)
    return {"x": "done"}


async def beating(state: State, runtime: Runtime) -> dict[str, Any]:
    for _ in range(TICKS):
        await asyncio.sleep(TICK)
        runtime.heartbeat()
    return {"x": "done"}


async def beating_in_thread(state: State, runtime: Runtime) -> dict[str, Any]:
    def work() -> None:
        for _ in range(TICKS):
            time.sleep(TICK)
            runtime.heartbeat()

    await asyncio.to_thread(work)
    return {"x": "done"}


async def writing_channels(state: State, config: RunnableConfig) -> dict[str, Any]:
    for number in range(TICKS):
        await asyncio.sleep(TICK)
        ChannelWrite.do_write(config, [ChannelWriteEntry("log", [number])])
    return {"x": "done"}


async def tick(number: int) -> int:
    await asyncio.sleep(TICK)
    return number


async def with_runnables(state: State) -> dict[str, Any]:
    for number in range(TICKS):
        await RunnableLambda(tick).ainvoke(number)
    return {"x": "done"}


async def with_tasks(state: State) -> dict[str, Any]:
    for number in range(TICKS):
        await task(tick)(number)
    return {"x": "done"}


MODEL = chat_model([slow(say(" ".join("x" * TICKS)), each=TICK)])
MODEL.invoke("q")  # the first call loads the client's code


async def with_model(state: State) -> dict[str, Any]:
    return {"x": (await MODEL.ainvoke("q")).text}


LOUD = {
    "stream writer": writing,
    "channel write": writing_channels,
    "child event": with_runnables,
    "child task": with_tasks,
    "model chunk": with_model,
}


@pytest.mark.parametrize("kind", LOUD)
def test_signals_refresh_the_idle_clock_under_auto_only(kind: str) -> None:
    auto = run(LOUD[kind], TimeoutPolicy(idle_timeout=IDLE))
    strict = run(LOUD[kind], TimeoutPolicy(idle_timeout=IDLE, refresh_on="heartbeat"))
    assert (auto.verdict, strict.verdict) == ("done", "NodeTimeoutError(idle)")
    [attempt] = auto.attempts
    assert attempt.counts[kind] >= TICKS
    assert attempt.refreshing == attempt.signals
    assert strict.attempts[0].refreshing == ()


@pytest.mark.parametrize("node", [beating, beating_in_thread])
@pytest.mark.parametrize("refresh_on", ["auto", "heartbeat"])
def test_heartbeat_counts_in_both_modes_and_from_a_thread(node: Any, refresh_on: Any) -> None:
    recording = run(node, TimeoutPolicy(idle_timeout=IDLE, refresh_on=refresh_on))
    assert recording.verdict == "done"
    assert recording.attempts[0].counts == {"heartbeat": TICKS, "channel write": 1}


def test_silence_is_idle_and_the_deadline_is_where_the_record_says() -> None:
    recording = run(quiet, TimeoutPolicy(idle_timeout=TICK))
    [attempt] = recording.attempts
    assert (attempt.outcome, attempt.error, attempt.kept) == ("idle timeout", "NodeTimeoutError", False)
    assert attempt.end_seconds >= attempt.idle_deadline_seconds > attempt.start_seconds


def test_run_clock_is_not_refreshed() -> None:
    recording = run(beating, TimeoutPolicy(run_timeout=TICK * 2, idle_timeout=30))
    [attempt] = recording.attempts
    assert attempt.outcome == "run timeout"
    assert attempt.end_seconds >= attempt.run_deadline_seconds


def test_idle_deadline_starts_at_the_last_signal() -> None:
    async def speaks_then_hangs(state: State) -> None:
        get_stream_writer()("still here")
        await asyncio.sleep(30)

    [attempt] = run(speaks_then_hangs, TimeoutPolicy(run_timeout=30, idle_timeout=0.1)).attempts
    assert attempt.outcome == "idle timeout"
    assert attempt.idle_deadline_seconds == pytest.approx(attempt.signals[-1].at_seconds + 0.1)


def test_each_attempt_is_recorded_with_its_pause() -> None:
    retry = RetryPolicy(max_attempts=3, initial_interval=0.05, backoff_factor=2, jitter=False)
    recording = run(hung, 0.02, retry)
    assert [(each.number, each.outcome) for each in recording.attempts] == [
        (1, "run timeout"), (2, "run timeout"), (3, "run timeout"),
    ]  # fmt: skip
    pauses = [recording.back_off_seconds(attempt) for attempt in recording.attempts]
    assert pauses[0] == 0
    assert pauses[1] >= 0.05
    assert pauses[2] >= 0.1
    assert len({attempt.task_id for attempt in recording.attempts}) == 1


def test_attempt_that_fails_then_succeeds() -> None:
    async def flaky(state: State, runtime: Runtime) -> dict[str, Any]:
        if runtime.execution_info.node_attempt == 1:
            raise ConnectionError("first")
        return {"x": "second"}

    recording = run(flaky, 30, AT_ONCE)
    assert [(each.outcome, each.error, each.kept) for each in recording.attempts] == [
        ("error", "ConnectionError", False), ("done", "", True),
    ]  # fmt: skip
    assert recording.state["x"] == "second"


def test_recording_changes_neither_graph_nor_retries() -> None:
    graph = build(hung, timeout=0.02)
    first = asyncio.run(record(graph, {}))
    assert len(first.attempts) == 1
    assert graph.nodes["n"].retry_policy is None
    assert type(graph.nodes["n"].node).__name__ == "RunnableSeq"


def test_value_returned_after_the_deadline_is_dropped() -> None:
    async def swallows(state: State) -> dict[str, Any]:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return {"x": "too late"}

    graph = build(swallows, timeout=0.02)
    graph.checkpointer = saver = InMemorySaver()
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    recording = asyncio.run(record(graph, {}, config, linger_seconds=0.05))
    [attempt] = recording.attempts
    assert attempt.counts == {"late channel write": 1}
    assert (attempt.writes, attempt.kept) == (("x",), False)
    assert saver.get(config)["channel_values"].get("x") is None


def test_clean_up_does_not_delay_the_error() -> None:
    async def cleans_up(state: State) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.2)

    recording = run(cleans_up, 0.02, linger_seconds=0.01)
    assert recording.attempts[0].outcome == "run timeout"
    assert recording.attempts[0].stopped_seconds is None
    stopped = run(cleans_up, 0.02, linger_seconds=0.3).attempts[0]
    assert stopped.stopped_seconds - stopped.end_seconds > 0.1


def test_blocking_node_is_not_stopped() -> None:
    async def blocks(state: State) -> dict[str, Any]:
        time.sleep(0.2)
        return {"x": "done"}

    recording = run(blocks, 0.02)
    assert (recording.verdict, recording.attempts[0].kept) == ("done", True)
    assert recording.attempts[0].end_seconds > recording.attempts[0].run_deadline_seconds


def test_thread_goes_on_after_the_timeout_and_its_writes_are_late() -> None:
    finished = threading.Event()

    async def in_thread(state: State) -> None:
        def work() -> None:
            time.sleep(0.15)
            get_stream_writer()("charged")
            finished.set()

        await asyncio.to_thread(work)

    recording = run(in_thread, 0.02, linger_seconds=0.3)
    assert finished.wait(5)
    assert recording.attempts[0].counts == {"late stream writer": 1}
    assert recording.custom == ()


def test_text_already_streamed_stays() -> None:
    model = chat_model([stall(4, 30, say("a b c d e"))])

    async def stalls(state: State) -> dict[str, Any]:
        return {"x": (await model.ainvoke("q")).text}

    recording = run(stalls, TimeoutPolicy(idle_timeout=IDLE), AT_ONCE, stream_mode=["messages", "values"])
    assert recording.text == "a b c d" * 3
    assert {attempt.outcome for attempt in recording.attempts} == {"idle timeout"}
    assert not (recording.state or {}).get("x")


def siblings(slow_node: Any = hung, saver: Any = None, **options: Any) -> Any:
    async def quick(state: State) -> dict[str, Any]:
        return {"log": ["quick"]}

    async def medium(state: State) -> dict[str, Any]:
        await asyncio.sleep(0.15)
        return {"log": ["medium"]}

    builder = StateGraph(State)
    builder.add_node("slow", slow_node, timeout=0.02, **options)
    builder.add_node("quick", quick)
    builder.add_node("medium", medium)
    for name in ("slow", "quick", "medium"):
        builder.add_edge(START, name)
    return builder.compile(checkpointer=saver)


def test_siblings_of_a_timed_out_node() -> None:
    async def recovers(state: State) -> dict[str, Any]:
        return {"log": ["slow"]}

    saver = InMemorySaver()
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    first = asyncio.run(record(siblings(saver=saver), {}, config))
    assert {each.node: each.outcome for each in first.attempts} == {
        "slow": "run timeout", "quick": "done", "medium": "cancelled",
    }  # fmt: skip
    second = asyncio.run(record(siblings(recovers, saver), None, config))
    assert {each.node for each in second.attempts} == {"slow", "medium"}
    assert sorted(second.state["log"]) == ["medium", "quick", "slow"]


def test_error_handler_is_an_attempt_and_saves_the_siblings() -> None:
    async def handler(state: State, error: NodeError) -> dict[str, Any]:
        return {"log": [type(error.error).__name__]}

    recording = asyncio.run(record(siblings(error_handler=handler), {}))
    assert recording.verdict == "done"
    assert sorted(recording.state["log"]) == ["NodeTimeoutError", "medium", "quick"]
    assert {each.node: each.outcome for each in recording.attempts} == {
        "slow": "run timeout", "quick": "done", "medium": "done", "__error_handler__slow": "done",
    }  # fmt: skip


def test_send_tasks_of_one_node_are_told_apart() -> None:
    async def worker(state: State) -> dict[str, Any]:
        await asyncio.sleep(30 if state["x"] == "hangs" else 0)
        return {"log": [state["x"]]}

    builder = StateGraph(State)
    builder.add_node("worker", worker)
    builder.add_conditional_edges(
        START, lambda state: [Send("worker", {"x": "fine"}), Send("worker", {"x": "hangs"}, timeout=0.1)]
    )
    recording = asyncio.run(record(builder.compile(), {}))
    assert [each.outcome for each in recording.attempts] == ["done", "run timeout"]
    assert recording.verdict == "NodeTimeoutError(run)"


def test_interrupt_and_command_are_no_errors() -> None:
    async def asks(state: State) -> Command[Any]:
        return Command(update={"x": interrupt("sure?")})

    graph = build(asks, timeout=30)
    graph.checkpointer = InMemorySaver()
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    first = asyncio.run(record(graph, {}, config))
    second = asyncio.run(record(graph, Command(resume="yes"), config))
    assert (first.verdict, first.attempts[0].outcome) == ("done", "interrupted")
    assert (second.attempts[0].outcome, second.state["x"]) == ("done", "yes")


def test_node_that_raises_cancelled_itself_has_failed() -> None:
    async def raises(state: State) -> None:
        raise asyncio.CancelledError

    recording = run(raises, 30)
    assert (recording.verdict, recording.attempts[0].outcome) == ("NodeCancelledError", "error")


def test_cancelling_the_recording_cancels_the_run() -> None:
    stopped: list[str] = []

    async def hangs(state: State) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            stopped.append("stopped")

    async def main() -> set[asyncio.Task[Any]]:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await record(build(hangs, timeout=30), {})
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()
    assert stopped == ["stopped"]


def test_several_graphs_side_by_side_keep_their_names() -> None:
    graphs = {
        "quiet": build(quiet, timeout=TICK),
        "beating": build(beating, timeout=30),
        "hung": build(hung, timeout=TICK),
    }
    recordings = asyncio.run(record_all(graphs, {}, apart_seconds=0))
    assert {name: each.verdict for name, each in recordings.items()} == {
        "quiet": "NodeTimeoutError(run)", "beating": "done", "hung": "NodeTimeoutError(run)",
    }  # fmt: skip
