"""Syntax to values: a generator for each kind of node.

It has the builder open each child, yields a child that is a generator itself to get its value, and returns
its own.
"""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from .catalogs import Component
from .conform import INVALID, Element, Inheriting, conform, has_dynamic, is_element
from .nodes import BUILTINS, OPERATIONS, RESERVED, Array, Call, Object, Operation, Ref, children
from .slots import MISSING

if TYPE_CHECKING:
    from .tree import Builder

VALUE, EXPRESSION, RAW = range(3)  # data; runtime syntax with references expanded; syntax as written
NO_SCOPE: frozenset[str] = frozenset()
Work = Generator[Any, Any, Any]


def array(builder: Builder, node: Array) -> Work:
    """A list; what a reference or a component could not become is left out."""
    items = []
    for child in node:
        value = builder.open(child)
        if type(value) is GeneratorType:
            value = yield value
        if value is not None or type(child) not in (Ref, Call):
            items.append(value)
    return items


def record(builder: Builder, node: Object) -> Work:
    """An object."""
    inherits = any(key == "__proto__" for key, _ in node.entries)
    result: Any = Inheriting() if inherits else {}
    for key, child in node.entries:
        value = builder.open(child)
        if type(value) is GeneratorType:
            value = yield value
        if key != "__proto__":
            result[key] = value
        elif isinstance(value, dict):
            result.prototype = value
        elif value is None or type(value) is list:
            result.prototype = {}
    return result


def element(builder: Builder, node: Call, component: Component) -> Work:
    """A component: its arguments take the names of its parameters. None if a required one is missing."""
    props: dict[str, Any] = {}
    compound = dropped = False
    for slot, child in zip(component.params, node.args, strict=False):
        kind = type(child)
        if kind in slot.types or (kind is str and child in slot.accepts):
            props[slot.name] = child
            continue
        value = child if kind is list else builder.open(child)
        if type(value) is GeneratorType:
            value = yield value
        checked = conform(value, slot, component.name, "/" + slot.name, builder)
        if checked is not INVALID:
            props[slot.name] = checked
            compound = compound or value is not child
        elif slot.default is not MISSING:
            props[slot.name] = slot.default
            compound = compound or value is not child
        elif slot.required:
            props[slot.name] = value
            dropped = True
    if len(node.args) > len(component.params):
        message = f"{component.name} takes {len(component.params)} arguments, not {len(node.args)}"
        builder.report("excess-args", component.name, "", message)
    if _incomplete(builder, component, props) or dropped:
        return None
    return Element(
        type="element", typeName=component.name, props=props, partial=builder.partial,
        hasDynamicProps=compound and has_dynamic(props),
    )  # fmt: skip


def _incomplete(builder: Builder, component: Component, props: dict[str, Any]) -> bool:
    """Give required parameters their defaults; True if one is still missing."""
    incomplete = False
    for slot in component.required:
        if props.get(slot.name) is not None:
            continue
        if slot.default is not MISSING:
            props[slot.name] = slot.default
            continue
        code, what = ("null-required", "null") if slot.name in props else ("missing-required", "missing")
        message = f"{slot.name} is required and {what}: {component.signature()}"
        builder.report(code, component.name, "/" + slot.name, message)
        incomplete = True
    return incomplete


def syntax(builder: Builder, node: Any, mode: int, scope: frozenset[str] = NO_SCOPE) -> Work:
    """A node that stays syntax, in lang-core's JSON, for the running program."""
    kind = type(node)
    if mode == EXPRESSION and kind is Call and node.name == "Each" and len(node.args) >= 3:
        variable = node.args[1]  # it stands for itself inside the template
        name = variable.name if type(variable) is Ref else variable
        scope = scope | {name} if type(name) is str else scope
    parts = []
    for child in children(node):
        part = builder.open(child, mode, scope)
        parts.append((yield part) if type(part) is GeneratorType else part)
    if kind is Operation:
        text, names = OPERATIONS[node.kind]
        shape = {"k": node.kind, **dict(zip(names, parts, strict=True))}
        return {**shape, text: node.text} if text else shape
    if kind is Object:
        pairs = zip(node.entries, parts, strict=True)
        return {"k": "Obj", "entries": [[key, part] for (key, _), part in pairs]}
    return _call(builder, node, parts, mode) if kind is Call else {"k": "Arr", "els": parts}


def _call(builder: Builder, node: Call, parts: list[Any], mode: int) -> dict[str, Any]:
    shape: dict[str, Any] = {"k": "Comp", "name": node.name, "args": parts}
    if mode == EXPRESSION and node.name not in BUILTINS and node.name not in RESERVED:
        if component := builder.catalog.components.get(node.name):
            shape["mappedProps"] = {slot.name: part for slot, part in zip(component.params, parts, strict=False)}
        else:
            builder.unknown(node.name)
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
        value = copy(value)
    value["statementId"] = name
    return value
