"""`runbook refresh`: the same bytes twice, what nbval would call equal kept, and a failure that costs nothing."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from runbook_lib.cli import app
from runbook_lib.cli._refresh import refresh_one, trimmed
from runbook_lib.cli.notebook import as_text, keep_unchanged, normalise

VARYING = [
    "import time, uuid\nprint(f'took {time.perf_counter() % 9:.6f} s')\nuuid.uuid4()",
    "import sys, ipywidgets\nfor part in 'abc':\n    print(part, end='', flush=True)\nipywidgets.IntSlider(3)",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
]


def written(folder: Path, *sources: str) -> Path:
    path = folder / "sample.ipynb"
    cells = [new_markdown_cell("# Sample"), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, *VARYING)
    assert refresh_one(path)
    first = path.read_bytes()
    assert not refresh_one(path)
    assert path.read_bytes() == first
    saved = nbformat.read(path, as_version=4)
    assert [cell.execution_count for cell in saved.cells[1:]] == [1, 2, 3]
    assert "model_id" not in first.decode()
    assert "widgets" not in saved.metadata
    assert "version" not in saved.metadata.language_info
    assert saved.cells[2].outputs[0].text == "abc"
    assert first.endswith(b"}\n")


def test_a_failing_notebook_stays_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path, "print('fine')", "total = 1 / 0")
    before = path.read_bytes()
    result = CliRunner().invoke(app, ["refresh", str(path)])
    assert result.exit_code == 1
    assert "FAILED, the file is as it was" in result.output
    assert "total = 1 / 0" in result.output
    assert "ZeroDivisionError" in result.output
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["sample.ipynb"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "No such file or directory"),
        (b"# a page", "not a Jupyter notebook"),
        (b"[1]", "not a Jupyter notebook"),
        (b'{"cells": 5}', "not a Jupyter notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5}', "not a Jupyter notebook"),
        (b"\xff\xfe", "not a Jupyter notebook"),
    ],
)
def test_what_is_no_notebook_is_one_line_and_nothing_runs(tmp_path: Path, content: bytes | None, what: str) -> None:
    good, wrong = written(tmp_path, "1 + 1"), tmp_path / "nope.ipynb"
    before = good.read_bytes()
    if content is not None:
        wrong.write_bytes(content)
    result = CliRunner().invoke(app, ["refresh", str(good), str(wrong)])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert result.output.startswith(f"nope.ipynb: {what}. Give the path of a")
    assert good.read_bytes() == before


def test_long_failures_are_trimmed() -> None:
    shown = trimmed("\n".join(f"line {number}" for number in range(100))).splitlines()
    assert (len(shown), shown[0].strip(), shown[-1].strip()) == (25, "line 0", "line 99")
    assert shown[12].strip() == "... 76 lines ..."


def cell(text: str = "", picture: str = "", tags: tuple[str, ...] = (), source: str = "f()") -> Any:
    data = {"text/plain": text, **({"image/png": picture} if picture else {})}
    output = new_output("execute_result", data=data, execution_count=1)
    made = new_code_cell(source, outputs=[output], execution_count=1, metadata={"tags": list(tags)})
    return {**made, "id": "one"}


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (cell("took 0.5 s"), cell("took 0.9 s"), True),
        (cell("3 events"), cell("4 events"), False),
        (cell("took 0.5 s", source="g()"), cell("took 0.9 s"), False),
        (cell("chart", "AAAA"), cell("chart", "BBBB"), False),
        (cell("chart", "AAAA", ("image-varies",)), cell("chart", "BBBB", ("image-varies",)), True),
        (cell("order a b", tags=("nbval-ignore-output",)), cell("order b a", tags=("nbval-ignore-output",)), True),
        (cell("chart", "AAAA", ("nbval-ignore-output",)), cell("chart", tags=("nbval-ignore-output",)), False),
    ],
)
def test_an_old_output_is_kept_when_the_gate_would_call_it_equal(old: Any, new: Any, kept: bool) -> None:
    before, after = (normalise({"cells": [side], "metadata": {}}) for side in (old, new))
    result = keep_unchanged(before, normalise({"cells": [new], "metadata": {}}))
    assert result.cells[0].outputs == (before if kept else after).cells[0].outputs


def test_normal_form_drops_what_nobody_reads_and_is_stable() -> None:
    noisy = new_code_cell(
        "f()\n", execution_count=1, outputs=[new_output("stream", text="a"), new_output("stream", text="b")]
    )
    noisy.metadata = {
        "execution": {"iopub.status.busy": "now"},
        "collapsed": False,
        "tags": ["lesson"],
        "alt": "A line.",
    }
    notebook = new_notebook(
        cells=[noisy], metadata={"widgets": {}, "language_info": {"name": "python", "version": "3.11.7"}}
    )
    once = normalise(notebook)
    assert once.cells[0].metadata == {"tags": ["lesson"], "alt": "A line."}
    assert [output.text for output in once.cells[0].outputs] == ["ab"]
    assert as_text(normalise(nbformat.reads(as_text(once), as_version=4))) == as_text(once)
