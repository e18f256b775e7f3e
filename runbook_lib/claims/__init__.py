"""Claims: what the sources say, what is so on the pinned versions, and the cards that show both.

A notebook runs the real thing and settles a claim with booleans computed from that run; the register
(`register.toml` beside this file) says what the source stated, what to write instead and which verdict
the pinned versions give. A verdict that departs from the register is announced in the card's first line.
"""

from runbook_lib.claims._cards import Card, Table, claim, claims
from runbook_lib.claims._register import Claim, Verdict, register
from runbook_lib.claims._scoreboard import Scoreboard, scoreboard
from runbook_lib.claims._settle import ClaimError, Settled

__all__ = [
    "Card",
    "Claim",
    "ClaimError",
    "Scoreboard",
    "Settled",
    "Table",
    "Verdict",
    "claim",
    "claims",
    "register",
    "scoreboard",
]
