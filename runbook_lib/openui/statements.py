"""Tokens to statements: `name = expression`, one a line unless brackets or a ternary are open."""

from __future__ import annotations

from typing import Any

from .expressions import FIRST, KEYWORDS, NAME, STATE, TYPE, parse_expression
from .lexer import BRACKETS, OPENERS
from .nodes import STATEMENT_CALLS, Call

NAMES = (NAME, TYPE, STATE)
STRUCTURE = BRACKETS | {"\n", "?", ":"}


class Statement:
    """One `name = expression`.

    `kind` is value, state (`$name`), query or mutation; `start` and `stop` are the range of its
    expression in the token list it was split from, `line` is its tokens without newlines.
    """

    __slots__ = ("expression", "kind", "line", "name", "node", "offset", "start", "stop")

    def __init__(self, tokens: list[str], start: int) -> None:
        self.name, self.start = tokens[start - 2], start
        self.expression = parse_expression(tokens, start)
        self.stop, self.line, self.offset = self.expression.read, tokens, start
        if self.expression.oddities or tokens[self.stop] != "\n" or _next(tokens, self.stop) == "?":
            self._several_lines(tokens)
        self.node: Any = self.expression.node  # the syntax tree
        if type(self.node) is Call and self.node.name in STATEMENT_CALLS:
            self.kind = self.node.name.lower()
        else:
            self.kind = "state" if self.name[0] == "$" else "value"

    def _several_lines(self, tokens: list[str]) -> None:
        """Read the expression again: it may go on behind the newline, or have text behind its end."""
        self.stop = _end(tokens, self.start)
        self.line, self.offset = [token for token in tokens[self.start : self.stop] if token != "\n"], 0
        self.line.append("\n")
        self.expression = parse_expression(self.line, 0)


def split(tokens: list[str], skipped: list[int] | None = None) -> list[Statement]:
    """The statements in `tokens`; lines that are not statements are passed over.

    As in lang-core: a line that does not begin with `name =` is skipped up to its newline, whatever
    brackets it opens, and a statement without an expression is none. `skipped` takes the index of the
    first token of each such line.
    """
    statements = []
    passed = [] if skipped is None else skipped
    tokens.append("\n")
    position, count = 0, len(tokens)
    while position < count:
        token = tokens[position]
        if token == "\n":
            position += 1
            continue
        named = FIRST.get(token[0]) in NAMES and token not in KEYWORDS
        if named and tokens[position + 1] == "=" and _has_value(tokens, position + 2):
            statement = Statement(tokens, position + 2)
            statements.append(statement)
            position = statement.stop
        else:
            passed.append(position)
            position = tokens.index("\n", position)
    tokens.pop()
    return statements


def _has_value(tokens: list[str], start: int) -> bool:
    """True unless nothing follows the `=`, not even a ternary on the next line."""
    return tokens[start] != "\n" or _next(tokens, start) == "?"


def _next(tokens: list[str], position: int) -> str:
    """The first token from `position` on that is no newline, or a newline if there is none."""
    position = _after_newlines(tokens, position)
    return tokens[position] if position < len(tokens) else "\n"


def _end(tokens: list[str], start: int) -> int:
    """Where the expression that starts at `start` ends: at a newline outside brackets and ternaries."""
    depth = ternaries = 0
    position, count = start, len(tokens)
    while position < count:
        token = tokens[position]
        if token not in STRUCTURE:
            pass
        elif token == "\n":
            if depth == 0 and ternaries == 0:
                following = _after_newlines(tokens, position)
                if following == count or tokens[following] != "?":
                    return position
                position = following - 1
        elif token in OPENERS:
            depth += 1
        elif token in BRACKETS:
            depth -= depth > 0
        elif depth == 0:
            ternaries = ternaries + 1 if token == "?" else max(0, ternaries - 1)
        position += 1
    return count - 1


def _after_newlines(tokens: list[str], position: int) -> int:
    while position < len(tokens) and tokens[position] == "\n":
        position += 1
    return position
