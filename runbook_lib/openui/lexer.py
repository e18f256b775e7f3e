"""Characters to tokens.

A token is the text it was written as: `"` or `'` starts a string, a digit or `-` a number, a letter or
`_` a name, `$` a state variable, `@` a built-in; everything else is punctuation. Characters the language
does not know are skipped, as lang-core does.
"""

from __future__ import annotations

import re
from decimal import Decimal
from json import loads

TOKEN = re.compile(
    r"""
      "[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)
    | '[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)
    | [A-Za-z_][A-Za-z0-9_]*
    | [(),\[\]{}:\n]
    | -?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]*)?
    | [$@][A-Za-z_][A-Za-z0-9_]*
    | == | != | >= | <= | && | \|\| | [=!<>.?+*/%&|-]
    """,
    re.VERBOSE | re.DOTALL,
)
NEGATIVE = re.compile(r"-[0-9]")
WHOLE = re.compile(r"-?[0-9]{1,15}\Z")
OPENERS = {"(": ")", "[": "]", "{": "}"}
BRACKETS = frozenset("()[]{}")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
SINGLE = {"n": "\n", "t": "\t"}
VALUE_ENDS = frozenset("\"')]$@_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def tokenize(text: str) -> list[str]:
    """The tokens of `text`, newlines included."""
    tokens = TOKEN.findall(text)
    return _split_minus(tokens)[0] if NEGATIVE.search(text) else tokens


def offsets(text: str) -> list[int]:
    """Where each token of `tokenize(text)` starts."""
    starts = [match.start() for match in TOKEN.finditer(text)]
    for index in _split_minus(TOKEN.findall(text))[1]:
        starts.insert(index, starts[index - 1] + 1)
    return starts


def _split_minus(tokens: list[str]) -> tuple[list[str], list[int]]:
    """A minus right after a value is an operator, so `1 -1` is three tokens and `(-1` two."""
    out: list[str] = []
    split: list[int] = []
    previous = "\n"
    for token in tokens:
        after_value = previous[0] in VALUE_ENDS or (previous[0] == "-" and len(previous) > 1)
        if after_value and token[0] == "-" and len(token) > 1:
            out.append("-")
            split.append(len(out))
            token = token[1:]
        out.append(token)
        previous = token
    return out, split


def auto_close(tokens: list[str]) -> bool:
    """Close an open string and open brackets at the end of `tokens`, in place. True if anything was open."""
    expected: list[str] = []
    for token in tokens:
        if token in BRACKETS:
            if token in OPENERS:
                expected.append(OPENERS[token])
            elif expected and token == expected[-1]:
                expected.pop()
    if tokens and (ending := _missing_quote(tokens[-1])):
        tokens[-1] += ending
    elif not expected:
        return False
    tokens.extend(reversed(expected))
    return True


def _missing_quote(token: str) -> str:
    """What an unfinished string token lacks, or nothing."""
    quote = token[0]
    if quote not in "\"'":
        return ""
    body = token[1:]
    slashes = len(body) - len(body.rstrip("\\"))
    if slashes % 2:
        return "\\" + quote
    if not body.endswith(quote):
        return quote
    before = body[:-1]
    return quote if (len(before) - len(before.rstrip("\\"))) % 2 else ""


def string_value(token: str) -> str:
    """The text a string token stands for. A malformed escape leaves the raw text as it is."""
    if "\\" not in token:
        return token[1:-1]
    if token[0] == "'":
        return ESCAPED.sub(lambda match: SINGLE.get(match[1], match[1]), token[1:-1])
    try:
        return str(loads(token))
    except ValueError:
        return token[1:-1]


def number_value(token: str) -> float | int:
    """A number token as a double: an int where that is exact, NaN for an exponent without digits."""
    if WHOLE.match(token):
        return int(token)
    try:
        return float(token)
    except ValueError:
        return float("nan")


def number_text(value: float | int) -> str:
    """A number as JavaScript writes it: `1`, `0.5`, `1e+21`, `NaN`."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    digits = repr(float(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return format(Decimal(digits), "f").removesuffix(".0") if value else "0"
    mantissa, _, exponent = digits.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"
