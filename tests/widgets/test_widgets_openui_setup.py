"""The set-up fetches the OpenUI bundle where npm exists, and goes on without it."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any

import pytest

from runbook_lib.cli.project import ROOT
from runbook_lib.widgets import _bundle


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("launcher", str(ROOT / "runbook"))
    spec = spec_from_loader("launcher", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def fetch(launcher: ModuleType, monkeypatch: pytest.MonkeyPatch, npm: str | None, code: int = 0) -> list[Any]:
    commands: list[Any] = []
    monkeypatch.setattr(launcher.shutil, "which", lambda _: npm)
    monkeypatch.setattr(launcher, "logged", lambda command, *_: (commands.append(command), (code, ""))[1])
    launcher.fetch_components(0)
    return commands


def test_with_npm_the_bundle_is_fetched(launcher: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch(launcher, monkeypatch, "npm") == [[str(launcher.PYTHON), _bundle.__file__]]


def test_without_npm_nothing_is_tried(launcher: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch(launcher, monkeypatch, None) == []


def test_a_failure_is_said_and_is_no_failure(
    launcher: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(launcher, monkeypatch, "npm", code=1)
    assert "going on without them" in capsys.readouterr().out
