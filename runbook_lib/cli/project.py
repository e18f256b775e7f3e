"""Where the project is, the environment its programs run in, and how one of them takes over."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

__all__ = ["ROOT", "become", "notebook_paths", "quiet_environment"]

ROOT = Path(__file__).resolve().parents[2]

# Each switch is documented by the program that reads it.
QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",  # the venv's kernel, not one of the same name in the home folder
}
TRACING = ("LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGSMITH_TRACING_V2")


def notebook_paths() -> list[Path]:
    """Return the notebooks in reading order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def quiet_environment(*, live: bool = True) -> dict[str, str]:
    """Return this environment without telemetry and update checks; tracing stays only with a live model.

    With `live=False` the model stays offline whatever the reader has set: tests compare and refresh saves.
    """
    environment = {**os.environ, **QUIET}
    if not live:
        environment.pop("RUNBOOK_LIVE", None)
    if environment.get("RUNBOOK_LIVE") != "1":
        for name in TRACING:
            environment.pop(name, None)
    return environment


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by `command`; on Windows, which cannot, run it and exit with its exit code."""
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(command[0], list(command), dict(environment))
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            continue  # Ctrl-C reaches the child as well; it decides when to end
