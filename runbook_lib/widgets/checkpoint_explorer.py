"""`CheckpointExplorer`: what a thread will take, by the formula, with measured points on the curve."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from runbook_lib.checkpoints import Kind, Measurement, Prediction, predict

_HERE = Path(__file__).parent
_POINTS = 24
_COLUMNS = ("turns", "full bytes", "delta bytes", "full rows", "delta rows", "rows read", "statements")


class CheckpointExplorer(anywidget.AnyWidget):
    """Sliders for turns, message size, K and saver; predicted curves of a plain and a delta channel.

    `measured` are measurements of `runbook_lib.checkpoints.measure`: those of the chosen saver, message size and
    nodes are drawn as points. The browser draws; the figures are Python's.
    """

    _esm = _HERE / "checkpoint_explorer.js"
    _css = _HERE / "checkpoint_explorer.css"

    saver = traitlets.Enum(("memory", "sqlite", "postgres"), "sqlite", help="Where the thread is kept.").tag(sync=True)
    turns = traitlets.Int(500, min=2, max=5000, help="Turns of the thread.").tag(sync=True)
    message_bytes = traitlets.Int(200, min=0, max=20_000, help="Bytes of text in each message.").tag(sync=True)
    k = traitlets.Int(50, min=1, max=5000, help="snapshot_frequency of the delta channel.").tag(sync=True)
    nodes = traitlets.Int(1, min=1, max=10, help="Nodes a turn runs.").tag(sync=True)

    _curves: traitlets.List[Any] = traitlets.List().tag(sync=True)
    _points: traitlets.List[Any] = traitlets.List().tag(sync=True)
    _summary = traitlets.Unicode().tag(sync=True)

    def __init__(self, measured: Iterable[Measurement] = (), **traits: Any) -> None:
        self._measured = tuple(measured)
        super().__init__(**traits)
        self._update()

    @traitlets.observe("saver", "turns", "message_bytes", "k", "nodes")
    def _changed(self, _: Any) -> None:
        self._update()

    def predictions(self, turns: int) -> tuple[Prediction, Prediction]:
        """The plain and the delta channel after so many turns, at the present settings."""
        saver: Kind = self.saver  # type: ignore[assignment]
        plain, delta = (predict(saver, turns, self.message_bytes, k=k, nodes=self.nodes) for k in (None, self.k))
        return plain, delta

    def _update(self) -> None:
        steps = sorted({max(1, round(self.turns * step / _POINTS)) for step in range(1, _POINTS + 1)})
        pairs = [(turns, *self.predictions(turns)) for turns in steps]
        self._curves = [[turns, plain.sizes.bytes, delta.sizes.bytes] for turns, plain, delta in pairs]
        self._points = [
            [sample.turn, sample.sizes.bytes, run.label]
            for run in self._measured
            for sample in run.samples
            if self._shows(run) and sample.turn <= self.turns
        ]
        self._summary = self._head()

    def _shows(self, run: Measurement) -> bool:
        same = (run.saver, run.message_bytes, run.nodes) == (self.saver, self.message_bytes, self.nodes)
        return same and run.k in (None, self.k)

    def _head(self) -> str:
        plain, delta = self.predictions(self.turns)
        ratio = plain.sizes.bytes / delta.sizes.bytes
        return (
            f"{self.saver}, {self.turns} turns of {self.nodes + 1} messages with {self.message_bytes} bytes of text: "
            f"full {plain.sizes.bytes:,} bytes, K={self.k} {delta.sizes.bytes:,} bytes ({ratio:.1f} times less), "
            f"{delta.restore.rows_read:,} rows in {delta.restore.statements} statements to restore"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for turns in sorted({max(1, self.turns * part // 4) for part in range(1, 5)}):
            plain, delta = self.predictions(turns)
            figures = (turns, plain.sizes.bytes, delta.sizes.bytes, plain.sizes.rows, delta.sizes.rows)
            rows.append(tuple(f"{n:,}" for n in (*figures, delta.restore.rows_read, delta.restore.statements)))
        return rows

    def __repr__(self) -> str:
        table = [_COLUMNS, *self._rows()]
        widths = [max(len(row[column]) for row in table) for column in range(len(_COLUMNS))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join([self._head(), *lines])

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if bundle else ({"text/plain": repr(self)}, {})
        return {**data, "text/html": self._as_html()}, metadata

    def _as_html(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
        rows = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in self._rows()]
        caption = f"<caption>{escape(self._head())}</caption>"
        return "\n".join([f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>", *rows, "</tbody></table>"])
