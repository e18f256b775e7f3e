"""Bad requests: a status, the field that is wrong, one sentence; and the thread is as it was."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from serve_harness import agent, client_of, post, refused, run_input, served, stored, transcript, turn, user

from runbook_lib.ag_ui.endpoint import MAX_BODY_BYTES
from runbook_lib.model import say

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def call_with(arguments: str) -> Any:
    return {"id": "a", "role": "assistant", "toolCalls": [{**CALL, "function": {"name": "f", "arguments": arguments}}]}


def tool(call_id: str, id: str = "t") -> Any:
    return {"id": id, "role": "tool", "toolCallId": call_id, "content": "x"}


REFUSALS: list[tuple[str, Any, int, str]] = [
    ("not an object", [], 422, "body"),
    ("null", b"null", 422, "body"),
    ("empty body", b"", 400, "body"),
    ("cut off", b'{"threadId": "t", "mess', 400, "body"),
    ("invalid UTF-8", b'{"threadId": "\xff"}', 400, "body"),
    ("overlong UTF-8", b'{"threadId": "\xc0\xaf"}', 400, "body"),
    ("NaN", b'{"threadId": NaN}', 400, "body"),
    ("nested deeply", b"[" * 100_000 + b"]" * 100_000, 400, "body"),
    ("a number of 5,000 digits", b'{"threadId": ' + b"9" * 5000 + b"}", 400, "body"),
    ("no thread", {"runId": "r", "messages": []}, 422, "threadId"),
    ("no run", {"threadId": "t", "messages": []}, 422, "runId"),
    ("no messages", {"threadId": "t", "runId": "r"}, 422, "messages"),
    ("thread of the wrong type", {"threadId": 7, "runId": "r", "messages": []}, 422, "threadId"),
    ("empty thread id", run_input(user("a", "u"), thread=""), 422, "threadId"),
    ("endless thread id", run_input(user("a", "u"), thread="t" * 256), 422, "threadId"),
    ("empty run id", run_input(user("a", "u"), run=""), 422, "runId"),
    ("messages as object", {"threadId": "t", "runId": "r", "messages": {}}, 422, "messages"),
    ("nothing to answer", run_input(), 422, "messages"),
    ("unknown role", run_input({"id": "u", "role": "wizard", "content": "x"}), 422, "messages.0.role"),
    ("no role", run_input({"id": "u", "content": "x"}), 422, "messages.0.role"),
    ("message is text", run_input("hi"), 422, "messages.0"),  # type: ignore[arg-type]
    ("content of the wrong type", run_input(user("a", "u"), user(3, "v")), 422, "messages.1.content"),  # type: ignore[arg-type]
    ("no content", run_input({"id": "u", "role": "user"}), 422, "messages.0.content"),
    ("no id", run_input({"role": "user", "content": "x"}), 422, "messages.0.id"),
    ("an id twice", run_input(user("a", "u"), user("b", "u")), 422, "messages.1.id"),
    ("empty message id", run_input(user("a", "")), 422, "messages.0.id"),
    ("unknown part", run_input(user([{"type": "smell"}], "u")), 422, "messages.0.content.0.type"),  # type: ignore[arg-type]
    ("part without text", run_input(user([{"type": "text"}], "u")), 422, "messages.0.content.0.text"),  # type: ignore[arg-type]
    ("result without a call", run_input(user("a", "u"), tool("nobody")), 422, "messages.1.toolCallId"),
    ("result before its call", run_input(tool("c1"), call_with("{}")), 422, "messages.0.toolCallId"),
    ("two results", run_input(call_with("{}"), tool("c1"), tool("c1", "t2")), 422, "messages.2.toolCallId"),
    ("arguments are no JSON", run_input(call_with("{")), 422, "messages.0.toolCalls.0.function.arguments"),
    ("arguments are a list", run_input(call_with("[]")), 422, "messages.0.toolCalls.0.function.arguments"),
    ("tools in the client", run_input(user("a", "u"), tools=[{"name": "n", "description": "d"}]), 422, "tools"),
    ("tools of the wrong type", run_input(user("a", "u"), tools="all"), 422, "tools"),
    ("resume of the wrong type", run_input(resume={"a": 1}), 422, "resume"),
    ("resume without status", run_input(resume=[{"interruptId": "i"}]), 422, "resume.0.status"),
    (
        "resume on an unknown thread",
        run_input(thread="nowhere", resume=[{"interruptId": "i", "status": "resolved"}]),
        404,
        "threadId",
    ),
]


@pytest.fixture(scope="module")
def talked() -> tuple[Any, Any]:
    """An app whose thread holds one exchange, and its graph."""
    graph = agent([say("r1"), say("r2")])
    app = served(graph)
    turn(app, user("first", "u1"))
    return app, graph


@pytest.mark.parametrize(("body", "status", "field"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS])
def test_a_bad_body_is_refused_by_field_and_changes_nothing(talked: Any, body: Any, status: int, field: str) -> None:
    app, graph = talked
    before = transcript(graph)
    assert refused(app, body) == (status, field)
    assert transcript(graph) == before
    assert stored(graph, "nowhere") == stored(graph, "t") == []


def test_the_same_history_again_is_nothing_to_answer(talked: Any) -> None:
    app, graph = talked
    answer = {"id": stored(graph)[1].id, "role": "assistant", "content": "r1"}
    assert refused(app, run_input(user("first", "u1"), answer)) == (422, "messages")


def test_a_resume_where_nothing_waits_is_refused(talked: Any) -> None:
    app, _ = talked
    resume = [{"interruptId": "i", "status": "resolved"}]
    assert refused(app, run_input(resume=resume)) == (422, "threadId")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(talked: Any, method: str) -> None:
    async def ask() -> Any:
        async with client_of(talked[0]) as client:
            return await client.request(method, "/ag-ui")

    response = asyncio.run(ask())
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or response.json()["error"]["field"] == "method"


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"])
def test_other_content_types_are_refused(talked: Any, kind: str) -> None:
    """A page of another origin can send text/plain without asking first; it must not start runs."""
    body = json.dumps(run_input(user("a", "u"))).encode()
    assert refused(talked[0], body, headers={"content-type": kind}) == (415, "content-type")


def test_a_body_over_ten_megabytes_is_refused_before_it_is_read(talked: Any) -> None:
    taken: list[int] = []

    async def endless() -> Any:
        while True:
            taken.append(1)
            yield b" " * 1_000_000

    assert refused(talked[0], b" " * (MAX_BODY_BYTES + 1)) == (413, "body")
    response = asyncio.run(post_chunks(talked[0], endless()))
    assert (response.status_code, len(taken)) == (413, 11)
    for length in ("many", "9" * 30):
        assert refused(talked[0], b"{}", headers={"content-length": length}) == (413, "body")


async def post_chunks(app: Any, chunks: Any) -> Any:
    async with client_of(app) as client:
        return await client.post("/ag-ui", content=chunks, headers={"content-type": "application/json"})


def test_a_large_body_is_accepted(talked: Any) -> None:
    graph = agent([say("long indeed")])
    events = turn(served(graph), user("x" * 5_000_000, "u1"))
    assert events[-1]["outcome"] == {"type": "success"}


def test_a_failure_before_the_run_says_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(thread_id: str) -> bool:
        raise RuntimeError("postgres://user:sk-secret-secret@host is down")

    graph = agent([say("r")])
    response = asyncio.run(post(served(graph, register=broken), run_input(user("a", "u"))))
    assert response.status_code == 500
    assert "postgres" not in response.text
    assert "is down" in caplog.text
    assert "sk-secret" not in caplog.text
    assert refused(served(graph, register=broken), run_input(user("a", "u"))) == (500, "")  # and not 409
