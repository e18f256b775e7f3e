"""AG-UI: a LangGraph run as the events a front end understands, and a judge of such streams."""

from .check import RULES, Violation, check_events
from .fold import fold_events
from .run import arun_events, run_events
from .transformer import OpenUIStreamTransformer

__all__ = [
    "RULES",
    "OpenUIStreamTransformer",
    "Violation",
    "arun_events",
    "check_events",
    "fold_events",
    "run_events",
]
