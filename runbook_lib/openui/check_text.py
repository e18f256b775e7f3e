"""Findings in the text itself: what the parser skips, guesses or throws away without a word."""

from __future__ import annotations

import re
from bisect import bisect_right

from .cleaning import SPACE
from .expressions import FIRST, KEYWORDS, NAME, TYPE
from .lexer import TOKEN, string_value
from .nodes import BUILTINS
from .program import Program
from .statements import Statement

FORM = "Every line has to be `name = Component(...)` or `name = value`."
CLOSE = 'Close every (, [, { and " you open, in reverse order, before the next statement.'
QUOTES = "“”„«»‘’‚「」『』"
OUTSIDE = re.compile(rf"[^{SPACE}]")
NOT_BLANK = re.compile(rf"[^{SPACE}]+")


def check_text(program: Program) -> None:
    """Fences, prose, skipped lines and characters, unclosed brackets, and what the grammar has no place for."""
    _fences(program)
    _lines(program)
    _characters(program)
    _escapes(program)
    for statement in program.statements:
        _oddities(program, statement)
        _rest(program, statement)
    if not program.statements:
        program.note("no-statement", "The answer contains no statement of OpenUI Lang.", FORM, source=0)
    if program.incomplete:
        message = "A string or a bracket is still open at the end of the program."
        last = program.statements[-1] if program.statements else None
        program.note("unclosed", message, CLOSE, token=len(program.offsets) - 1, statement=last)


def _fences(program: Program) -> None:
    opening = program.source.find("```")
    if "```" not in program.source or program.pieces[:1] == [(0, program.source)]:
        return
    first = program.pieces[0][0] if program.pieces else len(program.source)
    if opening > first and program.text:
        return  # the backticks are inside a string
    hint = "Answer with the program alone, without ``` and without sentences around it."
    program.note("code-fence", "The program is wrapped in a code fence.", hint, source=opening)
    for match in OUTSIDE.finditer(program.source, 0, opening):
        program.note("prose", "There is text before the program.", hint, source=match.start())
        break
    closing = program.source.rfind("```")
    for match in OUTSIDE.finditer(program.source, closing + 3):
        if closing > opening:
            program.note("prose", "There is text after the program.", hint, source=match.start())
        break


def _lines(program: Program) -> None:
    for index in program.skipped:
        words = program.tokens[index : index + 2]
        code = "not-a-statement"
        if words[1:] != ["="]:
            message = f"This line is not a statement and is ignored: it begins with {' '.join(words)[:40]!r}."
        elif FIRST.get(words[0][0]) in (NAME, TYPE) and words[0] not in KEYWORDS:
            message = f"{words[0]} is given no value."
        else:
            code, message = "bad-name", f"{words[0]} cannot be the name of a statement."
        program.note(code, message, FORM, token=index)


def _characters(program: Program) -> None:
    """Characters between tokens that the language does not know: they vanish from the program."""
    end = 0
    for match in [*TOKEN.finditer(program.text), None]:
        start = match.start() if match else len(program.text)
        for odd in NOT_BLANK.finditer(program.text, end, start):
            _character(program, odd.start(), odd[0])
        end = match.end() if match else start


def _character(program: Program, offset: int, text: str) -> None:
    shown, hint = text[:20], FORM
    if any(char in QUOTES for char in text):
        code, message = "smart-quotes", f"{shown} is not a string."
        hint = 'Write strings with straight double quotes: "text".'
    elif any(char.isalnum() for char in text):
        code, message = "non-ascii-name", f"{shown!r} is outside a string and is dropped."
        hint = "Names are ASCII letters, digits and _. Put any other text in a string."
    else:
        code, message = "stray-character", f"{shown!r} has no meaning here and is dropped."
    statement = program.statement_at(bisect_right(program.offsets, offset) - 1)
    program.note(code, message, hint, source=program.in_source(offset), statement=statement)


def _escapes(program: Program) -> None:
    """Strings that cannot be decoded: they are shown with all their backslashes."""
    for number, token in enumerate(program.tokens[: len(program.offsets)]):
        if token[0] == '"' and "\\" in token and string_value(token) == token[1:-1]:
            message = "This string has an escape the language does not know, or a raw line break beside escapes."
            hint = 'Escapes are \\n \\t \\" \\\\ \\/ \\b \\f \\r \\uXXXX; a line break is written \\n.'
            program.note("bad-escape", message, hint, token=number, statement=program.statement_at(number))


def _oddities(program: Program, statement: Statement) -> None:
    """The places where the parser had to guess."""
    last, seen = len(statement.line) - 2, -2
    for code, at in statement.expression.oddities:
        place = min(at, last)
        follows, seen = code != "unclosed" and at - seen <= 1, at
        if follows:  # from the guess before
            continue
        if code == "unclosed":
            if at <= last or not program.incomplete:
                message = "A bracket of this statement is not closed where it should be."
                program.note("unclosed", message, CLOSE, statement=statement, at=place)
        elif code == "missing-comma" and _begins_statement(program, statement, at):
            message = "A statement begins here, but a bracket opened before it is still open."
            program.note("unclosed", message, CLOSE, statement=statement, at=place)
        else:
            token = statement.line[at] if at <= last else "the end"
            code, message, hint = _explain(code, token, statement.line[at - 1] if at else "")
            program.note(code, message, hint, statement=statement, at=place)


def _begins_statement(program: Program, statement: Statement, at: int) -> bool:
    """True if a line inside an open bracket begins with `name =`."""
    number = program.token_of(statement, at)
    return program.tokens[number - 1] == "\n" and program.tokens[number + 1 : number + 2] == ["="]


def _explain(code: str, token: str, before: str) -> tuple[str, str, str]:
    shown = token[:30]
    named = bool(before) and FIRST.get(before[0]) in (NAME, TYPE)
    if code == "missing-comma" and named and token in (":", "="):
        hint = "Arguments have no names: give the values alone, in the order of the signature."
        return "named-argument", f"{before}{token} looks like a named argument.", hint
    if code == "missing-comma" and named and token == "(":
        hint = "Component names begin with a capital letter."
        if before in BUILTINS:
            hint = f"Built-ins are written with @: @{before}(...)."
        return "bad-call", f"{before}(...) is not a call.", hint
    if token in (")", "]", "}"):
        return "unclosed", f"{token} does not close the bracket that is open here.", CLOSE
    if code == "missing-comma":
        return code, f"There is no comma before {shown}.", "Separate values with commas."
    if code in ("bad-key", "missing-colon"):
        return "bad-object", f"{shown} is not where an object can have it.", "Objects are {key: value, other: value}."
    return "unexpected", f"{shown} is not a value.", "It is taken for null. Write a value or remove it."


def _rest(program: Program, statement: Statement) -> None:
    """What stands behind the end of the expression and is dropped."""
    at = statement.expression.read
    token = statement.line[at] if at < len(statement.line) else "\n"
    if token == "\n":
        return
    code, hint = "text-after-expression", "One statement a line. " + FORM
    message = f"Everything from {token[:30]} on is ignored: the expression has ended before it."
    if token == "(" and at:
        code, message, hint = _explain("missing-comma", token, statement.line[at - 1])
    program.note(code, message, hint, statement=statement, at=at)
