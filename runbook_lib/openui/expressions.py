"""Tokens of one statement to a syntax tree: an operator precedence parser without recursion.

The work that waits for an operand is kept on a stack of `(frame, precedence, box)`, so nesting may be as
deep as the input is long. As in lang-core, commas are optional, an unexpected token becomes null and is
consumed, and a missing closing bracket is supplied by the end of the statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .lexer import number_text, number_value, string_value
from .nodes import BUILTINS, SCALARS, Array, Call, Object, Operation, Ref, StateRef

END = "\n"
UNARY, MEMBER = 8, 9
PRECEDENCE = {
    "?": 1, "||": 2, "|": 2, "&&": 3, "&": 3, "==": 4, "!=": 4, ">": 5, "<": 5, ">=": 5, "<=": 5,
    "+": 6, "-": 6, "*": 7, "/": 7, "%": 7, ".": MEMBER, "[": MEMBER,
}  # fmt: skip
SPELLING = {"|": "||", "&": "&&"}
KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

# What waits on the stack: the end of the statement, a container, or an operator's right-hand side.
TOP, CALL, ARRAY, OBJECT, GROUP, INDEX, BINARY, PREFIX, THEN, ELSE, ASSIGN = range(11)
CLOSERS = {CALL: ")", ARRAY: "]", OBJECT: "}", GROUP: ")", INDEX: "]"}

# What a token's first character says about it.
STRING, NAME, TYPE, NUMBER, STATE, AT, OTHER = range(7)
FIRST = {
    **dict.fromkeys("\"'", STRING),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz_", NAME),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", TYPE),
    **dict.fromkeys("0123456789", NUMBER),
    "$": STATE,
    "@": AT,
}
CALLABLE = (TYPE, AT)
SIGNS = ("!", "-")
KEYS = (STRING, NAME, TYPE)


@dataclass(slots=True, eq=False)
class Expression:
    """What one statement says: its syntax tree, the names and `$variables` it uses, the token it ends before.

    `oddities` are the places the parser had to guess at: (code, index of the token).
    """

    node: Any = None
    names: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    oddities: list[tuple[str, int]] = field(default_factory=list)
    read: int = 0


def parse_expression(tokens: list[str], start: int) -> Expression:
    """The first expression from `start` on; it ends at the first newline, and `tokens` has one at its end."""
    i = start
    result = Expression()
    names, states, odd = result.names, result.states, result.oddities
    stack: list[tuple[int, int, Any, Any]] = []
    frame, level = TOP, 0  # what waits, and the precedence it waits at
    box: Any = None  # what it has so far
    items: Any = None  # where a call or an array collects
    left: Any = None
    while True:
        # An operand is due.
        token = tokens[i]
        at = i
        if token != END:
            i += 1
        first = FIRST.get(token[0], OTHER)
        opened = OTHER
        if first == STRING:
            left = string_value(token) if "\\" in token else token[1:-1]
        elif first == NAME:
            if token in KEYWORDS:
                left = KEYWORDS[token]
            else:
                names.append(token)
                left = Ref(token, at)
        elif first in CALLABLE:
            name = token if first == TYPE else token[1:]
            if tokens[i] == "(" and (first == AT or name not in BUILTINS or name == "Action"):
                i += 1
                left = Call(name, at, [])
                opened = CALL
            else:
                names.append(name)
                left = Ref(name, at)
        elif first == NUMBER:
            left = int(token) if token.isdigit() and len(token) < 16 else number_value(token)
        elif first == STATE:
            if tokens[i] == "=":
                i += 1
                stack.append((frame, level, box, items))
                frame, level, box, items = ASSIGN, 0, (token, at), None
                continue
            states.append(token)
            left = StateRef(token, at)
        elif token == "[":
            left = []
            opened = ARRAY
        elif token == "{":
            left = Object(at, [])
            opened = OBJECT
        elif token == "(":
            stack.append((frame, level, box, items))
            frame, level, box, items = GROUP, 0, None, None
            continue
        elif token in SIGNS:
            stack.append((frame, level, box, items))
            frame, level, box, items = PREFIX, UNARY, (token, at), None
            continue
        else:
            left = number_value(token) if token[0] == "-" else None
            if left is None:
                odd.append(("unexpected", at))

        if opened != OTHER:
            token = tokens[i]
            if token == CLOSERS[opened]:
                i += 1
            elif token == END:
                odd.append(("unclosed", i))
            else:
                stack.append((frame, level, box, items))
                frame, level, box, items = opened, 0, left, None
                if opened == CALL:
                    items = left.args
                elif opened == ARRAY:
                    items, box = left, at
                else:
                    key, i = _read_key(tokens, i, odd)
                    box = (left, key)
                continue

        # `left` is an operand: an operator may follow, or it is what the frame waits for.
        while True:
            token = tokens[i]
            if token != ",":
                precedence = PRECEDENCE.get(token, 0)
                if precedence > level:
                    at = i
                    i += 1
                    if token == ".":
                        key, i = _member(tokens, i)
                        left = Operation("Member", key, (left,), at)
                        continue
                    stack.append((frame, level, box, items))
                    items = None
                    if token == "[":
                        frame, level, box = INDEX, 0, (left, at)
                    elif token == "?":
                        frame, level, box = THEN, 0, (left, at)
                    else:
                        frame, level, box = BINARY, precedence, (left, SPELLING.get(token, token), at)
                    break
            if items is not None:
                items.append(left)
                if token == ",":
                    i += 1
                    token = tokens[i]
                elif token != CLOSERS[frame] and token != END:
                    odd.append(("missing-comma", i))
                if token != CLOSERS[frame] and token != END:
                    break
                plain = frame == ARRAY and SCALARS.issuperset(map(type, items))
                left = items if plain else Array(items, box) if frame == ARRAY else box
            elif frame == OBJECT:
                box[0].entries.append((box[1], left))
                left = box[0]
                if token == ",":
                    i += 1
                    token = tokens[i]
                elif token != "}" and token != END:
                    odd.append(("missing-comma", i))
                if token != "}" and token != END:
                    key, i = _read_key(tokens, i, odd)
                    box = (left, key)
                    break
            elif frame == TOP:
                result.node, result.read = left, i
                return result
            elif frame == THEN:
                if token == ":":
                    i += 1
                else:
                    odd.append(("unexpected", i))
                frame, box = ELSE, (*box, left)
                break
            elif frame != GROUP:
                left = _operation(frame, box, left)
            if frame in CLOSERS:
                if CLOSERS[frame] == token:
                    i += 1
                else:
                    odd.append(("unclosed", i))
            frame, level, box, items = stack.pop()


def _operation(frame: int, box: Any, right: Any) -> Operation:
    """The operation whose last operand has just been read."""
    if frame == BINARY:
        return Operation("BinOp", box[1], (box[0], right), box[2])
    if frame == ELSE:
        return Operation("Ternary", "", (box[0], box[2], right), box[1])
    if frame == INDEX:
        return Operation("Index", "", (box[0], right), box[1])
    return Operation("Assign" if frame == ASSIGN else "UnaryOp", box[0], (right,), box[1])


def _read_key(tokens: list[str], i: int, odd: list[tuple[str, int]]) -> tuple[str, int]:
    """An object key and the index of the first token of its value."""
    if FIRST.get(tokens[i][0], OTHER) not in KEYS or tokens[i] in KEYWORDS:
        odd.append(("bad-key", i))
    key, i = _member(tokens, i)
    if tokens[i] == ":":
        return key, i + 1
    odd.append(("missing-colon", i))
    return key, i


def _member(tokens: list[str], i: int) -> tuple[str, int]:
    """A name after a dot or before a colon; whatever else stands there is called `?`."""
    token = tokens[i]
    if token == END:
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
