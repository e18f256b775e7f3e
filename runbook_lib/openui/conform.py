"""Does a built value fit its slot? lang-core's own checks: report, then mend.

An invalid value gives way to the slot's default, a list loses its invalid items, an object its invalid
optional keys, and a container that cannot do without the value is invalid itself. Values are shared
between uses, so mending makes a copy.
"""

from __future__ import annotations

import json
from copy import copy
from typing import TYPE_CHECKING, Any

from .slots import MISSING, Slot

if TYPE_CHECKING:
    from .tree import Builder

KINDS = frozenset((
    "Comp", "Ref", "StateRef", "RuntimeRef", "BinOp", "UnaryOp", "Ternary", "Member", "Index", "Assign", "Str", "Num",
    "Bool", "Null", "Arr", "Obj", "Ph",
))  # fmt: skip
INVALID = object()


class Element(dict[str, Any]):
    """A component in the tree: `type`, `typeName`, `props`, `partial`, `hasDynamicProps`, `statementId`."""

    __slots__ = ()


class Inheriting(dict[str, Any]):
    """An object whose source said `__proto__: {...}`: JavaScript finds those keys but does not list them."""

    __slots__ = ("prototype",)

    def __init__(self) -> None:
        super().__init__()
        self.prototype: dict[str, Any] = {}


def lookup(value: dict[str, Any], key: str) -> Any:
    """The value of `key` in the object or what it inherits from, or MISSING."""
    while key not in value:
        if type(value) is not Inheriting:
            return MISSING
        value = value.prototype
    return value[key]


def is_syntax(value: Any) -> bool:
    """True for a syntax node, and for an object literal shaped like one (lang-core cannot tell either)."""
    if not isinstance(value, dict) or type(value) is Element:
        return False
    kind = lookup(value, "k")
    return type(kind) is str and kind in KINDS


def is_element(value: Any) -> bool:
    """True for a component, and for an object literal shaped like one."""
    if type(value) is Element:
        return True
    return (
        isinstance(value, dict)
        and lookup(value, "type") == "element"
        and type(lookup(value, "typeName")) is str
        and isinstance(lookup(value, "props"), dict | list)
        and type(lookup(value, "partial")) is bool
    )


def has_dynamic(props: dict[str, Any]) -> bool:
    """True if anything in `props` is only known when the program runs."""
    pending: list[Any] = list(props.values())
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind is list:
            pending.extend(value)
        elif kind is Element:
            if value["hasDynamicProps"]:
                return True
        elif isinstance(value, dict):
            if is_syntax(value):
                return True
            inside = lookup(value, "props") if is_element(value) else value
            pending.extend(inside.values() if isinstance(inside, dict) else inside)
    return False


def type_name(value: Any) -> str:
    """The type of a value in the language's words."""
    kind = type(value)
    if kind is bool:
        return "boolean"
    if kind is str:
        return "string"
    if kind is int or kind is float:
        return "number"
    return "array" if kind is list else "null" if value is None else "object"


def one_of(choices: tuple[Any, ...], value: Any) -> bool:
    """True if `value` is one of `choices` and of the same type (1 is not true)."""
    return any(choice == value and type_name(choice) == type_name(value) for choice in choices)


def conform(value: Any, slot: Slot, component: str, path: str, log: Builder) -> Any:
    """The value as it may stay in the tree, or INVALID. Errors go to `log`."""
    kind = type(value)
    if value is None:
        return value
    if kind is dict or kind is Element or kind is Inheriting:
        if is_syntax(value):
            return value
        if is_element(value):
            if not slot.plain:
                return value
            actual = f"the component {lookup(value, 'typeName')}"
            return _mismatch(slot, actual, component, path, log)
    if slot.free:
        return value
    if slot.kind == "array":
        return _array(value, slot, component, path, log)
    if slot.kind == "object" or slot.kind == "record":
        return _object(value, slot, component, path, log)
    if slot.kind == "enum":
        scalar = kind is str or kind is int or kind is float or kind is bool
        if log.partial or not scalar or value in slot.accepts or one_of(slot.choices, value):
            return value
        return _mismatch(slot, json.dumps(value, ensure_ascii=False), component, path, log)
    if type_name(value) == slot.kind:
        return value
    return _mismatch(slot, type_name(value), component, path, log)


def _mismatch(slot: Slot, actual: str, component: str, path: str, log: Builder) -> Any:
    expected = "one of " + ", ".join(map(json.dumps, slot.choices)) if slot.choices else slot.kind
    log.report("type-mismatch", component, path, f"{component}{path} should be {expected}, not {actual}")
    return INVALID


def _array(value: Any, slot: Slot, component: str, path: str, log: Builder) -> Any:
    if type(value) is not list:
        return _mismatch(slot, type_name(value), component, path, log)
    items = slot.items
    if items is None or (items.free and not items.plain) or items.types.issuperset(map(type, value)):
        return value
    kept = [conform(item, items, component, f"{path}/{index}", log) for index, item in enumerate(value)]
    return [item for item in kept if item is not INVALID]


def _object(value: Any, slot: Slot, component: str, path: str, log: Builder) -> Any:
    if not isinstance(value, dict):
        return _mismatch(slot, type_name(value), component, path, log)
    mended = copy(value)
    invalid = False
    for key, field in slot.fields.items() if not log.partial else ():
        present = lookup(value, key)
        if not field.required or (present is not MISSING and present is not None):
            continue
        if field.default is not MISSING:
            mended[key] = field.default
            continue
        code, what = ("missing-required", "is missing") if present is MISSING else ("null-required", "is null")
        log.report(code, component, f"{path}/{key}", f"{component}{path}/{key} {what}, and it is required")
        invalid = True
    for key, field in slot.fields.items():
        present = lookup(mended, key)
        if present is MISSING:
            continue
        result = conform(present, field, component, f"{path}/{key}", log)
        if result is present:
            continue
        if result is not INVALID:
            mended[key] = result
        elif field.default is not MISSING:
            mended[key] = field.default
        elif field.required:
            invalid = True
        else:
            mended.pop(key, None)
    return INVALID if invalid else mended
