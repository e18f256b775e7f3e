"""`inspect`: which channel of a thread eats the disk, read from what is stored."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from runbook_lib.checkpoints._records import Sizes
from runbook_lib.checkpoints._tables import CheckpointRow, MemoryTables, PostgresTables, SqliteTables, Tables, Value

_TASK_ID = re.compile(r":[0-9a-f-]{36}")


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """What one channel takes in one thread; subgraph calls are added up under the subgraph's name.

    `full_copies` are whole values of a plain channel, `snapshots` those of a delta channel, `deltas` the stored
    writes. `newest_snapshot_step` is the superstep of the newest snapshot; `replayed_writes` is how many
    writes a restore of the newest checkpoint replays. Both are None for a plain channel.
    """

    namespace: str
    channel: str
    full_copies: int
    full_copy_bytes: int
    snapshots: int
    snapshot_bytes: int
    deltas: int
    delta_bytes: int
    newest_snapshot_step: int | None
    replayed_writes: int | None

    @property
    def bytes(self) -> int:
        """Everything stored for the channel."""
        return self.full_copy_bytes + self.snapshot_bytes + self.delta_bytes


@dataclass(frozen=True, slots=True)
class Inspection:
    """A thread's size, and its channels, the largest first."""

    thread_id: str
    sizes: Sizes
    channels: tuple[ChannelUse, ...]

    def __str__(self) -> str:
        lines = [f"thread {self.thread_id}: {self.sizes.rows:,} rows, {self.sizes.bytes:,} bytes"]
        head = ("channel", "bytes", "full copies", "snapshots", "deltas", "newest snapshot", "replayed writes")
        table = [head, *(_cells(each) for each in self.channels)]
        widths = [max(len(row[column]) for row in table) for column in range(len(head))]
        for name, *figures in table:
            cells = [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]))
        return "\n".join(lines)


def inspect(saver: BaseCheckpointSaver[Any] | str | Path, thread_id: str) -> Inspection:
    """Return which channel of a thread takes what, read-only and without decoding a stored object.

    `saver` is an `InMemorySaver`, `SqliteSaver` or `PostgresSaver`, or the path of a SQLite database or the URL
    of a PostgreSQL one. Delta channels are counted by their snapshots and writes, which the newest
    checkpoint alone does not show. Raises `KeyError` for an unknown thread, `TypeError` for another
    saver, `FileNotFoundError` for a path where there is no file.
    """
    with open_tables(saver) as tables:
        return inspect_tables(tables, thread_id)


def inspect_tables(tables: Tables, thread_id: str) -> Inspection:
    """As `inspect`, from an open store's rows."""
    checkpoints = list(tables.checkpoints(thread_id))
    if not checkpoints:
        raise KeyError(f"no checkpoints of thread {thread_id!r} in this store; it has {tables.threads()[:5]}")
    channels = _uses(checkpoints, tables, thread_id)
    return Inspection(thread_id, tables.sizes(thread_id), tuple(sorted(channels, key=_largest_first)))


@contextmanager
def open_tables(saver: BaseCheckpointSaver[Any] | str | Path) -> Iterator[Tables]:
    """The rows behind a saver, a path or a URL; what is opened here is opened read-only and closed again."""
    if isinstance(saver, InMemorySaver):
        yield MemoryTables(saver)
    elif isinstance(saver, (str, Path)):
        with _postgres(str(saver)) if _is_url(saver) else _sqlite(Path(saver)) as tables:
            yield tables
    elif type(saver).__name__ == "SqliteSaver":
        yield SqliteTables(saver.conn)  # type: ignore[attr-defined]
    elif type(saver).__name__ == "PostgresSaver" and hasattr(saver.conn, "cursor"):  # type: ignore[attr-defined]
        yield PostgresTables(saver.conn)  # type: ignore[attr-defined]
    else:
        raise TypeError(
            f"inspect cannot read a {type(saver).__name__}: give an InMemorySaver, SqliteSaver or PostgresSaver, or "
            "the path or URL of its database (for async savers and pools)"
        )


def _is_url(where: str | Path) -> bool:
    return str(where).startswith(("postgres://", "postgresql://")) or "dbname=" in str(where)


@contextmanager
def _sqlite(path: Path) -> Iterator[Tables]:
    import sqlite3
    from contextlib import closing

    if not path.is_file():
        raise FileNotFoundError(f"there is no database at {path}")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        yield SqliteTables(connection)


@contextmanager
def _postgres(url: str) -> Iterator[Tables]:
    import psycopg

    with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
        connection.read_only = True
        yield PostgresTables(connection)


def _uses(checkpoints: Sequence[CheckpointRow], tables: Tables, thread_id: str) -> Iterator[ChannelUse]:
    copies: defaultdict[tuple[str, str], dict[tuple[str, str], Value]] = defaultdict(dict)
    newest: dict[tuple[str, str], int] = {}
    delta: set[tuple[str, str]] = set()
    for row in checkpoints:
        for channel, value in row.values.items():
            key, copy = _key(row.namespace, channel), (row.namespace, value.copy)
            if value.is_snapshot and copy not in copies[key]:
                delta.add(key)
                newest[key] = row.metadata.get("step", -1)
            copies[key].setdefault(copy, value)
        delta.update(_key(row.namespace, each) for each in row.metadata.get("counters_since_delta_snapshot") or ())
    writes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    written: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for write in tables.writes(thread_id):
        writes[_key(write.namespace, write.channel)].append(write.bytes)
        written[write.namespace, write.channel, write.checkpoint] += 1
    for key in copies.keys() | writes.keys():
        yield _use(
            key,
            copies[key].values(),
            writes[key],
            newest.get(key),
            _replayed(key, checkpoints, written) if key in delta else None,
        )


def _use(
    key: tuple[str, str], copies: Any, writes: Sequence[int], newest: int | None, replayed: int | None
) -> ChannelUse:
    whole = [copy.bytes for copy in copies if not copy.is_snapshot]
    snapshots = [copy.bytes for copy in copies if copy.is_snapshot]
    figures = (len(whole), sum(whole), len(snapshots), sum(snapshots), len(writes), sum(writes))
    return ChannelUse(*key, *figures, newest, replayed)


def _replayed(
    key: tuple[str, str], checkpoints: Sequence[CheckpointRow], written: dict[tuple[str, str, str], int]
) -> int:
    """Writes on the way from the newest checkpoint back to the newest value stored on its branch."""
    channel = key[1]
    rows = [row for row in checkpoints if _key(row.namespace, channel) == key]
    head = rows[-1]
    by_id = {row.id: row for row in rows if row.namespace == head.namespace}
    count, at = 0, head
    while channel not in at.values and at.parent in by_id:
        at = by_id[at.parent]
        count += written[at.namespace, channel, at.id]
    return count


def _largest_first(use: ChannelUse) -> tuple[int, str, str]:
    return -use.bytes, use.namespace, use.channel


def _key(namespace: str, channel: str) -> tuple[str, str]:
    return _TASK_ID.sub("", namespace), channel


def _cells(use: ChannelUse) -> tuple[str, ...]:
    name = f"{use.namespace}/{use.channel}" if use.namespace else use.channel
    snapshot = "-" if use.newest_snapshot_step is None else f"step {use.newest_snapshot_step}"
    replayed = "-" if use.replayed_writes is None else f"{use.replayed_writes:,}"
    counts = (use.bytes, use.full_copies, use.snapshots, use.deltas)
    return (name, *(f"{count:,}" for count in counts), snapshot, replayed)
