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

from .catalogs import Component
from .check_calls import check_call
from .conform import KINDS
from .fit import Fit, has_branches
from .nodes import BUILTINS, SCALARS, Call, Object, Operation, Ref, StateRef
from .program import Program
from .safety import address_problem, text_problems
from .signatures import type_text
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
UNCHECKED = Slot()  # nothing is asked of a value that stands here
CODE = re.compile(r"(code|codestring|language|pattern)$", re.IGNORECASE)


@dataclass(slots=True)
class Task:
    """A value to look at: the slot it is in, the nearest token, and a name for messages."""

    node: Any
    slot: Slot
    statement: Statement
    at: int
    label: str
    depth: int = 0
    here: bool = True  # False: only whether it fits; it is looked at where it is defined


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
            self.tasks.append(Task(statement.node, UNCHECKED, statement, statement.offset, statement.name))
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
        task.at = getattr(task.node, "at", task.at)
        self.nodes += task.here
        if task.depth == MAX_DEPTH and task.here:
            self.note(task, "too-deep", f"Nested more than {MAX_DEPTH} levels.", "Give inner parts names of their own.")
        if task.slot is not UNCHECKED and type(task.node) is Ref:
            self._follow(task)
            return
        if task.slot is not UNCHECKED and (problem := self.fit.misfit(task.node, task.slot, task.label)):
            self.note(task, *problem)
            task.slot = UNCHECKED
        self._inside(task)

    # Where to go from here

    def _follow(self, task: Task) -> None:
        """The value a reference stands for, against the slot the reference stands in."""
        slot, target = task.slot, self.program.table.get(task.node.name)
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
        elif problem := self.fit.misfit(target.node, slot, task.label):
            code, message, hint = problem
            self.note(task, code, f"{task.node.name}: {message}", hint)
        elif (target.name, id(slot)) not in self.followed:
            self.followed.add((target.name, id(slot)))
            self._inside(Task(target.node, slot, target, target.offset, task.label, here=False))

    def _inside(self, task: Task) -> None:
        """Add what is inside a value to the tasks, last first."""
        node, kind = task.node, type(task.node)
        if kind in SCALARS:
            if task.here:
                self._scalar(task)
        elif kind is Call:
            self._call(task)
        elif isinstance(node, list):
            self._items(task, node)
        elif kind is Object:
            self._object(task, node.entries)
        elif kind is Operation:
            slot = task.slot if has_branches(node) else UNCHECKED
            first = slot if node.text == "||" else UNCHECKED  # elsewhere it is a condition
            self._add(task, [(part, slot if index else first, task.label) for index, part in enumerate(node.parts)])

    def _add(self, task: Task, inside: list[tuple[Any, Slot, str]]) -> None:
        """Tasks for (node, slot, label), except where there is nothing to ask."""
        self.tasks += [
            Task(node, slot, task.statement, task.at, label, task.depth + 1, task.here)
            for node, slot, label in reversed(inside)
            if task.here or slot is not UNCHECKED
        ]

    def _chosen(self, task: Task) -> Slot:
        """The slot, or the member of a union that the value fits."""
        if task.slot.kind != "union":
            return task.slot
        return next((option for option in task.slot.options if self.fit.fits(task.node, option)), UNCHECKED)

    def _items(self, task: Task, items: list[Any]) -> None:
        slot, inner = self._chosen(task), UNCHECKED
        if task.here and len(items) > MAX_ITEMS:
            self.note(task, "too-many", f"{task.label} has {len(items)} items.", f"At most {MAX_ITEMS}: show less.")
        if slot.kind == "array":
            name, inner = slot.name or task.label, slot.items or UNCHECKED
            if len(items) < slot.min_items:
                self.note(task, "min-items", f"{name} needs at least {slot.min_items} items, not {len(items)}.")
            if inner.kind != "any" and any(item is None for item in items):
                self.note(task, "type-mismatch", f"{name} has null among its items.", "Leave it out.")
        self._add(task, [(item, inner, task.label) for item in items])

    def _object(self, task: Task, entries: list[tuple[str, Any]]) -> None:
        slot, values = self._chosen(task), dict(entries)
        if task.here:
            self._keys(task, entries, values)
        if slot.kind == "object":
            self._fields(task, slot, values)
        other = slot.items if slot.kind == "record" and slot.items else UNCHECKED
        self._add(task, [(node, slot.fields.get(key, other), key) for key, node in entries])

    def _fields(self, task: Task, slot: Slot, values: dict[str, Any]) -> None:
        for key, field in slot.fields.items():
            if field.required and values.get(key) is None and field.default is MISSING:
                code = "null-required" if key in values else "missing-required"
                self.note(task, code, f"{key} is required in {slot.name or task.label}.", f"It is {type_text(slot)}.")
        for key in values:
            if key not in slot.fields and not slot.open:
                message = f"{slot.name or task.label} has no key {key!r}."
                self.note(task, "unknown-key", message, f"It is {type_text(slot)}.")

    def _keys(self, task: Task, entries: list[tuple[str, Any]], values: dict[str, Any]) -> None:
        if len(values) < len(entries):
            keys = [key for key, _ in entries]
            twice = next(key for key in keys if keys.count(key) > 1)
            self.note(task, "duplicate-key", f"The key {twice!r} is given more than once.", "The last one would win.")
        kind = values.get("k")
        forged = (type(kind) is str and kind in KINDS) or (values.get("type") == "element" and "typeName" in values)
        if forged or "__proto__" in values:
            hint = "Use the component itself: Name(...). Rename the keys k, type/typeName or __proto__."
            self.note(task, "forged-node", "This object is shaped like one of the renderer's own nodes.", hint)

    def _call(self, task: Task) -> None:
        name, args = task.node.name, task.node.args
        component = self.catalog.components.get(name)
        if name == "Each" and len(args) == 3:
            each = (task.slot.items or UNCHECKED) if task.slot.kind == "array" else task.slot
            parts = [(args[0], UNCHECKED), (None, UNCHECKED), (args[2], each)]
            self._add(task, [(part, slot, task.label) for part, slot in parts])
        elif task.here and component is not None and name not in BUILTINS:
            self._component(task, component)
        elif task.here:
            self._add(task, [(arg, UNCHECKED, f"@{name}") for arg in args])
        if task.here and (component is None or name in BUILTINS):
            check_call(self, task)

    def _component(self, task: Task, component: Component) -> None:
        name, args, params = component.name, task.node.args, component.params
        signature = component.signature()
        if len(args) > len(params):
            self.note(task, "excess-args", f"{name} takes {len(params)} arguments, not {len(args)}.", signature)
        for index, param in enumerate(params):
            given = args[index] if index < len(args) else MISSING
            target = self.program.table.get(given.name) if type(given) is Ref else None
            if target is not None and target.kind == "value" and target.node is None:
                given = None
            if param.required and param.default is MISSING and (given is None or given is MISSING):
                code, what = ("missing-required", "is missing") if given is MISSING else ("null-required", "is null")
                self.note(task, code, f"{name}: {param.name} {what} and is required.", signature)
        named = [(arg, param, param.name) for arg, param in zip(args, params, strict=False)]
        self._add(task, named + [(arg, UNCHECKED, name) for arg in args[len(params) :]])

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


def check_values(program: Program) -> None:
    """All checks of values against the catalog, of built-ins, of sizes and of safety."""
    Checker(program).run()
