"""Tokens to statements: `name = expression`, one a line unless brackets or a ternary are open."""

from __future__ import annotations

from typing import Any

from .expressions import FIRST, KEYWORDS, NAME, STATE, TYPE, Expression, parse_expression
from .lexer import BRACKETS, OPENERS
from .nodes import STATEMENT_CALLS, Call

STRUCTURE = BRACKETS | {"\n", "?", ":"}


class Statement:
    """One `name = expression`.

    `kind` is value, state (`$name`), query or mutation; `start` and `stop` are the range of its
    expression in the token list it was split from.
    """

    __slots__ = ("expression", "kind", "name", "start", "stop", "tokens")

    def __init__(self, name: str, tokens: list[str], start: int, stop: int) -> None:
        self.name, self.tokens, self.start, self.stop = name, tokens, start, stop
        self.expression: Expression = parse_expression(tokens)
        node = self.expression.node
        if type(node) is Call and node.name in STATEMENT_CALLS:
            self.kind = node.name.lower()
        else:
            self.kind = "state" if name[0] == "$" else "value"

    @property
    def node(self) -> Any:
        """The syntax tree of the expression."""
        return self.expression.node


def split(tokens: list[str], skipped: list[int] | None = None) -> list[Statement]:
    """The statements in `tokens`; lines that are not statements are passed over.

    As in lang-core: a line that does not begin with `name =` is skipped up to its newline, whatever
    brackets it opens, and a statement without an expression is none. `skipped` takes the index of the
    first token of each such line.
    """
    statements = []
    passed = [] if skipped is None else skipped
    position, count = 0, len(tokens)
    while position < count:
        token = tokens[position]
        if token == "\n":
            position += 1
            continue
        begins = FIRST.get(token[0])
        named = begins in (NAME, TYPE, STATE) and token not in KEYWORDS
        if not named or position + 1 >= count or tokens[position + 1] != "=":
            passed.append(position)
            position = _next_line(tokens, position)
            continue
        start = position + 2
        position, broken = _end(tokens, start)
        body = tokens[start:position]
        if broken:
            body = [part for part in body if part != "\n"]
        if body:
            statements.append(Statement(token, body, start, position))
        else:
            passed.append(start - 2)
    return statements


def _next_line(tokens: list[str], position: int) -> int:
    try:
        return tokens.index("\n", position)
    except ValueError:
        return len(tokens)


def _end(tokens: list[str], start: int) -> tuple[int, bool]:
    """Where the expression that starts at `start` ends, and whether it spans lines."""
    depth = ternaries = 0
    broken = False
    position, count = start, len(tokens)
    while position < count:
        token = tokens[position]
        if token not in STRUCTURE:
            pass
        elif token == "\n":
            if depth == 0 and ternaries == 0:
                following = _after_newlines(tokens, position)
                if following == count or tokens[following] != "?":
                    return position, broken
                position = following - 1
            broken = True
        elif token in OPENERS:
            depth += 1
        elif token in BRACKETS:
            depth -= depth > 0
        elif depth == 0:
            ternaries = ternaries + 1 if token == "?" else max(0, ternaries - 1)
        position += 1
    return count, broken


def _after_newlines(tokens: list[str], position: int) -> int:
    while position < len(tokens) and tokens[position] == "\n":
        position += 1
    return position
