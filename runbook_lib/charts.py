"""Matplotlib figures from records: small pictures that also say in words what they show."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

from runbook_lib.checkpoints import Measurement, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 80
# Labels of ticks whose values differ by less than this factor would touch.
_CLOSEST_TICKS = 1.8
# Okabe and Ito's palette, told apart by the colour-blind; markers and line styles say the same without colour.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9")
_MARKERS = ("o", "s", "^", "D", "v", "X")
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A picture (PNG), its `alt` text, and its figures as a table of plain text."""

    png: bytes
    alt: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from base64 import b64encode

        data = {"image/png": b64encode(self.png).decode(), "text/plain": self.text}
        return data, {"image/png": {"alt": self.alt}}


def growth(title: str, measurements: Iterable[Measurement]) -> Chart:
    """Logical MB (10^6 bytes) against turns, one line per measurement, on linear axes and on logarithmic ones.

    Raises `ValueError` for no measurements, or when their sample points differ.
    """
    runs = _all(measurements)

    def size(sample: Sample) -> float:
        return sample.sizes.bytes / 1e6

    figure, (linear, logarithmic) = _panels(title, 2)
    for axes, scale in ((linear, "linear"), (logarithmic, "log")):
        axes.set(xlabel="turns", ylabel="MB, logical", xscale=scale, yscale=scale, title=f"{scale} axes")
        _lines(axes, runs, lambda sample: sample.turn, size)
    _plain_ticks(logarithmic, [sample.turn for sample in runs[0].samples])
    _plain_sizes(logarithmic)
    _legend(figure, linear)
    rows = [(_name(run), [f"{size(sample):.3f}" for sample in run.samples]) for run in runs]
    return _chart(figure, title, "Size in MB, logical, against turns, linear and logarithmic.", _turns(runs), rows)


def per_turn(title: str, measurements: Iterable[Measurement]) -> Chart:
    """What one more turn costs in logical kB (10^3 bytes), against turns; the mean between two samples."""
    runs = _all(measurements)
    figure, (axes,) = _panels(title, 1)
    axes.set(xlabel="turns", ylabel="kB for one more turn", yscale="log")
    rows = []
    for (run, style), _ in zip(_styled(runs), runs, strict=True):
        costs = _increments(run)
        axes.plot([sample.turn for sample in run.samples], costs, label=_name(run), **style)
        rows.append((_name(run), [f"{cost:.2f}" for cost in costs]))
    _plain_sizes(axes)
    _legend(figure, axes)
    return _chart(figure, title, "Bytes that one more turn adds, in kB, against turns.", _turns(runs), rows)


def trade_off(title: str, measurements: Iterable[Measurement]) -> Chart:
    """K against bytes stored and against rows read and statements sent at a restore, at each run's last turn.

    Raises `ValueError` when a measurement has no K.
    """
    runs = sorted(_all(measurements), key=lambda run: run.k or 0)
    if any(run.k is None for run in runs):
        raise ValueError("trade_off draws delta channels; a plain channel has no K")
    ks = [run.k or 0 for run in runs]
    rows: list[tuple[str, list[str]]] = []
    figure, panels = _panels(title, 2)
    figures: tuple[tuple[str, Callable[[Sample], float]], ...] = (
        ("MB stored, logical", lambda sample: sample.sizes.bytes / 1e6),
        ("rows read", lambda sample: sample.restore.rows_read),
        ("statements sent", lambda sample: sample.restore.statements),
    )
    for (name, value), axes, colour, marker, line in zip(
        figures, (panels[0], panels[1], panels[1]), _COLOURS, _MARKERS, _LINES, strict=False
    ):
        values = [value(run.last) for run in runs]
        axes.plot(ks, values, label=name, color=colour, marker=marker, linestyle=line)
        rows.append((name, [f"{each:.3f}" if name.startswith("MB") else f"{each:,.0f}" for each in values]))
    for axes in panels:
        axes.set(xlabel="K, updates between snapshots", xscale="log", ylim=(0, None))
        _plain_ticks(axes, ks)
    _legend(figure, *panels)
    return _chart(
        figure, title, "Bytes fall as K grows, rows read rise, statements stay.", [f"K={k}" for k in ks], rows
    )


def _all(measurements: Iterable[Measurement]) -> list[Measurement]:
    runs = list(measurements)
    if not runs:
        raise ValueError("nothing to draw: pass at least one measurement")
    return runs


def _name(run: Measurement) -> str:
    return f"{run.saver}, {run.label}"


def _turns(runs: Sequence[Measurement]) -> list[str]:
    if len({tuple(sample.turn for sample in run.samples) for run in runs}) > 1:
        raise ValueError("measurements of one chart need the same sample points")
    return [f"{sample.turn} turns" for sample in runs[0].samples]


def _increments(run: Measurement) -> list[float]:
    before = [(0, 0), *((sample.turn, sample.sizes.bytes) for sample in run.samples)]
    return [(size - smaller) / (turn - earlier) / 1e3 for (earlier, smaller), (turn, size) in pairwise(before)]


def _styled(runs: Sequence[Measurement]) -> Iterable[tuple[Measurement, dict[str, Any]]]:
    for run, color, marker, linestyle in zip(runs, cycle(_COLOURS), cycle(_MARKERS), cycle(_LINES), strict=False):
        yield run, {"color": color, "marker": marker, "linestyle": linestyle, "markersize": 4}


def _lines(
    axes: "Axes", runs: Sequence[Measurement], x: Callable[[Sample], float], y: Callable[[Sample], float]
) -> None:
    for run, style in _styled(runs):
        axes.plot([x(each) for each in run.samples], [y(each) for each in run.samples], label=_name(run), **style)


def _plain_ticks(axes: "Axes", values: Iterable[int]) -> None:
    """Label a logarithmic x-axis at the values drawn, in plain numbers, leaving out those too close to read."""
    shown: list[int] = []
    for value in sorted(set(values), reverse=True):
        if not shown or value * _CLOSEST_TICKS <= shown[-1]:
            shown.append(value)
    axes.set_xticks(shown, [f"{value:,}" for value in shown])
    axes.minorticks_off()


def _plain_sizes(axes: "Axes") -> None:
    """Label a logarithmic y-axis at 1, 2 and 5 of each power of ten, in plain numbers."""
    from matplotlib.ticker import LogLocator

    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def _legend(figure: "Figure", *panels: "Axes") -> None:
    """One legend below all panels, where it covers no line; the figure grows by its rows."""
    lines = [line for axes in panels for line in axes.get_lines()]
    columns = 1 + len(figure.axes)
    figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(lines) // columns))
    figure.legend(handles=lines, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


def _panels(title: str, count: int) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * count, 3), dpi=DPI, layout="constrained", facecolor="#fdfdfd")
    figure.suptitle(title, fontsize=11)
    panels = [figure.add_subplot(1, count, place + 1) for place in range(count)]
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure, panels


def _chart(
    figure: "Figure", title: str, says: str, columns: Sequence[str], rows: Sequence[tuple[str, list[str]]]
) -> Chart:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    table = [("", list(columns)), *rows]
    first = max(len(name) for name, _ in table)
    widths = [max(len(cells[column]) for _, cells in table) for column in range(len(columns))]
    lines = [
        "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])
        for name, cells in table
    ]
    return Chart(buffer.getvalue(), f"{title}. {says} The table printed with it has the figures.", "\n".join(lines))
