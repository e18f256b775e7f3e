"""Tokens of one statement to a syntax tree: an operator precedence parser without recursion.

The work that waits for an operand is kept on a stack of `(frame, precedence, box)`, so nesting may be as
deep as the input is long. As in lang-core, commas are optional, an unexpected token becomes null and is
consumed, and a missing closing bracket is supplied by the end of the statement.
"""

from __future__ import annotations

from typing import Any

from .lexer import number_text, number_value, string_value
from .nodes import BUILTINS, SCALARS, Array, Call, Object, Operation, Ref, StateRef

END = "\0"
UNARY, MEMBER = 8, 9
PRECEDENCE = {
    "?": 1, "||": 2, "|": 2, "&&": 3, "&": 3, "==": 4, "!=": 4, ">": 5, "<": 5, ">=": 5, "<=": 5,
    "+": 6, "-": 6, "*": 7, "/": 7, "%": 7, ".": MEMBER, "[": MEMBER,
}  # fmt: skip
SPELLING = {"|": "||", "&": "&&"}
KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

# What waits on the stack: the end of the statement, a container, or an operator's right-hand side.
TOP, CALL, ARRAY, OBJECT, GROUP, INDEX, BINARY, PREFIX, THEN, ELSE, ASSIGN = range(11)
CLOSERS = {CALL: ")", ARRAY: "]", OBJECT: "}"}

# What a token's first character says about it.
STRING, NAME, TYPE, NUMBER, STATE, AT, OPEN, OTHER = range(8)
FIRST = {
    **dict.fromkeys("\"'", STRING),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz_", NAME),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", TYPE),
    **dict.fromkeys("0123456789", NUMBER),
    "$": STATE, "@": AT, "(": OPEN, "[": OPEN, "{": OPEN,
}  # fmt: skip


class Expression:
    """What one statement says: its syntax tree, the names it uses and how many tokens were read."""

    __slots__ = ("names", "node", "read", "states")

    def __init__(self, node: Any, names: list[str], states: list[str], read: int) -> None:
        self.node, self.names, self.states, self.read = node, names, states, read


def parse_expression(tokens: list[str]) -> Expression:
    """The first expression in `tokens` (without newlines); what follows it is not read."""
    tokens.append(END)
    i = 0
    names: list[str] = []
    states: list[str] = []
    stack: list[tuple[int, int, Any]] = []
    frame, level, box = TOP, 0, None  # what waits, the precedence it waits at, what it has so far
    left: Any = None
    while True:
        # An operand is due.
        token = tokens[i]
        at = i
        if token is not END:
            i += 1
        first = FIRST.get(token[0], OTHER)
        if first == STRING:
            left = string_value(token)
        elif first == NAME:
            if token in KEYWORDS:
                left = KEYWORDS[token]
            else:
                names.append(token)
                left = Ref(token, at)
        elif first == TYPE or first == AT:
            name = token if first == TYPE else token[1:]
            if tokens[i] == "(" and (first == AT or name not in BUILTINS or name == "Action"):
                i += 1
                left = Call(name, at)
                if tokens[i] == ")":
                    i += 1
                elif tokens[i] is not END:
                    stack.append((frame, level, box))
                    frame, level, box = CALL, 0, left
                    continue
            else:
                names.append(name)
                left = Ref(name, at)
        elif first == NUMBER:
            left = number_value(token)
        elif first == OPEN:
            if token == "[":
                left = []
                if tokens[i] == "]":
                    i += 1
                elif tokens[i] is not END:
                    stack.append((frame, level, box))
                    frame, level, box = ARRAY, 0, Array(left, at)
                    continue
            elif token == "{":
                left = Object(at)
                if tokens[i] == "}":
                    i += 1
                elif tokens[i] is not END:
                    stack.append((frame, level, box))
                    key, i = _read_key(tokens, i)
                    frame, level, box = OBJECT, 0, (left, key)
                    continue
            else:
                stack.append((frame, level, box))
                frame, level, box = GROUP, 0, None
                continue
        elif first == STATE:
            if tokens[i] == "=":
                i += 1
                stack.append((frame, level, box))
                frame, level, box = ASSIGN, 0, (token, at)
                continue
            states.append(token)
            left = StateRef(token, at)
        elif token[0] == "-" and len(token) > 1:
            left = number_value(token)
        elif token == "!" or token == "-":
            stack.append((frame, level, box))
            frame, level, box = PREFIX, UNARY, (token, at)
            continue
        else:
            left = None

        # `left` is an operand: an operator may follow, or it is what the frame waits for.
        while True:
            token = tokens[i]
            precedence = PRECEDENCE.get(token, 0)
            if precedence > level:
                at = i
                i += 1
                if token == ".":
                    key, i = _member(tokens, i)
                    left = Operation("Member", key, (left,), at)
                    continue
                stack.append((frame, level, box))
                if token == "[":
                    frame, level, box = INDEX, 0, (left, at)
                elif token == "?":
                    frame, level, box = THEN, 0, (left, at)
                else:
                    frame, level, box = BINARY, precedence, (left, SPELLING.get(token, token), at)
                break
            if frame == CALL or frame == ARRAY:
                (box.args if frame == CALL else box.items).append(left)
                if token == ",":
                    i += 1
                    token = tokens[i]
                if token is not END and token != CLOSERS[frame]:
                    break
                left = box if frame == CALL or not SCALARS.issuperset(map(type, box.items)) else box.items
            elif frame == OBJECT:
                left, key = box[0], (box[1], left)
                left.entries.append(key)
                if token == ",":
                    i += 1
                    token = tokens[i]
                if token is not END and token != "}":
                    key, i = _read_key(tokens, i)
                    box = (left, key)
                    break
            elif frame == TOP:
                tokens.pop()
                return Expression(left, names, states, i)
            elif frame == BINARY:
                left = Operation("BinOp", box[1], (box[0], left), box[2])
            elif frame == THEN:
                if token == ":":
                    i += 1
                frame, box = ELSE, (*box, left)
                break
            elif frame == ELSE:
                left = Operation("Ternary", "", (box[0], box[2], left), box[1])
            elif frame == INDEX:
                left = Operation("Index", "", (box[0], left), box[1])
            elif frame == ASSIGN:
                left = Operation("Assign", box[0], (left,), box[1])
            elif frame == PREFIX:
                left = Operation("UnaryOp", box[0], (left,), box[1])
            if (frame == GROUP and token == ")") or (frame == INDEX and token == "]") or CLOSERS.get(frame) == token:
                i += 1
            frame, level, box = stack.pop()


def _read_key(tokens: list[str], i: int) -> tuple[str, int]:
    """An object key and the index of the first token of its value."""
    key, i = _member(tokens, i)
    return key, i + 1 if tokens[i] == ":" else i


def _member(tokens: list[str], i: int) -> tuple[str, int]:
    """A name after a dot or before a colon; whatever else stands there is called `?`."""
    token = tokens[i]
    if token is END:
        return "?", i
    first = FIRST.get(token[0], OTHER)
    if first == STRING:
        return string_value(token), i + 1
    if first == STATE:
        return token[1:], i + 1
    if first == NUMBER or (token[0] == "-" and len(token) > 1):
        return number_text(number_value(token)), i + 1
    named = first in (NAME, TYPE) and token not in KEYWORDS
    return (token if named else "?"), i + 1
