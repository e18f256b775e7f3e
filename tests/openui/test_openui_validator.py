"""The validator on the labelled corpus, and one program for each thing lang-core passes in silence."""

import re

import pytest
from openui_truths import TRUTHS as FOLDER
from openui_truths import programs, rows

from runbook_lib.openui import Catalog, validate
from runbook_lib.openui import validator as validator_module

PROGRAMS = list(programs().values())
RESULTS = {row["id"]: row["result"] for row in rows("truths.jsonl")}
GOOD = 'root = Stack([a])\na = TextContent("hi")'


def codes(source, catalog="general", **options):
    return {finding.code for finding in validate(source, catalog, **options).findings}


def test_every_clean_program_of_the_corpus_is_valid():
    clean = [program for program in PROGRAMS if program["clean"] is True]
    assert len(clean) == 249
    wrong = {p["id"]: str(validate(p["source"], p["catalog"])) for p in clean}
    assert {name: text for name, text in wrong.items() if text != "valid"} == {}


def test_every_defective_program_of_the_corpus_has_a_finding_in_its_text():
    defective = [program for program in PROGRAMS if program["clean"] is False]
    assert len(defective) == 193
    for program in defective:
        report = validate(program["source"], program["catalog"])
        lines = program["source"].split("\n")
        assert not report.valid, program["id"]
        for finding in report.findings:
            assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1, (program["id"], finding)
            assert finding.code != "validator-failed"


def test_whatever_lang_core_reports_is_reported():
    for program in PROGRAMS:
        meta = RESULTS[program["id"]]["meta"]
        found = validate(program["source"], program["catalog"])
        if meta["errors"] or meta["unresolved"] or meta["orphaned"]:
            assert not found.valid, program["id"]
        for error in meta["errors"]:
            assert any(item.statement == error["statementId"] for item in found.findings), (program["id"], error)


