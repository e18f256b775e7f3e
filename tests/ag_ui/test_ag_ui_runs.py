"""Framed runs: cancelling, closing, several at once, nested scopes, secrets in errors."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from ag_ui_play import CONFIG
from ag_ui_situations import SEOUL, TOOLS, agent, call, deep, delegating, helper, say, task
from langchain.agents import create_agent
from langchain_core._api import suppress_langchain_beta_warning
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import RunControl
from langgraph.stream._mux import StreamMux

from runbook_lib.ag_ui import OpenUIStreamTransformer, arun_events, check_events, fold_events, run_events
from runbook_lib.model import Answer, chat_model, stall

ASK = {"messages": [{"role": "user", "content": "Hi", "id": "u1"}]}
NEVER = 30.0


async def _gather(events: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event async for event in events]


def _text(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


# -- cancelling ----------------------------------------------------------------------------------------------------

STUCK = stall(2, NEVER, say("one two three"))
stopped: list[str] = []


@tool
async def wait_for_ever() -> str:
    """Waits."""
    try:
        await asyncio.sleep(NEVER)
    except asyncio.CancelledError:
        stopped.append("tool")
        raise
    return "never"


@pytest.mark.parametrize(
    ("build", "moment", "kinds"),
    [
        (agent(STUCK), "TEXT_MESSAGE_CONTENT", ["TEXT_MESSAGE_END"]),
        (agent(call("wait_for_ever"), tools=[wait_for_ever]), "TOOL_CALL_END", []),
        (
            delegating(task("scout", "look"), helpers=lambda: [helper("scout", STUCK)]),
            "TEXT_MESSAGE_CONTENT",
            ["TEXT_MESSAGE_END", "SUBAGENT_ERROR"],
        ),
    ],
    ids=["in-the-model", "in-a-tool", "in-a-subagent"],
)
def test_cancelled_run_closes_what_is_open(build: Callable[[], Any], moment: str, kinds: list[str]) -> None:
    async def run() -> list[dict[str, Any]]:
        cancel = asyncio.Event()
        events = []
        async for event in arun_events(build(), ASK, CONFIG, cancel=cancel):
            events.append(event)
            if event["type"] == moment:
                asyncio.get_running_loop().call_later(0.02, cancel.set)
        return events

    events = asyncio.run(run())
    assert events[-1]["outcome"] == {"type": "cancelled"}
    assert [event["type"] for event in events[-1 - len(kinds) : -1]] == kinds
    assert check_events(events) == []


def test_cancelled_tool_is_really_stopped() -> None:
    stopped.clear()

    async def run() -> None:
        cancel = asyncio.Event()
        async for event in arun_events(
            agent(call("wait_for_ever"), tools=[wait_for_ever])(), ASK, CONFIG, cancel=cancel
        ):
            if event["type"] == "TOOL_CALL_END":
                asyncio.get_running_loop().call_later(0.05, cancel.set)

    asyncio.run(run())
    assert stopped == ["tool"]


@pytest.mark.parametrize("how", ["close the iterator", "cancel the task"])
def test_reader_that_leaves_stops_the_run(how: str) -> None:
    stopped.clear()

    async def read(reading: asyncio.Event) -> None:
        events = arun_events(agent(call("wait_for_ever"), tools=[wait_for_ever])(), ASK, CONFIG)
        async for event in events:
            if event["type"] == "TOOL_CALL_END":
                reading.set()
                if how == "close the iterator":
                    break
        await events.aclose()

    async def run() -> None:
        reading = asyncio.Event()
        reader = asyncio.create_task(read(reading))
        await reading.wait()
        await asyncio.sleep(0.05)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)

    asyncio.run(run())
    assert stopped == (["tool"] if how == "cancel the task" else [])


def test_closed_sync_iterator_asks_the_model_no_more() -> None:
    asked: list[Any] = []
    graph = agent(SEOUL, say("never asked for"), model={"on_request": asked.append})()
    events = run_events(graph, ASK, CONFIG)
    assert any(event["type"] == "TOOL_CALL_START" for event in events)
    events.close()
    assert len(asked) == 1


def test_drained_run_is_cancelled_between_supersteps() -> None:
    control = RunControl()
    events = []
    for event in run_events(agent(SEOUL, say("never"))(), ASK, CONFIG, control=control):
        events.append(event)
        if event["type"] == "TOOL_CALL_END":
            control.request_drain()
    assert events[-1]["outcome"] == {"type": "cancelled"}
    assert check_events(events) == []


# -- several at once, nested scopes ----------------------------------------------------------------------------------


def _echo(conversation: Any) -> Answer:
    return say(f"You said {conversation.user_texts[-1]}.")


def _asking(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"messages": [{"role": "user", "content": name}]}, {"configurable": {"thread_id": name}}


def test_concurrent_async_runs_on_one_graph_do_not_mix() -> None:
    graph = create_agent(chat_model(_echo), [], checkpointer=InMemorySaver())

    async def run() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*(_gather(arun_events(graph, *_asking(f"n{n}"))) for n in range(8)))

    for number, events in enumerate(asyncio.run(run())):
        assert _text(events) == f"You said n{number}."
        assert events[0]["threadId"] == events[-1]["threadId"] == f"n{number}"
        assert check_events(events) == []


def test_concurrent_sync_runs_on_one_graph_do_not_mix() -> None:
    graph = create_agent(chat_model(_echo), [], checkpointer=InMemorySaver())
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda n: list(run_events(graph, *_asking(f"n{n}"))), range(8)))
    assert [_text(events) for events in runs] == [f"You said n{number}." for number in range(8)]


def test_nested_scope_has_its_own_stream() -> None:
    """A handle of a subgraph carries its own instance, for which the subgraph is the root."""
    graph = StateGraph(MessagesState)
    graph.add_node("assistant", create_agent(chat_model([SEOUL, say("Sunny.")]), TOOLS))
    graph.add_edge(START, "assistant")
    with suppress_langchain_beta_warning():
        run = graph.compile().stream_events(ASK, version="v3", transformers=[OpenUIStreamTransformer])
    (inner,) = [list(child.extensions["openui"]) for child in run.subgraphs]
    assert _text(inner) == "Sunny."
    assert {event["type"] for event in inner} >= {"TOOL_CALL_START", "TOOL_CALL_RESULT"}
    assert not any("subagentRunId" in event for event in inner)


def test_graph_compiled_with_the_transformer() -> None:
    graph = create_agent(chat_model([say("Hello.")]), [], transformers=[OpenUIStreamTransformer])
    assert _text(list(run_events(graph, ASK))) == "Hello."


@pytest.mark.parametrize("given", ["Hi", ("user", "Hi"), [("user", "Hi")], {"role": "user", "content": "Hi"}])
def test_every_message_gets_an_id(given: Any) -> None:
    graph = deep(say("Hello."))()
    assert list(run_events(graph, {"messages": given}, CONFIG))[-1]["type"] == "RUN_FINISHED"
    assert all(message.id for message in graph.get_state(CONFIG).values["messages"])


def test_run_id_and_thread_id_are_named() -> None:
    thread = str(uuid4())
    events = list(run_events(agent(say("Hello."))(), ASK, {"configurable": {"thread_id": thread}}, run_id="r1"))
    assert {(e["threadId"], e["runId"]) for e in (events[0], events[-1])} == {(thread, "r1")}


# -- secrets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret",
    [
        "environment-value-1",
        "sk-proj-abcDEF1234567890",
        "sk-ant-api03-abcdef",
        "lsv2_pt_0123456789abcdef",
        "Bearer abc.def-123456",
    ],
)
@pytest.mark.parametrize("inside", [False, True], ids=["agent", "subagent"])
def test_no_key_in_an_error(secret: str, inside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "environment-value-1")

    @tool
    def leak() -> str:
        """Fails and quotes its request."""
        raise RuntimeError(f"401 for Authorization: {secret}, check it")

    alone = agent(call("leak"), tools=[leak])
    helped = delegating(task("scout", "look"), helpers=lambda: [helper("scout", call("leak"), tools=[leak])])
    events = list(run_events((helped if inside else alone)(), ASK, CONFIG))
    errors = [event for event in events if event["type"] in ("RUN_ERROR", "SUBAGENT_ERROR")]
    assert len(errors) == 1 + inside
    for error in errors:
        assert secret not in error["message"]
        assert "check it" in error["message"]
        assert "[redacted]" in error["message"]


# -- a snapshot while other messages are on their way ------------------------------------------------------------------


def _retry_beside_a_finished_call() -> list[dict[str, Any]]:
    """Protocol events of two parallel tasks: one ends its message with a call, then the other is retried."""

    def message(task: str, run: str, *payloads: dict[str, Any]) -> list[Any]:
        metadata = {"run_id": run, "langgraph_node": "model", "langgraph_checkpoint_ns": f"model:{task}"}
        start = {"event": "message-start", "id": f"m-{run}", "role": "ai"}
        return [("messages", (payload, metadata)) for payload in (start, *payloads)]

    half = {"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": "half"}}
    called = {"type": "tool_call", "id": "A", "name": "weather", "args": {"city": "Seoul"}}
    finish = [{"event": "content-block-finish", "index": 0, "content": called}, {"event": "message-finish"}]
    events = [
        ("values", {"messages": [HumanMessage("Hi", id="u")]}),
        *message("1", "calling", *finish),
        *message("2", "broken", half),
        *message("2", "again", half),
    ]
    return [{"method": m, "params": {"namespace": [], "timestamp": 1, "data": data}} for m, data in events]


def test_snapshot_keeps_a_call_whose_task_has_not_ended() -> None:
    mux = StreamMux(factories=[OpenUIStreamTransformer])
    source = iter(_retry_beside_a_finished_call())
    mux.bind_pump(lambda: any(mux.push(event) is None for event in itertools.islice(source, 1)))
    messages = {message["id"]: message for message in fold_events(mux.extensions["openui"])}
    assert messages["m-calling"]["toolCalls"][0]["function"]["arguments"] == '{"city": "Seoul"}'
    assert messages["m-again"]["content"] == "half"
    assert "m-broken" not in messages
