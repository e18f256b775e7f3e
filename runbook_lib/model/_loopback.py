"""The same conversation logic over real sockets, on 127.0.0.1 only: for the live path and for raw HTTP clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ._assistant import assistant
from ._service import Reply, Script, Service


class Loopback(ThreadingHTTPServer):
    """A running server; `base_url` is what an OpenAI client is given."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, service: Service) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service

    @property
    def base_url(self) -> str:
        """Address of the API, with the path `/v1`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when a client leaves in the middle: that is its right."""


@contextmanager
def loopback(script: Script | None = None, **options: Any) -> Iterator[Loopback]:
    """Serve a script (default: the assistant) on a free loopback port while the block runs.

    `options` are those of `Service`: token_delay, chunking, key, on_request.

        with loopback([say("Hello")]) as server:
            httpx.post(f"{server.base_url}/chat/completions", ...)
    """
    server = Loopback(Service(assistant if script is None else script, **options))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Loopback

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        reply = self.server.service.answer(self.command, path, dict(self.headers.items()), content)
        if reply.status == 0:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._send(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def _send(self, reply: Reply) -> None:
        """Write the body in HTTP chunks; without the closing chunk the client sees a dropped connection."""
        for pause, data in reply.steps:
            time.sleep(pause)
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
        if reply.dropped:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep request lines off stderr."""
