"""A program with all its places: what the checks of the validator read."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from .catalogs import Catalog
from .cleaning import SPACE, clean
from .findings import WARNINGS, Finding
from .lexer import auto_close, offsets, tokenize
from .results import ParseResult, whole
from .statements import Statement, split

MAX_FINDINGS = 500


class Program:
    """One answer, read for its findings. Token numbers index `tokens`; `note` turns them into places."""

    def __init__(self, source: str, catalog: Catalog) -> None:
        self.source, self.catalog = source, catalog
        self.findings: list[Finding] = []
        self.pieces = clean(source)
        joined = "".join([text for _, text in self.pieces])
        self.text = joined.strip(SPACE)
        self.lead = len(joined) - len(joined.lstrip(SPACE))
        self.tokens = tokenize(self.text)
        self.offsets = offsets(self.text)
        self.incomplete = auto_close(self.tokens)
        self.skipped: list[int] = []
        self.statements = split(self.tokens, self.skipped)
        self.table = {statement.name: statement for statement in self.statements}

    @cached_property
    def result(self) -> ParseResult:
        """What lang-core makes of it."""
        return ParseResult(lambda: whole(self.statements, self.incomplete, self.catalog))

    @cached_property
    def _lines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.source)]

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(text) for _, text in self.pieces), initial=0))

    def token_of(self, statement: Statement, index: int) -> int:
        """The number of the token that the statement's parser called `index`."""
        if statement.offset:
            return index
        for number in range(statement.start, statement.stop):
            if self.tokens[number] != "\n":
                index -= 1
                if index < 0:
                    return number
        return statement.stop - 1

    def statement_at(self, token: int) -> Statement | None:
        """The statement a token belongs to."""
        index = bisect_right(self.statements, token, key=lambda item: item.start - 2) - 1
        return self.statements[index] if index >= 0 and token < self.statements[index].stop else None

    def in_source(self, offset: int) -> int:
        """Where in the answer a character of `text` stands."""
        offset += self.lead
        piece = min(bisect_right(self._starts, offset), len(self.pieces)) - 1
        return self.pieces[piece][0] + offset - self._starts[piece] if self.pieces else 0

    def note(
        self, code: str, message: str, hint: str = "", *, token: int | None = None, statement: Statement | None = None,
        at: int | None = None, source: int | None = None,
    ) -> None:  # fmt: skip
        """Add a finding at a token, at a token of a statement's expression (`at`), or at a source offset."""
        if len(self.findings) >= MAX_FINDINGS:
            return
        if statement is not None and token is None:
            token = self.token_of(statement, at) if at is not None else statement.start - 2
        line, column = self._place(source) if source is not None else self.place(token or 0)
        severity = "warning" if code in WARNINGS else "error"
        name = statement.name if statement else None
        self.findings.append(Finding(code, severity, message, hint, name, line, column))

    def place(self, token: int) -> tuple[int, int]:
        """Line and column of a token in the answer."""
        last = len(self.offsets) - 1
        return self._place(self.in_source(self.offsets[min(token, last)]) if self.offsets else 0)

    def _place(self, offset: int) -> tuple[int, int]:
        before = bisect_right(self._lines, offset - 1) if offset else 0
        return before + 1, offset - (self._lines[before - 1] + 1 if before else 0) + 1
