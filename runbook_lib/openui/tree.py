"""Statements to a tree: references expanded, positional arguments named, values checked.

A stack of generators replaces recursion (see `values`). What a statement comes to is remembered as an `Entry` and
shared by all its uses, which is what makes doubling references and streaming cheap. A statement in a
cycle is the exception: it means something else at each place it is reached from, and is rebuilt there,
within a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import GeneratorType
from typing import Any

from .catalogs import Catalog
from .entries import MAX_DEPTH, MAX_NODES, Entry, TooLarge
from .nodes import BUILTINS, RESERVED, SCALARS, Array, Call, Object, Operation, Ref, StateRef
from .statements import Statement
from .values import EXPRESSION, NO_SCOPE, RAW, VALUE, Work, array, element, record, syntax, syntax_of, tagged

NEVER = 1 << 60


class Builder:
    """Builds trees for one catalog and remembers what statements came to until `forget` is called."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.memory: dict[tuple[int, bool], dict[str, Entry]] = {}
        self.users: dict[str, set[str]] = {}
        self.built: set[str] = set()  # statements that something remembered may be made of
        self.statements: Mapping[str, Statement] = {}
        self.partial = False
        self.entry = Entry("")
        self.levels: dict[str, int] = {}  # the statements being expanded, and how deep
        self.lowest = NEVER  # the shallowest of them that a cycle came back to
        self.level = self.deepest = self.size = 0

    # What changed between two trees

    def learn(self, statement: Statement) -> None:
        """A new statement: whatever was built with its name is out of date, as it will be when one of its names is."""
        self.forget(statement.name)
        for name in statement.expression.names:
            self.users.setdefault(name, set()).add(statement.name)

    def remember(self, entry: Entry, mode: int) -> None:
        """Keep what a statement came to."""
        self.memory[mode, self.partial][entry.name] = entry

    def forget(self, name: str) -> None:
        """Drop what is remembered of a statement and of everything built from it."""
        pending, seen = [name], {name}
        while pending:
            name = pending.pop()
            self.built.discard(name)
            for memory in self.memory.values():
                memory.pop(name, None)
            fresh = [user for user in self.users.get(name, ()) if user in self.built and user not in seen]
            seen.update(fresh)
            pending.extend(fresh)

    # One tree

    def start(self, statements: Mapping[str, Statement], partial: bool, name: str) -> Entry:
        """Begin a tree whose root statement is `name`; returns the entry that will hold its log."""
        self.statements, self.partial = statements, partial
        self.levels, self.lowest = {}, NEVER
        self.level = self.deepest = self.size = 0
        for mode in (VALUE, EXPRESSION):
            self.memory.setdefault((mode, partial), {})
        self.entry = Entry(name)
        return self.entry

    def build(self, node: Any, mode: int = VALUE) -> Any:
        """The value of one expression. Raises TooLarge."""
        self.level = 1
        value = self.open(node, mode)
        stack: list[Work] = []
        while True:
            if type(value) is GeneratorType:
                stack.append(value)
                value = None
                self._deeper()
            elif not stack:
                return value
            try:
                value = stack[-1].send(value)
            except StopIteration as finished:
                stack.pop()
                self.level -= 1
                value = finished.value

    def _deeper(self) -> None:
        self.size += 1
        self.level += 1
        if self.level > self.deepest:
            self.deepest = self.level
        if self.size > MAX_NODES or self.level > MAX_DEPTH:
            raise TooLarge

    def report(self, code: str, component: str, path: str, message: str) -> None:
        """Record an error at the statement being built."""
        error = {"code": code, "component": component, "path": path, "message": message}
        error["statementId"] = self.entry.name
        self.entry.log.append(error)
        self.entry.noisy = True

    def use(self, entry: Entry) -> None:
        """Note that the statement being built uses `entry`."""
        self.entry.log.append(entry)
        if entry.noisy:
            self.entry.noisy = True

    def open(self, node: Any, mode: int = VALUE, scope: frozenset[str] = NO_SCOPE) -> Any:
        """The value of a node where it can be had at once, else the generator that will build it."""
        kind = type(node)
        if kind in SCALARS:
            return node if mode == VALUE else syntax_of(node)
        if kind is Ref:
            return self._reference(node.name, mode, scope)
        if kind is StateRef:
            return {"k": "StateRef", "n": node.name}
        if mode != VALUE:
            return syntax(self, node, mode, scope)
        if kind is Call:
            return self._call(node)
        if kind is Array:
            return array(self, node)
        if kind is Object:
            return record(self, node)
        if kind is Operation:
            return syntax(self, node, EXPRESSION)
        self.size += len(node)
        return node

    def _call(self, node: Call) -> Work | None:
        name = node.name
        if name in BUILTINS:
            return syntax(self, node, EXPRESSION)
        if name in RESERVED:
            message = f"{name}(...) has to be a statement of its own: name = {name}(...)"
            self.report("inline-reserved", name, "", message)
        elif name in self.catalog.components:
            return element(self, node, self.catalog.components[name])
        else:
            self.unknown(name)
        return None

    def unknown(self, name: str) -> None:
        """Record the call of something that is not there."""
        message = f"{name} is neither a component of the catalog nor a built-in"
        self.report("unknown-component", name, "", message)

    def _reference(self, name: str, mode: int, scope: frozenset[str]) -> Any:
        """What a name stands for, or the generator that builds the statement it names."""
        if mode == RAW or name in scope:
            return {"k": "Ref", "n": name}
        target = self.statements.get(name)
        if target is None or name in self.levels:
            self.lowest = min(self.lowest, self.levels.get(name, NEVER))
            self.entry.log.append(name)
            self.entry.noisy = True
            return None if mode == VALUE else {"k": "Ph", "n": name}
        entry = self.memory[mode, self.partial].get(name)
        if entry is None:
            node = target.node
            if type(node) is not Call or node.name not in RESERVED:
                return self._statement(name, node, mode)
            called = "mutation" if node.name == "Mutation" else "query"
            entry = Entry(name, {"k": "RuntimeRef", "n": name, "refType": called})
            self.remember(entry, mode)
        self.use(entry)
        self.size += entry.size
        if self.level + entry.depth > self.deepest:
            self.deepest = self.level + entry.depth
        if self.size > MAX_NODES or self.deepest > MAX_DEPTH:
            raise TooLarge
        return entry.value

    def _statement(self, name: str, node: Any, mode: int) -> Work:
        """Build a statement, and remember its entry unless a cycle runs through it."""
        outer, lowest, deepest, level, size = self.entry, self.lowest, self.deepest, self.level, self.size
        entry = self.entry = Entry(name)
        self.lowest, self.deepest = NEVER, level
        self.levels[name] = level
        value = self.open(node, mode)
        if type(value) is GeneratorType:
            value = yield value
        entry.value = tagged(value, name) if mode == VALUE else value
        entry.size = self.size - size + 2
        entry.depth = self.deepest - level + 1
        del self.levels[name]
        self.built.add(name)
        self.entry = outer
        if self.lowest > level:
            self.remember(entry, mode)
        self.use(entry)
        self.lowest, self.deepest = min(lowest, self.lowest), max(deepest, self.deepest)
        return entry.value
