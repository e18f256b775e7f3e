"""What nbval lets through and what it stops, with this project's settings: two notebooks named for the verdict."""

import re
import subprocess
import sys
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from notebook_rules import executed_in_order

from runbook_lib.cli.project import ROOT


def stream(text: str, name: str = "stdout") -> Any:
    return new_output("stream", name=name, text=text)


def result(**data: str) -> Any:
    return new_output("display_data", data={kind.replace("_", "/"): value for kind, value in data.items()})


# Cells as saved, with an output that this run of the cell still has: "name": (source, saved output).
EVERY_CELL_PASSES = {
    "not executed, whatever it prints": ("print('anything')", None),
    "same text": ("print('a')", stream("a\n")),
    "measured duration": ("import time; print(f'took {time.perf_counter() % 9:.3f} s')", stream("took 2.125 s\n")),
    "clock time": ("import datetime; print(datetime.datetime.now().isoformat())", stream("2026-11-30T10:53:00.125\n")),
    "random id": ("import uuid; print(uuid.uuid4())", stream("0b4f1d0c-3a53-4ef4-9d5f-8c3f0c1d2e3f\n")),
    "port": ("import os; print(f'http://127.0.0.1:{9000 + os.getpid() % 99}/')", stream("http://127.0.0.1:8123/\n")),
    "picture": (
        "import base64, os\ndata = {'image/png': base64.b64encode(os.urandom(90)).decode(), 'text/plain': 'chart'}\n"
        "display(data, raw=True)",
        result(image_png="iVBORw0KGgo=", text_plain="chart"),
    ),
    "widget, saved without its model": (
        "import ipywidgets\nclass View(ipywidgets.HTML):\n    def __repr__(self): return 'View(3 events)'\n"
        "display(View())",
        result(text_plain="View(3 events)"),
    ),
}
# Cells whose saved output is no longer what they give.
EVERY_CELL_FAILS = {
    "changed text": ("print('b')", stream("a\n")),
    "changed whole number of seconds": ("print('timeout 3 s')", stream("timeout 2 s\n")),
    "changed HTML": (
        "display({'text/html': '<b>2</b>', 'text/plain': 'x'}, raw=True)",
        result(text_html="<b>1</b>", text_plain="x"),
    ),
    "changed SVG": (
        "display({'image/svg+xml': '<svg>2</svg>', 'text/plain': 'x'}, raw=True)",
        result(**{"image_svg+xml": "<svg>1</svg>", "text_plain": "x"}),
    ),
    "address": ("class A: pass\ndisplay(A())", result(text_plain="<__main__.A at 0x7f00aa11bb22>")),
    "new error": ("print('a'); 1/0", stream("a\n")),
    "new stderr": ("import sys; print('a'); print('old', file=sys.stderr)", stream("a\n")),
    "new warning": ("import warnings; print('a'); warnings.warn('old')", stream("a\n")),
    "missing output": ("x = 1", stream("a\n")),
    "connection to another machine": (
        "import urllib.request\ntry: urllib.request.urlopen('http://192.0.2.1/', timeout=1)\n"
        "except OSError: pass\nprint('a')",
        stream("a\n"),
    ),
}

NOTEBOOKS = {"every_cell_passes": EVERY_CELL_PASSES, "every_cell_fails": EVERY_CELL_FAILS}
UNUSED_PLUGINS = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "langsmith_plugin", "xdist")]


def saved(samples: dict[str, tuple[str, Any]]) -> Any:
    """Return a notebook of these cells, as if executed in order; one saved without output was not executed."""
    cells = [new_code_cell(source, outputs=[output] if output else []) for source, output in samples.values()]
    for count, cell in enumerate(cells, start=1):
        cell.execution_count = count if cell.outputs else None
    return new_notebook(cells=cells)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Run nbval as this project does; return PASSED or FAILED for each cell of each notebook."""
    folder = tmp_path_factory.mktemp("gate")
    for name, samples in NOTEBOOKS.items():
        nbformat.write(saved(samples), folder / f"{name}.ipynb")
    options = ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval_sanitize.cfg'}"]
    command = [sys.executable, "-m", "pytest", "-v", *UNUSED_PLUGINS, "--rootdir", str(folder), *options, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    found = re.findall(r"^(\w+)\W+ipynb::Cell \d+ ([A-Z]+)", run.stdout, re.MULTILINE)
    return {name: [verdict for notebook, verdict in found if notebook == name] for name in NOTEBOOKS}


@pytest.mark.parametrize(("name", "verdict"), [("every_cell_passes", "PASSED"), ("every_cell_fails", "FAILED")])
def test_gate(name: str, verdict: str, verdicts: dict[str, list[str]]) -> None:
    assert dict(zip(NOTEBOOKS[name], verdicts[name], strict=True)) == dict.fromkeys(NOTEBOOKS[name], verdict)


def test_what_the_gate_does_not_see_is_stopped_by_a_rule() -> None:
    unexecuted = saved({"not executed": EVERY_CELL_PASSES["not executed, whatever it prints"]})
    assert executed_in_order(unexecuted) == ["execution counts are [None]"]
