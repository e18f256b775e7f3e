"""The official client (`@ag-ui/client` 1.0.0 in Node.js) judges every framed stream of the situations."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ag_ui_play import Turn, own, play, wire
from ag_ui_situations import ROWS
from node_env import node_packages
from test_ag_ui_check import CLIENT_TABLE

from runbook_lib.ag_ui import fold_events

pytestmark = pytest.mark.node

SCRIPT = Path(__file__).with_name("ag_ui_client.mjs")
PACKAGES = {"@ag-ui/client": "1.0.0", "@ag-ui/core": "1.0.0", "rxjs": "7.8"}


def judge(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each of `held` messages and `events`: the verifier's refusal or None, and the reducer's messages."""
    command = ["node", str(SCRIPT), str(node_packages(PACKAGES))]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, timeout=120, check=True)
    verdicts: list[dict[str, Any]] = json.loads(done.stdout)
    return verdicts


@cache
def played() -> list[tuple[str, Any, Turn, dict[str, Any]]]:
    """Every run of every situation with the client's verdict."""
    turns = [(row.name, row, turn) for row in ROWS for turn in play(row, row.modes[-1])]
    verdicts = judge([{"held": turn.held, "events": turn.events} for _, _, turn in turns])
    return [(*turn, verdict) for turn, verdict in zip(turns, verdicts, strict=True)]


def test_client_refuses_nothing() -> None:
    assert len(played()) > 100
    assert [(name, verdict["refusal"]) for name, _, _, verdict in played() if verdict["refusal"]] == []


def test_client_ends_with_the_checkpoint() -> None:
    for name, row, turn, verdict in played():
        if row.settled:
            client, state = own(verdict["messages"]), own(wire(turn.state))
            assert client == state if row.ordered else sorted(client, key=str) == sorted(state, key=str), name


def test_fold_is_the_reducer_of_the_client() -> None:
    for name, _, turn, verdict in played():
        assert own(turn.client) == own(verdict["messages"]), name
        assert [m["id"] for m in turn.client] == [m["id"] for m in verdict["messages"]], name
        assert [m.get("subagentRunId") for m in turn.client] == [m.get("subagentRunId") for m in verdict["messages"]]


def test_snapshot_never_moves_a_message() -> None:
    """Why a message inserted before others is sent with two snapshots."""
    held = [{"id": name, "role": "user", "content": name} for name in "abc"]
    new = {"id": "new", "role": "user", "content": "new"}
    frame = {"threadId": "t", "runId": "r"}
    started, finished = {"type": "RUN_STARTED", **frame}, {"type": "RUN_FINISHED", **frame}
    once = [started, {"type": "MESSAGES_SNAPSHOT", "messages": [new, *held]}, finished]
    twice = [started, {"type": "MESSAGES_SNAPSHOT", "messages": []}, *once[1:]]
    verdicts = judge([{"held": held, "events": once}, {"held": held, "events": twice}])
    assert ["".join(m["id"][0] for m in verdict["messages"]) for verdict in verdicts] == ["abcn", "nabc"]
    assert [fold_events(events, held) for events in (once, twice)] == [verdict["messages"] for verdict in verdicts]


def test_table_of_sequences_as_the_client_sees_it() -> None:
    verdicts = judge([{"held": [], "events": row.events} for row in CLIENT_TABLE])
    assert [verdict["refusal"] is not None for verdict in verdicts] == [row.refused for row in CLIENT_TABLE]
