"""`predict`: bytes, rows and rows read in closed form, from the stored format and nothing else.

With T turns, n nodes a turn, u = n + 1 updates of the channel and c = n + 2 checkpoints a turn (the input's, the
start's and one per node), P bytes of messages a turn:

- every write is kept once: T * P bytes, in all savers, for every channel;
- a plain channel stores its whole list again at each update, P*u*T(T-1)/2 and the part inside a turn;
  SQLite also repeats it in the input's checkpoint, so there c stands for u;
- a delta channel stores it at every K-th update (or after 5,000 checkpoints) only.

The rest is each checkpoint's envelope (versions, ids, metadata): built below as LangGraph builds it, and measured by
serialising it. The bytes of one message are measured in the same way.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runbook_lib.checkpoints._conversation import Conversation
from runbook_lib.checkpoints._records import Kind, Prediction, Restore, Sizes

MAX_SUPERSTEPS = 5000
POSTGRES_PAGE = 1024
# 32 digits, a dot and `random.random()` in digits, of which 18.2 on average; 51 to the nearest byte.
_VERSION = "0" * 51
_ID = "0" * 36
_TIME = "0" * 32
_SNAPSHOT_HEADER = 6
_MARKER = len('"messages": true')


def predict(saver: Kind, turns: int, message_bytes: int = 200, *, k: int | None = None, nodes: int = 1) -> Prediction:
    """Return what a thread of `measure`'s conversation takes after `turns` turns, without running anything.

    `k` is the snapshot frequency, None a plain channel. Rows are exact, for the sync savers also rows read (async
    SQLite reads on to the end of a chunk of 64); bytes are within 1 % of measured, as a part of each channel version
    has a random length. Raises `ValueError` for an unknown saver and for turns, k or nodes that are no integer
    from 1 on.
    """
    if saver not in get_args(Kind):
        raise ValueError(f"no saver {saver!r}: give one of {', '.join(get_args(Kind))}")
    if not all(isinstance(count, int) for count in (turns, nodes, message_bytes, 1 if k is None else k)):
        raise ValueError("turns, nodes, k and message_bytes are whole numbers")
    if min(turns, nodes, 1 if k is None else k) < 1 or message_bytes < 0:
        raise ValueError("turns, nodes and k are at least 1, message_bytes at least 0")
    shape = _Shape.of(saver, turns, nodes, message_bytes)
    snapshots = [] if k is None else list(shape.snapshots(k))
    return Prediction(saver, k, turns, _sizes(shape, k, snapshots), _restore(shape, k, snapshots), len(snapshots))


@dataclass(frozen=True, slots=True)
class _Shape:
    saver: Kind
    turns: int
    nodes: int
    human: int
    ai: int

    @classmethod
    def of(cls, saver: Kind, turns: int, nodes: int, message_bytes: int) -> "_Shape":
        talk = Conversation(message_bytes)
        human, ai = (_packed([message]) - 1 for message in (talk.question(1), talk.answer(1, 1)))
        return cls(saver, turns, nodes, human, ai)

    @property
    def updates(self) -> int:
        """Updates of the channel in a turn."""
        return self.nodes + 1

    @property
    def checkpoints(self) -> int:
        """Checkpoints written in a turn."""
        return self.nodes + 2

    @property
    def turn_bytes(self) -> int:
        """Bytes of one turn's messages."""
        return self.human + self.nodes * self.ai

    def list_bytes(self, update: int) -> int:
        """Bytes of the whole list after that many updates."""
        whole, rest = divmod(update, self.updates)
        part = self.human + (rest - 1) * self.ai if rest else 0
        return whole * self.turn_bytes + part + _list_header(update)

    def checkpoint_of(self, update: int) -> int:
        """The number of the checkpoint that an update makes, counted from 1."""
        turn = (update - 1) // self.updates
        return update + turn + 1

    def snapshots(self, k: int) -> Iterator[tuple[int, int]]:
        """Each snapshot as (updates so far, checkpoint): every k updates, or when the superstep bound comes first."""
        update = checkpoint = 0
        while True:
            update, bound = update + k, checkpoint + MAX_SUPERSTEPS
            checkpoint = min(self.checkpoint_of(update), bound)
            if checkpoint == bound:
                update = self._updates_by(bound)
            if checkpoint > self.turns * self.checkpoints:
                return
            yield update, checkpoint

    def _updates_by(self, checkpoint: int) -> int:
        whole, rest = divmod(checkpoint, self.checkpoints)
        return whole * self.updates + max(0, rest - 1)


