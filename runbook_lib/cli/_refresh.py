"""`runbook refresh`: run every notebook and save it, all or nothing for each file."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from runbook_lib.cli.project import notebook_paths, quiet_environment

__all__ = ["refresh", "refresh_one"]

SHOWN_LINES = 12


def refresh(
    notebooks: Annotated[list[Path] | None, typer.Argument(help="Which ones. All of them if not given.")] = None,
) -> None:
    """Run notebooks and save their outputs. Two runs give the same bytes; a failing one stays as it was.

    Exit status: 0 all ran, 1 one failed, 2 one is not a notebook: then none was run.
    """
    paths = [path.resolve() for path in notebooks or notebook_paths()]
    if wrong := [line for line in map(not_a_notebook, paths) if line]:
        typer.echo("\n".join(wrong), err=True)
        raise typer.Exit(2)
    environment = quiet_environment(live=False)
    os.environ.clear()
    os.environ.update(environment)
    failed = False
    for path in paths:
        failed |= not refresh_and_report(path)
    raise typer.Exit(1 if failed else 0)


def not_a_notebook(path: Path) -> str | None:
    """Return one line on why a file cannot be run as a notebook and what to do, or None if it can."""
    import nbformat

    try:
        nbformat.reads(path.read_text("utf-8"), as_version=4)
    except OSError as error:
        return f"{path.name}: {error.strerror or error}. Give the path of a notebook, or none to refresh them all."
    except (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError):
        return f"{path.name}: not a Jupyter notebook. Give the path of an .ipynb file, or none to refresh them all."
    return None


def refresh_and_report(path: Path) -> bool:
    """Refresh one notebook, print one line about it, or the failing cell; return whether it ran."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    started = time.monotonic()
    print(f"{path.name:<34}", end=" ", flush=True)
    try:
        changed = refresh_one(path)
    except (CellExecutionError, CellTimeoutError) as error:
        print("FAILED, the file is as it was\n\n" + trimmed(str(error)) + "\n")
        return False
    print(f"{'saved' if changed else 'unchanged':<10} {time.monotonic() - started:5.1f} s")
    return True


def refresh_one(path: Path) -> bool:
    """Run a notebook and save it in its normal form; return whether the file changed.

    The file is replaced in one step, after the run: a failure leaves the old one. Raises what
    `runbook_lib.cli.notebook.execute` raises, and OSError or ValueError for a file that is no notebook.
    """
    import nbformat

    from runbook_lib.cli.notebook import as_text, execute, keep_unchanged, normalise

    before = path.read_text("utf-8")
    old = normalise(nbformat.reads(before, as_version=4))
    new = keep_unchanged(old, normalise(execute(old, path.parent)))
    text = as_text(new)
    if text != before:
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(text, "utf-8", newline="\n")
        os.replace(fresh, path)
    return text != before


def trimmed(message: str) -> str:
    """Return the first and last lines of a long message: the cell, and what it raised."""
    lines = message.strip().splitlines()
    if len(lines) > 2 * SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"... {len(lines) - 2 * SHOWN_LINES} lines ...", *lines[-SHOWN_LINES:]]
    return "\n".join("    " + line for line in lines)
