"""The section of a system prompt that teaches a model a catalog."""

from __future__ import annotations

import json
from collections.abc import Iterable

from .catalogs import Catalog
from .slots import Slot

RULES = """\
Answer with a program in OpenUI Lang and nothing else: no code fence, no sentence before or after it.

Rules
- One statement a line: name = Component(arguments) or name = value. Names are ASCII, begin with a lower-case
  letter and are used once.
- The first line is {root}, with the names of the parts; the parts follow, each on a line.
- Arguments go by position, in the order of the signature, separated by commas. They have no names. Give null to
  skip an optional one, and leave out optional ones at the end.
- Values: "text" in straight double quotes with \\" and \\n inside, 12.5, true, false, null, [list], {{key: value}},
  and the names of other statements. Close every bracket on the line.
- Every name that is used is defined, and every statement is reached from the root.
- Choose literal alternatives exactly as they are written in the signature.
- Text is plain text or markdown, never HTML. Addresses are absolute https addresses of public hosts."""

ACTIONS = """\
- A button does something through Action([steps]): @ToAssistant("message") continues the conversation,
  @OpenUrl("https://...") opens a page."""

NOTATION = """\
Signatures (name?: type is optional, [type] is a list, a|b is one of them, = value is the default)"""


def prompt_section(catalog: Catalog, only: Iterable[str] | None = None) -> str:
    """Rules, signatures and two examples. Raises KeyError for a name in `only` that the catalog does not have."""
    names = component_names(catalog, only)
    rules = [RULES.format(root=f"root = {catalog.root or names[0]}(...)")]
    if any(slot.action for name in names for slot in catalog.components[name].params):
        rules.append(ACTIONS)
    parts = ["\n".join(rules), f"{NOTATION}\n{_signatures(catalog, names)}"]
    parts += [f"Example {number}\n{example(catalog, names, number)}" for number in (1, 2)]
    return "\n\n".join(parts) + "\n"


def component_names(catalog: Catalog, only: Iterable[str] | None) -> list[str]:
    """The catalog's components, or the root, those named, and what their required slots cannot do without."""
    if only is None:
        return list(catalog.components)
    wanted = dict.fromkeys([*([catalog.root] if catalog.root else []), *only])
    pending = list(wanted)
    while pending:
        for slot in catalog.components[pending.pop()].params:
            inner = _components(slot)
            if inner and (slot.required or len(inner) == 1) and not wanted.keys() & set(inner):
                wanted[inner[0]] = None
                pending.append(inner[0])
    return [name for name in catalog.components if name in wanted]


def _components(slot: Slot) -> tuple[str, ...]:
    while slot.items is not None:
        slot = slot.items
    return slot.components


def _signatures(catalog: Catalog, names: list[str]) -> str:
    """Signatures that mention no other component than those."""
    lines = []
    for name in names:
        line = catalog.components[name].signature()
        for slot in catalog.components[name].params:
            inner = _components(slot)
            kept = [component for component in inner if component in names]
            if kept:
                line = line.replace("|".join(inner), "|".join(kept))
        lines.append(line)
    return "\n".join(lines)


def example(catalog: Catalog, names: list[str], parts: int) -> str:
    """A program of a root with that many parts, written from the catalog's signatures: always valid in it."""
    writer = _Writer(catalog, names, parts)
    root = writer.call(catalog.root or names[0], 0)
    return "\n".join([f"root = {root}", *writer.lines])


class _Writer:
    """Writes calls from signatures; parts become statements of their own."""

    def __init__(self, catalog: Catalog, names: list[str], parts: int) -> None:
        self.catalog, self.names, self.parts = catalog, names, parts
        self.lines: list[str] = []
        self.count = 0

    def call(self, name: str, depth: int) -> str:
        params = list(self.catalog.components[name].params)
        while params and not params[-1].required and (depth != 1 or len(params) > 2 or params[-1].kind != "enum"):
            params.pop()
        return f"{name}({', '.join([self.value(slot, depth) for slot in params])})"

    def value(self, slot: Slot, depth: int) -> str:
        if not slot.required and slot.name and slot.kind != "enum":
            return "null"
        if slot.kind == "array":
            return self.listing(slot, depth)
        if slot.kind == "component":
            return self.part(slot.components, depth, 0)
        if slot.kind == "union":
            return self.value(slot.options[0], depth)
        if slot.kind == "enum":
            return json.dumps(slot.choices[0], ensure_ascii=False)
        if slot.kind == "object":
            needed = [field for field in slot.fields.values() if field.required]
            return "{" + ", ".join([f"{field.name}: {self.value(field, depth)}" for field in needed]) + "}"
        address = any(word in slot.name.lower() for word in ("url", "src", "href", "link"))
        text = "https://example.com/page" if address else (slot.name or "text").capitalize()
        return {"number": "3", "boolean": "true", "record": "{}"}.get(slot.kind) or json.dumps(text)

    def listing(self, slot: Slot, depth: int) -> str:
        items = slot.items or Slot()
        count = max(slot.min_items, 1 if depth else self.parts)
        if items.kind == "component" or (items.kind == "any" and depth == 0):
            components = items.components or tuple(self.names)
            return "[" + ", ".join([self.part(components, depth, index) for index in range(count)]) + "]"
        return "[" + ", ".join([self.value(items, depth)] * count) + "]"

    def part(self, components: tuple[str, ...], depth: int, index: int) -> str:
        known = [name for name in components if name in self.names and name != self.catalog.root]
        known = sorted(known or components, key=self._compound)
        name = known[0] if index % 2 == 0 else known[-1]
        self.count += 1
        label = f"{name[0].lower()}{name[1:]}{self.count}"
        place = len(self.lines)
        self.lines.insert(place, f"{label} = {self.call(name, depth + 1)}")
        return label

    def _compound(self, name: str) -> bool:
        required = self.catalog.components[name].required
        return any(_components(slot) for slot in required)
