"""Helpers for v2 parts, on real streams of real graphs."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from runbook_lib.model import call, chat_model, drop, say
from runbook_lib.streaming import fold_messages, group_by_origin, origin, part_keys, shape

QUESTION = {"messages": [("user", "q")]}
MODES = ["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug"]


class State(TypedDict, total=False):
    messages: Annotated[list[Any], add_messages]


@tool
def read(path: str) -> str:
    """Read."""
    return "text of " + path


def agent(name: str = "reader") -> Any:
    model = chat_model([call("read", path="/a"), say("Hello there.")])
    return create_agent(model, [read], name=name)


def parts_of(graph: Any, mode: Any = "messages", **options: Any) -> list[Any]:
    return list(graph.stream(QUESTION, stream_mode=mode, version="v2", **options))


def graph_of(**nodes: Any) -> Any:
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
    return builder.compile()


def test_folded_messages_are_the_run_s_messages_once() -> None:
    graph = agent()
    parts = parts_of(graph, ["messages", "values"])
    final = [part["data"]["messages"] for part in parts if part["type"] == "values"][-1]
    spoken = fold_messages(parts)
    assert [each.message.id for each in spoken] == [message.id for message in final[1:]]
    assert [each.message.text for each in spoken] == ["", "text of /a", "Hello there."]
    assert [type(each.message) for each in spoken] == [AIMessage, ToolMessage, AIMessage]
    assert spoken[0].message.tool_calls == final[1].tool_calls
    assert {(each.agent, each.ns) for each in spoken} == {("reader", ())}
    assert [each.node for each in spoken] == ["model", "tools", "model"]


def test_subgraphs_are_told_apart_by_origin() -> None:
    parts = parts_of(graph_of(left=agent("left agent"), right=agent("right agent")), subgraphs=True)
    groups = group_by_origin(parts)
    assert sorted(origin(part) for part in {ns: group[0] for ns, group in groups.items()}.values()) == [
        ("left",), ("right",),
    ]  # fmt: skip
    for group in groups.values():
        assert fold_messages(group)[-1].message.text == "Hello there."
    assert {each.agent for each in fold_messages(parts)} == {"left agent", "right agent"}


def test_root_origin_is_empty_and_task_ids_are_cut() -> None:
    assert origin({"ns": ()}) == ()
    assert origin({"ns": ["tools:20b0:b2e7", "model"]}) == ("tools", "model")


def test_messages_without_an_id_stay_apart() -> None:
    parts = parts_of(graph_of(n=lambda state: {"messages": [AIMessage("one"), AIMessage("two")]}))
    assert [each.message.text for each in fold_messages(parts)] == ["one", "two"]
    loose = [{"type": "messages", "ns": (), "data": (AIMessageChunk(text), {})} for text in ("a", "b")]
    assert [each.message.text for each in fold_messages(loose)] == ["a", "b"]


def test_broken_stream_gives_what_was_said() -> None:
    model = chat_model([drop(3, say("a b c d e", pieces=["a ", "b ", "c d e"]))])
    stream = graph_of(n=lambda state: {"messages": [model.invoke("q")]}).stream(
        QUESTION, stream_mode="messages", version="v2"
    )
    heard = [next(stream) for _ in range(3)]
    with pytest.raises(Exception, match="onnection"):
        list(stream)
    assert fold_messages(heard)[0].message.text in ("a b ", "a b c d e"), [part["data"][0] for part in heard]


def test_whole_message_after_its_chunks_replaces_them() -> None:
    chunks = [AIMessageChunk(text, id="m") for text in ("He", "llo")]
    parts = [{"type": "messages", "ns": (), "data": (each, {})} for each in [*chunks, AIMessage("Hello", id="m")]]
    [spoken] = fold_messages(parts)
    assert (type(spoken.message), spoken.message.text) == (AIMessage, "Hello")
    assert fold_messages(reversed(parts))[0].message.text == "Hello"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y"]), st.text(max_size=3)), max_size=20))
def test_folding_keeps_every_character_in_its_message(said: list[tuple[str, str, str]]) -> None:
    parts = [{"type": "messages", "ns": (ns,), "data": (AIMessageChunk(text, id=id), {})} for ns, id, text in said]
    expected: dict[tuple[str, str], str] = {}
    for ns, id, text in said:
        expected[ns, id] = expected.get((ns, id), "") + text
    assert {(each.ns[0], each.message.id): each.message.text for each in fold_messages(parts)} == expected


def test_part_keys_of_every_mode() -> None:
    keys = part_keys(parts_of(agent(), [mode for mode in MODES if mode not in ("checkpoints", "custom")]))
    assert keys.pop("values") == ("type", "ns", "data", "interrupts")
    assert set(keys) == {"updates", "messages", "tasks", "debug"}
    assert set(keys.values()) == {("type", "ns", "data")}


def test_shape() -> None:
    assert shape((("a:1",), "updates", {"n": {"x": 1}}), 2) == "((str), str, {n: dict})"
    assert shape((AIMessageChunk("hi"), {str(key): key for key in range(8)}), 2) == (
        "(AIMessageChunk, {0: int, 1: int, 2: int, 3: int, 4: int, 5: int, … 2 more})"
    )
    assert shape(AIMessage("hi").text) == "str"
    assert shape([HumanMessage("q")]) == "list"
