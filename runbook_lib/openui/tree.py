"""Statements to a tree: references expanded, positional arguments named, values checked.

One explicit stack of frames replaces recursion; a frame takes the values of its children one by one and
closes into its own. What a statement comes to is kept as an `Entry` and shared by all its uses, which is
what makes doubling references and streaming cheap. A statement in a cycle is the exception: it means
something else at each place it is reached from, and is rebuilt there, within a budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .catalogs import Catalog, Component
from .conform import INVALID, Element, Inheriting, conform, copy_object, has_dynamic, is_element
from .nodes import BUILTINS, OPERATIONS, RESERVED, SCALARS, Array, Call, Object, Operation, Ref, StateRef
from .slots import MISSING
from .statements import Statement

MAX_NODES = 250_000  # values in the expanded tree
MAX_DEPTH = 400  # brackets and references inside one another
MAX_ISSUES = 20_000  # errors and unresolved names, which repeat at every use
NEVER = 1 << 60

VALUE, EXPRESSION, RAW = range(3)  # data; runtime syntax with references expanded; syntax as written


class TooLarge(Exception):
    """The expanded tree passes a limit."""


class Entry:
    """What one statement comes to, and what was noticed on the way.

    `log` holds errors (dict), unresolved names (str) and the entries of the statements it uses.
    """

    __slots__ = ("depth", "log", "name", "noisy", "size", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.log: list[Any] = []
        self.noisy = False
        self.size = 1
        self.depth = 0


class Builder:
    """Builds trees for one catalog and remembers what statements came to until `forget` is called."""

    def __init__(self, catalog: Catalog) -> None:
        self.components = catalog.components
        self.memory: dict[tuple[int, bool], dict[str, Entry]] = {}
        self.users: dict[str, set[str]] = {}
        self.statements: Mapping[str, Statement] = {}
        self.partial = False
        self.entry = Entry("")
        self.levels: dict[str, int] = {}  # the statements being expanded, and how deep
        self.lowest = NEVER  # the shallowest of them that a cycle came back to
        self.size = 0
        self.deepest = 0

    # What changed between two trees

    def learn(self, statement: Statement) -> None:
        """Note which names a statement uses, so that a change of one of them reaches it."""
        for name in statement.expression.names:
            self.users.setdefault(name, set()).add(statement.name)

    def forget(self, name: str) -> None:
        """Drop what is remembered of a statement and of everything built from it."""
        pending, seen = [name], {name}
        while pending:
            name = pending.pop()
            for memory in self.memory.values():
                memory.pop(name, None)
            fresh = self.users.get(name, seen) - seen
            seen |= fresh
            pending.extend(fresh)

    # One tree

    def start(self, statements: Mapping[str, Statement], partial: bool, name: str) -> Entry:
        """Begin a tree whose root statement is `name`; returns the entry that will hold its log."""
        self.statements, self.partial = statements, partial
        self.levels, self.lowest, self.size, self.deepest = {}, NEVER, 0, 0
        self.entry = Entry(name)
        return self.entry

    def build(self, node: Any, mode: int = VALUE) -> Any:
        """The value of one expression. Raises TooLarge."""
        top = _Frame(node, iter((node,)), mode)
        stack: list[_Frame] = [top]
        while True:
            frame = stack[-1]
            inner = None
            for child in frame.todo:
                kind = type(child)
                if kind in SCALARS:
                    frame.take(child, child if frame.mode == VALUE else _literal(child))
                elif kind is Ref:
                    inner = self._reference(frame, child, len(stack))
                else:
                    inner = self._open(frame, child, kind)
                if inner is not None:
                    break
            else:
                stack.pop()
                value = frame.close()
                if not stack:
                    return value
                stack[-1].take(frame.node, value)
                continue
            stack.append(inner)
            self.size += 1
            if len(stack) > self.deepest:
                self.deepest = len(stack)
            if self.size > MAX_NODES or len(stack) > MAX_DEPTH:
                raise TooLarge

    def report(self, code: str, component: str, path: str, message: str) -> None:
        """Record an error at the statement being built."""
        error = {"code": code, "component": component, "path": path, "message": message}
        error["statementId"] = self.entry.name
        self.entry.log.append(error)
        self.entry.noisy = True

    def _reference(self, frame: _Frame, ref: Ref, level: int) -> _Frame | None:
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
        memory = self.memory.setdefault((mode, self.partial), {})
        known = memory.get(name)
        if known is None:
            node = target.node
            if not (type(node) is Call and node.name in RESERVED):
                return _Use(self, ref, target, mode, level)
            known = memory[name] = Entry(name)
            called = "mutation" if node.name == "Mutation" else "query"
            known.value = {"k": "RuntimeRef", "n": name, "refType": called}
        self.use(known)
        self.size += known.size
        self.deepest = max(self.deepest, level + known.depth)
        if self.size > MAX_NODES or self.deepest > MAX_DEPTH:
            raise TooLarge
        frame.take(ref, known.value)
        return None

    def use(self, entry: Entry) -> None:
        """Note that the statement being built uses `entry`."""
        self.entry.log.append(entry)
        self.entry.noisy = self.entry.noisy or entry.noisy

    def _open(self, frame: _Frame, node: Any, kind: type) -> _Frame | None:
        """A frame for a compound node, or None if its value could be handed over at once."""
        if kind is list and frame.mode == VALUE:
            self.size += len(node)
            frame.take(node, node)
            return None
        if kind is StateRef:
            frame.take(node, {"k": "StateRef", "n": node.name})
            return None
        if frame.mode != VALUE:
            return self._syntax(frame, node, kind)
        if kind is Array:
            return _List(node, iter(node.items), VALUE)
        if kind is Object:
            return _Record(node)
        if kind is Operation or node.name in BUILTINS:
            return self._syntax(_Frame(node, iter(()), EXPRESSION), node, kind)
        if node.name in RESERVED:
            message = f"{node.name}(...) has to be a statement of its own: name = {node.name}(...)"
            self.report("inline-reserved", node.name, "", message)
        elif (component := self.components.get(node.name)) is not None:
            return _Element(self, node, component)
        else:
            self._unknown(node.name)
        frame.take(node, None)
        return None

    def _unknown(self, name: str) -> None:
        self.report("unknown-component", name, "", f"{name} is neither a component of the catalog nor a built-in")

    def _syntax(self, outer: _Frame, node: Any, kind: type) -> _Frame:
        """A frame that keeps a node as syntax, in lang-core's JSON."""
        mode, scope = outer.mode, outer.scope
        if kind is Operation:
            return _Syntax(node, node.parts, mode, scope)
        if kind is Object:
            return _Syntax(node, [value for _, value in node.entries], mode, scope)
        if kind is not Call:
            return _Syntax(node, node if kind is list else node.items, mode, scope)
        frame = _Syntax(node, node.args, mode, scope)
        if mode == EXPRESSION and node.name not in BUILTINS and node.name not in RESERVED:
            component = self.components.get(node.name)
            frame.params = component.params if component else None
            frame.unknown = self._unknown if component is None else None
        elif mode == EXPRESSION and node.name == "Each" and len(node.args) >= 3:
            variable = node.args[1]
            name = variable.name if type(variable) is Ref else variable
            if type(name) is str and name:
                frame.scope = scope | {name}
                frame.todo = iter((node.args[0], *node.args[2:]))
                frame.variable = {"k": "Ref", "n": name} if type(variable) is Ref else _literal(name)
        return frame


