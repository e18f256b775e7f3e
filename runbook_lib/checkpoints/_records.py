"""The records that the checkpoint lab returns: frozen, with units in their field names."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["memory", "sqlite", "postgres"]


class RestoreMismatch(AssertionError):
    """A restored state is not the live one, or not what the same reducer gives as a plain channel."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one thread takes in a store: rows, and logical bytes before compression.

    Bytes are those of the serialised columns; keys and indexes come on top and are in the store's physical
    size. Metadata is a column of the checkpoints table. SQLite has no blobs table.
    """

    checkpoint_rows: int
    checkpoint_bytes: int
    metadata_bytes: int
    blob_rows: int
    blob_bytes: int
    write_rows: int
    write_bytes: int

    @property
    def rows(self) -> int:
        """Rows in all tables."""
        return self.checkpoint_rows + self.blob_rows + self.write_rows

    @property
    def bytes(self) -> int:
        """Logical bytes in all tables."""
        return self.checkpoint_bytes + self.metadata_bytes + self.blob_bytes + self.write_bytes


@dataclass(frozen=True, slots=True)
class Restore:
    """What reading the newest state costs: statements sent, rows that came back (entries decoded in memory)."""

    statements: int
    rows_read: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A thread after so many turns. `turn_seconds` is the mean since the sample before."""

    turn: int
    sizes: Sizes
    physical_bytes: int | None
    restore: Restore
    turn_seconds: float
    restore_seconds: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """One thread of one graph on one saver, sampled while it grew.

    `k` is the channel's snapshot frequency, None for a plain channel; `nodes` the nodes a turn runs.
    """

    saver: Kind
    k: int | None
    message_bytes: int
    nodes: int
    samples: tuple[Sample, ...]

    @property
    def last(self) -> Sample:
        """The sample after the last turn."""
        return self.samples[-1]

    @property
    def label(self) -> str:
        """`full` for a plain channel, otherwise such as `K=10`."""
        return "full" if self.k is None else f"K={self.k}"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What `predict` derives from the format, for one thread after `turns` turns."""

    saver: Kind
    k: int | None
    turns: int
    sizes: Sizes
    restore: Restore
    snapshots: int

    def gigabytes(self, threads: int) -> float:
        """Logical size of that many such threads, in GB (10^9 bytes)."""
        return threads * self.sizes.bytes / 1e9
