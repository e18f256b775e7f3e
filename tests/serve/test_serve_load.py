"""Load on real sockets: the endpoint under uvicorn, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
import uvicorn
from serve_harness import agent, drive, events_of, run_input, served, stored, user

from runbook_lib.ag_ui import check_events
from runbook_lib.model import say, slow

RUNS = 50
WORDS = 200


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app on a free port of 127.0.0.1."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    limits = httpx.Limits(max_connections=RUNS + 1)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=120) as client:
        yield client
    server.should_exit = True
    await serving


@pytest.mark.drill
def test_fifty_runs_at_once_are_each_legal_and_whole() -> None:
    graph = agent(lambda talk: say(" ".join(f"{talk.user_texts[-1]}-{at}" for at in range(WORDS))))
    threads = {str(uuid4()): f"client{at}" for at in range(RUNS)}

    async def scenario() -> None:
        async with listening(served(graph)) as client:
            inputs = [run_input(user(name, "u1"), thread=thread) for thread, name in threads.items()]
            answers = await asyncio.gather(*(client.post("/ag-ui", json=given) for given in inputs))
        for answer, given in zip(answers, inputs, strict=True):
            events = events_of(answer.content)
            assert check_events(events, stored(graph, given["threadId"]), held=given["messages"]) == []
            deltas = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
            name = threads[given["threadId"]]
            assert "".join(deltas) == " ".join(f"{name}-{at}" for at in range(WORDS))
            assert len(deltas) >= WORDS

    drive(scenario, 240)


def test_a_connection_that_closes_ends_its_run() -> None:
    async def scenario() -> None:
        graph = agent(lambda talk: slow(say("word " * 200), each=0.1) if talk.user_texts == ["go"] else say("next"))
        async with listening(served(graph)) as client:
            async with client.stream("POST", "/ag-ui", json=run_input(user("go", "u1"))) as answer:
                async for line in answer.aiter_lines():
                    if "TEXT_MESSAGE_CONTENT" in line:
                        break
            while (answer := await client.post("/ag-ui", json=run_input(user("and?", "u2")))).status_code == 409:
                await asyncio.sleep(0.01)
        assert answer.status_code == 200
        assert [message.text for message in stored(graph)] == ["go", "and?", "next"]

    drive(scenario)
