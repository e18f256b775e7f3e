"""Nodes under construction.

A frame runs through its children, takes their values one by one and closes into a value of its own. It
stops where a child needs a frame; the builder runs that one first and then goes on here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .catalogs import Component
from .conform import INVALID, Element, Inheriting, conform, copy_object, has_dynamic, is_element
from .entries import Entry
from .nodes import OPERATIONS, SCALARS, Array, Call, Object, Operation, Ref
from .slots import MISSING, Slot

if TYPE_CHECKING:
    from .tree import Builder

VALUE, EXPRESSION, RAW = range(3)  # data; runtime syntax with references expanded; syntax as written
NO_SCOPE: frozenset[str] = frozenset()
NEVER = 1 << 60


class Frame:
    """A node and the children that are still to come. This one passes a single value on."""

    __slots__ = ("mode", "node", "scope", "todo", "value")

    def __init__(self, node: Any, todo: Iterable[Any], mode: int, scope: frozenset[str] = NO_SCOPE) -> None:
        self.node, self.todo, self.mode, self.scope = node, iter(todo), mode, scope
        self.value: Any = None

    def run(self, builder: Builder) -> Frame | None:
        """Take what children can be had at once; the frame of the first that cannot, or None at the end."""
        for child in self.todo:
            kind = type(child)
            if kind in SCALARS:
                self.take(child, child)
            elif (inner := builder.open(self, child, kind)) is not None:
                return inner
        return None

    def take(self, child: Any, value: Any) -> None:
        """Receive the value of the next child."""
        self.value = value

    def close(self) -> Any:
        """The value of the node, once all children are in."""
        return self.value


class UseFrame(Frame):
    """A reference to a statement that has to be built first."""

    __slots__ = ("builder", "deepest", "entry", "level", "lowest", "outer", "size")

    def __init__(self, builder: Builder, ref: Ref, node: Any, mode: int) -> None:
        self.node, self.todo, self.mode, self.scope = ref, iter((node,)), mode, NO_SCOPE
        self.builder, self.level = builder, builder.level
        self.outer, self.lowest, self.size = builder.entry, builder.lowest, builder.size
        self.deepest = builder.deepest
        self.entry = builder.entry = Entry(ref.name)
        builder.lowest, builder.deepest = NEVER, self.level
        builder.levels[ref.name] = self.level

    def take(self, child: Any, value: Any) -> None:
        """Receive what the statement comes to."""
        literal = self.mode != VALUE and type(child) in SCALARS
        self.value = syntax_of(value) if literal else value

    def close(self) -> Any:
        """Name the element after its statement, and remember the entry unless a cycle runs through it."""
        builder, entry, name = self.builder, self.entry, self.entry.name
        entry.value = tagged(self.value, name) if self.mode == VALUE else self.value
        entry.size = builder.size - self.size + 1
        entry.depth = builder.deepest - self.level
        del builder.levels[name]
        builder.built.add(name)
        builder.entry = self.outer
        if builder.lowest > self.level:
            builder.remember(entry, self.mode)
        builder.use(entry)
        if self.lowest < builder.lowest:
            builder.lowest = self.lowest
        if self.deepest > builder.deepest:
            builder.deepest = self.deepest
        return entry.value


class ListFrame(Frame):
    """An array: what a reference or a component could not become is left out."""

    __slots__ = ()

    def __init__(self, node: Array) -> None:
        self.node, self.todo, self.mode, self.scope = node, iter(node.items), VALUE, NO_SCOPE
        self.value = []

    def take(self, child: Any, value: Any) -> None:
        """Add an item."""
        if value is not None or not (type(child) is Ref or type(child) is Call):
            self.value.append(value)


class RecordFrame(Frame):
    """An object literal."""

    __slots__ = ("keys",)

    def __init__(self, node: Object) -> None:
        super().__init__(node, [value for _, value in node.entries], VALUE)
        self.keys = iter([key for key, _ in node.entries])
        inherits = any(key == "__proto__" for key, _ in node.entries)
        self.value = Inheriting() if inherits else {}

    def take(self, child: Any, value: Any) -> None:
        """Set the next key."""
        key = next(self.keys)
        if key != "__proto__":
            self.value[key] = value
        elif isinstance(value, dict):
            self.value.prototype = value
        elif value is None or type(value) is list:
            self.value.prototype = {}


class ElementFrame(Frame):
    """A component: its arguments take the names of its parameters and are checked as they come."""

    __slots__ = ("builder", "component", "compound", "dropped", "slot")

    def __init__(self, builder: Builder, node: Call, component: Component) -> None:
        self.node, self.mode, self.scope = node, VALUE, NO_SCOPE
        self.todo = zip(component.params, node.args, strict=False)  # further arguments are not looked at
        self.builder, self.component = builder, component
        self.value = {}
        self.compound = self.dropped = False

    def run(self, builder: Builder) -> Frame | None:
        """Take arguments; a text that fits its slot needs no further look."""
        for slot, child in self.todo:
            kind = type(child)
            if kind in slot.types or (kind is str and child in slot.accepts):
                self.value[slot.name] = child
                continue
            self.slot: Slot = slot
            if kind in SCALARS or kind is list:
                self.take(child, child)
            elif (inner := builder.open(self, child, kind)) is not None:
                return inner
        return None

    def take(self, child: Any, value: Any) -> None:
        """Check an argument and give it its name."""
        slot = self.slot
        checked = conform(value, slot, self.component.name, "/" + slot.name, self.builder)
        if checked is INVALID:
            checked = slot.default
            if checked is MISSING:
                if slot.required:
                    self.dropped = True
                    self.value[slot.name] = value
                return
        self.value[slot.name] = checked
        if value is not child:
            self.compound = True

    def close(self) -> Any:
        """The element, or None if a required argument is missing."""
        builder, component, props = self.builder, self.component, self.value
        if len(self.node.args) > len(component.params):
            message = f"{component.name} takes {len(component.params)} arguments, not {len(self.node.args)}"
            builder.report("excess-args", component.name, "", message)
        missing = False
        for slot in component.required:
            if props.get(slot.name) is None:
                if slot.default is not MISSING:
                    props[slot.name] = slot.default
                    continue
                code, what = ("null-required", "null") if slot.name in props else ("missing-required", "missing")
                message = f"{slot.name} is required and {what}: {component.signature()}"
                builder.report(code, component.name, "/" + slot.name, message)
                missing = True
        if missing or self.dropped:
            return None
        return Element(
            type="element", typeName=component.name, props=props, partial=builder.partial,
            hasDynamicProps=self.compound and has_dynamic(props),
        )  # fmt: skip


class SyntaxFrame(Frame):
    """A node that stays syntax, in lang-core's JSON, for the running program."""

    __slots__ = ("component", "unknown", "variable")

    def __init__(self, node: Any, todo: Iterable[Any], mode: int, scope: frozenset[str]) -> None:
        super().__init__(node, todo, mode, scope)
        self.value = []
        self.component: Component | None = None
        self.unknown: Callable[[str], None] | None = None
        self.variable: dict[str, Any] | None = None

    def take(self, child: Any, value: Any) -> None:
        """Add an operand."""
        self.value.append(syntax_of(value) if type(child) in SCALARS else value)

    def close(self) -> Any:
        """The node in JSON."""
        node, parts = self.node, self.value
        kind = type(node)
        if kind is Operation:
            text, names = OPERATIONS[node.kind]
            shape = {"k": node.kind, **dict(zip(names, parts, strict=True))}
            return {**shape, text: node.text} if text else shape
        if kind is Object:
            keys = [key for key, _ in node.entries]
            return {"k": "Obj", "entries": [list(pair) for pair in zip(keys, parts, strict=True)]}
        return self._call(node, parts) if kind is Call else {"k": "Arr", "els": parts}

    def _call(self, node: Call, parts: list[Any]) -> dict[str, Any]:
        if self.variable is not None:
            parts.insert(1, self.variable)
        shape: dict[str, Any] = {"k": "Comp", "name": node.name, "args": parts}
        if self.component is not None:
            named = zip(self.component.params, parts, strict=False)
            shape["mappedProps"] = {slot.name: part for slot, part in named}
        if self.unknown is not None:
            self.unknown(node.name)
        return shape


def syntax_of(value: Any) -> dict[str, Any]:
    """A plain value as a syntax node."""
    if value is None:
        return {"k": "Null"}
    kind = type(value)
    return {"k": "Str" if kind is str else "Bool" if kind is bool else "Num", "v": value}


def tagged(value: Any, name: str) -> Any:
    """An element under the name of the statement it came from; any other value as it is."""
    if type(value) is not Element and not is_element(value):
        return value
    if "statementId" in value or type(value) is not Element:
        value = copy_object(value)
    value["statementId"] = name
    return value
