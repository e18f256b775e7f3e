"""What `langgraph dev` loads (see langgraph.json): the agent and the transformers of its runs."""

from typing import Any

from runbook_lib.ag_ui import OpenUIStreamTransformer

from .agent import build_agent

graph = build_agent()
"""The agent that is served. The server brings its own checkpointer."""


def stream_transformers() -> list[Any]:
    """The transformers of every run; the LangGraph API makes fresh ones from these classes for each run."""
    return [OpenUIStreamTransformer]
