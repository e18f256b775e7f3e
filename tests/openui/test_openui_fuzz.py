"""No text raises, none costs more than it is long, and how a program is cut into chunks does not matter."""

import cProfile
import pstats

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openui_generate import NOISE, Generator
from openui_truths import canonical, programs, shape

from runbook_lib.openui import StreamingParser, parse, validate

SOURCES = [row["source"] for row in programs().values() if len(row["source"]) < 600]
PIECES = st.sampled_from(
    [*NOISE, "root", " = ", "Stack(", "[a, ", "])", "\n", '"text"', "$n", "@Each(", "TextContent(", "```\n"]
)
TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(PIECES, max_size=40).map("".join),
    st.tuples(st.sampled_from(SOURCES), st.integers(0, 600), PIECES).map(lambda t: t[0][: t[1]] + t[2] + t[0][t[1] :]),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_no_text_raises(source):
    result = parse(source).as_dict()
    assert set(result) == {"root", "meta", "stateDeclarations", "queryStatements", "mutationStatements"}
    report = validate(source)
    assert all(finding.code != "validator-failed" for finding in report.findings), str(report)
    assert validate(source, ended=False).source == source


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_every_chunking_ends_in_the_same_result(source, sizes):
    whole = StreamingParser("general").push(source).as_dict()
    parser, at, index = StreamingParser("general"), 0, 0
    results = []
    while at < len(source):
        size = sizes[index % len(sizes)]
        results.append(parser.push(source[at : at + size]))
        if index % 3 == 0:
            results[-1].as_dict()
        at, index = at + size, index + 1
    assert canonical(shape(parser.result().as_dict())) == canonical(shape(whole))
    for number, result in enumerate(results):  # results that are read late still tell of their own time
        if number % 4 == 1:
            cut = sum(sizes[place % len(sizes)] for place in range(number + 1))
            again = StreamingParser("general").push(source[:cut]).as_dict()
            assert canonical(shape(result.as_dict())) == canonical(shape(again))


def test_generated_programs_stream_to_the_one_shot_result():
    same = 0
    for catalog, source in Generator(seed=3).programs(300):
        parser = StreamingParser(catalog)
        for at in range(0, len(source), 16):
            parser.push(source[at : at + 16])
        streamed, whole = parser.result().as_dict(), parse(source, catalog).as_dict()
        same += canonical(shape(streamed)) == canonical(shape(whole))
    assert same > 200  # they differ where a name is defined twice or brackets do not match


def fan_out(levels):
    lines = [f"a{index} = Card([a{index + 1}, a{index + 1}])" for index in range(levels)]
    return "\n".join(["root = Stack([a0])", *lines, f'a{levels} = TextContent("x", 5)'])


def chain(length):
    lines = [f"a{index} = a{index + 1}" for index in range(length)]
    return "\n".join(["root = Stack([a0])", *lines, f'a{length} = TextContent("x")'])


def clique(size):
    names = [f"a{index}" for index in range(size)]
    return "\n".join(["root = Stack([a0])", *[f"{name} = Card([{', '.join(names)}])" for name in names]])


HOSTILE = {
    "brackets": "root = " + "[" * 200_000,
    "calls": "root = " + "Stack([" * 50_000,
    "objects": "root = Stack([x])\nx = " + "{a: " * 50_000,
    "parentheses": "root = Stack([t])\nt = TextContent(" + "(" * 100_000 + "1" + ")" * 100_000 + ")",
    "unary": "root = " + "!" * 100_000 + "$a",
    "sum": "root = " + "1 + " * 50_000 + "1",
    "ternary": "root = " + "$a ? 1 : " * 50_000 + "1",
    "each": "root = " + '@Each($a, "x", ' * 20_000,
    "members": "root = $a" + ".b" * 100_000,
    "fan-out": fan_out(60),
    "chain": chain(20_000),
    "clique": clique(40),
    "self": "root = Stack([root, root, root])",
    "string": 'root = "' + "x\\n" * 300_000,
    "blanks": "root = Stack([])" + " \n" * 300_000 + "?",
    "backticks": "```\n" * 100_000,
    "quotes": "\"'" * 200_000,
    "slashes": "/ " * 300_000,
    "comments": "# x\n" * 200_000,
    "junk": "가" * 300_000,
    "junk lines": "x y\n" * 100_000,
    "numbers": f"root = Stack([p])\np = PieChart([], [{'1,' * 300_000}])",
    "statements": "root = Stack([])\n" + "\n".join(f"a{index} = {index}" for index in range(20_000)),
    "errors": "root = Stack([" + "TextContent(5), " * 30_000 + "])",
    "links": f'root = Stack([t])\nt = TextContent("{"[](" * 100_000}")',
    "tags": f'root = Stack([t])\nt = TextContent("{"<a:" * 100_000}")',
    "minus": "root = " + "-1 " * 100_000,
    "keys": "root = Stack([x])\nx = {" + "a: 1, " * 30_000 + "}",
}


@pytest.mark.drill
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_are_answered_with_findings(name):
    source = HOSTILE[name]
    for result in (parse(source), StreamingParser("general").push(source)):
        assert result.as_dict()["meta"]["statementCount"] >= 0
    codes = {finding.code for finding in validate(source).findings}
    assert codes
    assert "validator-failed" not in codes


@pytest.mark.parametrize("name", ["fan-out", pytest.param("clique", marks=pytest.mark.drill)])
def test_what_would_explode_is_cut_off(name):
    result = parse(HOSTILE[name])
    assert result.root is None
    assert [error["code"] for error in result.errors] == ["limit-exceeded"]


def test_depth_is_limited_where_lang_core_throws():
    for source in (chain(600), "root = Stack([x])\nx = " + "[" * 600 + "]" * 600):
        assert [error["code"] for error in parse(source).errors] == ["limit-exceeded"]
    assert parse(chain(150)).root is not None


def calls(work, source):
    """How many functions, built-in ones included, run for a source: a clock that no other process disturbs."""
    profile = cProfile.Profile()
    profile.runcall(work, source)
    return pstats.Stats(profile).total_calls


@pytest.mark.drill
@pytest.mark.parametrize("name", ["junk", "quotes", "numbers", "statements", "comments", "blanks", "string", "slashes"])
def test_work_grows_with_the_length_and_not_faster(name):
    for work in (lambda text: parse(text).as_dict(), validate, lambda text: StreamingParser("general").push(text)):
        small, large = calls(work, HOSTILE[name][:4_000]), calls(work, HOSTILE[name][:32_000])
        assert large < 8 * 1.5 * small + 1_000


def test_a_push_costs_the_same_at_the_end_of_a_long_document():
    lines = [f'a{index:04} = TextContent("Line {index:04} of the report", "small")\n' for index in range(2_000)]
    parser = StreamingParser("general")
    costs = [calls(parser.push, line) for line in lines]
    assert max(costs[-100:]) <= max(costs[5:105])
