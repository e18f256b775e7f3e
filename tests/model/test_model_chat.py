"""Scripts through a real ChatOpenAI: sync and async, streamed and not, text and tool calls."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from runbook_lib.model import Conversation, Turn, call, chat_model, ending, raw, say


@tool
def get_weather(city: str) -> str:
    """Get the weather."""
    return "sunny"


def merged(chunks: list[Any]) -> AIMessageChunk:
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk
    assert isinstance(total, AIMessageChunk)
    return total


async def streamed(model: ChatOpenAI, text: str = "Hi") -> list[Any]:
    return [chunk async for chunk in model.astream(text)]


def every_way(model: ChatOpenAI, text: str = "Hi") -> list[AIMessage]:
    """The same question asked in the five ways a ChatOpenAI can be asked."""
    plain = model.model_copy(update={"streaming": False})
    return [
        model.invoke(text),
        merged(list(model.stream(text))),
        asyncio.run(model.ainvoke(text)),
        merged(asyncio.run(streamed(model, text))),
        plain.invoke(text),
    ]


def facts(message: AIMessage) -> Any:
    calls = [(made["name"], made["args"], made["id"]) for made in message.tool_calls]
    return message.text, calls, message.response_metadata["finish_reason"], message.usage_metadata


def test_text_is_the_same_in_every_way_of_asking() -> None:
    found = [facts(message) for message in every_way(chat_model([say("It is sunny, 24 °C.")]))]
    assert found[0][:3] == ("It is sunny, 24 °C.", [], "stop")
    assert all(one == found[0] for one in found)


def test_a_tool_call_is_the_same_in_every_way_of_asking() -> None:
    script = [say("Let me look.") + call("get_weather", {"city": "서울"}, id="call_1")]
    found = [facts(message) for message in every_way(chat_model(script))]
    assert found[0][:3] == ("Let me look.", [("get_weather", {"city": "서울"}, "call_1")], "tool_calls")
    assert all(one == found[0] for one in found)


def test_the_number_of_assistant_messages_picks_the_turn() -> None:
    model = chat_model([call("get_weather", city="Seoul"), say("Sunny."), say("Rain.")]).bind_tools([get_weather])
    history: list[Any] = [HumanMessage("Weather?")]
    first = model.invoke(history)
    result = ToolMessage("sunny", tool_call_id=first.tool_calls[0]["id"])
    history += [first, result]
    assert model.invoke(history).text == model.invoke(history).text == "Sunny."
    history += [model.invoke(history), HumanMessage("And now?")]
    assert model.invoke(history).text == "Rain."


def test_a_script_that_has_run_out_says_so() -> None:
    with pytest.raises(Exception, match=r"turn 3 was asked for, 2 scripted"):
        chat_model([say("a"), say("b")]).invoke([("user", "1"), ("ai", "a"), ("user", "2"), ("ai", "b"), ("user", "3")])


def test_a_mapping_keeps_conversations_apart() -> None:
    model = chat_model({"research": [say("Found.")], "research paper": [say("Read.")], "": [say("Main.")]})
    assert model.invoke("Do research on tides").text == "Found."
    assert model.invoke("A research paper on tides").text == "Read."
    assert model.invoke([("user", "Hello"), ("user", "research")]).text == "Main."
    with pytest.raises(Exception, match="No key of the script"):
        chat_model({"research": [say("Found.")]}).invoke("Hello")


def test_a_function_sees_the_conversation() -> None:
    def script(conversation: Conversation) -> Turn:
        return say(f"{conversation.turn} {conversation.tools} {conversation.user_texts}")

    model = chat_model(script).bind_tools([get_weather])
    assert model.invoke([("user", "a"), ("ai", "b"), ("user", "c")]).text == "1 ['get_weather'] ['a', 'c']"


def test_equal_conversations_get_equal_bytes_and_others_do_not() -> None:
    def answered(text: str) -> bytes:
        body: list[bytes] = []
        model = chat_model([call("f", x=1)], chunking=lambda whole: body.append(whole) or [whole])
        model.invoke(text)
        return body[0]

    assert answered("Hi") == answered("Hi")
    assert (
        json.loads(answered("Hi").split(b"\n\n")[0][6:])["id"] != json.loads(answered("Ho").split(b"\n\n")[0][6:])["id"]
    )


def test_pieces_cut_text_and_arguments_exactly() -> None:
    texts = [chunk.text for chunk in chat_model([say("Hello", pieces=["He", "", "llo"])]).stream("Hi")]
    assert texts[:4] == ["", "He", "", "llo"]
    assert "".join(texts[4:]) == ""
    assert [chunk.text for chunk in chat_model([say("Hello", pieces=2)]).stream("Hi")][1:3] == ["He", "llo"]
    assert [chunk.text for chunk in chat_model([say("Hello", pieces="whole")]).stream("Hi")][1] == "Hello"
    model = chat_model([call("f", '{"q": 1}', pieces=['{"q"', ": 1}"])])
    assert [made["args"] for chunk in model.stream("Hi") for made in chunk.tool_call_chunks] == ["", '{"q"', ": 1}"]
    with pytest.raises(ValueError, match="do not join"):
        say("Hello", pieces=["He"])
    with pytest.raises(ValueError, match="one piece or more"):
        say("Hello", pieces=0)


def order(answer: Any) -> list[list[tuple[int | None, str | None, str | None]]]:
    """What each streamed chunk has of each call: index, id, arguments; chunks without any are left out."""
    chunks = chat_model([answer]).stream("Hi")
    parts = [[(made["index"], made["id"], made["args"]) for made in chunk.tool_call_chunks] for chunk in chunks]
    return [part for part in parts if part]


A = call("a", "12", id="A", pieces=["1", "2"])
B = call("b", "34", id="B", pieces=["3", "4"])
C = call("c", "5", id="C", pieces="whole")


def test_plus_sends_calls_one_after_the_other() -> None:
    assert order(A + B) == [
        [(0, "A", "")],
        [(0, None, "1")],
        [(0, None, "2")],
        [(1, "B", "")],
        [(1, None, "3")],
        [(1, None, "4")],
    ]


def test_bar_interleaves_any_number_of_calls() -> None:
    first, second = [[(0, "A", "")], [(1, "B", "")], [(2, "C", "5")]], [[(0, None, "1")], [(1, None, "3")]]
    assert order(A | B | C) == [*first, *second, [(0, None, "2")], [(1, None, "4")]]


def test_ampersand_puts_pieces_of_both_into_each_chunk() -> None:
    assert order(A & B)[1] == [(0, None, "1"), (1, None, "3")]
    whole = call("a", "1", id="A", pieces="whole") & call("b", "2", id="B", pieces="whole")
    assert order(whole) == [[(0, "A", "1"), (1, "B", "2")]]


def test_text_and_call_meet_in_one_delta() -> None:
    look = say("Let me ") + (say("look.", pieces="whole") & call("f", q=1, id="A"))
    meeting = [chunk for chunk in chat_model([look]).stream("Hi") if chunk.text and chunk.tool_call_chunks]
    assert [(chunk.text, chunk.tool_call_chunks[0]["id"]) for chunk in meeting] == [("look.", "A")]
    back = chat_model([call("f", q=1, id="A") + say("Let me look.")]).invoke("Hi")
    assert (back.text, back.tool_calls[0]["args"], back.response_metadata["finish_reason"]) == (
        "Let me look.",
        {"q": 1},
        "tool_calls",
    )


def entry(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [fields]}


def f(arguments: str | None, name: str | None = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


WHOLE = entry(index=0, id="A", function=f('{"q": 1}', "f"))
SHAPES: dict[str, list[dict[str, Any]]] = {
    "name is empty in every fragment": [
        entry(index=0, id="A", function=f("", "f")), entry(index=0, id="", function=f('{"q"', "")),
        entry(index=0, id="", function=f(": 1}", "")),
    ],
    "no index": [entry(id="A", type="function", function=f('{"q": 1}', "f"))],
    "id in every fragment": [
        entry(index=0, id="A", function=f("", "f")),
        entry(index=0, id="A", function=f('{"q":1}')),
    ],
    "role and call in one delta": [{"role": "assistant", **WHOLE}],
    "whole chunk with the end in it": [{"choices": [{"index": 0, "delta": WHOLE, "finish_reason": "tool_calls"}]}],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_raw_deltas_are_sent_as_they_are(shape: str) -> None:
    sent: list[bytes] = []
    model = chat_model([raw(*SHAPES[shape])], chunking=lambda whole: sent.append(whole) or [whole])
    message = model.invoke("Hi")
    assert [(made["name"], made["args"]) for made in message.tool_calls] == [("f", {"q": 1})]
    assert message.response_metadata["finish_reason"] == "tool_calls"
    assert sent[0].count(b'"finish_reason":"') == 1
    first = json.loads(sent[0].split(b"\n\n")[0].removeprefix(b"data: "))
    given_first = SHAPES[shape][0]
    assert (
        first["choices"] == given_first["choices"]
        if "choices" in given_first
        else first["choices"][0]["delta"] == given_first
    )


def test_raw_can_repeat_an_index_and_miss_arguments() -> None:
    twice = raw(
        entry(index=0, id="A", function=f('{"q": 1}', "f")), entry(index=0, id="B", function=f('{"q": 2}', "g"))
    )
    assert order(twice) == [[(0, "A", '{"q": 1}')], [(0, "B", '{"q": 2}')]]
    assert order(raw(entry(index=0, id="A", function=f(None, "f")))) == [[(0, "A", None)]]


def test_an_error_object_in_the_middle_of_a_stream_is_an_error() -> None:
    model = chat_model([say("Half") + raw({"error": {"message": "overloaded", "type": "server_error"}})])
    seen: list[str] = []
    with pytest.raises(Exception, match="overloaded"):
        seen.extend(chunk.text for chunk in model.stream("Hi"))
    assert "".join(seen) == "Half"


def test_a_stream_may_end_without_a_finish_reason() -> None:
    message = merged(list(chat_model([ending(None, say("Half"))]).stream("Hi")))
    assert (message.text, message.response_metadata.get("finish_reason")) == ("Half", None)
    assert (
        chat_model([ending("content_filter", say("x"))]).invoke("Hi").response_metadata["finish_reason"]
        == "content_filter"
    )


def test_max_tokens_cuts_text_and_calls() -> None:
    text = every_way(chat_model([say("one two three four")], max_tokens=2))
    assert {(message.text, message.response_metadata["finish_reason"]) for message in text} == {("one two", "length")}
    assert {message.usage_metadata["output_tokens"] for message in text if message.usage_metadata} == {2}
    cut = merged(list(chat_model([call("f", q="long", id="A")], max_tokens=7).stream("Hi")))
    assert (cut.tool_call_chunks[0]["args"], cut.response_metadata["finish_reason"]) == ('{"q": "', "length")


def test_an_empty_answer_is_an_answer() -> None:
    assert [facts(message)[:3] for message in every_way(chat_model([say("")]))] == [("", [], "stop")] * 5


@pytest.mark.parametrize(
    "text", ["👩‍👩‍👧‍👦🇰🇷", "é vs e\u0301", "서울", "\u2028\u2029\x7f", "\ud83d alone", '"\\\n\t\x00']
)
def test_unicode_arrives_unharmed(text: str) -> None:
    for message in every_way(chat_model([say(text) + call("f", {"q": text})])):
        assert (message.text, message.tool_calls[0]["args"]) == (text, {"q": text})


def test_usage_is_estimated_and_a_growing_conversation_is_cached() -> None:
    model = chat_model(lambda conversation: say("Right."))
    history: list[Any] = [("system", "rule " * 3000), ("user", "Hi")]
    first = model.invoke(history).usage_metadata
    assert first
    assert (first["output_tokens"], first["input_token_details"]["cache_read"]) == (3, 0)
    second = model.invoke([*history, ("ai", "Right."), ("user", "And?")]).usage_metadata
    assert second
    cached = second["input_token_details"]["cache_read"]
    assert cached % 128 == 0
    assert first["input_tokens"] - 128 < cached <= first["input_tokens"] < second["input_tokens"]


def test_the_body_names_model_tier_and_fingerprint() -> None:
    metadata = chat_model([say("x")], model="my-model").invoke("Hi").response_metadata
    assert (metadata["model_name"], metadata["service_tier"], metadata["system_fingerprint"]) == (
        "my-model",
        "default",
        "fp_offline",
    )


def test_on_request_sees_each_accepted_request() -> None:
    seen: list[dict[str, Any]] = []
    chat_model([say("x")], on_request=seen.append).bind_tools([get_weather]).invoke("Hi")
    assert [(body["messages"], body["tools"][0]["function"]["name"]) for body in seen] == [
        ([{"role": "user", "content": "Hi"}], "get_weather")
    ]


def test_concurrent_runs_do_not_mix() -> None:
    model = chat_model(lambda conversation: say(conversation.user_texts[0] * 20))
    texts = [f"<{number}>" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert [message.text for message in pool.map(model.invoke, texts)] == [text * 20 for text in texts]

    async def together() -> list[AIMessage]:
        return await asyncio.gather(*map(model.ainvoke, texts))

    assert [message.text for message in asyncio.run(together())] == [text * 20 for text in texts]


def test_async_runs_take_turns() -> None:
    async def watch(model: ChatOpenAI, name: str, seen: list[str], begun: asyncio.Barrier) -> None:
        async for _ in model.astream("Hi"):
            if name not in seen:
                seen.append(name)
                await begun.wait()  # both are under way before either goes on
            seen.append(name)

    async def both() -> list[str]:
        seen: list[str] = []
        model = chat_model([say("x" * 400)])
        begun = asyncio.Barrier(2)
        await asyncio.gather(watch(model, "a", seen, begun), watch(model, "b", seen, begun))
        return seen

    seen = asyncio.run(both())
    assert sum(left != right for left, right in pairwise(seen)) > 20


def test_a_script_that_fails_says_so() -> None:
    def script(conversation: Conversation) -> Turn:
        raise KeyError("city")

    with pytest.raises(openai.InternalServerError, match="script itself failed: KeyError: 'city'"):
        chat_model(script).invoke("Hi")


def test_a_function_that_returns_no_turn_is_told_so() -> None:
    with pytest.raises(openai.InternalServerError, match="'x' is not a turn"):
        chat_model(lambda conversation: "x").invoke("Hi")  # type: ignore[arg-type,return-value]


def test_tokens_of_a_text_are_counted_without_the_web() -> None:
    assert chat_model().get_num_tokens("Hello, world") == 5


def test_script_must_be_turns() -> None:
    with pytest.raises(TypeError, match="list of turns"):
        chat_model(say("x"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list of turns"):
        chat_model(["x"])  # type: ignore[list-item]


words = st.text(st.characters(codec="utf-8"), max_size=30)
answers = st.recursive(
    st.one_of(
        st.builds(lambda text, n: say(text, pieces=n), words, st.integers(1, 5)),
        st.builds(lambda q, n: call("f", {"q": q}, pieces=n), words, st.integers(1, 5)),
        st.builds(lambda q: call("g", {"q": q}, pieces="whole"), words),
    ),
    lambda inner: st.builds(
        lambda a, b, how: a + b if how == 0 else a | b if how == 1 else a & b, inner, inner, st.integers(0, 2)
    ),
    max_leaves=4,
)


def outline(chunks: list[Any]) -> Any:
    total = merged(chunks)
    order_seen = [made["id"] for chunk in chunks for made in chunk.tool_call_chunks if made["id"]]
    return total.text, [(made["name"], made["args"], made["id"]) for made in total.tool_calls], order_seen


@settings(max_examples=20, deadline=None)
@given(answers, st.data())
def test_any_chunking_of_the_bytes_yields_the_same(answer: Any, data: st.DataObject) -> None:
    def cut(whole: bytes) -> list[bytes]:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=30)))
        return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    expected = outline(list(chat_model([answer]).stream("Hi")))
    assert outline(list(chat_model([answer], chunking=cut).stream("Hi"))) == expected
    assert outline(asyncio.run(streamed(chat_model([answer], chunking=cut)))) == expected


def test_a_stream_cut_at_every_byte_yields_the_same() -> None:
    answer = say("서울 👩‍👩‍👧 맑음") + (call("f", q="é", id="A") | call("g", q="\ud83d", id="B"))
    expected = outline(list(chat_model([answer]).stream("Hi")))
    assert outline(list(chat_model([answer], chunking=1).stream("Hi"))) == expected
    assert outline(asyncio.run(streamed(chat_model([answer], chunking=1)))) == expected


def test_the_transport_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", forbidden)
    monkeypatch.setattr("socket.socket.connect", forbidden)
    assert chat_model([say("x")]).invoke("Hi").text == "x"
