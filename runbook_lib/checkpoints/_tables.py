"""The rows that each saver keeps, read without decoding a single Python object.

Where a channel's value lives (langgraph-checkpoint 4.3, sqlite 3.1, postgres 3.2): SQLite writes it inline in every
checkpoint row; PostgreSQL and memory keep one blob per channel version, which later checkpoints point at.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import ormsgpack

from runbook_lib.checkpoints._records import Sizes

if TYPE_CHECKING:
    import sqlite3

    import psycopg
    from langgraph.checkpoint.memory import InMemorySaver

_SNAPSHOT_EXT = 7
_EXT_TYPE_AT = {0xC7: 2, 0xC8: 3, 0xC9: 5} | dict.fromkeys(range(0xD4, 0xD9), 1)
_PREFIX = 6


@dataclass(frozen=True, slots=True)
class Value:
    """A stored copy of a channel's value; `copy` tells copies apart, `is_snapshot` marks a delta channel's."""

    copy: str
    bytes: int
    is_snapshot: bool


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One checkpoint and the channel values that can be read at it without replaying anything."""

    namespace: str
    id: str
    parent: str | None
    metadata: Mapping[str, Any]
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One stored write."""

    namespace: str
    checkpoint: str
    channel: str
    bytes: int


class Tables(Protocol):
    """A store's rows for one thread at a time."""

    def threads(self) -> list[str]:
        """The ids of all threads, sorted."""

    def sizes(self, thread: str) -> Sizes:
        """Rows and logical bytes per table."""

    def physical_bytes(self) -> int | None:
        """The whole store's own size, None in memory."""

    def checkpoints(self, thread: str) -> Iterator[CheckpointRow]:
        """Its checkpoints, oldest first."""

    def writes(self, thread: str) -> Iterator[WriteRow]:
        """Its stored writes, in no order."""


def is_snapshot(blob: bytes) -> bool:
    """Whether a msgpack value is a delta channel's snapshot: an extension of type 7, told by its header."""
    at = _EXT_TYPE_AT.get(blob[0]) if blob else None
    return at is not None and len(blob) > at and blob[at] == _SNAPSHOT_EXT


