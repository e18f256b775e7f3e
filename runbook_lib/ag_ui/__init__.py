"""AG-UI: a LangGraph run as the events a front end understands, and a judge of such streams."""

import warnings

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

# Transformers need version="v3", which langgraph 1.2 marks as experimental at each call. Whoever imports this
# room has chosen v3; notebook 05 says what the mark means.
warnings.filterwarnings("ignore", message="The v3 streaming protocol on Pregel is experimental")
