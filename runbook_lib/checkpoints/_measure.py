"""`measure`: one real graph, one thread, one saver; sizes, traffic and times while it grows."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.types import Durability

from runbook_lib.checkpoints._conversation import Channel, Conversation, as_plain, repeatable
from runbook_lib.checkpoints._records import Kind, Measurement, Restore, RestoreMismatch, Sample
from runbook_lib.checkpoints._stores import Store, aopen_store, open_store

_THREAD = "measured"
_CONFIG: RunnableConfig = {"configurable": {"thread_id": _THREAD}}


def measure(
    channel: Channel,
    saver: Kind,
    turns: int,
    message_bytes: int = 200,
    *,
    nodes: int = 1,
    at: Sequence[int] = (),
    whole_list: bool = False,
    durability: Durability = "async",
    round_trip_ms: float = 0.0,
) -> Measurement:
    """Let a thread grow for `turns` turns and return its sizes and costs at the turns `at`, and at the last.

    `channel` is what `Annotated` takes: a reducer such as `add_messages`, or any `DeltaChannel`. A turn is a
    human message and one message from each of `nodes` nodes, `message_bytes` of text each; `whole_list` nodes
    return the whole list instead of their message. `round_trip_ms` delays every statement of the saver.
    Before a sample is returned, the restored list is compared with the live one and with what the same
    reducer gives as a plain channel. Raises `RestoreMismatch` when they differ, `PostgresUnavailable` with the
    reason where PostgreSQL cannot run, `ValueError` for sample points outside the thread.
    """
    points = _points(turns, at)
    run = _Run(channel, Conversation(message_bytes, nodes, whole_list))
    with open_store(saver, round_trip_ms=round_trip_ms) as store, repeatable():
        graph = run.talk.graph(channel, store.saver)
        for turn in range(1, turns + 1):
            started = time.perf_counter()
            live = graph.invoke({"messages": [run.talk.question(turn)]}, _CONFIG, durability=durability)
            run.turn_seconds.append(time.perf_counter() - started)
            if turn in points:
                store.traffic.reset()
                started = time.perf_counter()
                restored = graph.get_state(_CONFIG)
                run.sample(turn, store, live, restored.values, time.perf_counter() - started)
    return run.measurement(saver)


async def ameasure(
    channel: Channel,
    saver: Kind,
    turns: int,
    message_bytes: int = 200,
    *,
    nodes: int = 1,
    at: Sequence[int] = (),
    whole_list: bool = False,
    durability: Durability = "async",
    round_trip_ms: float = 0.0,
) -> Measurement:
    """As `measure`, through `ainvoke`, `aget_state` and the async savers."""
    points = _points(turns, at)
    run = _Run(channel, Conversation(message_bytes, nodes, whole_list))
    async with aopen_store(saver, round_trip_ms=round_trip_ms) as store:
        with repeatable():
            graph = run.talk.graph(channel, store.saver)
            for turn in range(1, turns + 1):
                started = time.perf_counter()
                live = await graph.ainvoke({"messages": [run.talk.question(turn)]}, _CONFIG, durability=durability)
                run.turn_seconds.append(time.perf_counter() - started)
                if turn in points:
                    store.traffic.reset()
                    started = time.perf_counter()
                    restored = await graph.aget_state(_CONFIG)
                    run.sample(turn, store, live, restored.values, time.perf_counter() - started)
    return run.measurement(saver)


class _Run:
    """What both forms share: the samples so far, and the plain channel that they are held against."""

    def __init__(self, channel: Channel, talk: Conversation) -> None:
        self.talk = talk
        self.turn_seconds: list[float] = []
        self._k = channel.snapshot_frequency if isinstance(channel, DeltaChannel) else None
        self._plain = as_plain(channel)
        self._folded_turns = 0
        self._samples: list[Sample] = []

    def sample(self, turn: int, store: Store, live: Any, restored: Any, restore_seconds: float) -> None:
        restore = Restore(store.traffic.statements, store.traffic.rows_read)
        self._require_equal(turn, live["messages"], restored["messages"])
        since = self.turn_seconds
        self._samples.append(
            Sample(
                turn=turn,
                sizes=store.tables.sizes(_THREAD),
                physical_bytes=store.tables.physical_bytes(),
                restore=restore,
                turn_seconds=sum(since) / len(since),
                restore_seconds=restore_seconds,
            )
        )
        self.turn_seconds = []

    def measurement(self, saver: Kind) -> Measurement:
        return Measurement(saver, self._k, self.talk.message_bytes, self.talk.nodes, tuple(self._samples))

    def _require_equal(self, turn: int, live: list[Any], restored: list[Any]) -> None:
        if live != restored:
            raise RestoreMismatch(
                f"turn {turn}: {_difference(live, restored)} A reducer that is not batching-invariant "
                "or not pure does this; check_reducer finds out."
            )
        for each in range(self._folded_turns + 1, turn + 1):
            self._plain.update([[message] for message in self.talk.turn(each)])
        self._folded_turns = turn
        if restored != self._plain.get():
            raise RestoreMismatch(f"turn {turn}, against the plain channel: {_difference(self._plain.get(), restored)}")


def _points(turns: int, at: Iterable[int]) -> set[int]:
    points = {*at, turns}
    if turns < 1 or not points <= set(range(1, turns + 1)):
        raise ValueError(f"sample points must be turns from 1 to {turns}, not {sorted(points)}")
    return points


def _difference(expected: Sequence[Any], got: Sequence[Any]) -> str:
    first = next((i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), None)
    where = "" if first is None else f", first difference at item {first}"
    return f"{len(got)} items restored, {len(expected)} expected{where}."
