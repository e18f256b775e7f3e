from pathlib import Path

import nbformat
import pytest

from runbook_lib.exercises import exercise

NOTEBOOKS = sorted(Path("notebooks").glob("[0-9]*.ipynb"))


@pytest.mark.parametrize(
    ("answer", "check", "shown"),
    [
        (..., lambda answer: True, "Exercise 1.1: not yet. Put your answer"),
        (4, lambda answer: answer == 5, "Exercise 1.1: not yet. This is not it"),
        (None, lambda answer: answer.text, "Exercise 1.1: not yet. The check stopped with AttributeError"),
        (5, lambda answer: answer == 5, "Exercise 1.1: solved"),
        ([], lambda answer: [1], "Exercise 1.1: solved"),
    ],
)
def test_an_exercise_says_where_it_stands_and_never_raises(answer, check, shown):
    assert repr(exercise("1.1", answer, check)).startswith(shown)


def test_what_a_reader_typed_is_escaped():
    def check(answer):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in exercise("1.1", "x", check)._repr_html_()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_ends_with_exercises_that_are_open_and_have_working_hidden_solutions(path):
    shown = {"open": [], "solution": []}
    for cell in nbformat.read(path, as_version=4).cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type != "code" or not tags & {"exercise", "solution"}:
            continue
        kind = "solution" if "solution" in tags else "open"
        shown[kind].append(cell.outputs[-1]["data"]["text/plain"])
        if kind == "solution":
            assert cell.metadata["jupyter"]["source_hidden"] is True
            assert cell.source.startswith("# A solution")  # JupyterLab shows the first line of a hidden cell
    assert len(shown["open"]) >= 3
    assert all("not yet" in text for text in shown["open"])
    assert all(text.endswith(": solved") for text in shown["solution"])
    assert len(shown["solution"]) == len(shown["open"])
