"""`runbook lock`: rebuild the lock files from the ranges in pyproject.toml."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from runbook_lib.cli.project import ROOT

__all__ = ["LOCKS", "lock", "pins", "read_blocks"]

NO_UV = 21
# Which extras each file locks, beside the core. The others leave out what the first one holds.
LOCKS = {
    "requirements.lock": [],
    "requirements-server.lock": ["server"],
    "requirements-postgres.lock": ["postgres"],
    "requirements-all.lock": ["browser", "peers", "dev"],
}
# Source-only packages: everything else is installed from a wheel or not at all, so that no set-up compiles.
SOURCE_ONLY = ["forbiddenfruit"]
# Newer ones have no wheel for Intel Macs. (Not under [tool.uv]: `uv pip install` would apply it to the locks as well.)
INTEL_MAC = "sys_platform == 'darwin' and platform_machine == 'x86_64'"
CONSTRAINTS = [f"argon2-cffi-bindings<26 ; {INTEL_MAC}", f"cryptography<49 ; {INTEL_MAC}"]
# One lock for every platform and Python; hashes; no line that depends on where packages came from.
FLAGS = [
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-annotate",
    "--no-header",
    "--quiet",
]


def lock(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the pins that the ranges still allow.")] = False,
) -> None:
    """Rebuild the lock: the newest versions that pyproject.toml allows, with hashes."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        print("runbook lock needs uv on the PATH; ./runbook test --all installs it too.", file=sys.stderr)
        raise typer.Exit(NO_UV)
    before = pins(present_locks())
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.lock"
        if keep:
            whole.write_text(present_locks(), "utf-8")
        extras = [extra for names in LOCKS.values() for extra in names]
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(CONSTRAINTS), "utf-8")
        resolve(uv, extras, whole, constraints)
        files = split(uv, whole, Path(folder))
    for name, text in files.items():
        (ROOT / name).write_text(text, "utf-8")
    print_changes(before, pins(present_locks()))


def resolve(uv: str, extras: list[str], output: Path, constraints: Path) -> None:
    """Write the lock of the project with these extras; uv says what is wrong when it cannot."""
    wanted = [part for extra in extras for part in ("--extra", extra)]
    command = [uv, "pip", "compile", "pyproject.toml", "--group", "setup", *wanted, *FLAGS]
    result = subprocess.run([*command, "-c", str(constraints), "-o", str(output)], cwd=ROOT, check=False)
    if result.returncode:
        raise typer.Exit(result.returncode)


def split(uv: str, whole: Path, folder: Path) -> dict[str, str]:
    """Return the text of each lock file: one resolution of everything, taken apart by who needs what."""
    files: dict[str, str] = {}
    core: set[str] = set()
    for name, extras in LOCKS.items():
        part = folder / name
        resolve(uv, extras, part, whole)
        blocks = read_blocks(part.read_text("utf-8"))
        blocks = {key: block for key, block in blocks.items() if key not in core}
        core = core or set(blocks)
        files[name] = "".join([*build_options(blocks), *blocks.values()])
    return files


def build_options(blocks: dict[str, str]) -> list[str]:
    """Return the lines that make pip and uv refuse to compile anything unexpected."""
    named = {key.partition("==")[0] for key in blocks}
    return ["--only-binary :all:\n", *(f"--no-binary {name}\n" for name in SOURCE_ONLY if name in named)]


def read_blocks(text: str) -> dict[str, str]:
    """Return the entries of a lock, hashes included, by the line that pins them (with its marker)."""
    blocks = re.findall(r"^[a-z0-9][^\n]*\n(?:[ \t][^\n]*\n)*", text, re.MULTILINE)
    return {block.partition("\n")[0].rstrip(" \\"): block for block in blocks}


def pins(text: str) -> dict[str, set[str]]:
    """Return the pinned versions of each package; some have several, for different Pythons."""
    found: dict[str, set[str]] = {}
    for key in read_blocks(text):
        name, _, version = key.partition(" ")[0].partition("==")
        found.setdefault(name, set()).add(version)
    return found


def present_locks() -> str:
    """Return the text of all lock files that exist."""
    paths = [ROOT / name for name in LOCKS]
    return "".join(path.read_text("utf-8") for path in paths if path.exists())


def print_changes(before: dict[str, set[str]], after: dict[str, set[str]]) -> None:
    """Say which packages came, went and moved: what the next step of an upgrade reads about."""
    for name in sorted(before | after):
        old, new = (" / ".join(sorted(side.get(name, {"-"}))) for side in (before, after))
        if old != new:
            print(f"{name:<34} {old} -> {new}")
    print(f"{len(after)} packages locked.")
