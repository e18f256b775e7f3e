import json
import sqlite3
from typing import Annotated, TypedDict

import pytest
import typer
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from typer.testing import CliRunner

from runbook_lib.checkpoints import inspect
from runbook_lib.checkpoints.command import inspect as inspect_command

CONFIG = {"configurable": {"thread_id": "t"}}


def append(state, writes):
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict, total=False):
    log: Annotated[list, DeltaChannel(append, snapshot_frequency=4)]
    files: dict
    note: str


def grow(saver, turns=5, **invoke):
    builder = StateGraph(State)
    builder.add_node("n", lambda state: {"log": ["n" * 50], "files": {"a": "x" * 2000}, "note": "hello"})
    builder.add_edge(START, "n")
    builder.add_edge("n", END)
    graph = builder.compile(checkpointer=saver)
    for turn in range(turns):
        graph.invoke({"log": [str(turn)]}, CONFIG, **invoke)
    return graph


def channels(found):
    return {use.channel: use for use in found.channels}


def test_delta_and_plain_channels_are_told_apart(store, kind):
    grow(store.saver)
    found = inspect(store.saver, "t")
    log, files = channels(found)["log"], channels(found)["files"]
    assert (log.full_copies, log.snapshots, log.deltas) == (0, 2, 10)
    assert log.replayed_writes == 2
    assert log.newest_snapshot_step == 10
    assert files.replayed_writes is None
    assert files.full_copies == (13 if kind == "sqlite" else 5)
    assert found.channels[0].channel == "files"
    assert found.sizes == store.tables.sizes("t")


def test_replay_length_is_what_a_restore_replays(store, monkeypatch):
    replayed = []
    original = DeltaChannel.replay_writes
    monkeypatch.setattr(
        DeltaChannel, "replay_writes", lambda self, writes: (replayed.append(len(writes)), original(self, writes))[1]
    )
    for turns in (1, 1, 3):
        graph = grow(store.saver, turns)
        replayed.clear()
        graph.get_state(CONFIG)
        assert channels(inspect(store.saver, "t"))["log"].replayed_writes == sum(replayed)


def test_a_fork_counts_its_own_branch(store):
    graph = grow(store.saver, 1)
    base = graph.get_state(CONFIG).config
    graph.invoke({"log": ["left"]}, CONFIG)
    fork = graph.update_state(base, {"log": ["right"]}, as_node="n")
    assert graph.get_state(fork).values["log"][-1] == "right"
    assert channels(inspect(store.saver, "t"))["log"].replayed_writes == 0


def test_every_channels_bytes_are_in_the_total(store):
    grow(store.saver)
    found = inspect(store.saver, "t")
    payload = sum(use.bytes for use in found.channels)
    assert found.sizes.bytes - found.sizes.metadata_bytes >= payload
    assert payload > 0.5 * found.sizes.bytes


def test_subgraph_calls_are_added_up(store):
    inner = StateGraph(State)
    inner.add_node("x", lambda state: {"log": ["x"]})
    inner.add_edge(START, "x")
    outer = StateGraph(State)
    outer.add_node("sub", inner.compile())
    outer.add_edge(START, "sub")
    graph = outer.compile(checkpointer=store.saver)
    for turn in range(3):
        graph.invoke({"log": [str(turn)]}, CONFIG)
    names = {(use.namespace, use.channel) for use in inspect(store.saver, "t").channels}
    assert {("", "log"), ("sub", "log")} <= names
    assert all(":" not in namespace for namespace, _ in names)


def test_text_names_every_channel(store):
    grow(store.saver)
    text = str(inspect(store.saver, "t"))
    assert text.splitlines()[0].startswith("thread t: ")
    assert all(word in text for word in ("log", "files", "note", "snapshots", "replayed writes"))


def test_unknown_thread_names_those_that_exist(store):
    grow(store.saver, 1)
    with pytest.raises(KeyError, match="'t'"):
        inspect(store.saver, "elsewhere")


def test_other_savers_are_refused():
    with pytest.raises(TypeError, match="path or URL"):
        inspect(object(), "t")


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(inspect_command)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def file(tmp_path):
    from langgraph.checkpoint.sqlite import SqliteSaver

    path = tmp_path / "kept.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        grow(saver)
    return path


def test_command_prints_table_and_json(run, file):
    assert "log" in run(file, "t").output
    printed = json.loads(run(file, "t", "--json").output)
    assert {channel["channel"] for channel in printed["channels"]} >= {"log", "files"}
    assert "1 threads" in run(file).output
    assert json.loads(run(file, "--json").output)[0]["thread_id"] == "t"


def test_command_changes_nothing(run, file):
    before = file.read_bytes()
    assert run(file, "t").exit_code == 0
    assert file.read_bytes() == before


def test_command_runs_nothing_that_is_stored(run, file):
    import ormsgpack

    touched = file.parent / "touched"
    bomb = ormsgpack.packb(["pathlib", "Path", [str(touched)], None, "touch"])
    packed = ormsgpack.packb(
        {"v": 4, "id": "z", "channel_values": {"log": ormsgpack.Ext(1, bomb)}, "channel_versions": {}}
    )
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO checkpoints VALUES ('evil', '', 'z', NULL, 'msgpack', ?, '{}')", (packed,))
    connection.close()
    assert "log" in run(file, "evil").output
    assert not touched.exists()


def test_command_counts_values_it_cannot_read(run, file):
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE checkpoints SET type = 'msgpack+aes'")
    connection.close()
    assert "?" in run(file, "t").output


def test_command_explains_what_is_wrong(run, file, tmp_path):
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).close()
    noise = tmp_path / "noise"
    noise.write_text("not a database " * 100)
    for words, reason in (
        ((tmp_path / "none",), "no database"),
        ((other,), "no LangGraph checkpoints"),
        ((noise,), "could not be read"),
        ((file, "nobody"), "no checkpoints of thread"),
        (("postgresql://me:s3cret@127.0.0.1:1/none",), "could not be read"),
    ):
        result = run(*words)
        assert result.exit_code == 1
        assert reason in result.output
        assert "s3cret" not in result.output
        assert "Traceback" not in result.output


def test_command_reads_postgres(run):
    from langgraph.checkpoint.postgres import PostgresSaver

    from runbook_lib.checkpoints import PostgresUnavailable
    from runbook_lib.checkpoints._postgres import postgres_schema

    try:
        with postgres_schema() as where, PostgresSaver.from_conn_string(where) as saver:
            saver.setup()
            grow(saver)
            printed = json.loads(run(where, "t", "--json").output)
            assert printed["sizes"]["write_rows"] == inspect(saver, "t").sizes.write_rows > 0
    except PostgresUnavailable as reason:
        pytest.skip(str(reason))


def test_the_room_offers_what_it_lists_and_the_command_loads_nothing_heavy():
    import subprocess
    import sys

    import runbook_lib.checkpoints as room

    assert sorted(room.__all__) == room.__all__
    assert all(getattr(room, name) is not None for name in room.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = room.nothing
    script = "import sys, runbook_lib.checkpoints.command; sys.exit('langgraph' in ' '.join(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
