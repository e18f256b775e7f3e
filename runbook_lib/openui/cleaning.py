"""A model's answer to the text of a program: code fences, comments, and where statements end.

Three small machines, each fed chunk by chunk and each remembering only what it must:
`Fences` keeps what is inside ``` blocks (or everything while there is none), `Comments` drops `//` and
`#` comments, `Slices` cuts the rest at the newlines that end a statement. Text travels as pieces,
`(offset in the answer, text)`, so that a finding can point at the answer.

What a machine cannot decide before the next chunk is its `tail`: a slash, backticks, white space.
"""

from __future__ import annotations

import re

Piece = tuple[int, str]

# What JavaScript's trim() removes, which is not what str.strip() removes.
SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
INLINE_SPACE = SPACE.replace("\n", "")

FENCE = re.compile(r'"|```|`{1,2}\Z')
COMMENT = re.compile(r"[\"'#]|//|/\Z")
STRUCTURE = re.compile(r"[\"'()\[\]{}?:\n]")
BLANKS = re.compile(f"[{SPACE}]*")
STRING_REST = {quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.DOTALL) for quote in "\"'"}

PLAIN, TAG, BLOCK, OUTSIDE = range(4)


def clean(source: str) -> list[Piece]:
    """The pieces of `source` that are program text."""
    if "```" not in source and "//" not in source and "#" not in source:
        return [(0, source)]
    fences, comments = Fences(), Comments()
    pieces = [piece for part in fences.feed(source)[1] for piece in comments.feed(*part)]
    return [*pieces, *comments.tail(), *(fences.tail() if not comments.inside else ())]


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


class Comments:
    """Drops `//` and `#` comments outside strings, and the blanks before them."""

    def __init__(self) -> None:
        self.inside = False
        self.quote = ""
        self.escaped = False
        self.blanks: list[Piece] = []
        self.slash = -1

    def tail(self) -> list[Piece]:
        """Blanks and a slash that may yet belong to a comment."""
        return self.blanks + ([(self.slash, "/")] if self.slash >= 0 else [])

    def feed(self, base: int, text: str) -> list[Piece]:
        """The pieces of `text`, which stands at `base` in the answer, that are no comment."""
        pieces: list[Piece] = []
        index, size = 0, len(text)
        if self.slash >= 0 and text:
            self._slash(pieces, text)
        while index < size:
            if self.inside:
                newline = text.find("\n", index)
                if newline < 0:
                    break
                index, self.inside = newline, False
            if self.quote:
                end = self._string(text, index)
            else:
                match = COMMENT.search(text, index)
                end = match.start() if match else size
                if match is None or match[0] not in ('"', "'"):
                    self._keep_before_comment(pieces, base, index, text[index:end])
                    if match is not None:
                        self._begin(match[0], base + end)
                        end = match.end()
                    index = end
                    continue
                self.quote = match[0]
                end += 1
            self._keep(pieces, base + index, text[index:end])
            index = end
        return pieces

    def _begin(self, found: str, offset: int) -> None:
        if found == "/":
            self.slash = offset
        else:
            self.inside, self.blanks = True, []

    def _slash(self, pieces: list[Piece], text: str) -> None:
        """Decide about the slash that ended the text before."""
        offset, self.slash = self.slash, -1
        if text[0] == "/":
            self.inside, self.blanks = True, []
        else:
            self._keep(pieces, offset, "/")

    def _string(self, text: str, index: int) -> int:
        """The end of the string's part in this text."""
        if self.escaped:
            self.escaped = False
            index += 1
        end = _string_end(text, index, self.quote)
        if end < len(text):
            self.escaped = text[end] == "\\"
            self.quote = self.quote if self.escaped else ""
            end += 1
        return end

    def _keep_before_comment(self, pieces: list[Piece], base: int, index: int, text: str) -> None:
        """Keep text that a comment may follow: the blanks at its end have to wait."""
        solid = text.rstrip(INLINE_SPACE)
        if solid:
            self._keep(pieces, base + index, solid)
        if len(solid) < len(text):
            self.blanks.append((base + index + len(solid), text[len(solid) :]))

    def _keep(self, pieces: list[Piece], offset: int, text: str) -> None:
        if self.blanks:
            pieces.extend(self.blanks)
            self.blanks = []
        pieces.append((offset, text))


class Slices:
    """Cuts program text where a statement ends: a newline outside strings, brackets and ternaries."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.parts: list[str] = []  # the text since; only ever appended to, then replaced
        self.cut = -1  # how many parts come before a newline that may end a statement
        self.depth = self.ternaries = 0
        self.quote = ""
        self.escaped = False

    def feed(self, text: str) -> None:
        """Take in more text."""
        index = mark = 0
        if self.cut >= 0:
            index = self._decide(text, 0)
        while 0 <= index < len(text):
            if self.quote:
                index = self._string(text, index)
                continue
            match = STRUCTURE.search(text, index)
            if match is None:
                break
            index = match.end()
            if match[0] != "\n":
                self._structure(match[0])
            elif self.depth == 0 and self.ternaries == 0:
                self.parts.append(text[mark : index - 1])
                mark = index - 1
                self.cut = len(self.parts)
                # The newline and the blanks after it wait in `parts` for the decision.
                end = _after_blanks(text, index)
                self.parts.append(text[mark:end])
                mark = end
                index = self._decide(text, end)
        if mark < len(text):
            self.parts.append(text[mark:])

    def _decide(self, text: str, index: int) -> int:
        """End the statement at the waiting newline unless a ternary goes on; -1 if only blanks follow."""
        end = _after_blanks(text, index)
        if end == len(text):
            return -1
        between = "".join(self.parts[self.cut :]) + text[index:end]
        if (between.strip(" \t\r\n") + text[end])[0] != "?":
            self.done.append("".join(self.parts[: self.cut]))
            self.parts = []
        self.cut = -1
        return index

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
        if self.escaped:
            self.escaped = False
            return index + 1
        end = _string_end(text, index, self.quote)
        if end < len(text):
            self.escaped = text[end] == "\\"
            self.quote = self.quote if self.escaped else ""
            end += 1
        return end


def _after_blanks(text: str, index: int) -> int:
    match = BLANKS.match(text, index)
    return match.end() if match else index


def _string_end(text: str, index: int, quote: str) -> int:
    """The closing quote from `index` on, a backslash that ends the text, or the end of the text."""
    match = STRING_REST[quote].match(text, index)
    return match.end() if match else index
