"""Built-ins, action steps, Query and Mutation: how many arguments, and which."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .nodes import ACTION_STEPS, BUILTINS, LISTS, NUMERIC, STATEMENT_CALLS, Call, Object, Operation, Ref, StateRef

if TYPE_CHECKING:
    from .check_values import Checker, Task

ARITY = {
    "Count": (1, 1), "First": (1, 1), "Last": (1, 1), "Sum": (1, 1), "Avg": (1, 1), "Min": (1, 1), "Max": (1, 1),
    "Sort": (2, 3), "Filter": (4, 4), "Round": (1, 2), "Abs": (1, 1), "Floor": (1, 1), "Ceil": (1, 1), "Each": (3, 3),
    "Action": (1, 1), "Run": (1, 1), "ToAssistant": (1, 2), "OpenUrl": (1, 1), "Set": (2, 2), "Reset": (1, 99),
    "Query": (1, 4), "Mutation": (1, 2),
}  # fmt: skip
USAGE = {
    "Sort": '@Sort(list, "field", "asc"|"desc")',
    "Filter": '@Filter(list, "field", "==", value)',
    "Round": "@Round(number, decimals)",
    "Each": '@Each(list, "item", Component(item.field))',
    "Action": "Action([@Step(...), ...])",
    "Run": "@Run(query or mutation)",
    "ToAssistant": '@ToAssistant("message")',
    "OpenUrl": '@OpenUrl("https://...")',
    "Set": "@Set($variable, value)",
    "Reset": "@Reset($variable, ...)",
    "Query": 'name = Query("tool", {argument: value}, {default: value}, seconds)',
    "Mutation": 'name = Mutation("tool", {argument: value})',
}
OPERATORS = ("==", "!=", ">", "<", ">=", "<=", "contains")
CHOICES = {"Sort": (("asc", "desc"), 'the directions "asc" and "desc"'), "Filter": (OPERATORS, " ".join(OPERATORS))}
ON_NUMBERS = frozenset({"Round", "Abs", "Floor", "Ceil"})
ON_LISTS = (NUMERIC | LISTS | {"First", "Last"}) - ON_NUMBERS
CONSTANT = frozenset({"string", "number", "boolean", "null", "array", "object", "component", "condition"})


def check_call(checker: Checker, task: Task) -> None:
    """Findings about one call that is not a component of the catalog."""
    name, args = task.node.name, task.node.args
    if name not in ARITY:
        _unknown(checker, task)
        return
    usage = USAGE.get(name, f"@{name}(list)")
    if name in STATEMENT_CALLS and task.node is not task.statement.node:
        message = f"{name}(...) is only possible as a statement of its own."
        checker.note(task, "inline-reserved", message, usage)
    least, most = ARITY[name]
    if not least <= len(args) <= most:
        message = f"{name} takes {least if least == most else f'{least} to {most}'} arguments, not {len(args)}."
        checker.note(task, "bad-call", message, usage)
        return
    for problem in [*_first_argument(checker, name, args[0]), *_further(checker, task, name, args)]:
        checker.note(task, "bad-action" if name in ACTION_STEPS or name == "Action" else "bad-call", problem, usage)


def _unknown(checker: Checker, task: Task) -> None:
    name = task.node.name
    known = [*task.slot.components, *checker.catalog.components, *sorted(BUILTINS)]
    near = get_close_matches(name, known, 1, 0.6)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known[:12])}, ..."
    checker.note(task, "unknown-component", f"{name} is neither a component nor a built-in.", hint)


def _first_argument(checker: Checker, name: str, node: Any) -> Iterator[str]:
    given = checker.fit.describe(node)
    if name in ON_LISTS and given in CONSTANT - {"array", "null"}:
        yield f"{name} works on a list."
    elif name in ON_NUMBERS and given in CONSTANT - {"number", "null"}:
        yield f"{name} works on a number."
    elif name == "ToAssistant" and given in CONSTANT - {"string"}:
        yield "ToAssistant sends a text."


def _further(checker: Checker, task: Task, name: str, args: list[Any]) -> Iterator[str]:
    if name in CHOICES and len(args) > 2 and type(args[2]) is str:
        choices, shown = CHOICES[name]
        if args[2] not in choices:
            yield f"{name} knows {shown}, not {args[2][:20]!r}."
    elif name == "Each" and type(args[1]) is not str and type(args[1]) is not Ref:
        yield "The second argument of Each names the loop variable."
    elif name in PROBLEMS:
        yield from PROBLEMS[name](checker, task, args)


def _action(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    steps = args[0]
    if not isinstance(steps, list):
        yield "Action takes a list of steps."
        return
    if not steps:
        yield "This action does nothing: its list of steps is empty."
    for step in steps:
        if type(step) is Operation and (step.kind == "Ternary" or step.text == "&&"):
            continue
        if not (type(step) is Call and step.name in ACTION_STEPS):
            name = getattr(step, "name", checker.fit.describe(step))
            yield f"{name} is not an action step. Steps are {', '.join('@' + known for known in sorted(ACTION_STEPS))}."


def _run(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    target = checker.program.table.get(args[0].name) if type(args[0]) is Ref else None
    known = type(args[0]) is Ref and target is None
    if not known and (target is None or target.kind not in ("query", "mutation")):
        yield "Run takes the name of a Query or Mutation statement."


def _message(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    if checker.fit.describe(args[0]) in ("number", "boolean", "null", "array", "object", "component", "condition"):
        yield "ToAssistant sends a text."


def _open_url(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    address = checker.literal(args[0])
    first = address
    while type(first) is Operation and first.kind == "BinOp" and first.text == "+":
        first = checker.literal(first.parts[0])
    if type(first) is str:
        complete = first if first is address else first + "x" * (first.endswith("/") or "://" not in first)
        checker.address(task, complete)
    elif checker.fit.describe(first) in CONSTANT - {"string"}:
        yield "OpenUrl opens an address, which is a text."
    elif type(first) is Operation and first.kind == "Ternary":
        for branch in first.parts[1:]:
            if type(checker.literal(branch)) is str:
                checker.address(task, checker.literal(branch))


def _set(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    for arg in args[:1] if task.node.name == "Set" else args:
        if type(arg) is not StateRef:
            yield f"{task.node.name} changes $variables; this is {getattr(arg, 'name', checker.fit.describe(arg))}."


def _tool(checker: Checker, task: Task, args: list[Any]) -> Iterator[str]:
    if type(args[0]) is not str or not args[0].strip():
        yield f"The first argument of {task.node.name} is the tool's name in quotes."
    if (
        len(args) > 1
        and args[1] is not None
        and checker.fit.describe(args[1]) not in ("object", "unknown", "reference")
    ):
        yield f"The second argument of {task.node.name} is an object with the tool's arguments."
    if task.node.name == "Query" and len(args) > 2 and type(args[2]) is not Object and args[2] is not None:
        yield "The third argument of Query is an object to show until the tool has answered."
    if len(args) > 3 and (type(args[3]) not in (int, float) or args[3] <= 0):
        yield "The fourth argument of Query is a number of seconds."


PROBLEMS = {
    "Action": _action, "Run": _run, "OpenUrl": _open_url, "Set": _set, "Reset": _set, "Query": _tool, "Mutation": _tool,
}  # fmt: skip
