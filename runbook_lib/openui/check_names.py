"""Findings about names: the root, duplicates, what is used and not there, what is there and not used."""

from __future__ import annotations

from difflib import get_close_matches

from .nodes import BUILTINS, STATEMENT_CALLS, Call, Ref, StateRef, walk
from .program import Program
from .results import is_component
from .statements import Statement


def check_names(program: Program) -> None:
    """All checks of names; one pass over the statements, one over what they use."""
    _root(program)
    _duplicates(program)
    used = _uses(program)
    _unused(program, used)
    _cycles(program)


def _root(program: Program) -> None:
    root, wanted = program.table.get("root"), program.catalog.root
    if root is None:
        if program.statements:
            example = f"root = {wanted or 'Component'}([...])"
            message = "No statement is called root, so what is shown is a guess."
            program.note("no-root", message, f"Begin with {example}.", statement=program.statements[0])
        return
    if program.statements[0].name != "root":
        message = "root is not the first statement: nothing can be shown until it arrives."
        program.note("root-not-first", message, "Write the root line first.", statement=root)
    node = root.node
    if type(node) is Ref and node.name in program.table and node.name != "root":
        return
    if not is_component(root):
        message = "root is not a component, so nothing is shown."
        program.note("wrong-root", message, f"Write root = {wanted or 'Component'}([...]).", statement=root)
    elif wanted and node.name != wanted and node.name in program.catalog.components:
        message = f"root is a {node.name}; this catalog's root is {wanted}."
        program.note("wrong-root", message, f"Write root = {wanted}([...]).", statement=root)


def _duplicates(program: Program) -> None:
    seen: set[str] = set()
    for statement in program.statements:
        name = statement.name
        if name in seen:
            message = f"{name} is defined a second time; only one definition is used."
            program.note("duplicate", message, "Give every statement a name of its own.", statement=statement)
        seen.add(name)
        if name in BUILTINS or name in STATEMENT_CALLS or name in program.catalog.components:
            message = f"{name} is the name of a {'component' if name in program.catalog.components else 'built-in'}."
            program.note("reserved-name", message, "Begin names with a lower-case letter.", statement=statement)


def _uses(program: Program) -> set[str]:
    """The names in use anywhere; what is used and not defined is a finding."""
    used: set[str] = set()
    for statement in program.statements:
        variables = _loop_variables(statement)
        first: dict[str, Ref] = {}
        for node in walk(statement.node):
            if isinstance(node, Ref):
                first.setdefault(node.name, node)
        for name, node in first.items():
            if name in variables:
                continue
            if name != statement.name:
                used.add(name)
            if name not in program.table:
                (_undeclared if type(node) is StateRef else _unresolved)(program, statement, node)
    return used


def _loop_variables(statement: Statement) -> set[str]:
    names = set()
    for node in walk(statement.node):
        if type(node) is Call and node.name == "Each" and len(node.args) > 2:
            variable = node.args[1]
            names.add(variable.name if type(variable) is Ref else variable)
    return {name for name in names if type(name) is str and not name.startswith("$")}


def _undeclared(program: Program, statement: Statement, node: Ref) -> None:
    message = f"{node.name} is used but not declared, so it starts as null."
    hint = f"Add a line: {node.name} = <its first value>."
    program.note("undeclared-state", message, hint, statement=statement, at=node.at)


def _unresolved(program: Program, statement: Statement, node: Ref) -> None:
    similar = get_close_matches(node.name, program.table, 1, 0.7)
    hint = f"Define it: {node.name} = ..." + (f", or did you mean {similar[0]}?" if similar else ".")
    lowered = {name.lower(): name for name in program.catalog.components}
    if node.name.lower() in lowered:
        hint = f"If the component is meant, it is called {lowered[node.name.lower()]}(...)."
    message = f"{node.name} is used but never defined."
    program.note("unresolved", message, hint, statement=statement, at=node.at)


def _unused(program: Program, used: set[str]) -> None:
    if _root_is_unknown(program):
        return
    orphaned = set(program.result.meta["orphaned"])
    for name, statement in program.table.items():
        if name in orphaned or (statement.kind == "value" and name not in used and name != "root"):
            if name in orphaned or program.result.meta["statementCount"] > 1:
                message = f"{name} is defined but nothing that is shown uses it."
                hint = "Put it into the root's children, or remove it."
                program.note("orphaned", message, hint, statement=statement)
        elif statement.kind == "state" and name not in used:
            program.note("unused-state", f"{name} is declared but never used.", "Remove it.", statement=statement)


def _root_is_unknown(program: Program) -> bool:
    """True if root is a name or a component that does not exist, a finding of its own: its parts hang on it."""
    node = program.table["root"].node if "root" in program.table else None
    if type(node) is Call:
        return node.name not in BUILTINS | STATEMENT_CALLS and node.name not in program.catalog.components
    return type(node) is Ref and node.name not in program.table


def _cycles(program: Program) -> None:
    """Statements that lead back to themselves, found by following references without recursion."""
    done: set[str] = set()
    for start in program.table:
        path: dict[str, None] = {}
        stack = [] if start in done else [(start, iter(_value_names(program.table[start])))]
        while stack:
            name, uses = stack[-1]
            path[name] = None
            for used in uses:
                if used in path:
                    chain = " -> ".join([*list(path)[list(path).index(used) :][:6], used])
                    message = f"{name} leads back to {used}: {chain}."
                    program.note("circular", message, "Break the cycle.", statement=program.table[name])
                elif used not in done and used in program.table:
                    stack.append((used, iter(_value_names(program.table[used]))))
                    break
            else:
                done.add(name)
                del path[name]
                stack.pop()


def _value_names(statement: Statement) -> list[str]:
    """The names a statement's value is made of; a query's arguments are not part of it."""
    return [] if statement.kind in ("query", "mutation") else list(dict.fromkeys(statement.expression.names))
