"""`runbook serve`: what it says, what it refuses, and how it stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
import pytest
from typer.testing import CliRunner

import runbook_lib.deep_agent.dev_server as dev_server
from runbook_lib.cli import app
from runbook_lib.cli._serve import PORT_TAKEN
from runbook_lib.cli.project import ROOT


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What a DevServer was started with; it ends at once, as by Ctrl-C."""
    seen: list[Any] = []

    class Recorded:
        url = "http://127.0.0.1:2024"

        def __init__(self, **options: Any) -> None:
            seen.append(options)

        def wait(self) -> None:
            raise KeyboardInterrupt

        def __enter__(self) -> Recorded:
            return self

        def __exit__(self, *error: object) -> None:
            seen.append("stopped")

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(dev_server, "DevServer", Recorded)
    monkeypatch.setattr("runbook_lib.cli._serve.can_listen", lambda host, port: True)
    yield seen
    signal.signal(signal.SIGTERM, before)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["serve", *arguments])


def test_it_says_where_it_is_and_stops_the_server(started: list[Any]) -> None:
    result = run()
    assert result.exit_code == 0
    assert "POST http://127.0.0.1:2024/ag-ui" in result.stdout
    assert "Ctrl-C stops it" in result.stdout
    assert result.stderr == ""
    assert started == [{"host": "127.0.0.1", "port": 2024, "jobs": 10, "cors_origins": ()}, "stopped"]


def test_options_reach_the_server(started: list[Any]) -> None:
    origins = ["--cors-origin", "http://localhost:3000", "--cors-origin", "https://a.example"]
    assert run("--port", "3001", "--jobs", "3", *origins).exit_code == 0
    assert started[0] == {
        "host": "127.0.0.1",
        "port": 3001,
        "jobs": 3,
        "cors_origins": ["http://localhost:3000", "https://a.example"],
    }


@pytest.mark.parametrize(
    ("host", "warns"), [("0.0.0.0", True), ("192.0.2.7", True), ("::1", False), ("localhost", False)]
)
def test_an_address_that_others_reach_brings_a_warning(started: list[Any], host: str, warns: bool) -> None:
    assert ("Warning" in run("--host", host).stderr) is warns


@pytest.mark.parametrize("wrong", ["localhost:3000", "http://localhost:3000/", "file:///a", "http://"])
def test_what_is_no_origin_is_refused(started: list[Any], wrong: str) -> None:
    result = run("--cors-origin", wrong)
    assert result.exit_code == 2
    assert started == []


def test_a_port_that_is_taken_is_a_plain_message() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("--port", str(port))
    assert result.exit_code == PORT_TAKEN
    assert f"port {port}" in result.stderr
    assert f"--port {port + 1}" in result.stderr


def test_the_committed_configuration_is_what_the_command_serves() -> None:
    """`langgraph dev` in the project and `runbook serve` differ in nothing but allowed origins."""
    committed = json.loads((ROOT / "langgraph.json").read_text("utf-8"))
    assert committed == dev_server.settings(())


@pytest.mark.drill
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM"])
def test_it_runs_in_the_foreground_until_it_is_told_to_stop(ending: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "runbook_lib.cli", "serve", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            while "Ctrl-C stops it" not in said:
                line = process.stdout.readline()
                assert line, process.communicate()
                said += line
            assert re.search(rf"POST http://127\.0\.0\.1:{port}/ag-ui", said)
            assert httpx.get(f"http://127.0.0.1:{port}/ok").json()["ok"] is True
            os.kill(process.pid, getattr(signal, ending))
            rest, errors = process.communicate(timeout=60)
        finally:
            for left in [*psutil.Process(process.pid).children(), process] if process.poll() is None else ():
                left.kill()
    assert (process.returncode, rest.strip(), errors) == (0, "Stopped.", "")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/ok")
