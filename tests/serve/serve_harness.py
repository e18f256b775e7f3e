"""Talking to the endpoint: whole answers through httpx, and connections that a test reads, stalls or closes itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from runbook_lib.ag_ui.endpoint import ag_ui_app, stored_thread_id
from runbook_lib.model import chat_model

Event = dict[str, Any]
THREAD = "6f1c0f4e-58f0-4d57-9e0c-0c2b6cf8a6c1"


def agent(script: Any, tools: Any = (), **options: Any) -> Any:
    """A small agent with a checkpointer; threads of one agent share the script."""
    return create_agent(chat_model(script), list(tools), checkpointer=InMemorySaver(), **options)


def user(text: str, id: str) -> Event:
    return {"id": id, "role": "user", "content": text}


def run_input(*messages: Event, thread: str = THREAD, run: str = "run", **fields: Any) -> Event:
    return {"threadId": thread, "runId": run, "messages": list(messages), **fields}


def events_of(body: bytes) -> list[Event]:
    """The events of a whole answer; fails where a frame is anything but `data: {one line}`."""
    *frames, rest = body.decode("utf-8").split("\n\n")
    assert rest == ""
    assert all(frame.startswith("data: {") and "\n" not in frame for frame in frames)
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def client_of(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://runbook")


async def post(app: Any, body: Any, **options: Any) -> httpx.Response:
    options |= {"json": body} if not isinstance(body, bytes) else {"content": body}
    headers = {"content-type": "application/json"} | options.pop("headers", {})
    async with client_of(app) as client:
        return await client.post("/ag-ui", headers=headers, **options)


def turn(app: Any, *messages: Event, **fields: Any) -> list[Event]:
    """One run on THREAD, to its end."""
    response = asyncio.run(post(app, run_input(*messages, **fields)))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    return events_of(response.content)


def refused(app: Any, body: Any, **options: Any) -> tuple[int, str]:
    """The status and the field of a refusal; its message is a sentence, and nothing else is in it."""
    response = asyncio.run(post(app, body, **options))
    error = response.json()
    assert set(error) == {"error"}
    assert set(error["error"]) == {"field", "message"}
    assert error["error"]["message"]
    assert "Traceback" not in response.text
    return response.status_code, error["error"]["field"]


def stored(graph: Any, thread: str = THREAD) -> list[BaseMessage]:
    values = graph.get_state({"configurable": {"thread_id": stored_thread_id(thread)}}).values
    return list(values.get("messages", ()))


def transcript(graph: Any, thread: str = THREAD) -> list[tuple[str | None, str]]:
    return [(message.id, str(message.text)) for message in stored(graph, thread)]


class Connection:
    """A client of the ASGI app that takes one event at a time; `leave` closes its side."""

    def __init__(self, app: Any, body: Event) -> None:
        self._app = app
        self._body = json.dumps(body).encode()
        self._asked = False
        self._gone = asyncio.Event()
        self._wanted = asyncio.Semaphore(0)
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self.status = 0
        self.done = asyncio.create_task(self._run())

    async def _run(self) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(self._body)).encode())]
        scope = {"type": "http", "method": "POST", "path": "/ag-ui", "headers": headers, "query_string": b""}
        await self._app(scope | {"http_version": "1.1", "scheme": "http", "root_path": ""}, self._receive, self._send)

    async def _receive(self) -> Event:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message.get("body"):
            await self._wanted.acquire()
            self._frames.put_nowait(message["body"])

    async def read(self) -> Event:
        """The next event; until it is asked for, the server cannot send it."""
        self._wanted.release()
        return json.loads((await self._frames.get()).removeprefix(b"data: "))

    async def read_until(self, kind: str) -> Event:
        while (event := await self.read())["type"] != kind:
            pass
        return event

    async def leave(self) -> None:
        self._gone.set()
        await self.done


def drive(test: Callable[[], Coroutine[Any, Any, None]], seconds: float = 60) -> None:
    """Run an asynchronous test; one that hangs fails after `seconds`."""
    asyncio.run(asyncio.wait_for(test(), seconds))


def served(graph: Any, **options: Any) -> Any:
    return ag_ui_app(graph, **options)