class _Frame:
    """A node being built: `todo` are the children still to come. This one passes a single child on."""

    __slots__ = ("mode", "node", "scope", "todo", "value")

    def __init__(self, node: Any, todo: Iterator[Any], mode: int) -> None:
        self.node, self.todo, self.mode = node, todo, mode
        self.scope: frozenset[str] = frozenset()
        self.value: Any = None

    def take(self, child: Any, value: Any) -> None:
        """Receive the value of the next child."""
        self.value = value

    def close(self) -> Any:
        """The value of the node, once all children are in."""
        return self.value


class _Use(_Frame):
    """A reference to a statement that has to be built first."""

    __slots__ = ("builder", "deepest", "level", "lowest", "outer", "size")

    def __init__(self, builder: Builder, ref: Ref, target: Statement, mode: int, level: int) -> None:
        super().__init__(ref, iter((target.node,)), mode)
        self.builder, self.level = builder, level
        self.outer, self.lowest, self.size = builder.entry, builder.lowest, builder.size
        self.deepest = builder.deepest
        builder.entry, builder.lowest, builder.deepest = Entry(ref.name), NEVER, level
        builder.levels[ref.name] = level

    def close(self) -> Any:
        """Name the element after its statement, and remember the entry unless a cycle runs through it."""
        builder, entry = self.builder, self.builder.entry
        value = self.value
        if self.mode == VALUE:
            value = tagged(value, entry.name)
        entry.value = value
        entry.size = builder.size - self.size + 1
        entry.depth = builder.deepest - self.level
        if builder.lowest > self.level:
            builder.memory[self.mode, builder.partial][entry.name] = entry
        del builder.levels[entry.name]
        builder.entry = self.outer
        builder.use(entry)
        builder.lowest = min(builder.lowest, self.lowest)
        builder.deepest = max(builder.deepest, self.deepest)
        return value


class _List(_Frame):
    """An array: what a reference or a component could not become is left out."""

    __slots__ = ()

    def __init__(self, node: Any, todo: Iterator[Any], mode: int) -> None:
        super().__init__(node, todo, mode)
        self.value = []

    def take(self, child: Any, value: Any) -> None:
        if value is not None or not (type(child) is Ref or type(child) is Call):
            self.value.append(value)