def _sizes(shape: _Shape, k: int | None, snapshots: list[tuple[int, int]]) -> Sizes:
    turns, updates = shape.turns, shape.updates
    header = _SNAPSHOT_HEADER + _key(shape, "messages")
    copies = _plain_copies(shape) if k is None else sum(shape.list_bytes(at) + header for at, _ in snapshots)
    inputs = turns * (_packed({"messages": [None]}) + shape.human - 1 + _key(shape, "__start__"))
    writes = turns * (shape.turn_bytes + updates)
    blob_rows = {
        "sqlite": 0,
        "postgres": turns + (turns * updates if k is None else len(snapshots)),
        "memory": 3 * turns * updates,
    }[shape.saver]
    values = copies + inputs
    return Sizes(
        checkpoint_rows=turns * shape.checkpoints,
        checkpoint_bytes=_envelope_bytes(shape)
        + {"sqlite": values, "postgres": len(snapshots) * _MARKER, "memory": 0}[shape.saver],
        metadata_bytes=_metadata_bytes(shape, k, len(snapshots)),
        blob_rows=blob_rows,
        blob_bytes=0 if shape.saver == "sqlite" else values,
        write_rows=turns * (2 * shape.nodes + 1),
        write_bytes=writes,
    )


def _plain_copies(shape: _Shape) -> int:
    turns, per_turn = shape.turns, shape.updates + (shape.saver == "sqlite")
    before = shape.turn_bytes * per_turn * turns * (turns - 1) // 2
    inside = turns * (shape.updates * shape.human + shape.ai * shape.nodes * shape.updates // 2)
    return before + inside + (3 + _key(shape, "messages")) * turns * per_turn


def _envelope_bytes(shape: _Shape) -> int:
    """Checkpoints without their messages, of all turns; in the first, fewer channels have a version yet."""
    size: Callable[[Any], int] = _json if shape.saver == "postgres" else _packed
    first, later = (sum(map(size, _envelopes(shape, first))) for first in (True, False))
    return first + (shape.turns - 1) * later


def _envelopes(shape: _Shape, first: bool) -> Iterator[dict[str, Any]]:
    """The checkpoints of one turn as `put` gets them, channel values left out."""
    nodes = [f"node_{node}" for node in range(1, shape.nodes + 1)]
    branches = [f"branch:to:{node}" for node in nodes]
    for at in range(shape.checkpoints):
        started = not first or at > 0
        versions = ["__start__", *(["messages", *branches[: at if first else None]] if started else [])]
        ran = nodes[: max(0, at - 1) if first else None]
        seen = {"__start__": {"__start__": _VERSION}} if started else {}
        seen |= {node: {f"branch:to:{node}": _VERSION} for node in ran}
        branch = branches[at - 1 : at] if at else []
        envelope = {
            "v": 4,
            "ts": _TIME,
            "id": _ID,
            "channel_versions": dict.fromkeys(versions, _VERSION),
            "versions_seen": {"__input__": {}, **seen},
            "updated_channels": [*branch, "messages"] if at else ["__start__"],
        }
        yield envelope if shape.saver == "memory" else envelope | {"channel_values": dict.fromkeys(branch)}


def _metadata_bytes(shape: _Shape, k: int | None, snapshots: int) -> int:
    """Metadata of all turns; a delta channel's counters are in it, except beside a snapshot."""
    size: Callable[[Any], int] = _packed if shape.saver == "memory" else _json
    total = shape.turns * shape.checkpoints
    counters = [min(k or 0, total) // 2] * 2
    plain = {"source": "loop", "step": total // 2, "parents": {}}
    counted = plain | {"counters_since_delta_snapshot": {"messages": counters}}
    with_counters = 0 if k is None else total - snapshots
    return shape.turns + with_counters * size(counted) + (total - with_counters) * size(plain)


def _restore(shape: _Shape, k: int | None, snapshots: list[tuple[int, int]]) -> Restore:
    total = shape.turns * shape.checkpoints
    seed, seed_checkpoint = snapshots[-1] if snapshots else (0, 1)
    statements, rows = {"sqlite": (2, 1), "postgres": (1, 1), "memory": (0, 2)}[shape.saver]
    if k is None or seed_checkpoint == total:
        return Restore(statements, rows + (shape.saver == "memory"))
    deltas = shape.turns * shape.updates - seed
    chain = total - seed_checkpoint
    if shape.saver == "sqlite":
        return Restore(statements + 2, rows + 1 + chain + deltas)
    if shape.saver == "memory":
        # A snapshot that ends a turn is still the channel's version at the next input's checkpoint.
        shared = bool(seed) and seed_checkpoint % shape.checkpoints == 0
        return Restore(0, rows + chain - shared + deltas + bool(seed))
    pages = (chain if seed else total) // POSTGRES_PAGE + 1
    return Restore(statements + pages + 1, rows + min(total, pages * POSTGRES_PAGE) + deltas + bool(seed))


def _key(shape: _Shape, channel: str) -> int:
    """Bytes of a channel's name beside its value: inline values have one, blobs are named by their row."""
    return _packed(channel) if shape.saver == "sqlite" else 0


def _list_header(items: int) -> int:
    return 1 if items < 16 else 3 if items < 65536 else 5


def _packed(value: Any) -> int:
    """Bytes of a value as the savers serialise it."""
    return len(JsonPlusSerializer().dumps_typed(value)[1])


def _json(value: Any) -> int:
    """Bytes of a value as JSONB prints it."""
    return len(json.dumps(value, ensure_ascii=False))
