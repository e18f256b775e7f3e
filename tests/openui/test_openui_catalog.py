"""Catalogs from files, schemas and Python, and the prompt written from them."""

import json

import pytest
from openui_truths import TRUTHS

import runbook_lib.openui as openui
from runbook_lib.openui import Catalog, parse, validate
from runbook_lib.openui.prompt import component_names, example

SMALL = {
    "Panel": {"parts": ["Text", "Badge"], "gap?": float},
    "Text": {"text": str, "tone?": ("calm", "loud")},
    "Badge": {"label": str, "shown": bool, "details?": {"note": str, "any?": object}, "tags?": [str]},
}


def test_the_room_exports_what_it_lists():
    assert sorted(openui.__all__) == openui.__all__
    assert all(hasattr(openui, name) for name in openui.__all__)


def test_a_catalog_written_in_python_is_parsed_and_validated_against():
    catalog = Catalog.of("Panel", SMALL)
    good = 'root = Panel([a, b], 4)\na = Text("x", "loud")\nb = Badge("n", true, {note: "y"}, ["t"])'
    assert validate(good, catalog).valid
    assert parse(good, catalog).root["props"]["gap"] == 4
    bad = 'root = Panel([a, Panel([])])\na = Badge("n", "yes", {nota: 1}, [2])'
    assert {item.code for item in validate(bad, catalog).findings} == {
        "wrong-component", "type-mismatch", "unknown-key", "missing-required",
    }  # fmt: skip


def test_signatures_say_it_all_in_one_line():
    catalog = Catalog.of("Panel", SMALL)
    assert catalog.signatures(["Text"]) == 'Text(text: string, tone?: "calm"|"loud")'
    assert catalog.components["Panel"].signature() == "Panel(parts: [Text|Badge], gap?: number)"


@pytest.mark.parametrize("name", ["general", "chat"])
def test_the_schema_and_the_catalog_agree(name):
    schema = json.loads((TRUTHS / f"{name}.schema.json").read_text("utf-8"))
    ours, theirs = Catalog.load(name), Catalog.from_schema(schema)
    assert list(ours.components) == list(theirs.components)
    for component, other in zip(ours.components.values(), theirs.components.values(), strict=True):
        kinds = [(slot.name, slot.kind, slot.required, slot.default) for slot in component.params]
        assert kinds == [(slot.name, slot.kind, slot.required, slot.default) for slot in other.params]


def test_what_is_no_catalog_is_said_to_be_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="chat, general"):
        Catalog.load("nowhere")
    file = tmp_path / "x.json"
    file.write_text('{"name": 1}')
    with pytest.raises(ValueError, match="needs a `components` object"):
        Catalog.load(file)
    file.write_text('{"components": {"A": [{"name": "x", "type": "date"}]}}')
    with pytest.raises(ValueError, match='unknown type "date"'):
        Catalog.load(file)


@pytest.mark.parametrize("name", ["general", "chat"])
def test_the_prompt_holds_rules_signatures_and_two_valid_examples(name):
    catalog = Catalog.load(name)
    prompt = catalog.prompt()
    assert all(component.signature() in prompt for component in catalog.components.values())
    for part in prompt.split("Example ")[1:]:
        assert validate(part.split("\n", 1)[1], catalog).valid, part
    for only in [None, *[[component] for component in catalog.components]]:
        for parts in (1, 2):
            text = example(catalog, component_names(catalog, only), parts)
            assert validate(text, catalog).valid, text


def test_a_prompt_for_a_few_components_is_small_and_complete():
    catalog = Catalog.load("general")
    prompt = catalog.prompt(["BarChart", "TextContent"])
    assert len(prompt) < len(catalog.prompt()) / 4
    assert "Series(" in prompt
    assert "PieChart" not in prompt
    with pytest.raises(KeyError):
        catalog.prompt(["Nothing"])
