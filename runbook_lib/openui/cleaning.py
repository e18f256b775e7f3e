"""A model's answer to the text of a program: code fences, comments, and where statements end.

Two small machines, fed chunk by chunk, that remember only what they must: `Fences` keeps what is inside
``` blocks (or everything while there is none); `Scanner` drops `//` and `#` comments and cuts the rest at the
newlines that end a statement. Text travels as pieces, `(offset in the answer, text)`, so that a finding
can point at the answer. What a machine cannot decide before the next chunk is its `tail`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Piece = tuple[int, str]

# What JavaScript's trim() removes, which is not what str.strip() removes.
SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
INLINE_SPACE = SPACE.replace("\n", "")

FENCE = re.compile(r'"|```|`{1,2}\Z')
SPECIAL = re.compile(r"[\"'()\[\]{}?:\n#]|//|/\Z")
STRING_REST = {quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.DOTALL) for quote in "\"'"}

PLAIN, TAG, BLOCK, OUTSIDE = range(4)


def clean(source: str) -> list[Piece]:
    """The pieces of `source` that are program text."""
    if "```" not in source and "//" not in source and "#" not in source:
        return [(0, source)]
    fences, scanner = Fences(), Scanner()
    for piece in fences.feed(source)[1]:
        scanner.feed(*piece)
    last = [] if scanner.inside else fences.tail()
    return [*(piece for slice_ in scanner.done for piece in slice_), *scanner.parts, *scanner.tail(), *last]


def text_of(pieces: Iterable[Piece]) -> str:
    """The text of some pieces, without the blanks around it."""
    return "".join([text for _, text in pieces]).strip(SPACE)


class Fences:
    """Keeps the text inside ``` blocks. Only double quotes hide a fence."""

    def __init__(self) -> None:
        self.state = PLAIN
        self.quoted = False
        self.held = ""
        self.position = 0

    def tail(self) -> list[Piece]:
        """Text that may yet turn out to be part of a fence."""
        keeps = self.held and self.state in (PLAIN, BLOCK)
        return [(self.position - len(self.held), self.held)] if keeps else []

    def feed(self, chunk: str) -> tuple[bool, list[Piece]]:
        """The pieces to keep, and True if all earlier ones have to go: a first fence has opened."""
        base, text = self.position - len(self.held), self.held + chunk
        self.position += len(chunk)
        self.held = ""
        restart = False
        pieces: list[Piece] = []
        index, size = 0, len(text)
        while index < size:
            if self.state == TAG:
                newline = text.find("\n", index)
                if newline < 0:
                    break
                index, self.state, self.quoted = newline + 1, BLOCK, False
                continue
            end, found = self._next(text, index)
            if end > index and self.state in (PLAIN, BLOCK):
                pieces.append((base + index, text[index:end]))
            if found == "```":
                if self.state == PLAIN:
                    restart, pieces = True, []
                elif self.state == OUTSIDE:
                    pieces.append((base + end, "\n"))
                self.state = OUTSIDE if self.state == BLOCK else TAG
                self.quoted = False
                end += 3
            elif found:
                self.held = found
                break
            index = end
        return restart, pieces

    def _next(self, text: str, index: int) -> tuple[int, str]:
        """Up to where the text is plain, and the fence or the undecided end found there."""
        while index < len(text):
            if self.quoted:
                index = _string_end(text, index, '"')
                if index == len(text):
                    break
                if text[index] == "\\":
                    return index, "\\"
                self.quoted = False
                index += 1
            match = FENCE.search(text, index)
            if match is None:
                break
            if match[0] != '"':
                return match.start(), match[0]
            self.quoted = True
            index = match.end()
        return len(text), ""


class Scanner:
    """Drops comments outside strings, and cuts at newlines outside strings, brackets and ternaries.

    `done` holds the pieces of finished statements, `parts` those since; `parts` is only ever appended to, and
    replaced when a statement ends.
    """

    def __init__(self) -> None:
        self.done: list[list[Piece]] = []
        self.parts: list[Piece] = []
        self.cut = -1  # how many parts come before a newline that may end a statement
        self.depth = self.ternaries = 0
        self.quote = ""
        self.escaped = self.inside = False  # inside a comment
        self.blanks: list[Piece] = []  # they are dropped if a comment follows
        self.slash = -1

    def tail(self) -> list[Piece]:
        """Blanks and a slash that may yet belong to a comment."""
        return self.blanks + ([(self.slash, "/")] if self.slash >= 0 else [])

    def feed(self, base: int, text: str) -> None:
        """Take in the text that stands at `base` in the answer."""
        if self.slash >= 0 and text:
            self._second_slash(text)
        index = mark = 0
        while index < len(text):
            if self.inside:
                newline = text.find("\n", index)
                if newline < 0:
                    return
                index = mark = newline
                self.inside = False
            if self.quote:
                index = self._string(text, index)
                continue
            match = SPECIAL.search(text, index)
            if match is None:
                break
            found, start, index = match[0], match.start(), match.end()
            if found in ("#", "//", "/"):
                self._keep_solid(base + mark, text[mark:start])
                mark = index
                if found == "/":
                    self.slash = base + start
                else:
                    self.inside, self.blanks = True, []
            elif found != "\n":
                self._structure(found)
            elif self.depth == 0 and self.ternaries == 0:
                self._keep(base + mark, text[mark:start])
                self.cut = len(self.parts) if self.cut < 0 else self.cut
                mark = start
        if self.quote:
            self._keep(base + mark, text[mark:])
        else:
            self._keep_solid(base + mark, text[mark:])

    def _keep(self, offset: int, text: str) -> None:
        """Add text, and with its first character that is not blank decide about a waiting newline."""
        self.parts += self.blanks
        self.blanks = []
        if self.cut >= 0 and (solid := text.lstrip(SPACE)):
            blanks = text[: len(text) - len(solid)]
            between = "".join([part for _, part in self.parts[self.cut :]]) + blanks + solid[0]
            if between.lstrip(" \t\r\n")[0] != "?":
                self.done.append(self.parts[: self.cut])
                self.parts = self.parts[self.cut :]
            self.cut = -1
        if text:
            self.parts.append((offset, text))

    def _keep_solid(self, offset: int, text: str) -> None:
        """Add text that a comment may follow: the blanks at its end have to wait."""
        solid = text.rstrip(INLINE_SPACE)
        if solid:
            self._keep(offset, solid)
        if len(solid) < len(text):
            self.blanks.append((offset + len(solid), text[len(solid) :]))

    def _second_slash(self, text: str) -> None:
        """Decide about the slash that ended the text before."""
        offset, self.slash = self.slash, -1
        if text[0] == "/":
            self.inside, self.blanks = True, []
        else:
            self._keep(offset, "/")

    def _structure(self, char: str) -> None:
        if char in "\"'":
            self.quote = char
        elif char in "([{":
            self.depth += 1
        elif char in ")]}":
            self.depth -= self.depth > 0
        elif self.depth == 0:
            self.ternaries = self.ternaries + 1 if char == "?" else max(0, self.ternaries - 1)

    def _string(self, text: str, index: int) -> int:
        """The end of the open string's part in this text."""
        if self.escaped:
            self.escaped = False
            return index + 1
        end = _string_end(text, index, self.quote)
        if end < len(text):
            self.escaped = text[end] == "\\"
            self.quote = self.quote if self.escaped else ""
            end += 1
        return end


def _string_end(text: str, index: int, quote: str) -> int:
    """The closing quote from `index` on, a backslash that ends the text, or the end of the text."""
    match = STRING_REST[quote].match(text, index)
    return match.end() if match else index
