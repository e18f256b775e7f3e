"""The cards and tables that a notebook cell shows when it settles claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runbook_lib.claims import _html
from runbook_lib.claims._settle import ClaimError, Settled, judge, remember


@dataclass(frozen=True, repr=False, slots=True)
class Card:
    """One settled claim, as the value of a notebook cell."""

    settled: Settled

    def __repr__(self) -> str:
        return self.settled.line

    def _repr_html_(self) -> str:
        return _html.card(self.settled)


@dataclass(frozen=True, repr=False, slots=True)
class Table:
    """Several settled claims, as the value of a notebook cell: one line each."""

    settled: tuple[Settled, ...]

    def __repr__(self) -> str:
        return "\n".join(each.line for each in self.settled)

    def _repr_html_(self) -> str:
        return _html.table(self.settled)


def claim(
    id: str,
    parts: Mapping[str, bool] | None = None,
    *,
    observed: str = "",
    unchecked: str = "",
    recorded: str = "",
) -> Card:
    """Settle one claim and return its card.

    `parts` names what the claim says, each with the boolean a run gave it: all true HOLDS, some PARTLY, none
    DIFFERS; `observed` adds figures in words. Instead of parts, `unchecked` says why nothing was run
    (NOT-CHECKED), or `recorded` states a fact no run can show, such as a release date (RECORDED).
    Raises `ClaimError` for an unknown id, a part that is not a bool, no parts, or not exactly one of the
    three.
    """
    settled = judge(id, parts, observed=observed, unchecked=unchecked, recorded=recorded)
    return Card(*remember([settled]))


def claims(
    parts: Mapping[str, Mapping[str, bool]],
    *,
    observed: Mapping[str, str] | None = None,
    unchecked: Mapping[str, str] | None = None,
    recorded: Mapping[str, str] | None = None,
) -> Table:
    """Settle several claims and return one table; each argument maps ids to what `claim` takes by that name.

    All or nothing: raises `ClaimError` as `claim` does, or for an id given in two ways, before any is
    settled.
    """
    observed, unchecked, recorded = observed or {}, unchecked or {}, recorded or {}
    ids = [*parts, *unchecked, *recorded]
    if not ids:
        raise ClaimError("no claims given: pass {id: {part: bool}}")
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise ClaimError(f"settled in two ways at once: {', '.join(twice)}")
    if stray := sorted(set(observed) - set(ids)):
        raise ClaimError(f"observed= for {', '.join(stray)}, which this table does not settle")
    return Table(
        remember(
            [
                judge(
                    id,
                    parts.get(id),
                    observed=observed.get(id, ""),
                    unchecked=unchecked.get(id, ""),
                    recorded=recorded.get(id, ""),
                )
                for id in ids
            ]
        )
    )