CASES = {
    "prose before": ("Here is your dashboard:\n" + GOOD, "not-a-statement", 1),
    "prose after": (GOOD + "\nLet me know!", "not-a-statement", 3),
    "prose in another script": ("여기 있습니다\n" + GOOD, "non-ascii-name", 1),
    "fence": (f"```openui\n{GOOD}\n```", "code-fence", 1),
    "prose around a fence": (f"Sure!\n```openui\n{GOOD}\n```", "prose", 1),
    "colon for equals": ('root = Stack([a])\na: TextContent("hi")', "not-a-statement", 2),
    "bullet": ("- root = Stack([])", "not-a-statement", 1),
    "text after": ('root = Stack([a]); x = 1\na = TextContent("hi")', "text-after-expression", 1),
    "missing comma": ('root = Stack([a a])\na = TextContent("hi")', "missing-comma", 1),
    "named argument": ('root = Stack([a])\na = TextContent(text: "hi")', "named-argument", 2),
    "no root": ('a = Stack([b])\nb = TextContent("x")', "no-root", 1),
    "root last": ('a = TextContent("x")\nroot = Stack([a])', "root-not-first", 2),
    "wrong root": ('root = Card([a])\na = TextContent("x")', "wrong-root", 1),
    "root is text": ('root = "x"', "wrong-root", 1),
    "duplicate": (GOOD + '\na = TextContent("two")', "duplicate", 3),
    "keyword as name": ('root = Stack([])\ntrue = "x"', "bad-name", 2),
    "built-in as name": ('root = Stack([Count])\nCount = TextContent("x")', "reserved-name", 2),
    "smart quotes": ("root = Stack([a])\na = TextContent(“hi”)", "smart-quotes", 2),
    "unused state": (GOOD + "\n$n = 1", "unused-state", 3),
    "undeclared state": ('root = Stack([a])\na = TextContent("n" + $n)', "undeclared-state", 2),
    "unused statement": (GOOD + '\nb = "lost"', "orphaned", 3),
    "unresolved": ("root = Stack([missing])", "unresolved", 1),
    "cycle": ("root = Stack([a])\na = Card([a])", "circular", 2),
    "unclosed": ('root = Stack([a])\na = TextContent("hi"', "unclosed", 2),
    "wrong component": ('root = Stack([t])\nt = Table([c])\nc = TextContent("x")', "wrong-component", 2),
    "text for a component": ('root = Stack([f])\nf = FormControl("L", "text")', "wrong-component", 2),
    "array for an enum": ('root = Stack([a])\na = TextContent("x", ["small"])', "type-mismatch", 2),
    "enum in an open program": ('root = Stack([a])\na = TextContent("x", "huge"', "type-mismatch", 2),
    "through a name": ('root = Stack([s])\ns = PieChart(["a"], n)\nn = ["1"]', "type-mismatch", 3),
    "unknown key": ('root = Stack([e])\ne = EntityList([{left: "a", right: "b", x: 1}])', "unknown-key", 2),
    "too few": ('root = Stack([o])\no = OverviewCardBlock([], "grid", true)', "min-items", 2),
    "not a number": ('root = Stack([p])\np = PieChart(["a"], [1e999])', "bad-number", 2),
    "in a ternary": ('root = Stack([$a ? TextContent() : t])\n$a = 1\nt = TextContent("x")', "missing-required", 1),
    "in a template": ('root = Stack(@Each([1], "r", TextContent("x", "huge")))', "type-mismatch", 1),
    "unknown step": ('root = Stack([b])\nb = Buttons([Button("x", Action([@Fly("x")]))])', "bad-action", 2),
    "step alone": ('root = Stack([b])\nb = Buttons([Button("x", @ToAssistant("x"))])', "bad-action", 2),
    "run of a text": ('root = Stack([b])\nb = Buttons([Button("x", Action([@Run(x)]))])\nx = "v"', "bad-action", 2),
    "set of a name": ('root = Stack([b])\nb = Buttons([Button("x", Action([@Set(b, 1)]))])', "bad-action", 2),
    "arity": ('root = Stack([a])\na = TextContent("" + @Count([1], 2))', "bad-call", 2),
    "operator": ('root = Stack([a])\na = TextContent("" + @Filter([1], "x", "like", 2))', "bad-call", 2),
    "without @": ('root = Stack([a])\na = TextContent("" + Count([1]))', "bad-call", 2),
    "inline query": ('root = Stack([Query("x", {})])', "inline-reserved", 1),
    "forged node": ('root = Stack([x])\nx = {k: "StateRef", n: "$x"}', "forged-node", 2),
    "raw HTML": ('root = Stack([a])\na = TextContent("<script>x</script>")', "raw-html", 2),
    "markdown link": ('root = Stack([a])\na = TextContent("[x](javascript:alert(1))")', "unsafe-address", 2),
    "huge width": ('root = Stack([e])\ne = EditableTable("t", [{type: "text", key: "k", header: "h", width: 1e9}], [])',
                   "odd-number", 2),
    "long text": (f'root = Stack([a])\na = TextContent("{"x" * 30_000}")', "too-long", 2),
    "many items": (f'root = Stack([p])\np = PieChart(["a"], [{"1, " * 2_000}1])', "too-many", 2),
    "deep": ("root = Stack([a])\na = " + "Card([" * 60 + "])" * 60, "too-deep", 2),
    "wrong case": ('root = stack([a])\na = TextContent("x")', "bad-call", 1),
    "empty": ("", "no-statement", 1),
    "unknown escape": ('root = Stack([a])\na = TextContent("\\q")', "bad-escape", 2),
    "dashes of a list": ('root = Stack([a])\n- a = TextContent("x")', "not-a-statement", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_defect_is_found_where_it_is(name):
    source, code, line = CASES[name]
    report = validate(source)
    assert (code, line) in {(finding.code, finding.line) for finding in report.findings}, str(report)


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " javascript:alert(1)", "java\\tscript:alert(1)", "JavaScript:x", "data:text/html,x",
     "vbscript:x", "file:///etc/passwd", "ftp://e.org", "//e.org/x", "/admin", "page.html", "http://localhost/",
     "http://127.0.0.1:8080/", "http://2130706433/", "http://0x7f.1/", "http://017700000001/", "http://10.0.0.1/",
     "http://192.168.1.1", "http://169.254.169.254/", "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://a.internal",
     "http://printer.local/", "http://intranet/", "https://good.org@127.0.0.1/", "https://", "http:\\\\\\\\localhost"],
)  # fmt: skip
def test_an_unsafe_address_is_found_in_actions_images_and_markdown(address):
    action = f'root = Stack([b])\nb = Buttons([Button("x", Action([@OpenUrl("{address}")]))])'
    image = f'root = Stack([i])\ni = ImageBlock("{address}")'
    assert codes(action) == {"unsafe-address"}
    assert codes(image) == {"unsafe-address"}
    if " " not in address and "\\" not in address:
        assert codes(f'root = Stack([a])\na = MarkDownRenderer("[x]({address})")') == {"unsafe-address"}
        assert codes(f'root = Stack([a])\na = MarkDownRenderer("![x]({address})")') == {"unsafe-address"}


