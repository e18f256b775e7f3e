"""The typed consumer of notebook 05, checked by mypy: the cell's own code passes, a mistake in each branch does not."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "05_streaming_v2.ipynb"
CALLS = """
from typing import Any, cast
from langgraph.graph.state import CompiledStateGraph

desk = cast("CompiledStateGraph[Letter, None, Letter, Letter]", None)
for part in desk.stream({}, stream_mode=["values"], version="v2"):
    line(part)
"""
MISTAKES = {
    "values: no such key of the state": ("part['data'].get('answer', 'nothing')", "part['data']['anwser']"),
    "messages: a pair, not a message": ("message, metadata = part[\"data\"]", "message = metadata = part['data'].text"),
    "updates: interrupts are not beside data": ("{', '.join(part['data'])} wrote", "{part['interrupts']} wrote"),
    "an unknown mode": ('part["type"] == "updates"', 'part["type"] == "update"'),
    "an unknown version": ('version="v2"', 'version="v9"'),
}  # fmt: skip


def typed_cell() -> str:
    """The source of the cell tagged `typed`."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    [cell] = [cell for cell in cells if "typed" in cell.metadata.get("tags", [])]
    return str(cell.source)


@pytest.mark.drill
def test_mypy_accepts_the_cell_and_finds_a_mistake_in_each_branch(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy comes with ./runbook test --all")
    good = typed_cell() + CALLS
    files = {"good": tmp_path / "good.py"}
    files["good"].write_text(good, "utf-8")
    for number, (right, wrong) in enumerate(MISTAKES.values()):
        assert right in good
        files[f"bad_{number}"] = tmp_path / f"bad_{number}.py"
        files[f"bad_{number}"].write_text(good.replace(right, wrong), "utf-8")
    report, errors, _ = api.run(
        ["--strict", "--config-file", "", "--cache-dir", str(tmp_path), *map(str, files.values())]
    )
    assert errors == ""
    faulty = {line.partition(".py:")[0].rpartition("/")[2] for line in report.splitlines() if ": error:" in line}
    assert faulty == set(files) - {"good"}, report
