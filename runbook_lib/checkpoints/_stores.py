"""Savers of three kinds, opened empty, with every statement and row that passes counted."""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runbook_lib.checkpoints._postgres import postgres_schema
from runbook_lib.checkpoints._records import Kind
from runbook_lib.checkpoints._tables import MemoryTables, PostgresTables, SqliteTables, Tables

_NO_FLUSH = "PRAGMA synchronous = OFF"

__all__ = ["Store", "Traffic", "aopen_store", "open_store"]


@dataclass(slots=True)
class Traffic:
    """Statements sent and rows received so far; each statement waits for one round trip first.

    A pipelined batch is one statement. In memory nothing is sent and `rows_read` counts entries decoded.
    """

    round_trip_ms: float = 0.0
    statements: int = 0
    rows_read: int = 0

    def send(self) -> float:
        """Count a statement; the seconds it has to wait."""
        self.statements += 1
        return self.round_trip_ms / 1000

    def reset(self) -> None:
        """Start counting anew."""
        self.statements = self.rows_read = 0


@dataclass(frozen=True, slots=True)
class Store:
    """An open saver, its rows and its traffic."""

    kind: Kind
    saver: BaseCheckpointSaver[Any]
    tables: Tables
    traffic: Traffic


@contextmanager
def open_store(kind: Kind, *, round_trip_ms: float = 0.0) -> Iterator[Store]:
    """A new, empty store of that kind, removed afterwards; `round_trip_ms` is waited before each statement.

    SQLite is a temporary file, PostgreSQL a schema of its own; neither waits for the disk, so that times are the
    graph's and the saver's. Raises `PostgresUnavailable` with the reason
    where PostgreSQL cannot run, `ValueError` for an unknown kind.
    """
    traffic = Traffic(round_trip_ms)
    with ExitStack() as stack:
        if kind == "memory":
            yield _memory_store(traffic)
        elif kind == "sqlite":
            from langgraph.checkpoint.sqlite import SqliteSaver

            path, tables = stack.enter_context(_sqlite_file())
            counted = sqlite3.connect(path, check_same_thread=False, factory=_counting_connection(traffic))
            stack.callback(counted.close)
            counted.execute(_NO_FLUSH)
            saver = SqliteSaver(counted)
            saver.setup()
            yield Store(kind, saver, tables, traffic)
        elif kind == "postgres":
            from langgraph.checkpoint.postgres import PostgresSaver
            from psycopg import Connection, Cursor
            from psycopg.rows import dict_row

            url, postgres_tables = stack.enter_context(_postgres_tables())
            connection = stack.enter_context(
                Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row)
            )
            connection.cursor_factory = _counting(_Counted, Cursor, traffic)
            postgres = PostgresSaver(connection)
            postgres.setup()
            yield Store(kind, postgres, postgres_tables, traffic)
        else:
            raise ValueError(f"no store {kind!r}: it is memory, sqlite or postgres")


@asynccontextmanager
async def aopen_store(kind: Kind, *, round_trip_ms: float = 0.0) -> AsyncIterator[Store]:
    """As `open_store`, with the saver that async graphs need."""
    traffic = Traffic(round_trip_ms)
    with ExitStack() as stack:
        if kind == "memory":
            yield _memory_store(traffic)
        elif kind == "sqlite":
            import aiosqlite
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            path, tables = stack.enter_context(_sqlite_file())
            async with aiosqlite.connect(path, factory=_counting_connection(traffic)) as counted:
                await counted.execute(_NO_FLUSH)
                saver = AsyncSqliteSaver(counted)
                await saver.setup()
                yield Store(kind, saver, tables, traffic)
        elif kind == "postgres":
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
            from psycopg import AsyncConnection, AsyncCursor
            from psycopg.rows import dict_row

            url, postgres_tables = stack.enter_context(_postgres_tables())
            async with await AsyncConnection.connect(
                url, autocommit=True, prepare_threshold=0, row_factory=dict_row
            ) as connection:
                connection.cursor_factory = _counting(_AsyncCounted, AsyncCursor, traffic)
                postgres = AsyncPostgresSaver(connection)
                await postgres.setup()
                yield Store(kind, postgres, postgres_tables, traffic)
        else:
            raise ValueError(f"no store {kind!r}: it is memory, sqlite or postgres")


def _memory_store(traffic: Traffic) -> Store:
    class CountingSerializer(JsonPlusSerializer):
        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            traffic.rows_read += 1
            return super().loads_typed(data)

    saver = InMemorySaver(serde=CountingSerializer())
    return Store("memory", saver, MemoryTables(saver), traffic)


@contextmanager
def _sqlite_file() -> Iterator[tuple[Path, SqliteTables]]:
    with tempfile.TemporaryDirectory(prefix="runbook-") as folder:
        path = Path(folder) / "checkpoints.sqlite"
        aside = sqlite3.connect(path)
        try:
            yield path, SqliteTables(aside)
        finally:
            aside.close()


@contextmanager
def _postgres_tables() -> Iterator[tuple[str, PostgresTables]]:
    with postgres_schema() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as aside:
            yield url, PostgresTables(aside)


class _Counted:
    """A cursor, of sqlite3 or psycopg, that counts; a pipeline's statements share one round trip."""

    traffic: Traffic
    connection: Any
    _sent = False

    def _send(self) -> float:
        pgconn = getattr(self.connection, "pgconn", None)
        shares_trip = self._sent and pgconn is not None and bool(pgconn.pipeline_status)
        self._sent = True
        return 0 if shares_trip else self.traffic.send()

    def _receive(self, rows: int) -> None:
        self.traffic.rows_read += rows

    def execute(self, *arguments: Any, **options: Any) -> Any:
        time.sleep(self._send())
        return super().execute(*arguments, **options)  # type: ignore[misc]

    def executemany(self, *arguments: Any, **options: Any) -> Any:
        time.sleep(self._send())
        return super().executemany(*arguments, **options)  # type: ignore[misc]

    def __next__(self) -> Any:
        row = super().__next__()  # type: ignore[misc]
        self._receive(1)
        return row

    def fetchone(self) -> Any:
        row = super().fetchone()  # type: ignore[misc]
        self._receive(row is not None)
        return row

    def fetchmany(self, *size: int) -> Any:
        rows = super().fetchmany(*size)  # type: ignore[misc]
        self._receive(len(rows))
        return rows

    def fetchall(self) -> Any:
        rows = super().fetchall()  # type: ignore[misc]
        self._receive(len(rows))
        return rows


class _AsyncCounted(_Counted):
    """As `_Counted`, for psycopg's async cursor."""

    async def execute(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(self._send())
        return await super(_Counted, self).execute(*arguments, **options)  # type: ignore[misc]

    async def executemany(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(self._send())
        return await super(_Counted, self).executemany(*arguments, **options)  # type: ignore[misc]

    async def fetchone(self) -> Any:
        row = await super(_Counted, self).fetchone()  # type: ignore[misc]
        self._receive(row is not None)
        return row

    async def fetchall(self) -> Any:
        rows = await super(_Counted, self).fetchall()  # type: ignore[misc]
        self._receive(len(rows))
        return rows


def _counting(mixin: type[_Counted], cursor: type[Any], traffic: Traffic) -> type[Any]:
    """The cursor class with counting put in front."""
    return type("CountingCursor", (mixin, cursor), {"traffic": traffic})


def _counting_connection(traffic: Traffic) -> type[sqlite3.Connection]:
    cursor_class = _counting(_Counted, sqlite3.Cursor, traffic)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = cursor_class) -> Any:
            return super().cursor(factory)

    return Connection