class _Record(_Frame):
    """An object literal."""

    __slots__ = ("keys",)

    def __init__(self, node: Object) -> None:
        super().__init__(node, iter([value for _, value in node.entries]), VALUE)
        self.keys = iter([key for key, _ in node.entries])
        inherits = any(key == "__proto__" for key, _ in node.entries)
        self.value = Inheriting() if inherits else {}

    def take(self, child: Any, value: Any) -> None:
        key = next(self.keys)
        if key != "__proto__":
            self.value[key] = value
        elif isinstance(value, dict):
            self.value.prototype = value
        elif value is None or type(value) is list:
            self.value.prototype = {}


class _Element(_Frame):
    """A component: its arguments take the names of its parameters and are checked as they come."""

    __slots__ = ("builder", "component", "compound", "dropped", "params")

    def __init__(self, builder: Builder, node: Call, component: Component) -> None:
        params = component.params
        excess = len(node.args) > len(params)
        super().__init__(node, iter(node.args[: len(params)] if excess else node.args), VALUE)
        self.builder, self.component, self.params = builder, component, iter(params)
        self.value = {}
        self.compound = self.dropped = False

    def take(self, child: Any, value: Any) -> None:
        slot = next(self.params)
        kind = type(value)
        if kind is str and (slot.kind == "string" or value in slot.accepts):
            self.value[slot.name] = value
            return
        checked = conform(value, slot, self.component.name, "/" + slot.name, self.builder)
        if checked is INVALID:
            checked = slot.default
            self.dropped = self.dropped or (slot.required and checked is MISSING)
        if checked is not MISSING:
            self.value[slot.name] = checked
            self.compound = self.compound or kind not in SCALARS
        elif slot.required:
            self.value[slot.name] = value

    def close(self) -> Any:
        builder, component, props = self.builder, self.component, self.value
        excess = len(self.node.args) - len(component.params)
        if excess > 0:
            message = f"{component.name} takes {len(component.params)} arguments; {excess} more were given"
            builder.report("excess-args", component.name, "", message)
        missing = False
        for slot in component.required:
            if props.get(slot.name) is not None:
                continue
            if slot.default is not MISSING:
                props[slot.name] = slot.default
                continue
            code, what = ("null-required", "null") if slot.name in props else ("missing-required", "missing")
            message = f"{slot.name} is required and {what}: {component.signature()}"
            builder.report(code, component.name, "/" + slot.name, message)
            missing = True
        if missing or self.dropped:
            return None
        dynamic = self.compound and has_dynamic(props)
        return Element(
            type="element", typeName=component.name, props=props, partial=builder.partial, hasDynamicProps=dynamic
        )


class _Syntax(_Frame):
    """A node that stays syntax for the running program."""

    __slots__ = ("params", "unknown", "variable")

    def __init__(self, node: Any, todo: Any, mode: int, scope: frozenset[str]) -> None:
        super().__init__(node, iter(todo), mode)
        self.scope = scope
        self.value = []
        self.params: Any = None
        self.unknown: Any = None
        self.variable: Any = None

    def take(self, child: Any, value: Any) -> None:
        self.value.append(value)

    def close(self) -> Any:
        node, parts = self.node, self.value
        kind = type(node)
        if kind is Operation:
            text, names = OPERATIONS[node.kind]
            shape = {"k": node.kind, **dict(zip(names, parts, strict=True))}
            return {**shape, text: node.text} if text else shape
        if kind is Object:
            return {"k": "Obj", "entries": [[key, part] for (key, _), part in zip(node.entries, parts, strict=True)]}
        if kind is not Call:
            return {"k": "Arr", "els": parts}
        if self.variable is not None:
            parts.insert(1, self.variable)
        shape = {"k": "Comp", "name": node.name, "args": parts}
        if self.params is not None:
            shape["mappedProps"] = {slot.name: part for slot, part in zip(self.params, parts, strict=False)}
        if self.unknown is not None:
            self.unknown(node.name)
        return shape


def _literal(value: Any) -> dict[str, Any]:
    """A plain value as a syntax node."""
    kind = type(value)
    if value is None:
        return {"k": "Null"}
    return {"k": "Str" if kind is str else "Bool" if kind is bool else "Num", "v": value}


def tagged(value: Any, name: str) -> Any:
    """An element under the name of the statement it came from; any other value as it is."""
    if not is_element(value):
        return value
    if "statementId" in value or type(value) is not Element:
        value = copy_object(value)
    value["statementId"] = name
    return value


def flatten(entry: Entry) -> tuple[list[dict[str, Any]], list[str]]:
    """All errors and unresolved names of a tree in order, repeated at every use. Raises TooLarge."""
    errors: list[dict[str, Any]] = []
    unresolved: list[str] = []
    stack = [iter(entry.log)]
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
    seen: set[int] = set()
    pending = [entry]
    while pending:
        for item in pending.pop().log:
            if type(item) is Entry and id(item) not in seen:
                seen.add(id(item))
                names.add(item.name)
                if item.log:
                    pending.append(item)
    return names
