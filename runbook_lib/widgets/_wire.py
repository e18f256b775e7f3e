"""Events as JSON: any event made safe to send and to draw, and recordings as JSON lines."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def to_json(value: object) -> str:
    """Return compact JSON; characters stay as they are unless a lone surrogate forces escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if _is_unicode(text) else json.dumps(value, separators=(",", ":"))


def as_event(value: object) -> Event:
    """Return one event in camelCase wire form, holding only what JSON can carry.

    Takes a dict, or an event object of the `ag-ui-protocol` package. Anything else, and any field that
    JSON cannot carry (NaN, a live object, a loop), is kept as text: a viewer shows faults, never hides them.
    """
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", by_alias=True, exclude_none=True)
    if not isinstance(value, Mapping):
        return {"type": "NOT_AN_EVENT", "value": _field(value)}
    try:
        plain: Event = json.loads(to_json(dict(value)))
    except (TypeError, ValueError, RecursionError):
        plain = {str(key): _field(field) for key, field in value.items()}
    return plain


def _field(value: object) -> Any:
    try:
        return json.loads(to_json(value))
    except (TypeError, ValueError, RecursionError):
        return _as_text(value)


def _as_text(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} without a repr: {type(error).__name__}>"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_recording(path: str | Path, events: Iterable[Event]) -> None:
    """Write one event per line as UTF-8 JSON; the file is replaced only once all of it has been written."""
    target = Path(path)
    draft = target.with_name(target.name + ".part")
    with draft.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(to_json(event) + "\n" for event in events)
    draft.replace(target)


def read_recording(path: str | Path) -> list[Event]:
    """Return the events of a JSON-lines recording; blank lines are skipped.

    Raises `ValueError` naming the line when a line is not a JSON object.
    """
    with Path(path).open(encoding="utf-8") as lines:
        return [_read_line(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]


def _read_line(line: str, number: int, path: str | Path) -> Event:
    try:
        event = json.loads(line)
    except ValueError as error:
        event = error
    if isinstance(event, dict):
        return as_event(event)
    raise ValueError(
        f"Line {number} of {Path(path).name} is not an AG-UI event (one JSON object per line). "
        "Usually the file was cut short or is not a recording; remove the line or record the run again."
    )
