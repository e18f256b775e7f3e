"""Syntax tree of one expression.

A string, number, boolean or null is the Python value itself, and a plain `list` is an array of nothing
but those. Everything else is one of the classes below; `at` is the index of its first token in the
statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
SCALARS = frozenset((str, int, float, bool, type(None)))

# kind of operation -> (name of its text, names of its operands) in lang-core's JSON
OPERATIONS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "BinOp": ("op", ("left", "right")),
    "UnaryOp": ("op", ("operand",)),
    "Ternary": (None, ("cond", "then", "else")),
    "Member": ("field", ("obj",)),
    "Index": (None, ("obj", "index")),
    "Assign": ("target", ("value",)),
}


class Ref:
    """A use of another statement's name."""

    __slots__ = ("at", "name")

    def __init__(self, name: str, at: int) -> None:
        self.name, self.at = name, at


class StateRef(Ref):
    """A use of a `$variable`."""

    __slots__ = ()


class Call:
    """`Name(...)` or `@Name(...)`: a component, a built-in, Query or Mutation."""

    __slots__ = ("args", "at", "name")

    def __init__(self, name: str, at: int) -> None:
        self.name, self.at = name, at
        self.args: list[Any] = []


class Array(list[Any]):
    """`[...]` with something in it that is not a plain value."""

    __slots__ = ("at",)

    def __init__(self, items: list[Any], at: int) -> None:
        super().__init__(items)
        self.at = at


class Object:
    """`{key: value, ...}` as written, repeated keys included."""

    __slots__ = ("at", "entries")

    def __init__(self, at: int) -> None:
        self.at = at
        self.entries: list[tuple[str, Any]] = []


class Operation:
    """An operator, ternary, member access, index or assignment: what only the running program can compute."""

    __slots__ = ("at", "kind", "parts", "text")

    def __init__(self, kind: str, text: str, parts: tuple[Any, ...], at: int) -> None:
        self.kind, self.text, self.parts, self.at = kind, text, parts, at


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
