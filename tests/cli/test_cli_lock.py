"""The lock files: what pyproject.toml asks for, pinned, with hashes and without addresses."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from runbook_lib.cli import _lock as lock_module
from runbook_lib.cli import app
from runbook_lib.cli._lock import LOCKS, NO_UV, SOURCE_ONLY, pins, read_blocks
from runbook_lib.cli.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
CORE = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["setup"]
TEXTS = {name: (ROOT / name).read_text("utf-8") for name in LOCKS}


def test_every_extra_is_locked_in_one_file() -> None:
    assert sorted(extra for extras in LOCKS.values() for extra in extras) == sorted(EXTRAS)


@pytest.mark.parametrize("name", LOCKS)
def test_the_pins_are_what_the_project_allows(name: str) -> None:
    asked = [*(CORE if not LOCKS[name] else []), *(line for extra in LOCKS[name] for line in EXTRAS[extra])]
    pinned = pins(TEXTS[name])
    for requirement in map(Requirement, asked):
        versions = pinned[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_hashes_and_no_line_an_address(name: str) -> None:
    blocks = read_blocks(TEXTS[name])
    assert blocks
    assert [key for key, block in blocks.items() if "--hash=sha256:" not in block] == []
    assert "://" not in TEXTS[name]
    assert not re.search(r"^\s*(-i|-f|--index|--extra-index|--find)", TEXTS[name], re.MULTILINE)


def test_nothing_is_compiled_at_set_up() -> None:
    for text in TEXTS.values():
        assert text.startswith("--only-binary :all:\n")
        assert set(re.findall(r"^--no-binary (.+)$", text, re.MULTILINE)) <= set(SOURCE_ONLY)


def test_the_core_is_not_repeated() -> None:
    core, *others = (set(read_blocks(text)) for text in TEXTS.values())
    assert [core & other for other in others] == [set(), set(), set()]


def test_without_uv_it_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module.shutil, "which", lambda name, path=None: None)
    result = CliRunner().invoke(app, ["lock"])
    assert result.exit_code == NO_UV
    assert "./runbook test --all" in result.output


def test_changes_are_told_by_package(capsys: pytest.CaptureFixture[str]) -> None:
    lock_module.print_changes(
        {"gone": {"1"}, "kept": {"1"}, "moved": {"1"}}, {"kept": {"1"}, "moved": {"2"}, "new": {"3"}}
    )
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert words == [
        ["gone", "1", "->", "-"],
        ["moved", "1", "->", "2"],
        ["new", "-", "->", "3"],
        ["3", "packages", "locked."],
    ]


@pytest.mark.drill
def test_the_locks_are_what_lock_writes(tmp_path: Path) -> None:
    """Asks the package index, as `runbook lock` does."""
    shutil.copytree(ROOT / "runbook_lib", tmp_path / "runbook_lib", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run([sys.executable, "-m", "runbook_lib.cli", "lock", "--keep"], cwd=tmp_path, check=True)
    assert {name: (tmp_path / name).read_text("utf-8") for name in LOCKS} == TEXTS
