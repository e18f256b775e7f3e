"""Every answer of the default assistant is OpenUI Lang that the real lang-core accepts without a remark."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from model_conversations import TOOLS, Talk, demo
from node_env import node_packages

from runbook_lib.model._program import literal
from runbook_lib.openui import validate

HERE = Path(__file__).parent
HOSTILE = [
    "Seoul",
    'He said "hi"',
    "back\\slash\\",
    "two\nlines\r\n\tand a tab",
    "emoji 👩‍👩‍👧‍👦 🇰🇷",
    "// not a comment # nor this",
    "```python\nprint(1)\n```",
    "```",
    "서울",
    "O'Brien's",
    "${injection}",
    '"), TextContent("evil',
    "root = Stack([])",
    "\u2028\u2029\x00\x1f\x7f",
    "\ud83d",
    "<script>alert(1)</script>",
    "https://example.com/?a=1#b",
    "x" * 5000,
    "",
    " ",
]
FACTS: list[Any] = [None, 0, -3.5, 1e300, True, "7", [], {}, ["a"], {"b": 1}]


def hostile(random_: random.Random) -> Any:
    """A tool runner whose results hold every kind of text, and values of the wrong type."""

    def run(name: str, arguments: dict[str, Any]) -> str:
        facts = json.loads(demo(name, arguments))
        shape = random_.random()
        if shape < 0.15:
            return random_.choice([*HOSTILE, "null", "[1]", "3", '{"half": '])
        for key in list(facts):
            chance = random_.random()
            if chance < 0.25:
                facts[key] = random_.choice(HOSTILE)
            elif chance < 0.35:
                facts[key] = random_.choice(FACTS)
            elif chance < 0.4:
                del facts[key]
        return json.dumps(facts)

    return run


def question(random_: random.Random) -> str:
    names = [*HOSTILE, "Busan", "Reykjavik", "AAPL", "Apple", "delta channels"]
    forms = [
        "weather in {}",
        "{} 날씨 알려줘",
        "{} stock price",
        "search the web for {}",
        "what about {}?",
        "{}",
        "{} 주가",
    ]
    forms += [
        "and tomorrow?",
        "which is warmer?",
        "hello",
        'weather in "{}"',
        "compare {} and {} weather",
        "{} 검색해줘",
    ]
    parts = [random_.choice(forms) for _ in range(random_.randint(1, 3))]
    return " and ".join(part.replace("{}", random_.choice(names)) for part in parts)


def programs() -> list[str]:
    """What 400 conversations of one to four questions were answered, the odd ones with half of the tools."""
    found = []
    for seed in range(400):
        random_ = random.Random(seed)
        talk = Talk(TOOLS if seed % 5 else TOOLS[:1], run_tool=hostile(random_))
        found += [talk.ask(question(random_)) for _ in range(random_.randint(1, 4))]
    return found


@pytest.fixture(scope="module")
def sources() -> list[str]:
    return programs()


@pytest.mark.node
def test_lang_core_accepts_every_program(sources: list[str]) -> None:
    lines = "".join(json.dumps({"source": source}) + "\n" for source in sources)
    command = ["node", str(HERE / "programs.mjs"), str(node_packages()), str(HERE / "general.schema.json")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=120)
    results = [json.loads(line) for line in done.stdout.strip("\n").split("\n")]
    assert len(results) == len(sources) > 900
    for source, result in zip(sources, results, strict=True):
        facts = {key: result[key] for key in ("incomplete", "unresolved", "orphaned", "errors")}
        assert facts == {"incomplete": False, "unresolved": [], "orphaned": [], "errors": []}, source
        assert result["root"]["typeName"] == "Stack", source
    texts = json.dumps([result["root"] for result in results])
    for text in HOSTILE:
        assert json.dumps(text.strip())[1:-1] in texts, f"{text!r} was not shown as it is"


def test_the_validator_finds_nothing_but_the_hostile_texts_that_a_program_quotes(sources: list[str]) -> None:
    found = [finding for source in sources for finding in validate(source).findings]
    assert [finding for finding in found if finding.code not in ("raw-html", "unsafe-url")] == []
    assert found, "hostile texts were asked about: the validator has to notice them"


def test_every_program_has_its_root_first_and_its_texts_quoted(sources: list[str]) -> None:
    for source in sources:
        assert source.startswith("root = Stack([card")
        assert "```" not in source
        assert all(" = " in line for line in source.split("\n")), "a text broke out of its line"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_literal_is_json_that_reads_back_as_the_text(text: str) -> None:
    assert json.loads(literal(text)) == text
    assert "`" not in literal(text)
    assert "\n" not in literal(text)
