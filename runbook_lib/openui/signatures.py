"""Components as signatures, one line each: `Series(category: string, values: [number])`.

`name?` is optional, `|` joins alternatives, `[type, 2+]` is a list of at least two, `$type` takes a
$variable, `= json` is a default.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from .slots import MISSING, Slot


def type_text(slot: Slot) -> str:
    """A slot's type as written in a signature."""
    if slot.action:
        return "action"
    return ("$" if slot.binding else "") + _shape(slot)


def _shape(slot: Slot) -> str:
    if slot.kind == "enum":
        return "|".join(json.dumps(choice, ensure_ascii=False) for choice in slot.choices)
    if slot.kind == "component":
        return "|".join(slot.components) or "any"
    if slot.kind == "union":
        return "|".join(map(type_text, slot.options))
    if slot.kind == "array":
        return f"[{type_text(slot.items or Slot())}{f', {slot.min_items}+' if slot.min_items else ''}]"
    if slot.kind == "record":
        return f"{{*: {type_text(slot.items or Slot())}}}"
    if slot.kind == "object":
        return f"{{{named_text(slot.fields.values())}}}"
    return "any" if slot.kind == "other" else slot.kind


def named_text(slots: Iterable[Slot]) -> str:
    """Parameters or fields as written between the brackets of a signature."""
    return ", ".join(f"{slot.name}{'' if slot.required else '?'}: {type_text(slot)}{_default(slot)}" for slot in slots)


def _default(slot: Slot) -> str:
    return "" if slot.default is MISSING else f" = {json.dumps(slot.default, ensure_ascii=False)}"
