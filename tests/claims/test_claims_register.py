"""The register: complete, consistent, and refused when it is not."""

from __future__ import annotations

import pytest

import runbook_lib.claims as room
from runbook_lib.claims import Verdict, register
from runbook_lib.claims._register import RegisterError, parse

VALID = """
[sources.a]
title = "A source"
[sources.a.sections]
"One" = [1, 5]
"Two" = [6, 9]
[[claim]]
id = "AA-01"
source = "a"
section = "Two"
lines = [7, 8]
claim = "c"
instead = "i"
expected = "HOLDS"
notebook = "03"
"""


def test_register_holds_every_claim_of_both_sources() -> None:
    counts: dict[str, int] = {}
    for id in register():
        counts[id[:2]] = counts.get(id[:2], 0) + 1
    assert counts == {"DA": 15, "MW": 10, "TL": 5, "AG": 13, "OU": 15, "DC": 34, "TP": 22, "ST": 14}
    assert len({claim.source for claim in register().values()}) == 2
    assert sum(claim.left_out for claim in register().values()) == 14


def test_every_claim_names_the_notebook_that_settles_it() -> None:
    chapters = {"01", "02", "03", "04", "05", "06"}
    assert {claim.notebook for claim in register().values()} == chapters
    assert {claim.notebook for id, claim in register().items() if id[:2] == "DC"} == {"03"}


def test_what_to_write_is_short_and_says_more_than_the_claim() -> None:
    for id, claim in register().items():
        assert len(claim.instead) <= 280, f"{id}: what to write must fit in two sentences"
        assert claim.instead != claim.claim, id


def test_no_run_settles_what_is_not_runnable_and_only_that() -> None:
    unrunnable = {id for id, claim in register().items() if claim.expected in (Verdict.RECORDED, Verdict.NOT_CHECKED)}
    assert unrunnable == {"DC-04", "DC-05", "DC-06", "ST-02", "OU-08", "OU-09", "OU-10", "OU-11"}


def test_a_valid_register_is_read() -> None:
    claim = parse(VALID)["AA-01"]
    assert (claim.source, claim.section, claim.lines, claim.expected) == (
        "A source",
        "Two",
        (7, 8),
        Verdict.HOLDS,
    )
    assert claim.where == "Two, lines 7-8"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('id = "AA-01"', 'id = "AA-1"', "AA-1 needs an id"),
        ("[[claim]]", "[[claim]]\nnote = 1", "unknown fields \\['note'\\]"),
        ('source = "a"', 'source = "b"', "names source 'b'"),
        ('section = "Two"', 'section = "Three"', "names section 'Three'"),
        ("lines = [7, 8]", "lines = [5, 7]", "lines must be"),
        ("lines = [7, 8]", "lines = [8, 7]", "lines must be"),
        ("lines = [7, 8]", "lines = [7, 10]", "lines must be"),
        ("lines = [7, 8]", "lines = 7", "lines must be"),
        ('claim = "c"', 'claim = " "', "text for 'claim'"),
        ('instead = "i"', "", "text for 'instead'"),
        ('expected = "HOLDS"', 'expected = "TRUE"', "expects 'TRUE'"),
        ('notebook = "03"', 'notebook = "three"', "needs a notebook"),
        ("[[claim]]", "[claim", "not valid TOML"),
    ],
)
def test_a_broken_register_is_refused_naming_the_entry(old: str, new: str, problem: str) -> None:
    assert old in VALID
    with pytest.raises(RegisterError, match=problem):
        parse(VALID.replace(old, new))


def test_an_id_registered_twice_is_refused() -> None:
    entry = VALID[VALID.index("[[claim]]") :]
    with pytest.raises(RegisterError, match="AA-01 is registered twice"):
        parse(VALID + entry)


def test_the_room_exports_what_it_says() -> None:
    assert room.__all__ == sorted(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)
