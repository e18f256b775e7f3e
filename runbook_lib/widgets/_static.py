"""A run's lanes as plain text and as static HTML: free of times, ids and addresses, so stable."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from runbook_lib.widgets._lanes import Lane, Row, StreamReader, one_line

_LANES = 60
_STEPS = 12
_NAME = 28
_ORDER = 120
TOOL_RUNS = "tool is running"


@dataclass(frozen=True)
class Violation:
    """A broken rule: the event's index (None for the whole run), the rule's name and what it says."""

    index: int | None
    rule: str
    message: str


def lane_steps(lane: Lane) -> str:
    """Return the lane's phases in order, such as `START, ARGS x3, END, tool is running, RESULT`."""
    names = [f"{phase} x{count}" if count > 1 else phase for phase, count in lane.steps]
    if len(names) > _STEPS:
        names[_STEPS - 2 : -1] = [f"… {len(names) - _STEPS + 1} more"]
    if lane.is_waiting:
        names.append("no RESULT")
    elif lane.family == "call" and "END" in names and names[-1] == "RESULT":
        names.insert(names.index("END") + 1, TOOL_RUNS)
    return one_line(", ".join(names), 600)


def lane_content(lane: Lane, limit: int = 70) -> str:
    """Return what the lane says: a message's text, or a call's arguments and its result."""
    parts = [f"{'error: ' if lane.failed else ''}{lane.answer}"] if lane.answer else []
    return one_line(" → ".join([lane.text, *parts] if lane.text else parts), limit)


def as_text(reader: StreamReader, violations: Sequence[Violation] | None) -> str:
    """Return the table of lanes for `text/plain`: one line per lane, then one per violation.

    None for `violations` means that nobody checked: nothing is said of them.
    """
    lanes = reader.lanes_in_reading_order()
    shown = lanes[:_LANES]
    names = [_indented_name(lane) for lane in shown]
    width = min(max(map(len, names), default=0), _NAME)
    lines = [_headline(reader, violations)]
    lines += [_text_line(name.ljust(width), lane) for name, lane in zip(names, shown, strict=True)]
    if len(lanes) > len(shown):
        lines.append(f"… and {len(lanes) - len(shown)} more lanes")
    return "\n".join(lines + [f"✕ {_violation_text(each, reader)}" for each in violations or ()])


def as_html(reader: StreamReader, violations: Sequence[Violation] | None) -> str:
    """Return the static HTML: the lanes, the violations and the order of events, all of it escaped."""
    lanes = reader.lanes_in_reading_order()
    rows = [_html_row(lane) for lane in lanes[:_LANES]]
    if len(lanes) > _LANES:
        rows.append(f'<tr><td colspan="3">… and {len(lanes) - _LANES} more lanes</td></tr>')
    head = '<tr><th scope="col">lane</th><th scope="col">events</th><th scope="col">content</th></tr>'
    return "\n".join(
        [
            f"<table><caption>{escape(_headline(reader, violations))}</caption>",
            f"<thead>{head}</thead><tbody>",
            *rows,
            "</tbody></table>",
            *_html_violations(reader, violations or ()),
            f"<details><summary>Events in order</summary><p>{escape(_order(reader))}</p></details>",
        ]
    )


def _headline(reader: StreamReader, violations: Sequence[Violation] | None) -> str:
    counts = [(len(reader.rows), "event"), (len(reader.lanes()), "lane")]
    if violations is not None:
        counts.append((len(violations), "violation"))
    return "AG-UI run: " + ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def _indented_name(lane: Lane) -> str:
    return f"  {lane.name}" if lane.agent else lane.name


def _text_line(name: str, lane: Lane) -> str:
    content = lane_content(lane)
    return f"{name}  {lane_steps(lane)}" + (f"  | {content}" if content else "")


def _violation_text(violation: Violation, reader: StreamReader) -> str:
    if violation.index is None:
        return f"{violation.rule}: {violation.message}"
    row = reader.rows[violation.index]
    place = f"event {violation.index}, {row.type} of {reader.lane(row.lane).name}"
    return f"{violation.rule} at {place}: {violation.message}"


def _html_row(lane: Lane) -> str:
    name = f"↳ {lane.name} ({lane.agent})" if lane.agent else lane.name
    cells = (lane_steps(lane), lane_content(lane, 160))
    body = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(name)}</th>{body}</tr>'


def _html_violations(reader: StreamReader, violations: Iterable[Violation]) -> list[str]:
    items = [f"<li>✕ {escape(_violation_text(each, reader))}</li>" for each in violations]
    return ["<ul>", *items, "</ul>"] if items else []


def _order(reader: StreamReader) -> str:
    """Runs of equal events in order, such as `call 1 ARGS x3`: what came between what."""
    names = [lane.short_name for lane in reader.lanes()]
    runs = [_order_step(names, list(rows)) for _, rows in groupby(reader.rows, lambda row: (row.lane, row.phase))]
    more = [f"… {len(runs) - _ORDER} more"] if len(runs) > _ORDER else []
    return " → ".join(runs[:_ORDER] + more)


def _lane_and_phase(row: Row) -> tuple[int, str]:
    return row.lane, row.phase


def _order_step(names: Sequence[str], rows: Sequence[Row]) -> str:
    count = f" x{len(rows)}" if len(rows) > 1 else ""
    return f"{names[rows[0].lane]} {rows[0].phase}{count}"
