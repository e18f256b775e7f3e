"""What a validator says: findings with a code, a place, and a hint for whoever has to mend it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Shown or not, these do no harm to what is drawn. Every other code is an error.
WARNINGS = frozenset({"code-fence", "orphaned", "root-not-first", "unused-state", "too-many", "too-long", "odd-number"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a program.

    `statement` is the name of the statement it is in (None outside of one); `line` and `column` count
    from 1 and point at the answer as it was given, fences and prose included.
    """

    code: str
    severity: str
    message: str
    hint: str
    statement: str | None
    line: int
    column: int

    def __str__(self) -> str:
        where = f" in {self.statement}" if self.statement else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.line}:{self.column} {self.severity} {self.code}{where}: {self.message}{hint}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one program, in the order of the text, and the program itself."""

    source: str
    findings: tuple[Finding, ...] = ()

    @property
    def valid(self) -> bool:
        """True if nothing at all is wrong."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """`{"valid": bool, "findings": [{code, severity, message, hint, statement, line, column}, ...]}`."""
        return {"valid": self.valid, "findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "valid"
