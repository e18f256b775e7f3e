"""The rule: every claim whose notebook exists is settled there, once, and the saved card agrees with the register."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from runbook_lib.claims import Claim, register

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@dataclass(frozen=True)
class Settlement:
    """A claim settled by a code cell, and the line its saved card shows ("" when no card was saved)."""

    id: str
    notebook: str
    cell: int
    saved: str


def settlements(path: Path) -> Iterator[Settlement]:
    """Every claim that the notebook's code settles, in order."""
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type != "code":
            continue
        lines = saved_lines(cell.outputs)
        for id in settled_ids(cell.source, f"{path.name}, cell {index}"):
            saved = next((line for line in lines if line.startswith(f"{id} ")), "")
            yield Settlement(id, path.name, index, saved)


def settled_ids(source: str, where: str) -> Iterator[str]:
    """Ids in calls of claim(...) and claims(...); they must be literal, or the rule could not be checked."""
    for node in ast.walk(ast.parse(TransformerManager().transform_cell(source))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "claim":
                yield literal(node.args[0] if node.args else None, where)
            elif node.func.id == "claims":
                settled = [*node.args, *(k.value for k in node.keywords if k.arg != "observed")]
                for table in settled:
                    assert isinstance(table, ast.Dict), f"{where}: claims() needs dict displays"
                    yield from (literal(key, where) for key in table.keys)


def literal(node: ast.expr | None, where: str) -> str:
    assert isinstance(node, ast.Constant), f"{where}: claim ids must be written out"
    assert isinstance(node.value, str), f"{where}: claim ids must be texts"
    return node.value


def saved_lines(outputs: Sequence[Any]) -> list[str]:
    """The lines of text/plain that the cell's saved results show."""
    shown = [output for output in outputs if output.output_type in ("execute_result", "display_data")]
    return [line for output in shown for line in output.data.get("text/plain", "").splitlines()]


def violations(notebooks: Sequence[Path], claims: Sequence[Claim]) -> list[str]:
    """What breaks the rule, one sentence each."""
    found = [each for path in notebooks for each in settlements(path)]
    problems = [
        f"{each.notebook} settles {each.id}, which is not registered"
        for each in found
        if each.id not in {claim.id for claim in claims}
    ]
    for claim in claims:
        mine = [each for each in found if each.id == claim.id]
        here = [path.name for path in notebooks if path.name.startswith(f"{claim.notebook}_")]
        if here and len(mine) != 1:
            problems.append(f"{claim.id} is settled {len(mine)} times; {here[0]} should settle it once")
        problems += [problem for each in mine for problem in _misplaced_or_wrong(each, claim)]
    return problems


def _misplaced_or_wrong(each: Settlement, claim: Claim) -> Iterator[str]:
    where = f"{each.notebook}, cell {each.cell}"
    if not each.notebook.startswith(f"{claim.notebook}_"):
        yield f"{where} settles {claim.id}, which the register gives to notebook {claim.notebook}"
    if not each.saved.startswith(f"{claim.id} {claim.expected}: "):
        yield f"{where}: {claim.id} should be saved as {claim.expected}, not {each.saved[:70]!r}"


def test_every_claim_of_an_existing_notebook_is_settled_once_as_registered() -> None:
    assert violations(NOTEBOOKS, list(register().values())) == []


CLAIM = register()["DC-17"]
CELL = "%matplotlib inline\nresult = await run()\nclaim('DC-17', {'saves space': a < b}, observed=f'{a}')"
SAVED = "DC-17 PARTLY: write this"


def notebook(folder: Path, *cells: tuple[str, str], name: str = "03_delta_channel.ipynb") -> Path:
    book = nbformat.v4.new_notebook()
    for source, text in cells:
        output = nbformat.v4.new_output("execute_result", {"text/plain": text}, execution_count=1)
        book.cells.append(nbformat.v4.new_code_cell(source, execution_count=1, outputs=[output] if text else []))
    path = folder / name
    path.write_text(json.dumps(book))
    return path


def test_the_rule_accepts_one_settlement_that_agrees(tmp_path: Path) -> None:
    table = "claims({'DC-17': {'a': True}}, observed={'DC-17': 'x'})"
    for cell in (CELL, table):
        assert violations([notebook(tmp_path, ("1 + 1", "2"), (cell, SAVED))], [CLAIM]) == []
    assert violations([], [CLAIM]) == []


@pytest.mark.parametrize(
    ("cells", "name", "problem"),
    [
        ([("1 + 1", "2")], "03_a.ipynb", "settled 0 times"),
        ([(CELL, SAVED), (CELL, SAVED)], "03_a.ipynb", "settled 2 times"),
        ([(CELL, SAVED)], "04_a.ipynb", "gives to notebook 03"),
        ([(CELL, "DC-17 HOLDS but the register expects PARTLY: x")], "03_a.ipynb", "should be saved as PARTLY"),
        ([(CELL, "DC-17 PARTLY but the register expects HOLDS: x")], "03_a.ipynb", "should be saved as PARTLY"),
        ([(CELL + ";", "")], "03_a.ipynb", "should be saved as PARTLY, not ''"),
        ([("claims({}, unchecked={'DC-99': 'why'})", "")], "03_a.ipynb", "DC-99, which is not registered"),
    ],
)
def test_the_rule_sees_what_breaks_it(tmp_path: Path, cells: list[tuple[str, str]], name: str, problem: str) -> None:
    assert any(problem in each for each in violations([notebook(tmp_path, *cells, name=name)], [CLAIM]))


@pytest.mark.parametrize("source", ["claim(id, {})", "claims(table)", "claims({x: {}})", "claim()"])
def test_the_rule_needs_literal_ids(tmp_path: Path, source: str) -> None:
    with pytest.raises(AssertionError, match="03_delta_channel"):
        violations([notebook(tmp_path, (source, ""))], [CLAIM])
