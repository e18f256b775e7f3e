"""`validate`: everything lang-core reports, and what it passes in silence."""

from __future__ import annotations

from pathlib import Path

from .catalogs import Catalog
from .check_names import check_names
from .check_text import check_text
from .check_values import check_values
from .findings import Finding, Report
from .program import Program

# Findings that a statement still to come may settle.
TRANSIENT = frozenset(
    {"unresolved", "undeclared-state", "orphaned", "unused-state", "no-root", "root-not-first",
     "no-statement", "missing-required", "null-required", "unclosed"}
)  # fmt: skip


def validate(source: str, catalog: Catalog | str | Path = "general", *, ended: bool = True) -> Report:
    """The findings of a program, sorted by place; `report.valid` if there are none.

    With `ended=False` the program is still being written: nothing is said of its last statement or of what
    may yet come. Never raises for any text: if the validator itself fails, that is the one finding.
    Raises `TypeError` for what is no text.
    """
    if not isinstance(source, str):
        raise TypeError(f"validate takes the program as a str, not {type(source).__name__}; decode bytes as UTF-8.")
    known = Catalog.load(catalog)
    try:
        findings = _findings(source, known, ended)
    except Exception as error:  # the answer matters more than its findings
        message = f"The validator failed with {type(error).__name__}: the program has not been checked."
        hint = "The answer itself is unchanged. Please report the program that did this."
        findings = [Finding("validator-failed", "error", message, hint, None, 1, 1)]
    return Report(source, tuple(findings))


def _findings(source: str, catalog: Catalog, ended: bool) -> list[Finding]:
    program = Program(source, catalog)
    for check in (check_text, check_names, check_values, _from_lang_core):
        check(program)
    findings = program.findings
    if not ended:
        findings = _settled(program, findings)
    unique = {(item.line, item.column, item.code, item.message): item for item in findings}
    return [unique[key] for key in sorted(unique)]


def _from_lang_core(program: Program) -> None:
    """What lang-core reports and no check has said, in its own words."""
    said = {(item.statement, item.code) for item in program.findings}
    named = {item.message.split()[0] for item in program.findings if item.code in ("unresolved", "circular")}
    for error in program.result.errors:
        name, code = error["statementId"], error["code"]
        if (name, code) not in said and not _covered(said, name):
            said.add((name, code))
            program.note(code, error["message"], statement=program.table.get(name))
    for name in dict.fromkeys(program.result.meta["unresolved"]):
        if name not in named and not any(item.code == "circular" for item in program.findings):
            program.note("unresolved", f"{name} is used but cannot be resolved.", statement=program.table.get("root"))


def _covered(said: set[tuple[str | None, str]], name: str) -> bool:
    """True if a statement already has a finding that explains why its values did not fit."""
    return any((name, code) in said for code in ("wrong-component", "type-mismatch", "forged-node"))


def _settled(program: Program, findings: list[Finding]) -> list[Finding]:
    """The findings that no further text can take back."""
    last = program.statements[-1].start - 2 if program.statements else 0
    if program.skipped:
        last = max(last, program.skipped[-1])
    before = program.place(last) if program.offsets else (1, 1)
    return [item for item in findings if item.code not in TRANSIENT and (item.line, item.column) < before]
