"""`parse` for a whole program, `StreamingParser` for one that is still being written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .catalogs import Catalog
from .cleaning import Fences, Piece, Scanner, clean, text_of
from .lexer import auto_close, tokenize
from .results import ParseResult, build, empty, whole
from .statements import Statement, split
from .tree import Builder


def parse(source: str, catalog: Catalog | str | Path = "general") -> ParseResult:
    """The tree and meta data of a whole program, equal to lang-core 0.2.18's `createParser(...).parse`.

    Never raises for any text. `catalog` is a `Catalog`, the name of one, or the path of its JSON file.
    """
    known = Catalog.load(catalog)
    return ParseResult(lambda: _parse(source, known))


def _parse(source: str, catalog: Catalog) -> dict[str, Any]:
    text = text_of(clean(source))
    if not text:
        return empty(incomplete=True)
    tokens = tokenize(text)
    incomplete = auto_close(tokens)
    return whole(split(tokens), incomplete, catalog)


class StreamingParser:
    """A program as it arrives. A push costs what the chunk costs; a tree is built when it is read."""

    def __init__(self, catalog: Catalog | str | Path = "general") -> None:
        self.catalog = Catalog.load(catalog)
        self._fences = Fences()
        self._scanner = Scanner()
        self._program = _Program(self.catalog)

    def push(self, chunk: str) -> ParseResult:
        """The result of everything pushed so far, equal to lang-core's `createStreamingParser(...).push`."""
        restart, pieces = self._fences.feed(chunk)
        if restart:
            self._scanner, self._program = Scanner(), _Program(self.catalog)
        for piece in pieces:
            self._scanner.feed(*piece)
        return self.result()

    def result(self) -> ParseResult:
        """The result of everything pushed so far."""
        program, scanner = self._program, self._scanner
        slices, done, parts, size = scanner.done, len(scanner.done), scanner.parts, len(scanner.parts)
        tail = scanner.tail() + ([] if scanner.inside else self._fences.tail())
        return ParseResult(lambda: program.result(slices, done, parts[:size] + tail))


class _Program:
    """The statements of a stream that are finished, and the trees built from them."""

    def __init__(self, catalog: Catalog) -> None:
        self.builder = Builder(catalog)
        self.statements: dict[str, Statement] = {}
        self.parsed = self.count = 0
        self.first = ""
        self.passing: set[str] = set()  # statements that were in a tree only as far as they had come

    def result(self, slices: list[list[Piece]], done: int, rest: list[Piece]) -> dict[str, Any]:
        """The result of `slices[:done]` and the unfinished `rest`."""
        if done < self.parsed:  # an older result is read late: what is remembered here is newer
            return _Program(self.builder.catalog).result(slices, done, rest)
        for pieces in slices[self.parsed : done]:
            for statement in _statements(pieces):
                self._add(self.statements, statement)
                self.count += 1
        self.parsed = done
        self.first = self.first or next(iter(self.statements), "")
        return self._with(rest)

    def _with(self, rest: list[Piece]) -> dict[str, Any]:
        """The result with the unfinished text, which may break off anywhere."""
        for name in self.passing:
            self.builder.forget(name)
        last = Scanner()
        last.feed(0, "".join([text for _, text in rest]))
        finished = [statement for pieces in last.done for statement in _statements(pieces)]
        text = text_of(last.parts + last.tail())
        tokens = tokenize(text)
        incomplete = auto_close(tokens)
        unfinished = split(tokens)
        count = self.count + len(finished) + len(unfinished)
        if not count:
            return empty(incomplete or not text)
        known = dict(self.statements)
        for statement in finished:
            self._add(known, statement)
        settled = frozenset(known)
        for statement in unfinished:  # they only add: an unfinished line never replaces a finished one
            if statement.name not in settled:
                self._add(known, statement)
        self.passing = {statement.name for statement in finished + unfinished}
        first = self.first or next(iter(known))
        return build(known, first, incomplete, count, self.builder)

    def _add(self, known: dict[str, Statement], statement: Statement) -> None:
        known[statement.name] = statement
        self.builder.learn(statement)


def _statements(pieces: list[Piece]) -> list[Statement]:
    return split(tokenize(text_of(pieces)))
