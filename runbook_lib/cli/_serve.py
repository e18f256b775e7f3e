"""`runbook serve`: the LangGraph server with the runbook's agent and `POST /ag-ui`, in the foreground."""

import os
import signal
import socket
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

__all__ = ["PORT_TAKEN", "serve"]

DEFAULT_PORT = 2024
PORT_TAKEN = 20
BANNER = """\
The runbook's agent is served.

    AG-UI           POST {url}/ag-ui
    LangGraph API   {url}  (assistant "agent"; documented at {url}/docs)

Threads are kept until the server stops. Ctrl-C stops it."""
OPEN = "Warning: other machines can reach {host}, and the server asks nobody for a password."


def origin(text: str) -> str:
    """An origin as browsers send it; typer.BadParameter for anything else."""
    parts = urlsplit(text)
    whole = parts.netloc and text == f"{parts.scheme}://{parts.netloc}"
    if text != "*" and not (whole and parts.scheme in ("http", "https")):
        raise typer.BadParameter(f"{text!r} is no origin. Give scheme, host and port, such as http://localhost:3000.")
    return text


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = DEFAULT_PORT,
    jobs: Annotated[int, typer.Option(min=1, help="Runs of the LangGraph API under way at once.")] = 10,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(parser=origin, metavar="ORIGIN", help="Whose pages may call it; otherwise none. Can be repeated."),
    ] = None,
) -> None:
    """Serve the agent to AG-UI clients and as a LangGraph API."""
    if not can_listen(host, port):
        print(f"Cannot listen on {host} port {port}: it is taken, or not an address of this machine.", file=sys.stderr)
        print(f"Choose another: runbook serve --port {port % 65535 + 1}", file=sys.stderr)
        raise typer.Exit(PORT_TAKEN)
    print("Starting ...", flush=True)
    from runbook_lib.deep_agent.dev_server import DevServer, is_loopback

    if not is_loopback(host):
        print(OPEN.format(host=host), file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to stop the server also when only this is told to end
    try:
        with DevServer(host=host, port=port, jobs=jobs, cors_origins=cors_origin or ()) as server:
            print(BANNER.format(url=server.url), flush=True)
            server.wait()
    except KeyboardInterrupt:
        print("\nStopped.")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from None


def can_listen(host: str, port: int) -> bool:
    """Return whether a server can listen there."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name != "nt":  # as the server does: a port that only lingers from an earlier run counts as free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError:
        return False
    return True
