"""Syntax tree of one expression.

A string, number, boolean or null is the Python value itself, and a plain `list` is an array of nothing
but those. Everything else is one of the classes below; `at` is the index of its first token in the
statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

NUMERIC = frozenset(("Count", "Sum", "Avg", "Min", "Max", "Round", "Abs", "Floor", "Ceil"))
LISTS = frozenset(("Sort", "Filter", "Each"))
ACTION_STEPS = frozenset(("Run", "ToAssistant", "OpenUrl", "Set", "Reset"))
BUILTINS = NUMERIC | LISTS | ACTION_STEPS | {"First", "Last", "Action"}
STATEMENT_CALLS = frozenset(("Query", "Mutation"))
# lang-core asks `name in {...}`, so the names every JavaScript object has count as reserved, too.
RESERVED = STATEMENT_CALLS | frozenset((
    "constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
    "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
))  # fmt: skip
SCALARS: frozenset[type] = frozenset((str, int, float, bool, type(None)))

# kind of operation -> (name of its text, names of its operands) in lang-core's JSON
OPERATIONS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "BinOp": ("op", ("left", "right")),
    "UnaryOp": ("op", ("operand",)),
    "Ternary": (None, ("cond", "then", "else")),
    "Member": ("field", ("obj",)),
    "Index": (None, ("obj", "index")),
    "Assign": ("target", ("value",)),
}


@dataclass(slots=True, eq=False)
class Ref:
    """A use of another statement's name."""

    name: str
    at: int


class StateRef(Ref):
    """A use of a `$variable`."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Call:
    """`Name(...)` or `@Name(...)`: a component, a built-in, Query or Mutation."""

    name: str
    at: int
    args: list[Any]


class Array(list[Any]):
    """`[...]` with something in it that is not a plain value."""

    __slots__ = ("at",)

    def __init__(self, items: list[Any], at: int) -> None:
        super().__init__(items)
        self.at = at


@dataclass(slots=True, eq=False)
class Object:
    """`{key: value, ...}` as written, repeated keys included."""

    at: int
    entries: list[tuple[str, Any]]


@dataclass(slots=True, eq=False)
class Operation:
    """An operator, ternary, member access, index or assignment: what only the running program can compute."""

    kind: str
    text: str
    parts: tuple[Any, ...]
    at: int


def children(node: Any) -> Sequence[Any]:
    """The nodes directly inside `node`."""
    if isinstance(node, list):
        return node
    kind = type(node)
    if kind is Call:
        return node.args  # type: ignore[no-any-return]
    if kind is Object:
        return [value for _, value in node.entries]
    return node.parts if kind is Operation else ()


def walk(node: Any) -> Iterator[Any]:
    """`node` and everything inside it, in the order written, without recursion."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))
