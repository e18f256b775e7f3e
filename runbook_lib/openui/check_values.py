"""Every value against the slot it stands in, wherever it stands: in ternaries, templates, unused statements.

A list of tasks replaces recursion. A reference is followed to the statement it names, once for each slot.
What only the running program knows (`$variables`, members of a query's result, sums) fits any data slot.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from json import dumps
from typing import Any

from .check_calls import check_call
from .conform import KINDS
from .fit import Fit, has_branches
from .nodes import BUILTINS, SCALARS, Call, Object, Operation, Ref, StateRef
from .program import Program
from .safety import address_problem, text_problems
from .slots import MISSING, Slot
from .statements import Statement

MAX_DEPTH = 40
MAX_ITEMS = 1_000
MAX_NODES = 20_000
MAX_TEXT = 20_000
MAX_LAYOUT = 10_000
LAYOUT = re.compile(r"(width|height|size|gap|rows|padding|margin|span|columns)$", re.IGNORECASE)
ADDRESS = re.compile(r"(url|src|href|link|source|address)$", re.IGNORECASE)
IMAGE = re.compile(r"(src|image|imageurl|icon)$", re.IGNORECASE)
CODE = re.compile(r"(code|codestring|language|pattern)$", re.IGNORECASE)


@dataclass(slots=True)
class Task:
    """A value to look at: the slot it is in, the nearest token, and a name for messages."""

    node: Any
    slot: Slot | None
    statement: Statement
    at: int
    label: str
    depth: int = 0
    here: bool = True  # False: only whether it fits; it is looked at where it is defined


def check_values(program: Program) -> None:
    """All checks of values against the catalog, of built-ins, of sizes and of safety."""
    Checker(program).run()


class Checker:
    """The tasks still to do for one program."""

    def __init__(self, program: Program) -> None:
        self.program, self.catalog = program, program.catalog
        self.fit = Fit(program)
        self.tasks: list[Task] = []
        self.followed: set[tuple[str, int]] = set()
        self.nodes = 0

    def run(self) -> None:
        """Look at every statement, first to last."""
        for statement in self.program.statements:
            self.tasks.append(Task(statement.node, None, statement, statement.offset, statement.name))
            while self.tasks:
                self._visit(self.tasks.pop())
        if self.nodes > MAX_NODES:
            hint = "Show less, or page through it."
            self.program.note("too-many", f"The program has {self.nodes} values.", hint, source=0)

    def note(self, task: Task, code: str, message: str, hint: str = "") -> None:
        """A finding at a task's place."""
        at = getattr(task.node, "at", task.at) if task.here else task.at
        self.program.note(code, message, hint, statement=task.statement, at=at)

    def _visit(self, task: Task) -> None:
        node, slot = task.node, task.slot
        task.at = getattr(node, "at", task.at)
        self.nodes += task.here
        if task.depth == MAX_DEPTH and task.here:
            self.note(task, "too-deep", f"Nested more than {MAX_DEPTH} levels.", "Give inner parts names of their own.")
        if slot is not None and type(node) is Ref:
            return self._follow(task, slot)
        if slot is not None and not has_branches(node) and (problem := self.fit.misfit(node, slot, task.label)):
            self.note(task, *problem)
            slot = None
        return self._inside(task, slot)

    # Where to go from here

    def _follow(self, task: Task, slot: Slot) -> None:
        """The value a reference stands for, against the slot the reference stands in."""
        target = self.program.table.get(task.node.name)
        seen = set()
        while target is not None and type(target.node) is Ref and target.name not in seen:
            seen.add(target.name)
            target = self.program.table.get(target.node.name)
        if target is None or target.kind == "state":
            return
        if target.kind != "value":
            if slot.kind == "component" and target.name == task.node.name:
                message = f"{target.name} is a {target.kind}, not a component."
                self.note(task, "wrong-component", message, "Show a component that uses it.")
            return
        node = target.node
        if not has_branches(node) and (problem := self.fit.misfit(node, slot, task.label)):
            code, message, hint = problem
            self.note(task, code, f"{task.node.name}: {message}", hint)
        elif (target.name, id(slot)) not in self.followed:
            self.followed.add((target.name, id(slot)))
            self._inside(Task(node, slot, target, target.offset, task.label, here=False), slot)

    def _inside(self, task: Task, slot: Slot | None) -> None:
        """Add what is inside a value to the tasks, last first."""
        node, kind = task.node, type(task.node)
        if kind in SCALARS:
            if task.here:
                self._scalar(task)
        elif kind is Call:
            if task.here or node.name == "Each":
                self._call(task, slot)
        elif isinstance(node, list):
            self._items(task, node, slot)
        elif kind is Object:
            self._object(task, slot)
        elif kind is Operation:
            parts = len(node.parts)
            slots: list[Slot | None] = [slot if has_branches(node) else None] * parts
            if node.text != "||":
                slots[0] = None
            self._add(task, node.parts, slots, [task.label] * parts)

    def _add(self, task: Task, nodes: Any, slots: list[Slot | None], labels: list[str]) -> None:
        new = [
            Task(node, slot, task.statement, task.at, label, task.depth + 1, task.here)
            for node, slot, label in zip(nodes, slots, labels, strict=False)
        ]
        self.tasks.extend(reversed(new))

    def _items(self, task: Task, items: list[Any], slot: Slot | None) -> None:
        if slot is not None and slot.kind == "union":
            slot = next((option for option in slot.options if self.fit.fits(task.node, option)), None)
        if task.here and len(items) > MAX_ITEMS:
            self.note(task, "too-many", f"{task.label} has {len(items)} items.", f"At most {MAX_ITEMS}: show less.")
        inner = slot.items if slot is not None and slot.kind == "array" else None
        if slot is not None and slot.kind == "array":
            if len(items) < slot.min_items:
                message = f"{slot.name or task.label} needs at least {slot.min_items} items, not {len(items)}."
                self.note(task, "min-items", message)
            if inner is not None and inner.kind != "any" and any(item is None for item in items):
                self.note(
                    task, "type-mismatch", f"{slot.name or task.label} has null among its items.", "Leave it out."
                )
        if task.here or inner is not None:
            self._add(task, items, [inner] * len(items), [task.label] * len(items))

    def _object(self, task: Task, slot: Slot | None) -> None:
        entries: list[tuple[str, Any]] = task.node.entries
        if task.here:
            self._keys(task, entries)
        if slot is not None and slot.kind == "union":
            slot = next((option for option in slot.options if self.fit.fits(task.node, option)), None)
        fields = slot.fields if slot is not None and slot.kind == "object" else {}
        if slot is not None and slot.kind == "object":
            self._fields(task, slot, dict(entries))
        value = slot.items if slot is not None and slot.kind == "record" else None
        slots = [fields.get(key, value) for key, _ in entries]
        if task.here or slot is not None:
            self._add(task, [node for _, node in entries], slots, [key for key, _ in entries])

    def _fields(self, task: Task, slot: Slot, values: dict[str, Any]) -> None:
        for key, field in slot.fields.items():
            if field.required and values.get(key) is None and field.default is MISSING:
                code = "null-required" if key in values else "missing-required"
                self.note(task, code, f"{key} is required in {slot.name or task.label}.", f"It is {slot.signature()}.")
        for key in values:
            if key not in slot.fields and not slot.open:
                message = f"{slot.name or task.label} has no key {key!r}."
                self.note(task, "unknown-key", message, f"It is {slot.signature()}.")

    def _keys(self, task: Task, entries: list[tuple[str, Any]]) -> None:
        values = dict(entries)
        if len(values) < len(entries):
            keys = [key for key, _ in entries]
            twice = next(key for key in keys if keys.count(key) > 1)
            self.note(task, "duplicate-key", f"The key {twice!r} is given more than once.", "The last one would win.")
        kind = values.get("k")
        forged = (type(kind) is str and kind in KINDS) or (values.get("type") == "element" and "typeName" in values)
        if forged or "__proto__" in values:
            hint = "Use the component itself: Name(...). Rename the keys k, type/typeName or __proto__."
            self.note(task, "forged-node", "This object is shaped like one of the renderer's own nodes.", hint)

    def _call(self, task: Task, slot: Slot | None) -> None:
        node = task.node
        if node.name == "Each" and len(node.args) == 3:
            inner = slot.items if slot is not None and slot.kind == "array" else slot
            slots = [None, None, inner]
            nodes = [node.args[0], None, node.args[2]]
            if task.here:
                self._add(task, nodes, slots, [task.label] * 3)
            elif inner is not None:
                self._add(task, nodes[2:], slots[2:], [task.label])
        component = self.catalog.components.get(node.name)
        if not task.here:
            return
        if component is None or node.name in BUILTINS:
            check_call(self, task, slot)
            if node.name != "Each" or len(node.args) != 3:
                self._add(task, node.args, [None] * len(node.args), [f"@{node.name}"] * len(node.args))
            return
        signature = component.signature()
        if len(node.args) > len(component.params):
            message = f"{node.name} takes {len(component.params)} arguments, not {len(node.args)}."
            self.note(task, "excess-args", message, signature)
        for index, param in enumerate(component.params):
            given = node.args[index] if index < len(node.args) else MISSING
            if type(given) is Ref:
                target = self.program.table.get(given.name)
                given = None if target is not None and target.kind == "value" and target.node is None else given
            if param.required and param.default is MISSING and (given is None or given is MISSING):
                code, what = ("missing-required", "is missing") if given is MISSING else ("null-required", "is null")
                self.note(task, code, f"{node.name}: {param.name} {what} and is required.", signature)
        extra = len(node.args) - len(component.params)
        slots = [*component.params[: len(node.args)], *[None] * max(0, extra)]
        self._add(task, node.args, slots, [param.name if param else node.name for param in slots])

    # Plain values

    def _scalar(self, task: Task) -> None:
        value, label = task.node, task.label
        if type(value) is str:
            self._text(task, value, label)
        elif type(value) in (int, float):
            if not math.isfinite(value):
                self.note(task, "bad-number", f"{label} is not a finite number.", "Write digits, such as 12.5.")
            elif LAYOUT.search(label) and abs(value) > MAX_LAYOUT:
                message = f"{label} = {value} would break the layout."
                self.note(task, "odd-number", message, f"At most {MAX_LAYOUT}.")

    def _text(self, task: Task, value: str, label: str) -> None:
        if len(value) > MAX_TEXT:
            self.note(task, "too-long", f"{label} is {len(value)} characters long.", f"At most {MAX_TEXT}.")
        if ADDRESS.search(label) and value:
            self.address(task, value, image=bool(IMAGE.search(label)))
        elif not CODE.search(label):
            for code, problem in text_problems(value):
                hint = "Write plain text or markdown." if code == "raw-html" else "Use a public https address."
                self.note(task, code, f"{label} contains {problem}.", hint)

    def address(self, task: Task, value: str, image: bool = False) -> None:
        """A finding if an address is unsafe."""
        if problem := address_problem(value, image):
            shown = dumps(value[:60], ensure_ascii=False)
            hint = "Use an absolute http or https address of a public host" + ("." if image else ", mailto: or tel:.")
            self.note(task, "unsafe-address", f"{shown} is not a safe address: {problem}.", hint)

    def literal(self, node: Any) -> Any:
        """The constant a node stands for, through references and the first value of a `$variable`, if any."""
        for _ in range(20):
            if type(node) not in (Ref, StateRef) or node.name not in self.program.table:
                break
            node = self.program.table[node.name].node
        return node
