"""`EventStreamView`: a run's AG-UI events as lanes and as a list, in a notebook."""

import asyncio
import time
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import anywidget
import traitlets

from runbook_lib.widgets._lanes import KINDS, Lane, StreamReader, one_line
from runbook_lib.widgets._static import Violation, as_html, as_text, lane_steps
from runbook_lib.widgets._wire import Event, as_event, read_recording, to_json, write_recording

_HERE = Path(__file__).parent


class _Open:
    """`EventStreamView.open(path)` opens a recording; on a view, `open` stays the widget's own."""

    def __get__(self, view: "EventStreamView | None", owner: "type[EventStreamView]") -> Callable[..., Any]:
        if view is not None:
            open_comm: Callable[..., Any] = super(EventStreamView, view).open
            return open_comm

        def open_recording(path: str | Path) -> "EventStreamView":
            """Return a view of a JSON-lines recording; raises `ValueError` naming a line that is no event."""
            return owner(read_recording(path))

        return open_recording


class EventStreamView(anywidget.AnyWidget):
    """A run's AG-UI events as lanes along time, as a list, and one by one as JSON.

    Python owns the state and says what belongs to what; the browser draws. Events may be dicts in camelCase
    wire form or `ag_ui.core` objects; unknown types are shown, never refused. `violations` are objects or
    dicts with `index`, `rule` and `message`, as `runbook_lib.ag_ui.check_events` returns them; an empty list
    says that none were found, None that nobody checked.
    """

    _esm = _HERE / "event_stream.js"
    _css = _HERE / "event_stream.css"

    # On the wire these two numbers are packets, made when they are sent, so that appending stays linear
    # and a page opened later still gets everything.
    _recording = traitlets.Int(0).tag(sync=True, to_json=lambda _, view: view._packet(0))
    _batch = traitlets.Int(-1).tag(sync=True, to_json=lambda start, view: view._packet(start))
    _violations = traitlets.Any(None).tag(sync=True)

    cursor = traitlets.Int(-1, help="Index of the selected event; -1 stays with the latest.").tag(sync=True)
    kinds = traitlets.List(traitlets.Enum(KINDS), list(KINDS), help="Kinds of events listed.").tag(sync=True)
    speed = traitlets.Float(1.0, help="Playback speed; 1 plays any run in 3 to 20 seconds.").tag(sync=True)
    axis = traitlets.Enum(
        ("time", "order"), "time", help="What the lanes run along; order when an event has no timestamp."
    ).tag(sync=True)
    zoom = traitlets.Float(1.0, help="How many times the lanes are stretched; 1 shows the whole run.").tag(sync=True)

    def __init__(
        self, events: Iterable[object] = (), violations: Iterable[object] | None = None, **traits: Any
    ) -> None:
        self._load(events)
        super().__init__(**traits)
        self.violations = violations

    open = _Open()

    def save(self, path: str | Path) -> Path:
        """Write the events as JSON lines (UTF-8, one event per line) and return the path."""
        write_recording(path, self._events)
        return Path(path)

    @property
    def events(self) -> list[Event]:
        """The events so far, in camelCase wire form. Assign to replace them all."""
        return list(self._events)

    @events.setter
    def events(self, events: Iterable[object]) -> None:
        self._load(events)
        self.cursor = self._batch = -1
        self.violations = None
        self._recording += 1

    @property
    def violations(self) -> list[Violation] | None:
        """The broken rules marked in the view, None if not checked. Assign what `check_events` returned."""
        return None if self._violations is None else [Violation(**each) for each in self._violations]

    @violations.setter
    def violations(self, violations: Iterable[object] | None) -> None:
        events = len(self._events)
        self._violations = None if violations is None else [vars(_as_violation(each, events)) for each in violations]

    @property
    def lanes(self) -> list[Lane]:
        """The lanes so far, in order of their first event."""
        return self._reader.lanes()

    def append(self, event: object) -> None:
        """Add one event to the end; a view at the latest event stays with it."""
        self._add([event])

    def extend(self, events: Iterable[object], *, interval: float = 0.05) -> Self:
        """Add events as an iterable yields them, sent together at most every `interval` seconds."""
        pending: list[object] = []
        sent_at = time.monotonic()
        try:
            for event in events:
                pending.append(event)
                if time.monotonic() - sent_at >= interval:
                    self._flush(pending)
                    sent_at = time.monotonic()
        finally:
            self._flush(pending)
        return self

    async def follow(self, events: AsyncIterable[object], *, interval: float = 0.05) -> Self:
        """Add events as an async iterable yields them, sent together every `interval` seconds.

        Returns the view when the run is over. What arrived before an error or a cancellation is kept.
        """
        pending: list[object] = []
        flushing = asyncio.create_task(self._flush_regularly(pending, interval))
        try:
            async for event in events:
                pending.append(event)
        finally:
            flushing.cancel()
            self._flush(pending)
        return self

    async def _flush_regularly(self, pending: list[object], interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            self._flush(pending)

    def _flush(self, pending: list[object]) -> None:
        batch, pending[:] = pending[:], []
        if batch:
            self._add(batch)

    def _load(self, events: Iterable[object]) -> None:
        self._events = [as_event(event) for event in events]
        self._reader = StreamReader(self._events)

    def _add(self, events: Iterable[object]) -> None:
        start = len(self._events)
        for event in map(as_event, events):
            self._events.append(event)
            self._reader.add(event)
        self._batch = start

    def _packet(self, start: int) -> str:
        """Everything the browser needs for the events from `start` on, as JSON text; "" before the first batch."""
        if start < 0:
            return ""
        rows = self._reader.rows[start:]
        lanes = {place: _drawn(self._reader.lane(place)) for place in sorted({row.lane for row in rows})}
        fields = [[row.type, row.kind, row.phase, row.lane, row.text] for row in rows]
        packet = {"revision": self._recording, "start": start, "events": self._events[start:]}
        return to_json({**packet, "rows": fields, "lanes": lanes})

    def __repr__(self) -> str:
        return as_text(self._reader, self.violations)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if bundle else ({"text/plain": repr(self)}, {})
        return {**data, "text/html": as_html(self._reader, self.violations)}, metadata


def _drawn(lane: Lane) -> dict[str, Any]:
    """A lane as the browser draws it."""
    names = ("name", "short_name", "family", "detail", "agent", "order")
    marks = ("first", "last", "start", "end", "result", "failed")
    return {"steps": lane_steps(lane)} | {name: getattr(lane, name) for name in names + marks}


def _as_violation(found: object, events: int) -> Violation:
    """Accept what a checker returns; an index outside the events concerns the whole run."""
    fields = (
        found if isinstance(found, Mapping) else {name: getattr(found, name, None) for name in Violation.__match_args__}
    )
    index = fields.get("index")
    inside = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < events
    return Violation(
        index if inside else None,
        one_line(str(fields.get("rule") or "violation"), 80),
        one_line(str(fields.get("message") or ""), 400),
    )
