"""The verb `validate`: the findings of a program in a file or on standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .catalogs import Catalog
from .findings import Report
from .validator import validate

VALID, FINDINGS, UNREADABLE = 0, 1, 2


def validate_command(
    file: Annotated[str, typer.Argument(help="The program, or - for standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    catalog: Annotated[str, typer.Option(help="general, chat, or the path of a catalog's JSON file.")] = "general",
) -> None:
    """Check a program in OpenUI Lang. Exit status: 0 valid, 1 findings, 2 the file or the catalog cannot be read."""
    reading = f"--catalog {catalog}"
    try:
        known = Catalog.load(catalog)
        reading = file
        source = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        report = validate(source.decode("utf-8"), known)
    except (OSError, ValueError) as error:
        typer.echo(f"{reading}: {_reason(error)}", err=True)
        raise typer.Exit(UNREADABLE) from error
    typer.echo(json.dumps(report.as_dict(), ensure_ascii=False, indent=1) if as_json else _readable(file, report))
    raise typer.Exit(VALID if report.valid else FINDINGS)


def _readable(file: str, report: Report) -> str:
    if report.valid:
        return f"{file}: valid"
    count = len(report.findings)
    lines = [f"{file}:{finding}" for finding in report.findings]
    return "\n".join([*lines, f"{count} finding{'s' if count > 1 else ''}"])


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text. Give a text file with the program."
    if isinstance(error, FileNotFoundError) and error.strerror:
        return f"{error.strerror}. Give the path of a file, or - for standard input."
    return str(error)
