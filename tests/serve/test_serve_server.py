"""The route in the real `langgraph dev`: one set of threads, real sockets, load, and the official client."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest
from langchain_core.messages import convert_to_messages
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from node_env import node_packages
from serve_harness import events_of, run_input, user

from runbook_lib.ag_ui import check_events, fold_events
from runbook_lib.ag_ui.endpoint import stored_thread_id
from runbook_lib.deep_agent.dev_server import DevServer

pytestmark = pytest.mark.drill
CLIENT = Path(__file__).with_name("serve_http_agent.mjs")
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with DevServer(cors_origins=["http://localhost:3000"]) as server:
        yield server.url


@pytest.fixture(scope="module")
def sdk(url: str) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=url) as client:
        yield client


def state(sdk: SyncLangGraphClient, thread: str) -> list[Any]:
    return convert_to_messages(sdk.threads.get_state(stored_thread_id(thread))["values"]["messages"])


def test_the_conversation_is_a_thread_of_the_langgraph_api(url: str, sdk: SyncLangGraphClient) -> None:
    thread = str(uuid4())
    held = [user("What is the weather in Seoul?", "u1")]
    for question in ("u2", None):
        response = httpx.post(f"{url}/ag-ui", json=run_input(*held, thread=thread), timeout=60)
        events = events_of(response.content)
        assert check_events(events, state(sdk, thread), held=held) == []
        held = fold_events(events, held)
        held += [user("And the price of AAPL?", question)] if question else []
    assert [message["id"] for message in held] == [message.id for message in state(sdk, thread)]

    assert sdk.threads.get(thread)["metadata"]["graph_id"] == "agent"
    answered = sdk.runs.wait(thread, "agent", input={"messages": [user("Hello", "u3")]})
    assert len(answered["messages"]) == len(held) + 2


def test_a_thread_with_a_run_of_the_api_is_busy(url: str, sdk: SyncLangGraphClient) -> None:
    thread = sdk.threads.create()["thread_id"]
    run = sdk.runs.create(thread, "agent", input={"messages": [user("Weather in Busan?", "u1")]}, after_seconds=1)
    response = httpx.post(f"{url}/ag-ui", json=run_input(user("Hi", "u2"), thread=thread), timeout=60)
    assert response.status_code == 409
    sdk.runs.join(thread, run["run_id"])
    response = httpx.post(f"{url}/ag-ui", json=run_input(user("Hi", "u2"), thread=thread), timeout=60)
    assert check_events(events_of(response.content)) == []


def test_only_named_origins_and_the_machine_s_own_names_are_let_in(url: str) -> None:
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    for origin, allowed in (("http://localhost:3000", True), ("http://evil.example", False)):
        answer = httpx.options(f"{url}/ag-ui", headers={"origin": origin, **preflight})
        assert answer.is_success is allowed
        assert answer.headers.get("access-control-allow-origin") == (origin if allowed else None)
    for path in ("/ag-ui", "/threads/search", "/ok"):
        assert httpx.post(f"{url}{path}", json={}, headers={"host": "evil.example"}).status_code == 400


@pytest.mark.node
def test_the_official_client_accepts_two_turns_and_holds_what_the_checkpoint_holds(
    url: str, sdk: SyncLangGraphClient
) -> None:
    place = node_packages({"@ag-ui/client": "1.0.0"})
    script = place / CLIENT.name
    script.write_text(CLIENT.read_text("utf-8"), "utf-8")
    task = {"url": f"{url}/ag-ui", "threadId": str(uuid4()), "turns": ["Weather in Seoul?", "Price of AAPL?"]}
    done = subprocess.run(["node", script, json.dumps(task)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    client = json.loads(done.stdout)
    assert client["kinds"].count("RUN_FINISHED") == 2
    assert "RUN_ERROR" not in client["kinds"]
    assert "RAW" not in client["kinds"]
    stored = state(sdk, task["threadId"])
    assert [seen(message) for message in client["messages"]] == [seen(wire(message)) for message in stored]


def wire(message: Any) -> dict[str, Any]:
    """A message of the state in the fields that are compared."""
    calls = [(call["id"], call["name"], call["args"]) for call in getattr(message, "tool_calls", ())]
    role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
    return {
        "id": message.id,
        "role": role,
        "content": message.text,
        "calls": calls,
        "of": getattr(message, "tool_call_id", None),
    }


def seen(message: dict[str, Any]) -> tuple[Any, ...]:
    calls = message.get("calls")
    if calls is None:
        functions = [(call["id"], call["function"]) for call in message.get("toolCalls", ())]
        calls = [(call_id, function["name"], json.loads(function["arguments"])) for call_id, function in functions]
    return (
        message["id"],
        message["role"],
        message.get("content") or "",
        calls,
        message.get("of") or message.get("toolCallId"),
    )


def test_a_thousand_malformed_requests_leave_the_server_as_it_was(url: str) -> None:
    process = serving(url)
    rng = random.Random(7)
    with httpx.Client(timeout=60) as client:
        for at in range(1000):
            answer = client.post(f"{url}/ag-ui", content=malformed(rng), headers=JSON)
            assert 400 <= answer.status_code < 500, answer.text
            assert set(answer.json()["error"]) == {"field", "message"}
            if at == 100:
                before, files = process.memory_info().rss, process.num_fds()
        assert process.memory_info().rss - before < 30_000_000
        assert process.num_fds() <= files + 10
        answer = client.post(f"{url}/ag-ui", json=run_input(user("Hello", "u1"), thread=str(uuid4())))
    assert check_events(events_of(answer.content)) == []


def serving(url: str) -> psutil.Process:
    """The process of the server that listens on this URL's port."""
    port = httpx.URL(url).port
    for process in psutil.Process().children(recursive=True):
        if any(connection.laddr.port == port for connection in process.net_connections() if connection.laddr):
            return process
    raise LookupError(f"no child listens on {port}")


def malformed(rng: random.Random) -> bytes:
    """A request that no server may accept: a good one with one field replaced by rubbish, or with bytes damaged."""
    body = run_input(user("hi", "u"), {"id": "t", "role": "tool", "toolCallId": "nobody", "content": "x"}, thread="t")
    junk = rng.choice([7, 1.5, True, [], {}, "", [[]], {"a": {"b": [None]}}, "\ud800", 2**80, [{"role": "wizard"}]])
    field = rng.choice(
        ["threadId", "runId", "messages", "tools", "resume", "context", "one message", "one field", "bytes"]
    )
    if field == "one message":
        body["messages"][0] = junk
    elif field == "one field":
        body["messages"][0][rng.choice(["id", "role", "content"])] = junk
    elif field != "bytes":
        body[field] = junk
    whole = json.dumps(body).encode()
    if field != "bytes":
        return whole
    at = rng.randrange(len(whole))
    return rng.choice([whole[:at], whole[:at] + bytes([rng.randrange(128, 256)]) + whole[at:], b"\x00" * at])
