"""`TimeoutTimeline`: the attempts of a recorded run as lanes along time, in a notebook."""

from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from runbook_lib.timeouts import Attempt, Recording

_HERE = Path(__file__).parent
_COLUMNS = ("node", "attempt", "outcome", "signals", "writes")


class TimeoutTimeline(anywidget.AnyWidget):
    """A recorded run: when each attempt began, what it said, which clock fired, what went on afterwards.

    `recording` is what `runbook_lib.timeouts.record` returned; assign another to draw it instead. The browser shows
    real times. The text and the static HTML hold none, so that two runs of one notebook say the same.
    """

    _esm = _HERE / "timeout_timeline.js"
    _css = _HERE / "timeout_timeline.css"

    _lanes: traitlets.List[Any] = traitlets.List().tag(sync=True)
    _headline = traitlets.Unicode().tag(sync=True)

    def __init__(self, recording: Recording, **traits: Any) -> None:
        self._show(recording)
        super().__init__(_lanes=self._drawn(), _headline=self._head(), **traits)

    @property
    def recording(self) -> Recording:
        """The run that is drawn."""
        return self._recording

    @recording.setter
    def recording(self, recording: Recording) -> None:
        self._show(recording)
        self._lanes, self._headline = self._drawn(), self._head()

    def _show(self, recording: Recording) -> None:
        if not isinstance(recording, Recording):
            raise TypeError(
                f"{type(recording).__name__} is no Recording: pass what `await record(graph, ...)` returned"
            )
        self._recording = recording

    def _head(self) -> str:
        count = len(self._recording.attempts)
        return f"Timeouts: {count} attempt{'s' * (count != 1)}, {self._recording.verdict}"

    def _drawn(self) -> list[dict[str, Any]]:
        return [_lane(self._recording, attempt) for attempt in self._recording.attempts]

    def __repr__(self) -> str:
        rows = [_cells(attempt) for attempt in self._recording.attempts]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(len(_COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self._head(), *(line.rstrip() for line in lines)])

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if bundle else ({"text/plain": repr(self)}, {})
        return {**data, "text/html": self._as_html()}, metadata

    def _as_html(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
        rows = [
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(attempt)) + "</tr>"
            for attempt in self._recording.attempts
        ]
        caption = f"<caption>{escape(self._head())}</caption>"
        return "\n".join([f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>", *rows, "</tbody></table>"])


def _cells(attempt: Attempt) -> tuple[str, ...]:
    return attempt.node, f"attempt {attempt.number}", attempt.outcome, _signals(attempt), _writes(attempt)


def _signals(attempt: Attempt) -> str:
    """Kinds and counts. Of an attempt that was cut off only "repeated": how many there were is up to the clock."""
    if not attempt.counts:
        return "no signal"
    exact = attempt.outcome in ("done", "error", "interrupted")
    repeated = {kind: f"{kind} x{count}" if exact else f"{kind} repeated" for kind, count in attempt.counts.items()}
    return ", ".join(repeated[kind] if count > 1 else kind for kind, count in attempt.counts.items())


def _writes(attempt: Attempt) -> str:
    if not attempt.writes:
        return "writes nothing"
    return f"{'keeps' if attempt.kept else 'drops'} {', '.join(attempt.writes)}"


def _lane(recording: Recording, attempt: Attempt) -> dict[str, Any]:
    """An attempt as the browser draws it; times in seconds since the run began."""
    return {
        "node": attempt.node,
        "number": attempt.number,
        "outcome": attempt.outcome,
        "start": attempt.start_seconds,
        "end": attempt.end_seconds,
        "stopped": attempt.stopped_seconds,
        "pause": recording.back_off_seconds(attempt),
        "run": attempt.run_deadline_seconds,
        "idle": attempt.idle_deadline_seconds,
        "signals": [[signal.kind, signal.at_seconds, signal.late] for signal in attempt.signals],
        "said": _signals(attempt),
        "wrote": _writes(attempt),
    }
