"""The verb `runbook inspect`: which channel of a thread eats the disk, in the reader's own store."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from runbook_lib.checkpoints._tables import Tables

SHOWN_THREADS = 20


def inspect(
    store: Annotated[str, typer.Argument(help="A SQLite database of checkpoints, or a PostgreSQL URL.")],
    thread: Annotated[str | None, typer.Argument(help="The thread; without it, the largest threads.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which channel of a thread takes how much. Reads only, and runs nothing that is stored."""
    from runbook_lib.checkpoints._inspect import inspect_tables, open_tables

    try:
        with open_tables(store) as tables:
            if thread is None:
                typer.echo(_threads(tables, as_json))
            else:
                found = inspect_tables(tables, thread)
                typer.echo(json.dumps(asdict(found), indent=2) if as_json else found)
    except Exception as error:
        typer.echo(_explain(error), err=True)
        raise typer.Exit(1) from None


def _threads(tables: Tables, as_json: bool) -> str:
    sizes = {thread: tables.sizes(thread) for thread in tables.threads()}
    ranked = sorted(sizes.items(), key=lambda each: -each[1].bytes)
    if as_json:
        return json.dumps([{"thread_id": thread, **asdict(size)} for thread, size in ranked], indent=2)
    lines = [f"{size.bytes:>14,} bytes {size.rows:>9,} rows  {thread}" for thread, size in ranked[:SHOWN_THREADS]]
    more = len(ranked) - SHOWN_THREADS
    return "\n".join([f"{len(ranked)} threads"] + lines + ([f"and {more} smaller ones"] if more > 0 else []))


def _explain(error: Exception) -> str:
    """One line without the URL, which may hold a password."""
    if isinstance(error, KeyError):
        return str(error.args[0])
    if isinstance(error, FileNotFoundError):
        return str(error)
    if "no such table" in str(error) or "does not exist" in str(error):
        return "This database holds no LangGraph checkpoints: the table checkpoints is missing. Check path and schema."
    return (
        f"The store could not be read ({type(error).__name__}). Check that the path is a SQLite database of "
        "checkpoints, or that the URL, role and network are right."
    )
