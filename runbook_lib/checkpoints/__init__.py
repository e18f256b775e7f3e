"""How big a thread's checkpoints get, what it costs to restore them, and whether a DeltaChannel is safe."""

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
