"""`POST /ag-ui`: AG-UI's `RunAgentInput` in, its events out as server-sent events.

A Starlette app around one graph with a checkpointer. `langgraph dev` takes it as its `http.app`, with the
checkpointer that it uses itself: then a thread of the LangGraph API and a thread of AG-UI are the same thing. The
run is not queued as a job of the server. It is driven by whoever reads the stream, so a reader that is slow slows
the run, one that leaves ends it, and a thread's earlier runs are never played again.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson
from langgraph.types import StateSnapshot
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ._input import RefusedError, graph_input, parse
from ._messages import Event
from ._secrets import without_secrets
from .run import Graph, arun_events

MAX_BODY_BYTES = 10_000_000
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
SSE_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy in between must not collect events
]
Register = Callable[[str], Awaitable[bool]]

_log = logging.getLogger(__name__)


def ag_ui_app(graph: Graph, register: Register | None = None, *, path: str = "/ag-ui") -> Starlette:
    """An app with the one route `POST {path}`, which runs `graph`; the graph needs a checkpointer.

    `register` is told the id of a thread before a run on it begins, and returns False when something else runs
    there. The state of a thread is kept under `stored_thread_id` of the client's `threadId`. What a client sends
    as `state`, `context` and `forwardedProps` is accepted and not used: the checkpoint is what a run starts from.
    A refused request gets `{"error": {"field": ..., "message": ...}}` and changes nothing.
    """
    endpoint = _Endpoint(graph, register)

    async def run_agent(request: Request) -> ASGIApp:
        return await endpoint.respond(request)

    return Starlette(routes=[Route(path, run_agent, methods=METHODS, include_in_schema=False)])


def stored_thread_id(thread_id: str) -> str:
    """The id of a thread in the checkpointer: a UUID as it is, any other text by the UUID made from it.

    Threads of the LangGraph API have UUIDs, those of AG-UI are free text.
    """
    try:
        return str(UUID(thread_id))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, thread_id))


def encode(event: Event) -> bytes:
    """One event as a server-sent event: `data: `, one line of JSON in UTF-8, an empty line."""
    try:
        line = orjson.dumps(event)
    except TypeError:  # a lone surrogate or an integer beyond 64 bits: legal JSON when escaped
        line = json.dumps(event, default=str).encode("ascii")
    return b"data: " + line + b"\n\n"


class _Endpoint:
    def __init__(self, graph: Graph, register: Register | None) -> None:
        self._graph = graph
        self._register = register
        self._busy: set[str] = set()

    async def respond(self, request: Request) -> ASGIApp:
        try:
            run = parse(await _body(request))
            return await self._start(run)
        except RefusedError as refused:
            return _refusal(refused)
        except ClientDisconnect:
            return _refusal(RefusedError(400, "body", "The client left before its request was complete"))
        except Exception as error:
            _log.error("AG-UI request failed: %s: %s", type(error).__name__, without_secrets(str(error)))
            return _refusal(RefusedError(500, "", "The server failed before the run began; its log says why"))

    async def _start(self, run: Any) -> ASGIApp:
        thread_id = stored_thread_id(run.thread_id)
        if thread_id in self._busy:
            raise _taken()
        self._busy.add(thread_id)
        try:
            events = await self._events(run, thread_id)
        except BaseException:
            self._busy.discard(thread_id)
            raise
        return _EventStream(events, lambda: self._busy.discard(thread_id))

    async def _events(self, run: Any, thread_id: str) -> AsyncGenerator[Event, None]:
        config: Any = {"configurable": {"thread_id": thread_id}}
        state: StateSnapshot = await self._graph.aget_state(config)
        if run.resume and not state.interrupts:
            known = "has no interrupt that waits" if state.created_at else "is not known"
            raise RefusedError(404 if not state.created_at else 422, "threadId", f"This thread {known}")
        asked = graph_input(run, state)
        if self._register is not None and not await self._register(thread_id):
            raise _taken()
        return _renamed(arun_events(self._graph, asked, config, run_id=run.run_id), run.thread_id)


async def _renamed(events: Any, thread_id: str) -> AsyncGenerator[Event, None]:
    """The events of a run, under the id that the client uses for its thread."""
    async with aclosing(events):
        async for event in events:
            yield event | {"threadId": thread_id} if "threadId" in event else event


def _taken() -> RefusedError:
    return RefusedError(409, "threadId", "A run is under way on this thread. Wait for its end, or close its stream")


def _refusal(refused: RefusedError) -> JSONResponse:
    error = {"field": refused.field, "message": str(refused)}
    headers = {"allow": "POST"} if refused.status == 405 else None
    return JSONResponse({"error": error}, refused.status, headers)


async def _body(request: Request) -> bytes:
    """The request's body. Raises RefusedError for another method or content type, and when it is too large."""
    if request.method != "POST":
        raise RefusedError(405, "method", "Send a POST request")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(415, "content-type", "Send application/json")
    too_large = RefusedError(413, "body", f"The body is larger than {MAX_BODY_BYTES:,} bytes")
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:20]) > MAX_BODY_BYTES:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise too_large
    return bytes(body)


class _EventStream:
    """The response: each event is made when the one before it has been taken, until the client leaves."""

    def __init__(self, events: AsyncGenerator[Event, None], release: Callable[[], object]) -> None:
        self._events = events
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            leaving.cancel()
            sent, _ = await asyncio.gather(sending, leaving, return_exceptions=True)
            await self._events.aclose()
            self._release()
        if isinstance(sent, Exception) and not isinstance(sent, OSError):
            raise sent

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": SSE_HEADERS})
        async with aclosing(self._events) as events:
            async for event in events:
                await send({"type": "http.response.body", "body": encode(event), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
