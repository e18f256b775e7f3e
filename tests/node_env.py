"""Node.js packages for tests: installed once into `.runbook/node` of the repository, without install scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGES = {"@openuidev/lang-core": "0.2.18", "zod": "4"}


def node_packages(packages: dict[str, str] = PACKAGES) -> Path:
    """Return the folder whose `node_modules` holds `packages` (name to version, exact or its beginning).

    Packages that are there already stay. Raises RuntimeError when Node.js or npm is missing or the installation
    fails, with the end of npm's output.
    """
    place = REPOSITORY / ".runbook" / "node"
    with _alone(place):
        missing = {name: version for name, version in packages.items() if not _has(place, name, version)}
        if missing:
            _install(missing, place)
    return place


def _has(place: Path, name: str, version: str) -> bool:
    description = place / "node_modules" / name / "package.json"
    if not description.exists():
        return False
    return f"{json.loads(description.read_text(encoding='utf-8'))['version']}.".startswith(f"{version}.")


def _install(packages: dict[str, str], place: Path) -> None:
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        raise RuntimeError("Node.js and npm are needed for tests marked `node`: install them, or leave the marker out")
    wanted = [f"{name}@{version}" for name, version in packages.items()]
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"npm install failed in {place}:\n{done.stderr[-1500:]}")


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let one test process install at a time; a lock left behind for five minutes is taken over."""
    place.mkdir(parents=True, exist_ok=True)
    lock = place / "installing"
    while True:
        try:
            lock.touch(exist_ok=False)
            break
        except FileExistsError:
            if time.time() - lock.stat().st_mtime > 300:
                lock.unlink(missing_ok=True)
            time.sleep(0.1)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
