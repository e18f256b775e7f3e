"""What statements come to, and what was noticed on the way: the parts a tree is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_NODES = 250_000  # values in the expanded tree
MAX_DEPTH = 400  # brackets and references inside one another
MAX_ISSUES = 20_000  # errors and unresolved names, which repeat at every use


class TooLarge(Exception):
    """The expanded tree passes a limit."""


@dataclass(slots=True, eq=False)
class Entry:
    """What one statement comes to.

    `log` holds errors (dict), unresolved names (str) and the entries of the statements it uses; `noisy`
    says whether there is an error or an unresolved name anywhere below. `size` and `depth` are those of
    the expanded value.
    """

    name: str
    value: Any = None
    log: list[Any] = field(default_factory=list)
    noisy: bool = False
    size: int = 1
    depth: int = 0


def issues(entry: Entry) -> tuple[list[dict[str, Any]], list[str]]:
    """All errors and unresolved names of a tree in order, repeated at every use. Raises TooLarge."""
    errors: list[dict[str, Any]] = []
    unresolved: list[str] = []
    stack = [iter(entry.log if entry.noisy else ())]
    while stack:
        for item in stack[-1]:
            if type(item) is Entry:
                if item.noisy:
                    stack.append(iter(item.log))
                    break
            elif type(item) is str:
                unresolved.append(item)
            else:
                errors.append(item)
        else:
            stack.pop()
        if len(errors) + len(unresolved) > MAX_ISSUES:
            raise TooLarge
    return errors, unresolved


def reached(entry: Entry) -> set[str]:
    """The names of the statements a tree was built from."""
    names: set[str] = set()
    seen = {entry}
    pending = [entry]
    while pending:
        used = {item for item in pending.pop().log if type(item) is Entry} - seen
        seen |= used
        names.update([item.name for item in used])
        pending += [item for item in used if item.log]
    return names
