"""The command line itself: what it offers, how fast it is there, and what it starts."""

import json
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from importlinter.cli import lint_imports
from typer.main import get_command
from typer.testing import CliRunner

from runbook_lib.cli import _lab as lab_module
from runbook_lib.cli import _tests as tests_module
from runbook_lib.cli import app
from runbook_lib.cli._lab import PORT_TAKEN, choose_port, lab_command, lab_environment
from runbook_lib.cli._tests import pytest_command
from runbook_lib.cli.project import ROOT, quiet_environment

VERBS = sorted(get_command(app).commands)  # type: ignore[attr-defined]
HEAVY = {
    "IPython",
    "jsonschema",
    "jupyterlab",
    "langchain_core",
    "langgraph",
    "matplotlib",
    "nbclient",
    "nbformat",
    "openai",
}


def test_help_shows_what_it_is_and_every_verb() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).output
    assert "An executable runbook for OpenUI and LangGraph 1.2." in shown
    assert shown.index("The three commands you need") < shown.index("When you change something")
    for verb in VERBS:
        assert re.search(rf"^\W*{verb} +\S", shown, re.MULTILINE), verb


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_is_in_the_readme(verb: str) -> None:
    assert CliRunner().invoke(app, [verb, "--help"]).exit_code == 0
    assert re.search(rf"runbook {verb}\b", (ROOT / "README.md").read_text("utf-8")), f"README.md: runbook {verb}"


def test_the_command_line_imports_nothing_heavy() -> None:
    code = "import runbook_lib.cli, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY & set(loaded) == set()


def test_the_import_contract_is_kept() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == 0


def test_the_rooms_are_quiet_about_tracing_unless_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    assert "LANGSMITH_TRACING" not in quiet_environment()
    assert quiet_environment()["LANGGRAPH_CLI_NO_ANALYTICS"] == "1"
    monkeypatch.setenv("RUNBOOK_LIVE", "1")
    assert quiet_environment()["LANGSMITH_TRACING"] == "true"


# runbook test


def test_pytest_keeps_a_notebook_in_one_worker_and_passes_arguments_on() -> None:
    command = pytest_command(everything=True, arguments=["-k", "weather"], cores=8)
    assert command[1:] == ["-m", "pytest", "-n", "2", "--dist", "loadfile", "-m", "", "-k", "weather"]
    assert pytest_command(everything=False, arguments=[], cores=1)[1:] == ["-m", "pytest"]


def test_unknown_options_go_to_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(tests_module, "become", lambda command, environment: started.append(command))
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(app, ["test", "-x", "--maxfail=3", "tests/cli"]).exit_code == 0
    assert started[0][-3:] == ["-x", "--maxfail=3", "tests/cli"]


def test_the_exit_code_is_the_one_of_the_command_that_takes_over() -> None:
    code = (
        "import os, sys; from runbook_lib.cli.project import become\n"
        "become([sys.executable, *sys.argv[1:]], os.environ)"
    )
    run = subprocess.run([sys.executable, "-c", code, "-c", "raise SystemExit(5)"], check=False)
    assert run.returncode == 5  # pytest's for "no tests ran", which must not pass for success


# runbook lab


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_taken_port_that_was_asked_for_ends_with_its_own_code(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as exit_:
        choose_port(taken)
    assert exit_.value.exit_code == PORT_TAKEN
    assert f"Port {taken} is taken" in capsys.readouterr().err


def test_the_usual_port_taken_means_the_next_free_one(
    taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab_module, "DEFAULT_PORT", taken)
    chosen = choose_port(None)
    assert taken < chosen < taken + 50
    assert f"Port {taken} is taken; using {chosen}." in capsys.readouterr().out


def test_root_is_allowed_and_the_token_is_not_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_module, "runs_as_root", lambda: True)
    command = lab_command(8888, "/lab", opens_browser=False)
    assert {"--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1"} <= set(command)
    assert lab_environment("secret")["JUPYTER_TOKEN"] == "secret"
    monkeypatch.setattr(lab_module, "runs_as_root", lambda: False)
    assert not {"--allow-root", "--no-browser"} & set(lab_command(8888, "/lab", opens_browser=True))


def test_without_a_browser_it_prints_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(lab_module, "become", lambda command, environment: started.append((command, environment)))
    monkeypatch.setattr(lab_module, "can_open_browser", lambda: False)
    monkeypatch.chdir(ROOT)
    shown = CliRunner().invoke(app, ["lab"]).output
    command, environment = started[0]
    assert "No browser was found" in shown
    assert f"?token={environment['JUPYTER_TOKEN']}" in shown
    assert "--no-browser" in command


def test_jupyterlab_starts_on_loopback_asks_for_its_token_and_fetches_no_news(taken: int) -> None:
    command = [sys.executable, "-m", "runbook_lib.cli", "lab", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            url = next(line.strip() for line in process.stdout if "http://127.0.0.1:" in line)
            base, token = re.match(r"(http://127\.0\.0\.1:\d+)/.*\?token=(.+)", url).groups()  # type: ignore[union-attr]
            settings = fetch(f"{base}/lab/api/settings/@jupyterlab/apputils-extension:notification", token)
            assert fetch(f"{base}/lab/api/news", token) == {"news": []}
            assert fetch(f"{base}/api/contents/pyproject.toml?content=0", token)["name"] == "pyproject.toml"
            with pytest.raises(urllib.error.HTTPError, match="403"):
                fetch(f"{base}/api/contents/pyproject.toml?content=0", "wrong")
        finally:
            process.terminate()
    defaults = {key: value["default"] for key, value in settings["schema"]["properties"].items()}
    assert (defaults["fetchNews"], defaults["checkForUpdates"]) == ("false", False)


def fetch(url: str, token: str) -> dict[str, Any]:
    """Return what the server answers, once it answers."""
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})
    for _ in range(600):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                loaded: dict[str, Any] = json.load(answer)
                return loaded
        except ConnectionRefusedError:
            time.sleep(0.1)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.1)
    raise AssertionError(f"nothing answers at {url}")


def test_tests_and_refresh_stay_offline_whatever_the_reader_has_set(monkeypatch):
    monkeypatch.setenv("RUNBOOK_LIVE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "placeholder-for-a-key")
    assert quiet_environment()["RUNBOOK_LIVE"] == "1"
    assert "RUNBOOK_LIVE" not in quiet_environment(live=False)
