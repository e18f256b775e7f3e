"""Refuse every connection that would leave this machine. Loaded by the tests and by each notebook's kernel."""

import ipaddress
import socket
from typing import Any

attempts: list[str] = []


class OutsideConnection(RuntimeError):
    """Something under test tried to reach another machine.

    Not an OSError: libraries retry those or turn them into a polite result, and the test would pass.
    """


def is_local(host: Any) -> bool:
    """Return whether a host is this machine: loopback, any-interface, or no host at all."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def refuse(host: Any) -> None:
    """Note the attempt, and raise OutsideConnection."""
    attempts.append(str(host))
    raise OutsideConnection(f"the tests are offline, and something connects to {host!r}")


def install() -> None:
    """Guard sockets and name look-ups of this process, once."""
    if getattr(socket, "is_guarded", False):
        return
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
            refuse(address[0])

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(self, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        if not is_local(host):
            refuse(host)
        return getaddrinfo(host, *arguments, **options)

    socket.socket.connect = guarded_connect  # type: ignore[method-assign]
    socket.socket.connect_ex = guarded_connect_ex  # type: ignore[method-assign]
    socket.getaddrinfo = guarded_getaddrinfo
    socket.is_guarded = True  # type: ignore[attr-defined]


install()
