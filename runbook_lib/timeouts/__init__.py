"""Timeouts: what really stops, when, and at what total cost."""

from ._budget import Budget, GraphBudget, budget, graph_budget, path_budget
from ._deadline import node_deadline
from ._record import record, record_all
from ._records import Attempt, Recording, Signal

__all__ = [
    "Attempt",
    "Budget",
    "GraphBudget",
    "Recording",
    "Signal",
    "budget",
    "graph_budget",
    "node_deadline",
    "path_budget",
    "record",
    "record_all",
]
