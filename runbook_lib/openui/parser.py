"""`parse` for a whole program, `StreamingParser` for one that is still being written."""

from __future__ import annotations

from pathlib import Path

from .catalogs import Catalog
from .cleaning import SPACE, Comments, Fences, Slices, clean
from .lexer import auto_close, tokenize
from .results import Outcome, ParseResult, outcome, table
from .statements import Statement, split
from .tree import Builder


def parse(source: str, catalog: Catalog | str | Path = "general") -> ParseResult:
    """The tree and meta data of a whole program, equal to lang-core 0.2.18's `createParser(...).parse`.

    Never raises for any text. `catalog` is a `Catalog`, the name of one, or the path of its JSON file.
    """
    known = Catalog.load(catalog)
    return ParseResult(lambda: _parse(source, known))


def _parse(source: str, catalog: Catalog) -> Outcome:
    text = "".join([piece for _, piece in clean(source)]).strip(SPACE)
    if not text:
        return Outcome(incomplete=True)
    tokens = tokenize(text)
    incomplete = auto_close(tokens)
    statements = split(tokens)
    if not statements:
        return Outcome(incomplete)
    known = table(statements)
    return outcome(known, statements[0].name, incomplete, len(known), Builder(catalog), catalog.root)


class StreamingParser:
    """A program as it arrives. A push costs what the chunk costs; a tree is built when it is read."""

    def __init__(self, catalog: Catalog | str | Path = "general") -> None:
        self.catalog = Catalog.load(catalog)
        self._fences = Fences()
        self._comments = Comments()
        self._slices = Slices()
        self._program = _Program(self.catalog)

    def push(self, chunk: str) -> ParseResult:
        """The result of everything pushed so far, equal to lang-core's `createStreamingParser(...).push`."""
        restart, pieces = self._fences.feed(chunk)
        if restart:
            self._comments, self._slices = Comments(), Slices()
            self._program = _Program(self.catalog)
        for piece in pieces:
            for _, text in self._comments.feed(*piece):
                self._slices.feed(text)
        return self.result()

    def result(self) -> ParseResult:
        """The result of everything pushed so far."""
        tail = self._comments.tail() + ([] if self._comments.inside else self._fences.tail())
        program, slices, parts = self._program, self._slices.done, self._slices.parts
        done, size, rest = len(slices), len(parts), "".join([text for _, text in tail])
        return ParseResult(lambda: program.outcome(slices, done, "".join(parts[:size]) + rest))


class _Program:
    """The statements of a stream that are finished, and the trees built from them."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.builder = Builder(catalog)
        self.statements: dict[str, Statement] = {}
        self.parsed = self.count = 0
        self.first = ""
        self.passing: set[str] = set()  # statements that were in a tree only as far as they had come

    def outcome(self, slices: list[str], done: int, rest: str) -> Outcome:
        """The result of `slices[:done]` and the unfinished `rest`."""
        if done < self.parsed:  # an older result is read late: what is remembered here is newer
            return _Program(self.catalog).outcome(slices, done, rest)
        for text in slices[self.parsed : done]:
            for statement in _statements(text):
                self._add(self.statements, statement)
                self.count += 1
        self.parsed = done
        self.first = self.first or next(iter(self.statements), "")
        return self._with(rest)

    def _with(self, rest: str) -> Outcome:
        """The result with the unfinished text, which may break off anywhere."""
        for name in self.passing:
            self.builder.forget(name)
        last = Slices()
        last.feed(rest)
        finished = [statement for text in last.done for statement in _statements(text)]
        tokens = tokenize("".join(last.parts).strip(SPACE))
        blank = not "".join(last.parts).strip(SPACE)
        incomplete = auto_close(tokens)
        unfinished = split(tokens)
        count = self.count + len(finished) + len(unfinished)
        if not count:
            return Outcome(incomplete or blank)
        known = dict(self.statements)
        for statement in finished:
            self._add(known, statement)
        settled = frozenset(known)
        for statement in unfinished:  # they only add: an unfinished line never replaces a finished one
            if statement.name not in settled:
                self._add(known, statement)
        self.passing = {statement.name for statement in finished + unfinished}
        first = self.first or next(iter(known))
        return outcome(known, first, incomplete, count, self.builder, self.catalog.root)

    def _add(self, known: dict[str, Statement], statement: Statement) -> None:
        known[statement.name] = statement
        self.builder.learn(statement)
        self.builder.forget(statement.name)


def _statements(text: str) -> list[Statement]:
    return split(tokenize(text.strip(SPACE)))
