"""`crash`: a process that holds a conversation is killed between two writes; what does the store hold then?"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer

from runbook_lib.checkpoints._conversation import Conversation
from runbook_lib.checkpoints._postgres import postgres_schema

_TALK = Conversation(message_bytes=200, nodes=2)


@dataclass(frozen=True, slots=True)
class Crash:
    """One kill: before which call of the saver, the turns whose `invoke` had returned, and what was read after.

    `kept` is the number of messages read back, `whole` says that they are the conversation's first messages,
    unchanged, `resumed` that the run went on from there to the full conversation.
    """

    call: int
    turns_returned: int
    kept: int
    whole: bool
    resumed: bool

    @property
    def safe(self) -> bool:
        """Whether nothing that had returned was lost, nothing half-written was read, and the thread goes on."""
        return self.whole and self.resumed and self.kept >= self.turns_returned * (_TALK.nodes + 1)


def crash(kind: Literal["sqlite", "postgres"], calls: Sequence[int], *, k: int = 4) -> list[Crash]:
    """Kill a process with SIGKILL before each of the given calls of its saver, a new thread each time.

    The graph has a `DeltaChannel` and `durability="sync"`. Processes are forked from a parent that has
    LangGraph loaded. Raises `PostgresUnavailable` with the reason where PostgreSQL cannot run.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with _database(kind) as where:
        return [_kill_one(context, kind, where, call, k) for call in calls]


def _kill_one(context: Any, kind: str, where: str, call: int, k: int) -> Crash:
    config: RunnableConfig = {"configurable": {"thread_id": f"killed at {call}"}}
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_talk_until_killed, args=(sender, kind, where, config, call, k))
    process.start()
    sender.close()
    process.join()
    returned = sum(1 for _ in _received(receiver))
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"the process ended with {process.exitcode} before call {call}: it made fewer calls")
    return _look(kind, where, config, call, k, returned)


def _talk_until_killed(sender: Connection, kind: str, where: str, config: RunnableConfig, call: int, k: int) -> None:
    with _saver(kind, where) as saver:
        left = iter(range(call - 1))

        def killing(method: Any) -> Any:
            def called(*arguments: Any, **options: Any) -> Any:
                if next(left, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                return method(*arguments, **options)

            return called

        saver.put, saver.put_writes = killing(saver.put), killing(saver.put_writes)
        graph = _graph(saver, k)
        for turn in range(1, call + 2):
            graph.invoke({"messages": [_TALK.question(turn)]}, config, durability="sync")
            sender.send(turn)


def _look(kind: str, where: str, config: RunnableConfig, call: int, k: int, returned: int) -> Crash:
    with _saver(kind, where) as saver:
        graph = _graph(saver, k)
        state = graph.get_state(config)
        kept = state.values.get("messages", [])
        turn = returned + 1
        expected = [message for each in range(1, turn + 1) for message in _TALK.turn(each)]
        went_on = graph.invoke(None if state.next else {"messages": [_TALK.question(turn)]}, config)
        return Crash(call, returned, len(kept), kept == expected[: len(kept)], went_on["messages"] == expected)


def _graph(saver: Any, k: int) -> Any:
    reducer: Any = _messages_delta_reducer
    return _TALK.graph(DeltaChannel(reducer, snapshot_frequency=k), saver)


def _received(receiver: Connection) -> Iterator[int]:
    with receiver:
        while True:
            try:
                yield receiver.recv()
            except EOFError:
                return


@contextmanager
def _database(kind: str) -> Iterator[str]:
    if kind == "postgres":
        with postgres_schema() as where:
            yield where
    else:
        with tempfile.TemporaryDirectory(prefix="runbook-") as folder:
            yield str(Path(folder) / "killed.sqlite")


@contextmanager
def _saver(kind: str, where: str) -> Iterator[Any]:
    if kind == "postgres":
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(where) as postgres:
            postgres.setup()
            yield postgres
    else:
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        with closing(sqlite3.connect(where, check_same_thread=False)) as connection:
            yield SqliteSaver(connection)
