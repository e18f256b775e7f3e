"""The OpenUI browser bundle: one script and one stylesheet, pinned, and refused when a byte differs.

It is never part of this project. The set-up runs this file as a program: with npm on the PATH it lands in the
project's cache, checked against the hash of the published tarball. Without the cache the reader's browser fetches
the two files from a CDN, checked against hashes as well. Only the standard library is used here.
"""

import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "@openuidev/browser-bundle", "0.1.4"
TARBALL = "sha512-6y0EBqc+3ACblIocUBOSbntES4S3ixhBeyHOJMOnPhZbkSDikHhDLU1F7+qM893S8MQEG1nAYPQj5mOPZIerng=="
SCRIPT, STYLES = "openui-bundle.min.js", "openui-styles.css"
FILES = {
    SCRIPT: "sha384-r37bZh3byM1WK6WC4wvYh5mrFl/P5rLZ4IieE69xm4I+iZVJdSoXjwGGZdgBzWVd",
    STYLES: "sha384-tT1eeqdeWKDi2Ah0DLk8671QtRhOYieBINHfIk5PXsr5HWRaQzOg39c/Uo2hoAuF",
}
CACHE = Path(__file__).resolve().parents[2] / ".runbook" / "openui" / VERSION
CDN_SETTING = "RUNBOOK_OPENUI_CDN"
CDN = f"https://cdn.jsdelivr.net/npm/{PACKAGE}@{VERSION}/dist"
NPM_SECONDS = 120


def integrity(content: bytes, algorithm: str) -> str:
    """Return the hash of `content` in the form browsers and npm write: algorithm, dash, base64."""
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def unpack(tarball: bytes) -> dict[str, bytes]:
    """Return script and stylesheet, by file name, of the published tarball; ValueError for any other tarball."""
    if integrity(tarball, "sha512") != TARBALL:
        raise ValueError(
            f"This is not {PACKAGE} {VERSION}: the hash of the tarball differs from the pinned one. Usually a mirror "
            "or a proxy is the cause; nothing was kept. Try another network, or go on without the bundle."
        )
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        members = {name: archive.extractfile(f"package/dist/{name}") for name in FILES}
        return {name: member.read() for name, member in members.items() if member is not None}


def cached(folder: Path = CACHE) -> tuple[bytes, bytes] | None:
    """Return the bytes of script and stylesheet; None when a file is missing or is not the pinned one."""
    try:
        script, styles = ((folder / name).read_bytes() for name in (SCRIPT, STYLES))
    except OSError:
        return None
    intact = integrity(script, "sha384") == FILES[SCRIPT] and integrity(styles, "sha384") == FILES[STYLES]
    return (script, styles) if intact else None


def cdn_files() -> list[dict[str, str]]:
    """Return address and integrity hash of script and stylesheet on the CDN; empty when the setting is empty."""
    base = os.environ.get(CDN_SETTING, CDN).strip().rstrip("/")
    return [{"url": f"{base}/{name}", "integrity": found} for name, found in FILES.items()] if base else []


def fetch(folder: Path = CACHE) -> str:
    """Bring the bundle into `folder` with `npm pack`, unless it is there; return one line that says what happened.

    Raises `RuntimeError` when npm is missing or fails, and `ValueError` when the tarball is not the pinned one.
    """
    if cached(folder):
        return "OpenUI components: there already"
    for name, content in unpack(_packed()).items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return f"OpenUI components: {PACKAGE} {VERSION}, checked"


def _packed() -> bytes:
    npm = shutil.which("npm")
    if not npm:
        raise RuntimeError("npm is not on the PATH")
    with tempfile.TemporaryDirectory() as place:
        command = [npm, "pack", f"{PACKAGE}@{VERSION}", "--ignore-scripts", "--pack-destination", place]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=NPM_SECONDS)
        found = list(Path(place).glob("*.tgz"))
        if done.returncode or not found:
            raise RuntimeError(f"npm pack failed: {done.stderr.strip()[-300:]}")
        return found[0].read_bytes()


def main() -> int:
    """Fetch, and say what a reader without the bundle will see instead."""
    try:
        line = fetch()
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        line = f"OpenUI components: not kept ({error}). The browser will ask {CDN_SETTING}, or show programs as text."
        print(f"  {line}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"  {line}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