@pytest.mark.parametrize(
    "address", ["https://example.org/a?b=c#d", "http://example.org:8080", "mailto:a@example.org", "tel:+4912345"]
)
def test_a_safe_address_is_let_through(address):
    assert validate(f'root = Stack([b])\nb = Buttons([Button("x", Action([@OpenUrl("{address}")]))])').valid


def test_an_address_is_followed_through_names_and_sums():
    button = 'root = Stack([b])\nb = Buttons([Button("x", Action([@OpenUrl({})]))])\n{}'
    assert codes(button.format("u", 'u = "javascript:x"')) == {"unsafe-address"}
    assert codes(button.format("$u", '$u = "javascript:x"')) == {"unsafe-address"}
    assert codes(button.format('"javascript:" + $u', "$u = 1")) == {"unsafe-address"}
    assert codes(button.format('"https://example.org/" + $u', "$u = 1")) == set()


def test_findings_point_at_the_answer_not_at_what_is_left_of_it():
    source = "Sure, here:\n\n```openui\n// layout\nroot = Stack([a]) # main\n  a = TextContent(5)\n```\n"
    finding = next(item for item in validate(source).findings if item.code == "type-mismatch")
    assert (finding.line, finding.column, finding.statement) == (6, 7, "a")


def test_comments_and_layout_are_no_findings():
    assert validate('// layout\nroot = Stack([\n  a, // first\n])\n\n# text\na = TextContent("http://x # y")\n').valid


def test_while_the_answer_is_being_written_its_end_is_left_alone():
    source = 'root = Stack([a, b, c])\na = TextContent("x", "huge")\nb = TextCont'
    assert codes(source, ended=False) == {"type-mismatch"}
    assert codes(source) >= {"type-mismatch", "unresolved"}
    whole = GOOD + '\nb = TextContent("x", "huge")'
    for size in range(len(whole) - 3):
        assert codes(whole[:size], ended=False) == set(), whole[:size]


def test_a_failing_validator_says_so_and_keeps_the_answer(monkeypatch):
    def broken(program):
        raise RuntimeError("boom")

    monkeypatch.setattr(validator_module, "check_names", broken)
    report = validate(GOOD)
    assert [finding.code for finding in report.findings] == ["validator-failed"]
    assert report.source == GOOD
    assert not report.valid
    assert "RuntimeError" in str(report)


def test_a_finding_speaks_to_a_reader_who_has_to_mend_it():
    report = validate('root = Stack([a])\na = TextContent("x", "Small")')
    (finding,) = report.findings
    assert 'Did you mean "small"?' in finding.hint
    assert re.fullmatch(r'2:\d+ error type-mismatch in a: size cannot be "Small"\. One of .*', str(report))
    assert report.as_dict()["findings"][0]["line"] == 2


def test_a_catalog_from_json_schema_validates_alike():
    schema = Catalog.load(FOLDER / "general.schema.json")
    schema.root = "Stack"
    for program in PROGRAMS:
        if program["catalog"] == "general" and program["clean"] is not None:
            assert validate(program["source"], schema).valid == program["clean"], program["id"]


@pytest.mark.parametrize("root", ["stack([a])", "Stak([a])", "missing"])
def test_the_parts_of_an_unknown_root_are_not_orphaned_as_well(root):
    source = f'root = {root}\na = Stack([c])\nc = TextContent("hi")'
    assert {item.statement for item in validate(source).findings} == {"root"}
    assert "orphaned" in codes(source.replace(root, "Stack([])", 1))


@pytest.mark.parametrize("source", [None, b"root = Stack([])"])
def test_what_is_no_text_is_refused_with_what_to_pass(source):
    with pytest.raises(TypeError, match=f"program as a str, not {type(source).__name__}"):
        validate(source)
