"""Exercises that check themselves: unsolved says "not yet" and never raises."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True, slots=True)
class Exercise:
    """The state of one exercise, shown as one line: solved or not yet, and a hint at what is missing."""

    name: str
    solved: bool
    hint: str

    def __repr__(self) -> str:
        state = "solved" if self.solved else f"not yet. {self.hint}"
        return f"Exercise {self.name}: {state}"

    def _repr_html_(self) -> str:
        mark = "✔" if self.solved else "○"
        return f'<div style="color:var(--jp-ui-font-color1,inherit)">{mark} {escape(repr(self))}</div>'


def exercise(name: str, answer: Any, check: Callable[[Any], object]) -> Exercise:
    """Check an answer: `check(answer)` must be true. `...` as the answer means that nobody has tried yet.

    An answer that makes the check fail is "not yet" with the reason, because a notebook must reach its end.
    """
    if answer is ...:
        return Exercise(name, False, "Put your answer in the place of the three dots.")
    try:
        solved = bool(check(answer))
    except Exception as error:
        return Exercise(name, False, f"The check stopped with {type(error).__name__}: {error}")
    return Exercise(name, solved, "" if solved else "This is not it; read the question once more.")
