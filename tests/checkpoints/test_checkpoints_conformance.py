"""The lab's savers, counting cursors and all, against LangGraph's own conformance suite."""

import asyncio

import pytest

from runbook_lib.checkpoints import aopen_store

pytestmark = pytest.mark.drill


def test_counted_savers_conform(kind):
    conformance = pytest.importorskip(
        "langgraph.checkpoint.conformance", reason="needs langgraph-checkpoint-conformance (runbook test --all)"
    )

    @conformance.checkpointer_test(name=kind)
    async def counted():
        async with aopen_store(kind) as store:
            yield store.saver

    report = asyncio.run(conformance.validate(counted))
    failures = [
        f"{capability}: {failure}" for capability, each in report.results.items() for failure in each.failures or ()
    ]
    assert report.passed_all_base(), failures
    assert failures == []
