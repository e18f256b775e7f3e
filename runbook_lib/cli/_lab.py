"""`runbook lab`: JupyterLab on the notebooks, on loopback only."""

import os
import secrets
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from runbook_lib.cli.project import ROOT, become, notebook_paths, quiet_environment

__all__ = ["PORT_TAKEN", "lab"]

DEFAULT_PORT = 8888
PORT_TAKEN = 20
SETTINGS = Path(__file__).with_name("jupyter_settings")


def lab(
    port: Annotated[int | None, typer.Option(help="Port on 127.0.0.1: 8888, or the next free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Or only print the URL.")] = True,
) -> None:
    """Open JupyterLab on the first notebook."""
    chosen = choose_port(port)
    token = secrets.token_urlsafe(24)
    page = first_page()
    url = f"http://127.0.0.1:{chosen}{page}?token={token}"
    opens = browser and can_open_browser()
    if browser and not opens:
        print("No browser was found here. Open the URL below in one yourself.")
    if runs_as_root():
        print("Running as root: allowed, because the server listens on 127.0.0.1 only.")
    print(f"JupyterLab is at\n\n    {url}\n\nCtrl-C, twice, stops it.")
    os.chdir(ROOT)
    become(lab_command(chosen, page, opens), lab_environment(token))


def choose_port(wanted: int | None) -> int:
    """Return a free port: `wanted`, or from 8888 upwards. Exit with 20 when there is none."""
    candidates = [wanted] if wanted is not None else list(range(DEFAULT_PORT, DEFAULT_PORT + 50))
    free = next((port for port in candidates if is_free(port)), None)
    if free is None:
        hint = f"Choose another: runbook lab --port {candidates[0] + 1}"
        print(f"Port {candidates[0]} is taken. {hint}", file=sys.stderr)
        raise typer.Exit(PORT_TAKEN)
    if wanted is None and free != DEFAULT_PORT:
        print(f"Port {DEFAULT_PORT} is taken; using {free}.")
    return free


def is_free(port: int) -> bool:
    """Return whether a server can listen on this port of 127.0.0.1."""
    with socket.socket() as probe:
        if os.name != "nt":  # as the server does: a port that only lingers from an earlier run counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def first_page() -> str:
    """Return the address path of the first notebook, or of JupyterLab's file list when there is none."""
    notebooks = notebook_paths()
    return f"/lab/tree/notebooks/{notebooks[0].name}" if notebooks else "/lab"


def can_open_browser() -> bool:
    """Return whether Python finds a browser to open."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def runs_as_root() -> bool:
    """Return whether this process is root's; JupyterLab must then be told that this is meant."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def lab_command(port: int, page: str, opens_browser: bool) -> list[str]:
    """Return the JupyterLab command line: loopback, exactly this port, no news and no update checks."""
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={ROOT}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.log_level=WARN",
        f"--LabApp.default_url={page}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
        "--LabApp.extension_manager=readonly",
    ]
    if not opens_browser:
        command.append("--no-browser")
    return command + (["--allow-root"] if runs_as_root() else [])


def lab_environment(token: str) -> dict[str, str]:
    """Return the server's environment. The token is in it: a command line is for every user to read."""
    environment = quiet_environment()
    paths = [str(SETTINGS), environment.get("JUPYTER_CONFIG_PATH", "")]
    return {
        **environment,
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(path for path in paths if path),
    }