class MemoryTables:
    """The dictionaries of an `InMemorySaver`."""

    def __init__(self, saver: "InMemorySaver") -> None:
        self._saver = saver

    def threads(self) -> list[str]:
        return sorted(thread for thread, kept in self._saver.storage.items() if kept)

    def sizes(self, thread: str) -> Sizes:
        """Rows and logical bytes per table; an `empty` blob is a row of no bytes."""
        rows = [row for kept in self._saver.storage.get(thread, {}).values() for row in kept.values()]
        blobs = [len(blob) for (owner, *_), (_, blob) in self._saver.blobs.items() if owner == thread]
        writes = [write.bytes for write in self.writes(thread)]
        return Sizes(
            len(rows),
            sum(len(checkpoint[1]) for checkpoint, _, _ in rows),
            sum(len(metadata[1]) for _, metadata, _ in rows),
            len(blobs),
            sum(blobs),
            len(writes),
            sum(writes),
        )

    def physical_bytes(self) -> int | None:
        """None: nothing is stored outside the process."""
        return None

    def checkpoints(self, thread: str) -> Iterator[CheckpointRow]:
        for namespace, kept in self._saver.storage.get(thread, {}).items():
            for id, ((_, checkpoint), (_, metadata), parent) in sorted(kept.items()):
                versions = _unpack(checkpoint)["channel_versions"]
                values = dict(self._values(thread, namespace, versions))
                yield CheckpointRow(namespace, id, parent, _unpack(metadata), values)

    def _values(self, thread: str, namespace: str, versions: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
        for channel, version in versions.items():
            type, blob = self._saver.blobs.get((thread, namespace, channel, version), ("empty", b""))
            if type != "empty":
                yield channel, Value(str(version), len(blob), is_snapshot(blob))

    def writes(self, thread: str) -> Iterator[WriteRow]:
        for (owner, namespace, checkpoint), writes in self._saver.writes.items():
            if owner == thread:
                for _, channel, (_, value), _ in writes.values():
                    yield WriteRow(namespace, checkpoint, channel, len(value))


class SqliteTables:
    """The two tables of a `SqliteSaver`'s database."""

    def __init__(self, connection: "sqlite3.Connection") -> None:
        self._connection = connection

    def threads(self) -> list[str]:
        found = self._connection.execute("SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id")
        return [row[0] for row in found]

    def sizes(self, thread: str) -> Sizes:
        """Rows and logical bytes per table, by `length`."""
        rows, checkpoint, metadata = self._connection.execute(
            "SELECT count(*), total(length(checkpoint)), total(length(CAST(metadata AS BLOB))) "
            "FROM checkpoints WHERE thread_id = ?",
            (thread,),
        ).fetchone()
        writes, value = self._connection.execute(
            "SELECT count(*), total(length(value)) FROM writes WHERE thread_id = ?", (thread,)
        ).fetchone()
        return Sizes(rows, int(checkpoint), int(metadata), 0, 0, writes, int(value))

    def physical_bytes(self) -> int | None:
        """The database's pages, the write-ahead log not counted."""
        count, size = (self._connection.execute(f"PRAGMA page_{each}").fetchone()[0] for each in ("count", "size"))
        return int(count * size)

    def checkpoints(self, thread: str) -> Iterator[CheckpointRow]:
        rows = self._connection.execute(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
            "FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id",
            (thread,),
        )
        for namespace, id, parent, type, checkpoint, metadata in rows:
            values = dict(_inline_values(id, type, checkpoint))
            yield CheckpointRow(namespace, id, parent, json.loads(metadata or "{}"), values)

    def writes(self, thread: str) -> Iterator[WriteRow]:
        query = "SELECT checkpoint_ns, checkpoint_id, channel, length(value) FROM writes WHERE thread_id = ?"
        for row in self._connection.execute(query, (thread,)):
            yield WriteRow(*row)


class PostgresTables:
    """The three tables of a `PostgresSaver`'s schema."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def _rows(self, query: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        from psycopg.rows import tuple_row

        with self._connection.cursor(row_factory=tuple_row) as cursor:
            yield from cursor.execute(query.encode(), parameters)

    def threads(self) -> list[str]:
        return sorted(row[0] for row in self._rows("SELECT DISTINCT thread_id FROM checkpoints"))

    def sizes(self, thread: str) -> Sizes:
        """Rows and logical bytes per table, by `octet_length`; JSONB counts as its text."""
        sums = []
        for columns, table in (
            ("octet_length(checkpoint::text)), sum(octet_length(metadata::text)", "checkpoints"),
            ("octet_length(blob)", "checkpoint_blobs"),
            ("octet_length(blob)", "checkpoint_writes"),
        ):
            [row] = self._rows(f"SELECT count(*), sum({columns}) FROM {table} WHERE thread_id = %s", thread)
            sums += [int(each or 0) for each in row]
        return Sizes(*sums)

    def physical_bytes(self) -> int | None:
        """The three tables with their indexes, after compression."""
        tables = "unnest(array['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']::regclass[]) AS tables"
        [row] = self._rows(f"SELECT sum(pg_total_relation_size(tables)) FROM {tables}")
        return int(row[0])

    def checkpoints(self, thread: str) -> Iterator[CheckpointRow]:
        blobs = {
            (namespace, channel, version): Value(version, size, is_snapshot(head))
            for namespace, channel, version, size, head in self._rows(
                f"SELECT checkpoint_ns, channel, version, octet_length(blob), substring(blob FOR {_PREFIX}) "
                "FROM checkpoint_blobs WHERE thread_id = %s AND type <> 'empty'",
                thread,
            )
        }
        for namespace, id, parent, versions, metadata in self._rows(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions', metadata "
            "FROM checkpoints WHERE thread_id = %s ORDER BY checkpoint_id",
            thread,
        ):
            found = {channel: blobs.get((namespace, channel, str(version))) for channel, version in versions.items()}
            values = {channel: value for channel, value in found.items() if value is not None}
            yield CheckpointRow(namespace, id, parent, metadata, values)

    def writes(self, thread: str) -> Iterator[WriteRow]:
        query = (
            "SELECT checkpoint_ns, checkpoint_id, channel, octet_length(blob) "
            "FROM checkpoint_writes WHERE thread_id = %s"
        )
        for row in self._rows(query, thread):
            yield WriteRow(*row)


def _inline_values(id: str, type: str, checkpoint: bytes) -> Iterator[tuple[str, Value]]:
    """The values inside a SQLite checkpoint; one in another form (encrypted, older) counts as channel `?`."""
    if type != "msgpack":
        yield "?", Value(id, len(checkpoint), False)
        return
    for channel, value in _unpack(checkpoint)["channel_values"].items():
        packed = ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
        yield channel, Value(id, len(packed), is_snapshot(packed))


def _unpack(packed: bytes) -> Any:
    """Msgpack with every object left as an opaque extension: nothing stored is imported or run."""
    return ormsgpack.unpackb(packed, ext_hook=ormsgpack.Ext, option=ormsgpack.OPT_NON_STR_KEYS)
