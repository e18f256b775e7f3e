"""The verb `validate`, in an application of its own."""

import json

import typer
from typer.testing import CliRunner

from runbook_lib.openui.command import validate_command

app = typer.Typer()
app.command("validate")(validate_command)
GOOD = 'root = Stack([a])\na = TextContent("매출")\n'
BAD = "root = Stack([a])\na = TextContent(5)\n"


def run(*arguments, **options):
    return CliRunner().invoke(app, list(arguments), **options)


def test_a_valid_file_is_said_to_be_valid(tmp_path):
    file = tmp_path / "good.oui"
    file.write_text(GOOD, encoding="utf-8")
    result = run(str(file))
    assert (result.exit_code, result.output) == (0, f"{file}: valid\n")


def test_findings_are_lines_with_their_place_and_a_status_of_one(tmp_path):
    file = tmp_path / "bad.oui"
    file.write_text(BAD, encoding="utf-8")
    result = run(str(file))
    assert result.exit_code == 1
    assert f"{file}:2:5 error type-mismatch in a" in result.output
    assert result.output.endswith("1 finding\n")


def test_standard_input_and_json():
    result = run("-", "--json", input=BAD)
    report = json.loads(result.output)
    assert (result.exit_code, report["valid"], report["findings"][0]["line"]) == (1, False, 2)


def test_another_catalog_by_name():
    assert run("-", "--catalog", "chat", input='root = Card([a])\na = TextContent("x")').exit_code == 0


def test_what_cannot_be_read_has_a_status_of_its_own(tmp_path):
    missing = run(str(tmp_path / "none"))
    assert missing.exit_code == 2
    assert "No such file" in missing.output
    assert run("-", input=b"\xff\xfe").exit_code == 2
    assert run(str(tmp_path)).exit_code == 2


def test_a_catalog_that_cannot_be_read_is_named_and_the_program_is_not(tmp_path):
    file = tmp_path / "good.oui"
    file.write_text(GOOD, encoding="utf-8")
    result = run(str(file), "--catalog", "none")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert result.output.startswith('--catalog none: No catalog "none". Give one of ')
