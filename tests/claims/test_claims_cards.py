"""Cards and tables: verdicts, the loud surprise, errors, and what a reader sees of them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runbook_lib.claims import ClaimError, claim, claims, register, scoreboard
from runbook_lib.claims import _settle as settling

PARTS = {"saves space": True, "about 5x": False}  # DC-17 is registered as PARTLY


@pytest.fixture(autouse=True)
def fresh_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "_this_kernel", {})


class Page(HTMLParser):
    """Collects text and tags, and fails on a tag that is closed out of order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.dictionaries(st.text(min_size=1).filter(str.strip), st.booleans(), min_size=1))
def test_verdict_follows_from_the_parts(parts: dict[str, bool]) -> None:
    verdict = claim("DC-17", parts).settled.verdict
    if all(parts.values()):
        assert verdict == "HOLDS"
    elif any(parts.values()):
        assert verdict == "PARTLY"
    else:
        assert verdict == "DIFFERS"


def test_plain_text_is_one_line_beginning_with_id_and_verdict() -> None:
    text = repr(claim("DC-17", PARTS, observed="12x\nat 200 turns"))
    assert text.startswith("DC-17 PARTLY: " + register()["DC-17"].instead)
    assert text.endswith("[not so: about 5x]")
    assert "\n" not in text


def test_unchecked_and_recorded() -> None:
    assert repr(claim("OU-08", unchecked="a paid service")).startswith("OU-08 NOT-CHECKED: ")
    assert repr(claim("DC-04", recorded="2026-05-12")).startswith("DC-04 RECORDED: ")
    assert "a paid service" in claim("OU-08", unchecked="a paid service")._repr_html_()


def test_a_surprise_is_in_the_first_line_of_text_and_html() -> None:
    card = claim("DC-17", {"about 5x": True})
    surprise = "DC-17 HOLDS but the register expects PARTLY"
    assert repr(card).startswith(surprise)
    assert Page(card._repr_html_()).text.strip("✓ ").startswith(surprise)
    assert "<strong" in card._repr_html_()
    assert "not confirmed by this run" in card._repr_html_()
    assert "not confirmed by this run" not in claim("DC-17", PARTS)._repr_html_()
    table = claims({"DC-17": {"about 5x": False}})
    assert repr(table).startswith("DC-17 DIFFERS but the register expects PARTLY")
    assert "DC-17 DIFFERS but the register expects PARTLY" in table._repr_html_()


def test_html_says_what_is_true_before_what_the_source_says() -> None:
    for shown in (claim("DC-17", PARTS, observed="12x"), claims({"DC-17": PARTS}, observed={"DC-17": "12x"})):
        html = shown._repr_html_()
        page = Page(html)
        registered = register()["DC-17"]
        order = [registered.instead, "Observed: 12x", "✓ true: saves space", "✗ false: about 5x", registered.claim]
        at = [page.text.index(text) for text in order]
        assert at == sorted(at)
        assert html.index("<details") < html.index(registered.claim)
        assert registered.section in page.text
        assert registered.source in page.text


def test_html_is_inert_and_escaped() -> None:
    nasty = "<script>alert(1)</script>&\"'"
    for shown in (claim("DC-17", {nasty: True, "b": False}, observed=nasty), claim("DC-04", recorded=nasty)):
        page = Page(shown._repr_html_())
        assert not page.tags & {"script", "style", "link", "img", "iframe"}
        assert nasty in page.text


def test_html_is_compact() -> None:
    """Twelve cards and a table of forty leave most of a notebook's 60 KB to its other outputs."""
    ids = list(register())[:40]
    table = claims({id: {"first part": True, "second part": False} for id in ids})
    assert len(table._repr_html_()) + len(repr(table)) < 60_000
    assert len(claim("DC-17", PARTS)._repr_html_()) < 2_000


def test_table_keeps_the_given_order_and_counts() -> None:
    table = claims(
        {"DC-17": PARTS, "DC-12": {"imports": True}},
        unchecked={"OU-08": "a paid service"},
        recorded={"DC-04": "2026-05-12"},
    )
    lines = repr(table).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "DC-17 PARTLY",
        "DC-12 HOLDS",
        "OU-08 NOT-CHECKED",
        "DC-04 RECORDED",
    ]
    assert "4 claims: 1 HOLDS, 1 PARTLY, 1 NOT-CHECKED, 1 RECORDED" in table._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("DC-71", {"a": True}), r"no claim 'DC-71' in the register \(close: DC-31, DC-27"),
        (("dc-17", {"a": True}), r"close: DC-17"),
        (("??", {"a": True}), r"ids look like DC-17"),
        (("DC-17", {"ratio": 4.8}), r"part 'ratio' is float \(4.8\), not True or False"),
        (("DC-17", {"ratio": None}), r"part 'ratio' is NoneType"),
        (("DC-17", {"big": list(range(1000))}), r"\.\.\.\), not True or False"),
        (("DC-17", {"one": 1}), r"part 'one' is int"),
        (("DC-17", {"": True}), r"a part needs a name"),
        (("DC-17", {}), r"parts must name what is true or false"),
        (("DC-17", True), r"parts must name what is true or false"),
        (("DC-17",), r"give exactly one of"),
    ],
)
def test_what_cannot_be_settled_is_an_error(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ClaimError, match=message):
        claim(*arguments)


def test_one_basis_only() -> None:
    with pytest.raises(ClaimError, match="give exactly one of"):
        claim("DC-17", PARTS, unchecked="why")
    with pytest.raises(ClaimError, match="observed= goes with parts"):
        claim("OU-08", unchecked="why", observed="x")


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (({},), {}, "no claims given"),
        (({"DC-12": {"a": True}, "DC-99": {"a": True}},), {}, "no claim 'DC-99'"),
        (({"DC-12": {"a": True}},), {"unchecked": {"DC-12": "why"}}, "in two ways at once: DC-12"),
        (({"DC-12": {"a": True}},), {"observed": {"DC-13": "x"}}, "DC-13, which this table does not settle"),
    ],
)
def test_a_table_is_all_or_nothing(arguments: Any, keywords: Any, message: str) -> None:
    with pytest.raises(ClaimError, match=message):
        claims(*arguments, **keywords)
    assert scoreboard().settled == ()


def test_scoreboard_counts_what_this_kernel_settled() -> None:
    assert repr(scoreboard()) == "0 of 128 claims settled here, 0 as the register expects"
    claim("DC-17", PARTS)
    claim("DC-17", PARTS)
    claim("DC-12", {"imports": False})
    claim("OU-08", unchecked="a paid service")
    board = scoreboard()
    assert repr(board).splitlines() == [
        "3 of 128 claims settled here, 2 as the register expects",
        "  한계점 및 운영 시 고려 사항: 1 of 9",
        "  DeltaChannel: delta를 checkpoint에 저장하는 fold-reducer 패턴: 2 of 13",
        "OU-08 NOT-CHECKED",
        "DC-12 DIFFERS but the register expects HOLDS",
        "DC-17 PARTLY",
    ]
    page = Page(board._repr_html_())
    assert "DC-12 DIFFERS but the register expects HOLDS" in page.text
    assert "2 of 13" in page.text
