"""In-process httpx transports, sync and async: a client that uses one opens no socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import httpx

from ._service import Reply, Service

_DROPPED = "peer closed connection without sending complete message body (incomplete chunked read)"


class OfflineTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers every request, sync or async, from a `Service`."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a sync request."""
        reply = self._ask(request, request.read())
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply, request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer an async request."""
        reply = self._ask(request, await request.aread())
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply, request))

    def _ask(self, request: httpx.Request, content: bytes) -> Reply:
        reply = self.service.answer(request.method, request.url.path, request.headers, content)
        if reply.status == 0:
            raise httpx.ConnectError("Connection refused (scripted)", request=request)
        return reply


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives in time, and honours the client's read timeout as a socket would."""

    def __init__(self, reply: Reply, request: httpx.Request) -> None:
        self._reply = reply
        self._request = request
        self._patience: float | None = request.extensions.get("timeout", {}).get("read")

    def __iter__(self) -> Iterator[bytes]:
        for pause, data in self._reply.steps:
            time.sleep(self._bearable(pause))
            self._check(pause)
            yield data
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for pause, data in self._reply.steps:
            await asyncio.sleep(self._bearable(pause))  # also with no pause: other runs go on, a cancel gets in
            self._check(pause)
            yield data
        self._end()

    def _bearable(self, pause: float) -> float:
        return pause if self._patience is None else min(pause, self._patience)

    def _check(self, pause: float) -> None:
        if self._patience is not None and pause > self._patience:
            raise httpx.ReadTimeout(f"No data for {self._patience:g} s", request=self._request)

    def _end(self) -> None:
        if self._reply.dropped:
            raise httpx.RemoteProtocolError(_DROPPED, request=self._request)
