"""Components as signatures, one line each: `Series(category: string, values: [number])`.

The same lines are read by `Catalog.from_signatures` and shown to models. `name?` is optional, `|` joins
alternatives, `[type, 2+]` is a list of at least two, `$type` takes a $variable, `= json` is a default.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from .catalogs import Component
from .slots import MISSING, SCALARS, Slot

WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|\S)')
JSON = json.JSONDecoder()


def type_text(slot: Slot) -> str:
    """A slot's type as written in a signature."""
    if slot.action:
        return "action"
    mark = "$" if slot.binding else ""
    if slot.kind == "enum":
        return mark + "|".join(json.dumps(choice, ensure_ascii=False) for choice in slot.choices)
    if slot.kind == "component":
        return mark + ("|".join(slot.components) or "any")
    if slot.kind == "union":
        return mark + "|".join(map(type_text, slot.options))
    if slot.kind == "array":
        least = f", {slot.min_items}+" if slot.min_items else ""
        return f"{mark}[{type_text(slot.items or Slot())}{least}]"
    if slot.kind == "record":
        return f"{mark}{{*: {type_text(slot.items or Slot())}}}"
    if slot.kind == "object":
        return mark + "{" + ", ".join(map(_named_text, slot.fields.values())) + "}"
    return mark + ("any" if slot.kind == "other" else slot.kind)


def component_text(component: Component) -> str:
    """A component's signature."""
    return f"{component.name}({', '.join(map(_named_text, component.params))})"


def _named_text(slot: Slot) -> str:
    default = "" if slot.default is MISSING else f" = {json.dumps(slot.default, ensure_ascii=False)}"
    return f"{slot.name}{'' if slot.required else '?'}: {type_text(slot)}{default}"


def read_component(line: str) -> Component:
    """The component one signature describes. Raises ValueError where it cannot be read."""
    reader = _Reader(line)
    name = reader.next()
    reader.expect("(")
    return Component(name, tuple(reader.named(")")))


class _Reader:
    """Reads one signature, word by word."""

    def __init__(self, line: str) -> None:
        self.line, self.at = line, 0

    def peek(self) -> str:
        match = WORD.match(self.line, self.at)
        return match[1] if match else ""

    def next(self) -> str:
        match = WORD.match(self.line, self.at)
        if match is None:
            raise ValueError(f"The signature {self.line.strip()!r} ends too early.")
        self.at = match.end()
        return match[1]

    def expect(self, *words: str) -> str:
        word = self.next()
        if word not in words:
            raise ValueError(f"The signature {self.line.strip()!r} has {word!r} where {' or '.join(words)} should be.")
        return word

    def named(self, closer: str) -> list[Slot]:
        slots: list[Slot] = []
        if self.peek() == closer:
            self.next()
            return slots
        while True:
            name = self.next()
            required = self.peek() != "?"
            if not required:
                self.next()
            self.expect(":")
            slot = replace(self.type(), name=name, required=required, default=MISSING)
            if self.peek() == "=":
                self.next()
                slot.default, self.at = JSON.raw_decode(
                    self.line, self.at + len(self.line[self.at :]) - len(self.line[self.at :].lstrip())
                )
            slots.append(slot)
            if self.expect(",", closer) == closer:
                return slots

    def type(self) -> Slot:
        binding = self.peek() == "$"
        if binding:
            self.next()
        options = [self.atom()]
        while self.peek() == "|":
            self.next()
            options.append(self.atom())
        return replace(_joined(options), binding=binding)

    def atom(self) -> Slot:
        word = self.next()
        if word == "[":
            items, least = self.type(), 0
            if self.expect(",", "]") == ",":
                least = int(self.next())
                self.expect("+")
                self.expect("]")
            return Slot("array", items=items, min_items=least)
        if word == "{":
            if self.peek() == "*":
                self.next()
                self.expect(":")
                values = self.type()
                self.expect("}")
                return Slot("record", items=values)
            return Slot("object", fields={slot.name: slot for slot in self.named("}")})
        if word == "action":
            return Slot(action=True)
        if word in SCALARS or word == "any":
            return Slot(SCALARS.get(word, "any"))
        return self.literal_or_component(word)

    def literal_or_component(self, word: str) -> Slot:
        try:
            value: Any = json.loads(word)
        except ValueError:
            if not word.isidentifier():
                raise ValueError(f"The signature {self.line.strip()!r} has {word!r} where a type should be.") from None
            return Slot("component", components=(word,))
        return Slot("enum", choices=(value,))


def _joined(options: list[Slot]) -> Slot:
    if len(options) == 1:
        return options[0]
    if all(option.kind == "enum" for option in options):
        return Slot("enum", choices=tuple(choice for option in options for choice in option.choices))
    if all(option.kind == "component" for option in options):
        return Slot("component", components=tuple(name for option in options for name in option.components))
    return Slot("union", options=tuple(options))
