"""The parser against recorded results of lang-core 0.2.18, one-shot and streamed."""

import pytest
from openui_truths import ERROR_KEYS, canonical, digest, programs, rows, same, shape

from runbook_lib.openui import Catalog, StreamingParser, parse

PROGRAMS = programs()
TRUTHS = rows("truths.jsonl")
STREAMS = rows("streams.jsonl")
KINDS = sorted({row["class"] for row in PROGRAMS.values()})


@pytest.mark.parametrize("kind", KINDS)
def test_one_shot_results_equal_lang_core(kind):
    truths = [row for row in TRUTHS if PROGRAMS[row["id"]]["class"] == kind]
    assert truths
    for truth in truths:
        program = PROGRAMS[truth["id"]]
        got = shape(parse(program["source"], program["catalog"]).as_dict())
        assert same(truth["result"], got), truth["id"]


def test_without_a_root_name_the_first_component_is_the_root():
    source = 'text = TextContent("x")\nstack = Stack([text])'
    assert parse(source, "general").root["typeName"] == "Stack"
    assert parse(source, Catalog(Catalog.load("general").components)).root["typeName"] == "TextContent"
    for truth in TRUTHS:
        program = PROGRAMS[truth["id"]]
        catalog = Catalog(Catalog.load(program["catalog"]).components)
        expected = truth.get("withoutRootName", truth["result"])
        assert same(expected, shape(parse(program["source"], catalog).as_dict())), truth["id"]


@pytest.mark.parametrize("stream", STREAMS, ids=[row["id"] for row in STREAMS])
def test_every_chunk_of_a_stream_equals_lang_core(stream):
    program = PROGRAMS[stream["id"]]
    parser, size = StreamingParser(program["catalog"]), stream["chunk"]
    for index, (root, meta, rest) in enumerate(stream["steps"]):
        chunk = program["source"][index * size : (index + 1) * size]
        got = shape(parser.push(chunk).as_dict())
        seen = got["meta"]
        errors = [[error.get(key) for key in ERROR_KEYS] for error in seen["errors"]]
        row = [seen["incomplete"], seen["unresolved"], seen["orphaned"], seen["statementCount"], errors]
        assert canonical(row) == canonical(stream["metas"][meta]), index
        assert digest(got["root"]) == stream["roots"][root], index
        state = [got["stateDeclarations"], got["queryStatements"], got["mutationStatements"]]
        assert digest(state) == stream["rests"][rest], index


def test_a_catalog_from_json_schema_gives_the_same_results():
    from openui_truths import TRUTHS as FOLDER

    catalogs = {name: Catalog.load(FOLDER / f"{name}.schema.json") for name in ("general", "chat")}
    for name, catalog in catalogs.items():
        catalog.root = Catalog.load(name).root
    for truth in TRUTHS:
        program = PROGRAMS[truth["id"]]
        got = shape(parse(program["source"], catalogs[program["catalog"]]).as_dict())
        assert same(truth["result"], got), truth["id"]


STREAMED = {
    "a ternary over several lines": 'root = Stack([t])\nt = $s\n\n  ? TextContent("y")\n  : TextContent("n")\nu = [t]',
    "comments": 'root = Stack([a]) // main\n# text /\na = TextContent("a // b # c")\nb = 4 / 2 // half\n//',
    "fences": 'It\'s:\n```openui\nroot = Stack([a])\n```\nand\n```\na = TextContent("``` no")\n```\nBye.',
    "brackets": 'root = Stack([\n  a, // first\n\n  Card([\n    a\n  ])\n])\na = TextContent("line\nbreak")\n',
    "escapes": 'root = Stack([a])\na = TextContent("x\\\\\\"y\\n", \'small\\\'\')\n$n = "\\u00e9"',
    "blanks": "\n\n  root = Stack([]) \t\n \u00a0\n\n  a = 1  \n \n",
}


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_stream_ends_where_the_whole_program_does(name, size):
    source = STREAMED[name]
    parser = StreamingParser("general")
    for at in range(0, len(source), size):
        parser.push(source[at : at + size]).as_dict()
    assert parser.result().as_dict() == parse(source, "general").as_dict()
    assert parser.result().root is not None


def test_what_is_reached_through_a_finished_statement_is_not_orphaned():
    parser = StreamingParser("general")
    for line in ("root = Stack([a])\n", "a = Card([b])\n", 'b = TextContent("x")\n', 'c = TextContent("y")\n'):
        result = parser.push(line)
        result.as_dict()
    assert result.meta["orphaned"] == ["c"]
    assert parser.push("d = 1").meta["orphaned"] == ["c", "d"]
