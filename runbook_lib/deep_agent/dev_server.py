"""`DevServer`: the real `langgraph dev`, on loopback, in a temporary folder, for as long as it is needed."""

import atexit
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "NO_COLOR": "1",
}
ALLOWED_HOSTS = "RUNBOOK_ALLOWED_HOSTS"
_COMMAND = (sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--allow-blocking")
_SERVE = "runbook_lib.deep_agent.serve"
_PLAIN = {"dependencies": ["."], "graphs": {"agent": f"{_SERVE}:graph"}}


class DevServer:
    """A running `langgraph dev` that serves the runbook's agent as the assistant `agent`, and at `/ag-ui`.

    The process starts at once and comes up in the background (about five seconds); `url` waits for it. It listens
    on 127.0.0.1 unless told otherwise, makes no analytics or version calls, and keeps its state in memory and in a
    temporary folder that `stop()` removes. Also a context manager.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        jobs: int = 10,
        cors_origins: Iterable[str] = (),
        plain: bool = False,
    ) -> None:
        """Start the server; `jobs` runs can be under way at once, so that one stalled run does not block the rest.

        Pages of `cors_origins` (such as `http://localhost:3000`) may call it from a browser, no others. A `plain`
        server is `langgraph dev` with nothing but the graph: no `/ag-ui`, and the server's own checkpointer, which
        renders messages differently (notebook 01). Raises RuntimeError when the packages of the extra `server` are
        not installed.
        """
        if find_spec("langgraph_api") is None:
            raise RuntimeError(
                "langgraph-api is not installed: there is no wheel of it for this platform, or the set-up went on "
                "without the extra 'server'. Run ./runbook setup; on an Intel Mac this part cannot run."
            )
        self.host = host
        self.port = port or _free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="runbook-dev-"))
        (self._folder / "langgraph.json").write_text(json.dumps(_PLAIN if plain else settings(cors_origins)))
        self._log = (self._folder / "server.log").open("wb")
        self._process = subprocess.Popen(
            [*_COMMAND, "--host", host, "--port", str(self.port), "--n-jobs-per-worker", str(jobs)],
            cwd=self._folder,
            env=os.environ | _QUIET | {ALLOWED_HOSTS: _names(host)},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """The server's base URL, once it answers. Raises RuntimeError with the end of its log if it does not."""
        url = f"http://{_address(self.host)}:{self.port}"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{url}/ok", timeout=2).close()
                return url
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.1)
        raise self._failed(f"langgraph dev did not come up on port {self.port}.")

    def wait(self) -> None:
        """Wait for as long as the server runs. Raises RuntimeError with the end of its log when it ends by itself."""
        code = self._process.wait()
        raise self._failed(f"langgraph dev has ended with exit code {code}.")

    def _failed(self, what: str) -> RuntimeError:
        tail = (self._folder / "server.log").read_text(errors="replace")[-1500:]
        self.stop()
        return RuntimeError(f"{what} The end of its log:\n{tail}")

    def stop(self) -> None:
        """Stop the server and remove its folder; calling it again does nothing."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def settings(cors_origins: Iterable[str]) -> dict[str, Any]:
    """The server's langgraph.json: the agent, its checkpointer, and the route `/ag-ui`."""
    cors = {"allow_origins": list(cors_origins), "allow_methods": ["*"], "allow_headers": ["*"]}
    return _PLAIN | {
        "checkpointer": {"path": f"{_SERVE}.checkpointer"},
        "http": {"app": f"{_SERVE}:app", "cors": cors},
    }


def _names(host: str) -> str:
    """The names under which requests may ask for the server, separated by commas.

    A page whose own domain name was pointed at this machine (DNS rebinding) asks for that name. `api` is how the
    server's code calls itself.
    """
    return "127.0.0.1,localhost,[::1],api" if is_loopback(host) else "*"


def is_loopback(host: str) -> bool:
    """True when a server that listens on `host` can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str) -> str:
    """How this machine reaches a server that listens on `host`, as it stands in a URL."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
