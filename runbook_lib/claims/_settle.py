"""Settling a claim: from the booleans that a run computed to a verdict, and the memory of this kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from runbook_lib.claims._register import Claim, Verdict, register

_this_kernel: dict[str, Settled] = {}


class ClaimError(ValueError):
    """A claim cannot be settled as asked: unknown id, a part that is no bool, nothing to settle it with."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A claim with its verdict: the parts it rests on and, in words, what was seen (or why nothing was)."""

    claim: Claim
    verdict: Verdict
    parts: tuple[tuple[str, bool], ...] = ()
    note: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one registered for the pinned versions."""
        return self.verdict is self.claim.expected

    @property
    def headline(self) -> str:
        """Id and verdict; and, when the register expects another verdict, that it does."""
        surprise = "" if self.as_expected else f" but the register expects {self.claim.expected}"
        return f"{self.claim.id} {self.verdict}{surprise}"

    @property
    def line(self) -> str:
        """One line of plain text: headline, what to write, and the parts that did not hold."""
        failed = "; ".join(name for name, true in self.parts if not true)
        return f"{self.headline}: {self.claim.instead}" + (f" [not so: {failed}]" if failed else "")


def judge(id: str, parts: Mapping[str, bool] | None, *, observed: str, unchecked: str, recorded: str) -> Settled:
    """The claim's verdict, without remembering it. Raises `ClaimError` (see `claim`)."""
    registered = _look_up(id)
    _require_one_basis(id, parts, observed=observed, unchecked=unchecked, recorded=recorded)
    if parts is None:
        verdict = Verdict.NOT_CHECKED if unchecked else Verdict.RECORDED
        return Settled(registered, verdict, note=_one_line(unchecked or recorded))
    _require_bools(id, parts)
    return Settled(registered, _verdict(parts.values()), tuple(parts.items()), _one_line(observed))


def remember(settled: Iterable[Settled]) -> tuple[Settled, ...]:
    """The same, noted for the scoreboard. A claim settled again (a cell run twice) replaces the first."""
    kept = tuple(settled)
    _this_kernel.update((each.claim.id, each) for each in kept)
    return kept


def settled_here() -> Mapping[str, Settled]:
    """What this kernel has settled so far, by id (a read-only view)."""
    return MappingProxyType(_this_kernel)


def _verdict(truths: Iterable[bool]) -> Verdict:
    seen = set(truths)
    if seen == {True}:
        return Verdict.HOLDS
    return Verdict.DIFFERS if seen == {False} else Verdict.PARTLY


def _look_up(id: str) -> Claim:
    known = register()
    if id in known:
        return known[id]
    close = get_close_matches(str(id).upper(), known, n=5)
    hint = f"close: {', '.join(close)}" if close else "ids look like DC-17"
    raise ClaimError(f"no claim {id!r} in the register ({hint})")


def _require_one_basis(id: str, parts: object, *, observed: str, unchecked: str, recorded: str) -> None:
    if (parts is not None) + bool(unchecked) + bool(recorded) != 1:
        raise ClaimError(f"{id}: give exactly one of: parts, unchecked= with a reason, recorded= with the fact")
    if observed and parts is None:
        raise ClaimError(f"{id}: observed= goes with parts; put the words into unchecked= or recorded=")


def _require_bools(id: str, parts: object) -> None:
    if not isinstance(parts, Mapping) or not parts:
        raise ClaimError(f'{id}: parts must name what is true or false, such as {{"saves space": a < b}}')
    for name, value in parts.items():
        if not isinstance(name, str) or not name.strip():
            raise ClaimError(f"{id}: a part needs a name in words, not {name!r}")
        if not isinstance(value, bool):
            raise ClaimError(
                f"{id}: part {name!r} is {type(value).__name__} ({_short(value)}), not True or False; "
                "compare it with something, or wrap it in bool()"
            )


def _short(value: object) -> str:
    text = _one_line(repr(value))
    return text if len(text) <= 60 else text[:57] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())
