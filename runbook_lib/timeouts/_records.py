"""What a recorded run leaves: its attempts, and in each the signals of progress that were seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["done", "run timeout", "idle timeout", "error", "cancelled", "interrupted", "running"]
SignalKind = Literal[
    "model start", "model chunk", "model end", "child event", "child task", "subgraph part", "stream writer",
    "channel write", "heartbeat",
]  # fmt: skip
RefreshOn = Literal["auto", "heartbeat"]


@dataclass(frozen=True)
class Signal:
    """One sign of life: its kind, when it came (`at_seconds` after the run began) and whether that was too late."""

    kind: SignalKind
    at_seconds: float
    late: bool = False


@dataclass(frozen=True)
class Attempt:
    """One execution of a node. Seconds count from the start of the recording.

    `end_seconds`: when LangGraph decided the attempt. `stopped_seconds`: when the node's coroutine really ended,
    None if it had not by the end of the recording. The timeouts are the policy's, None where it sets none.
    `writes`: channels the attempt wrote to, whether the write counted or not.
    """

    node: str
    task_id: str
    number: int
    start_seconds: float
    end_seconds: float
    stopped_seconds: float | None
    outcome: Outcome
    error: str = ""
    signals: tuple[Signal, ...] = ()
    writes: tuple[str, ...] = ()
    run_timeout_seconds: float | None = None
    idle_timeout_seconds: float | None = None
    refresh_on: RefreshOn | None = None

    @property
    def kept(self) -> bool:
        """Whether its writes count: only those of an attempt that was done in time do."""
        return self.outcome == "done"

    @property
    def timed_out(self) -> bool:
        """Whether a deadline ended it."""
        return self.outcome in ("run timeout", "idle timeout")

    @property
    def refreshing(self) -> tuple[Signal, ...]:
        """The signals that pushed the idle deadline: all under "auto", `heartbeat()` alone under "heartbeat"."""
        if self.refresh_on is None:
            return ()
        return tuple(
            signal
            for signal in self.signals
            if not signal.late and (self.refresh_on == "auto" or signal.kind == "heartbeat")
        )

    @property
    def idle_deadline_seconds(self) -> float | None:
        """When the idle clock fires unless another signal comes; None without an idle timeout."""
        if self.idle_timeout_seconds is None:
            return None
        last = max((signal.at_seconds for signal in self.refreshing), default=self.start_seconds)
        return last + self.idle_timeout_seconds

    @property
    def run_deadline_seconds(self) -> float | None:
        """When the run clock fires; nothing moves it."""
        return None if self.run_timeout_seconds is None else self.start_seconds + self.run_timeout_seconds

    @property
    def counts(self) -> dict[str, int]:
        """How many signals of each kind, in order of their first; a late kind begins with `late `."""
        return dict(Counter(f"late {signal.kind}" if signal.late else signal.kind for signal in self.signals))


@dataclass(frozen=True)
class Recording:
    """One observed run: attempts in order of their start, final state, streamed parts, and the error it raised.

    `state` is the last whole state the run streamed (None: no step was finished). `custom`: what stream writers
    delivered. `text`: what models said in `messages` mode, as a client has it on screen. `wall_seconds` ends
    with the run; the recording may have gone on for longer.
    """

    attempts: tuple[Attempt, ...]
    state: Any = None
    error: Exception | None = None
    custom: tuple[Any, ...] = ()
    text: str = ""
    wall_seconds: float = 0.0

    def of(self, node: str) -> tuple[Attempt, ...]:
        """The attempts of one node, in order."""
        return tuple(attempt for attempt in self.attempts if attempt.node == node)

    def back_off_seconds(self, attempt: Attempt) -> float:
        """The pause between the attempt before and this one; 0 for a first attempt."""
        before = [each for each in self.attempts if each.task_id == attempt.task_id and each.number < attempt.number]
        return attempt.start_seconds - before[-1].end_seconds if before else 0.0

    @property
    def verdict(self) -> str:
        """How the run ended: `done`, or the error's type with the kind of timeout."""
        if self.error is None:
            return "done"
        kind = getattr(self.error, "kind", None)
        return f"{type(self.error).__name__}({kind})" if kind else type(self.error).__name__
