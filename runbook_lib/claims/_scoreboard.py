"""The scoreboard: what this kernel has settled, against the register."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from runbook_lib.claims import _html
from runbook_lib.claims._register import register
from runbook_lib.claims._settle import Settled, settled_here


@dataclass(frozen=True, repr=False, slots=True)
class Scoreboard:
    """Settled claims in the register's order, and per section how many are settled of how many registered."""

    settled: tuple[Settled, ...]
    sections: dict[str, tuple[int, int]]

    @property
    def title(self) -> str:
        """How many claims are settled, and how many of those as the register expects."""
        total = sum(registered for _, registered in self.sections.values())
        expected = sum(each.as_expected for each in self.settled)
        return f"{len(self.settled)} of {total} claims settled here, {expected} as the register expects"

    def __repr__(self) -> str:
        counts = [f"  {section}: {done} of {total}" for section, (done, total) in self._touched.items()]
        return "\n".join([self.title, *counts, *(each.headline for each in self.settled)])

    def _repr_html_(self) -> str:
        return _html.scoreboard(self.title, self._touched, self.settled)

    @property
    def _touched(self) -> dict[str, tuple[int, int]]:
        return {section: counts for section, counts in self.sections.items() if counts[0]}


def scoreboard() -> Scoreboard:
    """What this kernel has settled so far, section by section of the sources."""
    known, done = register(), settled_here()
    registered = Counter(claim.section for claim in known.values())
    settled = tuple(done[id] for id in known if id in done)
    here = Counter(each.claim.section for each in settled)
    return Scoreboard(settled, {section: (here[section], total) for section, total in registered.items()})
