"""The register of claims, read from `register.toml` and checked while it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

_ID = re.compile(r"[A-Z]{2}-\d{2}")
_NOTEBOOK = re.compile(r"\d{2}")
_FIELDS = {"id", "source", "section", "lines", "claim", "instead", "expected", "notebook", "left_out"}


class Verdict(StrEnum):
    """What running the real thing says about a claim."""

    HOLDS = "HOLDS"
    PARTLY = "PARTLY"
    DIFFERS = "DIFFERS"
    NOT_CHECKED = "NOT-CHECKED"
    RECORDED = "RECORDED"


class RegisterError(ValueError):
    """`register.toml` is not a valid register; the message names the entry and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement of a source.

    `source` and `section` are titles as printed there, `lines` the first and last line (1-based, inclusive)
    of the source's text. `claim` is a paraphrase, `instead` what to write. `expected` is the verdict on the
    pinned versions, `notebook` the number of the notebook that settles it. A `left_out` claim is one the
    source should have made: its lines are where it belongs.
    """

    id: str
    source: str
    section: str
    lines: tuple[int, int]
    claim: str
    instead: str
    expected: Verdict
    notebook: str | None = None
    left_out: bool = False

    @property
    def where(self) -> str:
        """Section and lines, for people: `Middleware, lines 31-39`."""
        first, last = self.lines
        return f"{self.section}, line {first}" if first == last else f"{self.section}, lines {first}-{last}"


@cache
def register() -> Mapping[str, Claim]:
    """Every registered claim by id, in the register's order. Raises `RegisterError` if the file is broken."""
    return parse(files("runbook_lib.claims").joinpath("register.toml").read_text(encoding="utf-8"))


def parse(text: str) -> Mapping[str, Claim]:
    """The claims in a register's TOML text, by id. Raises `RegisterError` naming the first wrong entry."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegisterError(f"the register is not valid TOML: {error}") from error
    sources = data.get("sources", {})
    claims: dict[str, Claim] = {}
    for entry in data.get("claim", []):
        claim = _claim(entry, sources)
        _require(claim.id not in claims, claim.id, "is registered twice")
        claims[claim.id] = claim
    return MappingProxyType(claims)


def _claim(entry: dict[str, Any], sources: Mapping[str, Any]) -> Claim:
    name = str(entry.get("id", "an entry without id"))
    _require(bool(_ID.fullmatch(name)), name, "needs an id such as DC-17")
    _require(set(entry) <= _FIELDS, name, f"has unknown fields {sorted(set(entry) - _FIELDS)}")
    _require_texts(entry, name, ("source", "section", "claim", "instead", "expected"))
    _require(entry["source"] in sources, name, f"names source {entry['source']!r}, known: {sorted(sources)}")
    source = sources[entry["source"]]
    verdicts = [verdict.value for verdict in Verdict]
    _require(entry["expected"] in verdicts, name, f"expects {entry['expected']!r}, not one of {verdicts}")
    notebook = entry.get("notebook")
    _require(notebook is None or bool(_NOTEBOOK.fullmatch(str(notebook))), name, "needs a notebook such as '03'")
    return Claim(
        id=name,
        source=source["title"],
        section=entry["section"],
        lines=_lines(entry, source["sections"], name),
        claim=entry["claim"],
        instead=entry["instead"],
        expected=Verdict(entry["expected"]),
        notebook=notebook,
        left_out=entry.get("left_out", False),
    )


def _lines(entry: dict[str, Any], sections: Mapping[str, list[int]], name: str) -> tuple[int, int]:
    """The claim's line range, which must lie inside its section."""
    section = entry["section"]
    _require(section in sections, name, f"names section {section!r}, known: {list(sections)}")
    match entry.get("lines"):
        case [int(first), int(last)] if sections[section][0] <= first <= last <= sections[section][1]:
            return first, last
    raise RegisterError(f"{name}: lines must be [first, last] within {sections[section]} of section {section!r}")


def _require_texts(entry: Mapping[str, Any], name: str, fields: Iterable[str]) -> None:
    for field in fields:
        value = entry.get(field)
        _require(isinstance(value, str) and bool(value.strip()), name, f"needs a text for {field!r}")


def _require(condition: bool, name: str, problem: str) -> None:
    if not condition:
        raise RegisterError(f"{name} {problem}")
