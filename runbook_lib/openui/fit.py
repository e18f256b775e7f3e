"""Can a value stand in a slot? Asked of the syntax tree, so that ternaries and templates are asked, too."""

from __future__ import annotations

from difflib import get_close_matches
from json import dumps
from typing import Any

from .conform import one_of, type_name
from .nodes import ACTION_STEPS, BUILTINS, LISTS, NUMERIC, SCALARS, STATEMENT_CALLS, Call, Object, Operation, Ref
from .program import Program
from .signatures import type_text
from .slots import Slot

# what calls and operators come to
CALLS = {
    **dict.fromkeys(BUILTINS | STATEMENT_CALLS, "unknown"), **dict.fromkeys(NUMERIC, "number expression"),
    **dict.fromkeys(LISTS, "list"), **dict.fromkeys(ACTION_STEPS, "step"), "Action": "action",
}  # fmt: skip
OPERATORS = {
    **dict.fromkeys(("==", "!=", ">", "<", ">=", "<=", "!"), "condition"),
    **dict.fromkeys("-*/%", "number expression"), "+": "text or number",
}  # fmt: skip
# what a slot accepts of the things a program can say (components are named, `unknown` is for runtime values)
ACCEPTS = {
    "string": {"string", "number expression", "text or number"},
    "number": {"number", "number expression", "text or number"},
    "boolean": {"boolean", "condition"},
    "enum": {"text or number"},
    "array": {"array", "list"},
    "object": {"object"},
    "record": {"object"},
    "component": {"list"},
}


class Fit:
    """The questions, for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def misfit(self, node: Any, slot: Slot, label: str = "") -> tuple[str, str, str] | None:
        """(code, message, hint) if a value cannot stand in a slot, looking no further than the value itself."""
        given = self.describe(node)
        what = slot.name or label
        if slot.kind == "any" or given == "unknown" or node is None:
            if given == "step":
                return "bad-action", f"{what} is an action step outside of Action.", "Write Action([@Step(...), ...])."
            return None
        if slot.action and given == "action":
            return None
        if slot.kind == "union":
            return None if any(self.fits(node, option) for option in slot.options) else self._wrong(slot, given, what)
        if slot.kind == "component" and type(node) is Call and given == "component":
            if node.name in slot.components or not slot.components or node.name not in self.program.catalog.components:
                return None
            return "wrong-component", f"{what} does not take {node.name}.", f"It takes {_wanted(slot)}."
        if slot.kind == "enum" and type(node) in SCALARS:
            return None if one_of(slot.choices, node) else self._choice(slot, node, what)
        return None if given in ACCEPTS.get(slot.kind, ()) else self._wrong(slot, given, what)

    def fits(self, node: Any, slot: Slot) -> bool:
        """True if a value, with what is inside it, could stand in a slot (for the members of a union)."""
        if type(node) is Ref:
            target = self.program.table.get(node.name)
            return target is None or target.kind != "value" or type(target.node) is Ref or self.fits(target.node, slot)
        if self.misfit(node, slot):
            return False
        if type(node) is Object and slot.fields:
            values = dict(node.entries)
            missing = any(field.required and values.get(key) is None for key, field in slot.fields.items())
            wrong = any(key not in slot.fields or self.misfit(value, slot.fields[key]) for key, value in values.items())
            return not missing and not wrong
        return True

    def _wrong(self, slot: Slot, given: str, what: str) -> tuple[str, str, str]:
        code = "wrong-component" if slot.kind == "component" else "type-mismatch"
        return code, f"{what} takes {_wanted(slot)}, not {given}.", ""

    def _choice(self, slot: Slot, value: Any, what: str) -> tuple[str, str, str]:
        choices = ", ".join(dumps(choice, ensure_ascii=False) for choice in slot.choices)
        near = get_close_matches(str(value).strip().lower(), [str(choice) for choice in slot.choices], 1, 0.6)
        hint = f"One of {choices}." + (f' Did you mean "{near[0]}"?' if near else "")
        shown = dumps(value, ensure_ascii=False)[:60]
        return "type-mismatch", f"{what} cannot be {shown}.", hint

    def describe(self, node: Any) -> str:
        """A value in the words of ACCEPTS."""
        kind = type(node)
        if kind in SCALARS:
            return type_name(node)
        if isinstance(node, list):
            return "array"
        if kind is Object:
            return "object"
        if kind is Call:
            return CALLS.get(node.name, "component")
        if kind is Ref and node.name in self.program.table:
            return "reference"
        if kind is Operation and node.kind in ("BinOp", "UnaryOp"):
            return OPERATORS.get(node.text, "unknown")
        return "unknown"


def has_branches(node: Any) -> bool:
    """True for an expression whose value is that of one of its parts."""
    return type(node) is Operation and (node.kind == "Ternary" or node.text in ("&&", "||"))


def _wanted(slot: Slot) -> str:
    """What a slot takes, cut short where it takes many components."""
    if slot.kind != "component" or len(slot.components) <= 10:
        return type_text(slot)
    return ", ".join(slot.components[:10]) + f" or one of {len(slot.components) - 10} other components"
