"""TimeoutTimeline: stable text, escaped HTML, and everything the browser needs."""

from __future__ import annotations

from typing import Any

import pytest

from runbook_lib.timeouts import Attempt, Recording, Signal
from runbook_lib.widgets.timeout_timeline import TimeoutTimeline


def recording(shift: float = 0.0, chunks: int = 4, node: str = "answer") -> Recording:
    """Two attempts: one cut off by the idle clock that wrote too late, one done. `shift` moves every time."""
    spoken = [Signal("model chunk", shift + 0.1 * at) for at in range(chunks)]
    late = [Signal("channel write", shift + 2.0, late=True)]
    cut = Attempt(
        node, "t", 1, shift, shift + 1.0, shift + 2.1, "idle timeout", "NodeTimeoutError", (*spoken, *late), ("x",),
        idle_timeout_seconds=0.5, refresh_on="auto",
    )  # fmt: skip
    done = Attempt(
        node, "t", 2, shift + 1.5, shift + 1.9, shift + 1.9, "done", "",
        tuple(Signal("heartbeat", shift + 1.6 + at / 10) for at in range(3)), ("x",), run_timeout_seconds=9,
    )  # fmt: skip
    return Recording((cut, done), {"x": 1})


TEXT = """\
Timeouts: 2 attempts, done
answer  attempt 1  idle timeout  model chunk repeated, late channel write  drops x
answer  attempt 2  done          heartbeat x3                              keeps x"""


def test_text_holds_no_time_and_no_count_that_a_clock_decides() -> None:
    assert repr(TimeoutTimeline(recording())) == TEXT
    assert repr(TimeoutTimeline(recording(shift=0.7, chunks=9))) == TEXT


def test_html_says_the_same_and_is_escaped() -> None:
    def html(found: Recording) -> str:
        bundle: Any = TimeoutTimeline(found)._repr_mimebundle_()
        assert bundle[0]["text/plain"] == repr(TimeoutTimeline(found))
        return str(bundle[0]["text/html"])

    assert html(recording()) == html(recording(shift=0.7, chunks=9))
    assert html(recording(node="<img src=x>")).count("&lt;img") == 2
    assert "<img" not in html(recording(node="<img src=x>"))


def test_browser_gets_deadlines_pauses_and_the_part_after_the_decision() -> None:
    view = TimeoutTimeline(recording())
    cut, done = view._lanes
    assert (cut["end"], cut["stopped"], cut["idle"], cut["run"]) == (1.0, 2.1, pytest.approx(0.8), None)
    assert cut["signals"][-1] == ["channel write", 2.0, True]
    assert (done["pause"], done["run"], done["idle"]) == (0.5, 10.5, None)


def test_another_recording_is_drawn_instead() -> None:
    view = TimeoutTimeline(recording())
    view.recording = Recording(())
    assert (view._lanes, repr(view)) == ([], "Timeouts: 0 attempts, done")


def test_anything_else_is_refused_with_the_cure() -> None:
    with pytest.raises(TypeError, match="await record"):
        TimeoutTimeline("a run")  # type: ignore[arg-type]
