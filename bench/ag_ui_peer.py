"""The situations, played by us and by `ag-ui-langgraph`, under one judge. Run: python bench/ag_ui_peer.py

A run counts as right when `check_events` finds nothing and, where the run succeeds, a client's messages after it are
the checkpoint's. The peer runs with raw events off and subagents attributed. It is no dependency of this project:
install the extra `peers` to see its column.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "ag_ui"))

from ag_ui_play import CONFIG, Event, Situation, own, play, wire
from ag_ui_situations import ROWS
from langgraph.types import Command

from runbook_lib.ag_ui import arun_events, check_events

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def ours(graph: Any, asked: Any, held: list[Event]) -> list[Event]:
    """One run through this library."""

    async def collect() -> list[Event]:
        return [event async for event in arun_events(graph, asked, CONFIG)]

    return asyncio.run(collect())


def peer(graph: Any, asked: Any, held: list[Event]) -> list[Event]:
    """One run through ag-ui-langgraph; an exception that leaves it counts as RUN_ERROR."""
    from ag_ui.core import RunAgentInput
    from ag_ui_langgraph import LangGraphAgent

    agent = LangGraphAgent(name="peer", graph=graph, emit_raw_events=False, subagent_visibility="attributed")
    fields: dict[str, Any] = {"thread_id": "thread", "run_id": "run", "state": {}, "tools": [], "context": []}
    props = {"command": {"resume": asked.resume}} if isinstance(asked, Command) else {}
    body = RunAgentInput.model_validate({**fields, "messages": held, "forwarded_props": props})

    async def collect() -> list[Event]:
        events: list[Event] = []
        try:
            async for event in agent.run(body):
                events.append(event.model_dump(mode="json", by_alias=True, exclude_none=True))
        except Exception as error:
            events.append({"type": "RUN_ERROR", "message": str(error), "code": type(error).__name__})
        return events

    return asyncio.run(collect())


def judge(row: Situation, run: Callable[..., list[Event]]) -> str:
    """Why the first run of a situation that is not right is wrong; empty when all are right."""
    try:
        turns = play(row, "async", run)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for turn in turns:
        for violation in check_events(turn.events, turn.state if row.settled else None, held=turn.held):
            return f"{violation.rule}: {violation.message}"
        client, state = own(turn.client), own(wire(turn.state))
        if row.settled and (client != state if row.ordered else sorted(client, key=str) != sorted(state, key=str)):
            return "the client's messages are in another order than the checkpoint's"
    return ""


def main() -> None:
    """Print one line for each situation, and the sums."""
    columns = {"ours": ours}
    if find_spec("ag_ui_langgraph") and find_spec("fastapi"):
        columns["ag-ui-langgraph"] = peer
    else:
        print("ag-ui-langgraph is not installed (extra `peers`): only our own column is shown.\n")
    right = dict.fromkeys(columns, 0)
    for row in ROWS:
        reasons = {name: judge(row, run) for name, run in columns.items()}
        for name, reason in reasons.items():
            right[name] += not reason
        shown = "  ".join(f"{name}: {'right' if not reason else reason[:70]}" for name, reason in reasons.items())
        print(f"{row.name:45} {shown}")
    print("\nright: " + ", ".join(f"{name} {count} of {len(ROWS)}" for name, count in right.items()))


if __name__ == "__main__":
    main()
