"""Statements to a tree: references expanded, positional arguments named, values checked.

One explicit stack of frames replaces recursion. What a statement comes to is remembered as an `Entry` and
shared by all its uses, which is what makes doubling references and streaming cheap. A statement in a
cycle is the exception: it means something else at each place it is reached from, and is rebuilt there,
within a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .catalogs import Catalog
from .entries import MAX_DEPTH, MAX_NODES, Entry, TooLarge
from .frames import (
    EXPRESSION,
    NEVER,
    NO_SCOPE,
    RAW,
    VALUE,
    ElementFrame,
    Frame,
    ListFrame,
    RecordFrame,
    SyntaxFrame,
    UseFrame,
    syntax_of,
)
from .nodes import BUILTINS, RESERVED, SCALARS, Array, Call, Object, Operation, Ref, StateRef
from .statements import Statement


class Builder:
    """Builds trees for one catalog and remembers what statements came to until `forget` is called."""

    def __init__(self, catalog: Catalog) -> None:
        self.components = catalog.components
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
        """Note which names a statement uses, so that a change of one of them reaches it."""
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
        if type(node) in SCALARS:
            return node if mode == VALUE else syntax_of(node)
        stack: list[Frame] = [Frame(node, (node,), mode)]
        self.level = 1
        while True:
            frame = stack[-1]
            inner = frame.run(self)
            if inner is None:
                stack.pop()
                value = frame.close()
                self.level = len(stack)
                if not stack:
                    return value
                stack[-1].take(frame.node, value)
                continue
            stack.append(inner)
            self.size += 1
            self.level = len(stack)
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

    def open(self, frame: Frame, node: Any, kind: type) -> Frame | None:
        """A frame for a node that is no plain value, or None if its value could be handed over at once."""
        if kind is Ref:
            return self._reference(frame, node)
        if kind is StateRef:
            frame.take(node, {"k": "StateRef", "n": node.name})
            return None
        if frame.mode != VALUE:
            return self._syntax(node, kind, frame.mode, frame.scope)
        if kind is Call:
            return self._call(frame, node)
        if kind is Array:
            return ListFrame(node)
        if kind is Object:
            return RecordFrame(node)
        if kind is Operation:
            return self._syntax(node, kind, EXPRESSION, NO_SCOPE)
        self.size += len(node)
        frame.take(node, node)
        return None

    def _call(self, frame: Frame, node: Call) -> Frame | None:
        name = node.name
        component = self.components.get(name)
        if name in BUILTINS:
            return self._syntax(node, Call, EXPRESSION, NO_SCOPE)
        if name in RESERVED:
            message = f"{name}(...) has to be a statement of its own: name = {name}(...)"
            self.report("inline-reserved", name, "", message)
        elif component is not None:
            return ElementFrame(self, node, component)
        else:
            self._unknown(name)
        frame.take(node, None)
        return None

    def _unknown(self, name: str) -> None:
        message = f"{name} is neither a component of the catalog nor a built-in"
        self.report("unknown-component", name, "", message)

    def _reference(self, frame: Frame, ref: Ref) -> Frame | None:
        """Hand the frame what a name stands for, or open the statement it names."""
        name, mode = ref.name, frame.mode
        if mode == RAW or name in frame.scope:
            frame.take(ref, {"k": "Ref", "n": name})
            return None
        target = self.statements.get(name)
        if target is None or name in self.levels:
            self.lowest = min(self.lowest, self.levels.get(name, NEVER))
            self.entry.log.append(name)
            self.entry.noisy = True
            frame.take(ref, None if mode == VALUE else {"k": "Ph", "n": name})
            return None
        entry = self.memory[mode, self.partial].get(name)
        if entry is None:
            node = target.node
            if type(node) is not Call or node.name not in RESERVED:
                return UseFrame(self, ref, node, mode)
            called = "mutation" if node.name == "Mutation" else "query"
            entry = Entry(name, {"k": "RuntimeRef", "n": name, "refType": called})
            self.remember(entry, mode)
        self.use(entry)
        self.size += entry.size
        if self.level + entry.depth > self.deepest:
            self.deepest = self.level + entry.depth
        if self.size > MAX_NODES or self.deepest > MAX_DEPTH:
            raise TooLarge
        frame.take(ref, entry.value)
        return None

    def _syntax(self, node: Any, kind: type, mode: int, scope: frozenset[str]) -> Frame:
        """A frame that keeps a node as syntax."""
        if kind is Operation:
            return SyntaxFrame(node, node.parts, mode, scope)
        if kind is Object:
            return SyntaxFrame(node, [value for _, value in node.entries], mode, scope)
        if kind is not Call:
            return SyntaxFrame(node, node if kind is list else node.items, mode, scope)
        if mode == EXPRESSION and node.name == "Each" and len(node.args) >= 3:
            return self._each(node, mode, scope)
        frame = SyntaxFrame(node, node.args, mode, scope)
        if mode == EXPRESSION and node.name not in BUILTINS and node.name not in RESERVED:
            frame.component = self.components.get(node.name)
            frame.unknown = None if frame.component else self._unknown
        return frame

    def _each(self, node: Call, mode: int, scope: frozenset[str]) -> Frame:
        """`@Each(list, name, template)`: the name stands for itself inside the template."""
        variable = node.args[1]
        name = variable.name if type(variable) is Ref else variable
        if type(name) is not str or not name:
            return SyntaxFrame(node, node.args, mode, scope)
        frame = SyntaxFrame(node, [node.args[0], *node.args[2:]], mode, scope | {name})
        frame.variable = {"k": "Ref", "n": name} if type(variable) is Ref else syntax_of(name)
        return frame
