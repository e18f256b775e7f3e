"""The saved notebooks keep the rules; and each rule is caught when it is broken."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import RULES, Rule

from runbook_lib.cli.notebook import as_text, normalise
from runbook_lib.cli.project import ROOT, notebook_paths

OPENING = "# Build an agent\n\nYou will **do** this, **learn** that, and **need** nothing."
NAMES = [path.name for path in notebook_paths()]


def test_the_first_chapters_exist() -> None:
    assert {"01_deep_agent.ipynb", "02_ag_ui_events.ipynb"} <= set(NAMES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", notebook_paths(), ids=NAMES)
def test_notebook_keeps_the_rule(path: Path, rule: Rule) -> None:
    problems = rule(nbformat.read(path, as_version=4))
    assert problems == [], "\n".join([rule.__doc__ or "", *problems])


@pytest.mark.parametrize("path", notebook_paths(), ids=NAMES)
def test_notebook_is_saved_in_its_normal_form(path: Path) -> None:
    text = path.read_text("utf-8")
    assert as_text(normalise(nbformat.reads(text, as_version=4))) == text, f"save it with: runbook refresh {path.name}"


def stream(text: str, name: str = "stdout") -> Any:
    return new_output("stream", name=name, text=text)


def result(data: dict[str, str], **metadata: Any) -> Any:
    return new_output("display_data", data=data, metadata=metadata)


def notebook(*cells: Any, opening: str = OPENING) -> Any:
    """Return a notebook that keeps every rule, with these cells added and counted as executed."""
    made = new_notebook(cells=[new_markdown_cell(opening), *cells])
    for count, cell in enumerate((cell for cell in made.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = count
    return made


def code(source: str = "1 + 1", *outputs: Any, **metadata: Any) -> Any:
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def codes(count: int) -> list[Any]:
    return [code() for _ in range(count)]


def unexecuted() -> Any:
    made = notebook(code())
    made.cells[1].execution_count = None
    return made


def executed_twice() -> Any:
    made = notebook(code(), code())
    made.cells[1].execution_count = 3
    return made


PICTURE = {"image/png": "iVBORw0KGgo="}
HOME, ROOT_HOME = "/" + "home", "/" + "root"
IGNORED = {"tags": ["nbval-ignore-output"], "reason": "the scheduler decides the order"}
BROKEN = {
    "unexecuted": ("executed_in_order", unexecuted()),
    "executed twice": ("executed_in_order", executed_twice()),
    "empty cell": ("no_empty_code_cell", notebook(code(" "))),
    "error": ("no_errors", notebook(code("1/0", new_output("error", ename="E", evalue="", traceback=[])))),
    "stderr": ("no_stderr", notebook(code("warn()", stream("old", "stderr")))),
    "path in source": ("nothing_of_this_machine", notebook(code(f"open('{HOME}/kim/a.txt')"))),
    "path in output": ("nothing_of_this_machine", notebook(code("where()", stream(f"File {ROOT_HOME}/x.py")))),
    "path in HTML": ("nothing_of_this_machine", notebook(code("w()", result({"text/html": "<b>C:\\Users\\kim</b>"})))),
    "address": ("nothing_of_this_machine", notebook(code("a", result({"text/plain": "<A at 0x7f00aa11bb22>"})))),
    "much text": ("small", notebook(code("p()", stream("x" * 60_001)))),
    "big picture": ("small", notebook(code("p()", result({"image/png": "x" * 500_001})))),
    "no title": ("headings_in_order", notebook(opening="## Do, learn, need")),
    "two titles": ("headings_in_order", notebook(new_markdown_cell("# Another"))),
    "skipped level": ("headings_in_order", notebook(new_markdown_cell("### Deep"))),
    "no opening": ("says_do_learn_need", notebook(opening="# Do it\n\n**Learn** what you need.")),
    "four in a row": ("prose_between_code", notebook(code(), code(), code(), code())),
    "long cell": ("short_cells", notebook(code("x = 1\n" * 26))),
    "Markdown picture": ("images_have_alt_text", notebook(new_markdown_cell("![](a.png)"))),
    "HTML picture": ("images_have_alt_text", notebook(code("h()", result({"text/html": "<img src='a.png'>"})))),
    "drawn picture": ("images_have_alt_text", notebook(code("draw()", result(PICTURE)))),
    "ignored too often": ("few_and_reasoned_exceptions", notebook(code("a()", **IGNORED))),
    "ignored without reason": (
        "few_and_reasoned_exceptions",
        notebook(*codes(19), code("a()", tags=["nbval-ignore-output"])),
    ),
    "skipped": ("few_and_reasoned_exceptions", notebook(*codes(19), code("a()", tags=["nbval-skip"]))),
    "ignored in a comment": ("few_and_reasoned_exceptions", notebook(code("# NBVAL_IGNORE_OUTPUT\na()"))),
    "warning filter": ("no_warning_filters", notebook(code("import warnings\nwarnings.simplefilter('ignore')"))),
    "function": ("no_hidden_library", notebook(code("async def f():\n    return 1"))),
    "asyncio.run": ("no_asyncio_run", notebook(code("import asyncio\nasyncio.run(f())"))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_caught(name: str) -> None:
    expected, broken = BROKEN[name]
    caught = {rule.__name__ for rule in RULES if rule(broken)}
    assert expected in caught


def test_every_rule_has_a_broken_example() -> None:
    assert {expected for expected, _ in BROKEN.values()} == {rule.__name__ for rule in RULES}


def test_a_good_notebook_passes_every_rule() -> None:
    good = notebook(
        code("print('hello')", stream("hello\n")),
        new_markdown_cell("## Draw it\n\n![a lane per message](lanes.png)\n\n```bash\n# no heading\n```"),
        code("draw()", result(PICTURE), alt="Two bars: the first is twice the second."),
        code("%matplotlib inline\ndraw()", result(PICTURE, **{"image/png": {"alt": "One line that rises."}})),
        new_markdown_cell("### Write one"),
        code("def f():\n    return 1\n" + "x = 1\n" * 30, tags=["lesson"]),
        code("await answer()"),
        *[cell for extra in codes(16) for cell in (new_markdown_cell("More."), extra)],
        code("race()", **IGNORED),
    )
    assert {rule.__name__: rule(good) for rule in RULES if rule(good)} == {}


def test_ignored_cells_stay_few() -> None:
    rule = next(rule for rule in RULES if rule.__name__ == "few_and_reasoned_exceptions")
    assert rule(notebook(*codes(19), code("a()", **IGNORED))) == []
    assert rule(notebook(*codes(18), code("a()", **IGNORED))) == ["1 of 19 code cells are exempt from comparison"]


def test_notebooks_are_found_where_the_tests_look() -> None:
    assert all(path.parent == ROOT / "notebooks" for path in notebook_paths())
