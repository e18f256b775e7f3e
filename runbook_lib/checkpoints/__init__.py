"""How big a thread's checkpoints get, what it costs to restore them, and whether a DeltaChannel is safe.

Names are looked up on first use, so that the command line does not wait for LangGraph.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runbook_lib.checkpoints._crash import Crash, crash
    from runbook_lib.checkpoints._inspect import ChannelUse, Inspection, inspect
    from runbook_lib.checkpoints._measure import ameasure, measure
    from runbook_lib.checkpoints._postgres import PostgresUnavailable
    from runbook_lib.checkpoints._predict import predict
    from runbook_lib.checkpoints._records import Kind, Measurement, Prediction, Restore, RestoreMismatch, Sample, Sizes
    from runbook_lib.checkpoints._reducer import BrokenRule, check_reducer
    from runbook_lib.checkpoints._stores import Store, Traffic, aopen_store, open_store

__all__ = [
    "BrokenRule",
    "ChannelUse",
    "Crash",
    "Inspection",
    "Kind",
    "Measurement",
    "PostgresUnavailable",
    "Prediction",
    "Restore",
    "RestoreMismatch",
    "Sample",
    "Sizes",
    "Store",
    "Traffic",
    "ameasure",
    "aopen_store",
    "check_reducer",
    "crash",
    "inspect",
    "measure",
    "open_store",
    "predict",
]

_MODULES = ("_records", "_postgres", "_predict", "_reducer", "_stores", "_inspect", "_measure", "_crash")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in (import_module(f"{__name__}.{each}") for each in _MODULES):
            if name in vars(module):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
