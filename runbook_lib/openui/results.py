"""What parsing returns: lang-core's result, read lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from .catalogs import Catalog
from .conform import is_element
from .entries import TooLarge, issues, reached
from .nodes import BUILTINS, STATEMENT_CALLS, Call, StateRef, walk
from .statements import Statement
from .tree import Builder
from .values import RAW, tagged

LIMIT = (
    "The program is too deeply nested, or expands to more than lists of references should. "
    "Flatten it: fewer levels, and no statement that uses another one many times over."
)


class ParseResult:
    """A program's tree and what was noticed while building it.

    Nothing is built before the first attribute is read. The values are shared with the parser and with
    other results: read them, do not change them.
    """

    def __init__(self, load: Callable[[], dict[str, Any]]) -> None:
        self._load = load

    @cached_property
    def _result(self) -> dict[str, Any]:
        return self._load()

    @property
    def root(self) -> dict[str, Any] | None:
        """The root element (`type`, `typeName`, `props`, ...) or None."""
        return self._result["root"]  # type: ignore[no-any-return]

    @property
    def meta(self) -> dict[str, Any]:
        """`incomplete`, `unresolved`, `orphaned`, `statementCount` and `errors`, as lang-core has them."""
        return self._result["meta"]  # type: ignore[no-any-return]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """lang-core's errors: code, component, path, message, statementId."""
        return self._result["meta"]["errors"]  # type: ignore[no-any-return]

    def as_dict(self) -> dict[str, Any]:
        """The result in lang-core's JSON shape."""
        return self._result


def empty(incomplete: bool, count: int = 0) -> dict[str, Any]:
    """The result of a text without statements."""
    meta = {"incomplete": incomplete, "unresolved": [], "orphaned": [], "statementCount": count, "errors": []}
    return {"root": None, "meta": meta, "stateDeclarations": {}, "queryStatements": [], "mutationStatements": []}


def whole(statements: Sequence[Statement], incomplete: bool, catalog: Catalog) -> dict[str, Any]:
    """The result of a whole program; the last statement of a name wins, in the place of the first."""
    if not statements:
        return empty(incomplete)
    table = {statement.name: statement for statement in statements}
    return build(table, statements[0].name, incomplete, len(table), Builder(catalog))


def build(
    statements: Mapping[str, Statement], first: str, incomplete: bool, count: int, builder: Builder
) -> dict[str, Any]:
    """The result of a table of statements. `first` is the name of the first one in the text."""
    name = root_name(statements, first, builder.catalog.root)
    result = empty(incomplete, count)
    meta = result["meta"]
    entry = builder.start(statements, incomplete, name)
    try:
        value = builder.build(statements[name].node)
        result["root"] = tagged(value, name) if is_element(value) else None
        _declarations(statements, builder, result)
        meta["errors"], meta["unresolved"] = issues(entry)
    except TooLarge:
        result = empty(incomplete, count)
        error = {"code": "limit-exceeded", "component": "", "path": "", "message": LIMIT, "statementId": name}
        result["meta"]["errors"].append(error)
        return result
    used = reached(entry)
    meta["orphaned"] = [
        other for other, item in statements.items() if item.kind == "value" and other != name and other not in used
    ]
    return result


def root_name(statements: Mapping[str, Statement], first: str, root: str | None) -> str:
    """Which statement is shown: `root`, one named like the root component, or the first that fits."""
    if "root" in statements:
        return "root"
    if root and root in statements:
        return root
    calls = [(name, item.node.name) for name, item in statements.items() if is_component(item)]
    preferred = [name for name, component in calls if root and component == root]
    return (preferred or [name for name, _ in calls] or [first])[0]


def is_component(statement: Statement) -> bool:
    """True if the statement's value is a call that is neither built-in, query nor mutation."""
    node = statement.node
    return statement.kind == "value" and type(node) is Call and node.name not in BUILTINS | STATEMENT_CALLS


def _declarations(statements: Mapping[str, Statement], builder: Builder, result: dict[str, Any]) -> None:
    for name, item in statements.items():
        if item.kind == "state":
            result["stateDeclarations"][name] = builder.build(item.node)
        elif item.kind == "query":
            result["queryStatements"].append(_query(name, item.node, builder))
        elif item.kind == "mutation":
            tool, args = _arguments(item.node, 2, builder)
            result["mutationStatements"].append({"statementId": name, "toolAST": tool, "argsAST": args})
    for item in statements.values():
        for state in item.expression.states:
            result["stateDeclarations"].setdefault(state, None)


def _query(name: str, node: Call, builder: Builder) -> dict[str, Any]:
    tool, args, defaults, refresh = _arguments(node, 4, builder)
    deps = _state_names(node.args[1]) if len(node.args) > 1 else []
    shape = {"statementId": name, "toolAST": tool, "argsAST": args, "defaultsAST": defaults, "refreshAST": refresh}
    return {**shape, **({"deps": deps} if deps else {}), "complete": True}


def _arguments(node: Call, wanted: int, builder: Builder) -> list[Any]:
    built = [builder.build(arg, RAW) for arg in node.args[:wanted]]
    return built + [None] * (wanted - len(built))


def _state_names(node: Any) -> list[str]:
    return list(dict.fromkeys(item.name for item in walk(node) if type(item) is StateRef))
