"""Requests a real service would refuse are refused, with its status and error shape."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from runbook_lib.model import chat_model, say
from runbook_lib.model._service import Service
from runbook_lib.model._transport import OfflineTransport

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "A", "content": "1"}
TWO_CALLS = {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": "B"}]}


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **function}}


def send(
    method: str = "POST", path: str = "/v1/chat/completions", key: str = "Bearer x", **kwargs: Any
) -> httpx.Response:
    transport = OfflineTransport(Service(lambda conversation: say("Right.")))
    headers = {"Authorization": key} if key else {}
    with httpx.Client(transport=transport, base_url="http://offline.invalid") as client:
        return client.request(method, path, headers=headers, **kwargs)


def ask(*messages: Any, **fields: Any) -> httpx.Response:
    body = {"model": "m", "messages": list(messages), **fields}
    return send(json={name: value for name, value in body.items() if value is not ...})


ACCEPTED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "text": ([USER], {}),
    "every role": ([{"role": "developer", "content": "x"}, {"role": "system", "content": "x"}, USER], {}),
    "content parts": ([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], {}),
    "image part": ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}], {}),
    "call and result": ([USER, CALLS, RESULT], {}),
    "two calls, results in another order": ([USER, TWO_CALLS, {**RESULT, "tool_call_id": "B"}, RESULT, USER], {}),
    "refusal instead of content": ([USER, {"role": "assistant", "refusal": "No."}, USER], {}),
    "tools": ([USER], {"tools": [tool(), tool(name="g", parameters={"type": "object", "properties": {}})]}),
    "limits of ranges": ([USER], {"temperature": 2, "top_p": 0, "max_tokens": 1, "presence_penalty": -2, "n": 1}),
    "nulls": ([USER], {"temperature": None, "tools": None, "tool_choice": None, "stop": None}),
    "other parameters": (
        [USER],
        {"stop": ["x"], "seed": 1, "user": "u", "metadata": {"a": "b"}, "logit_bias": {"1": 2}},
    ),
    "tool choice": ([USER], {"tools": [tool()], "tool_choice": {"type": "function", "function": {"name": "f"}}}),
    "response format": ([USER], {"response_format": {"type": "json_object"}}),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_good_requests_are_answered(case: str) -> None:
    messages, fields = ACCEPTED[case]
    response = ask(*messages, **fields)
    assert (response.status_code, response.json().get("error")) == (200, None)
    assert response.json()["choices"][0]["message"]["content"] == ("Righ" if "max_tokens" in fields else "Right.")


SCHEMA = "tools[0].function.parameters"
NO_TEXT = {"name": "f", "arguments": {}}
REFUSED: dict[str, tuple[list[Any], dict[str, Any], str | None]] = {
    "no model": ([USER], {"model": ...}, "model"),
    "empty model": ([USER], {"model": ""}, "model"),
    "model is a number": ([USER], {"model": 3}, "model"),
    "no messages": ([], {}, "messages"),
    "messages missing": ([], {"messages": ...}, "messages"),
    "messages are a text": ([], {"messages": "Hi"}, "messages"),
    "unknown role": ([USER, {"role": "robot", "content": "x"}], {}, "messages[1].role"),
    "no role": ([{"content": "x"}], {}, "messages[0].role"),
    "message is a text": (["Hi"], {}, "messages[0].role"),
    "content is a number": ([{"role": "user", "content": 3}], {}, "messages[0]"),
    "content missing": ([{"role": "user"}], {}, "messages[0]"),
    "unknown part": ([{"role": "user", "content": [{"type": "smell", "smell": "x"}]}], {}, "messages[0]"),
    "bad part after a good one": (
        [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text"}]}], {}, "messages[0]",
    ),
    "assistant says nothing": ([USER, {"role": "assistant", "content": None}, USER], {}, "messages[1].content"),
    "empty tool calls": ([{"role": "assistant", "content": "x", "tool_calls": []}], {}, "messages[0].tool_calls"),
    "call without id": ([{"role": "assistant", "tool_calls": [{**CALL, "id": None}]}], {}, "messages[0]"),
    "arguments are an object": ([{**CALLS, "tool_calls": [{**CALL, "function": NO_TEXT}]}], {}, "messages[0]"),
    "call without a result": ([USER, CALLS, USER], {}, "messages[2].role"),
    "call at the end": ([USER, CALLS], {}, "messages[2].role"),
    "one of two results": ([USER, TWO_CALLS, RESULT, USER], {}, "messages[3].role"),
    "result without a call": ([USER, RESULT], {}, "messages[1].role"),
    "result of another call": ([USER, CALLS, {**RESULT, "tool_call_id": "Z"}], {}, "messages[2].role"),
    "result after the next turn": ([USER, CALLS, RESULT, USER, RESULT], {}, "messages[4].role"),
    "result without an id": ([USER, CALLS, {"role": "tool", "content": "1"}], {}, "messages[2]"),
    "tool name with a dot": ([USER], {"tools": [tool(), tool(name="a.b")]}, "tools[1].function.name"),
    "tool name with a line break": ([USER], {"tools": [tool(name="a\n")]}, "tools[0].function.name"),
    "tool name too long": ([USER], {"tools": [tool(name="a" * 65)]}, "tools[0].function.name"),
    "tool without a name": ([USER], {"tools": [{"type": "function", "function": {}}]}, "tools[0]"),
    "tool of unknown type": ([USER], {"tools": [{"type": "gadget", "gadget": {"name": "f"}}]}, "tools[0]"),
    "no tools in the list": ([USER], {"tools": []}, "tools"),
    "tools are an object": ([USER], {"tools": {}}, "tools"),
    "schema is not one": ([USER], {"tools": [tool(parameters={"type": "object", "required": 3})]}, SCHEMA),
    "schema is not of an object": ([USER], {"tools": [tool(parameters={"type": "string"})]}, SCHEMA),
    "temperature too high": ([USER], {"temperature": 2.1}, "temperature"),
    "temperature is a text": ([USER], {"temperature": "1"}, "temperature"),
    "top_p negative": ([USER], {"top_p": -0.1}, "top_p"),
    "n is 0": ([USER], {"n": 0}, "n"),
    "penalty too low": ([USER], {"frequency_penalty": -2.5}, "frequency_penalty"),
    "no room for tokens": ([USER], {"max_tokens": 0}, "max_tokens"),
    "half a token": ([USER], {"max_completion_tokens": 1.5}, "max_completion_tokens"),
    "stream is a text": ([USER], {"stream": "yes"}, "stream"),
    "stream options without stream": ([USER], {"stream_options": {"include_usage": True}}, "stream_options"),
    "unknown argument": ([USER], {"temprature": 1}, "temprature"),
    "choice without tools": ([USER], {"tool_choice": "auto"}, "tool_choice"),
    "choice unknown": ([USER], {"tools": [tool()], "tool_choice": "maybe"}, "tool_choice"),
    "choice of a missing tool": (
        [USER], {"tools": [tool()], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_requests_are_refused(case: str) -> None:
    messages, fields, param = REFUSED[case]
    response = ask(*messages, **fields)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert len(error["message"]) > 10


@pytest.mark.parametrize(
    ("status", "options"),
    [
        (404, {"path": "/v1/completion"}),
        (405, {"method": "GET"}),
        (401, {"key": ""}),
        (401, {"key": "Bearer"}),
        (401, {"key": "Bearer   "}),
        (401, {"key": "Basic x"}),
        (400, {"content": b"{"}),
        (400, {"content": b"\xff\xfe\x00"}),
        (400, {"content": b"[]"}),
    ],
)
def test_what_is_no_request_has_its_status(status: int, options: dict[str, Any]) -> None:
    response = send(**{"content": b"{}", **options})
    assert response.status_code == status
    assert set(json.loads(response.content)["error"]) == {"message", "type", "param", "code"}


def test_the_client_raises_its_own_errors() -> None:
    model = chat_model([say("x")])
    history = [
        HumanMessage("Hi"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "call_9"}]),
        HumanMessage("And?"),
    ]
    with pytest.raises(openai.BadRequestError, match="call_9") as refused:
        model.invoke(history)
    assert refused.value.param == "messages[2].role"
    with pytest.raises(openai.BadRequestError, match="no assistant message just before"):
        model.invoke([HumanMessage("Hi"), ToolMessage("1", tool_call_id="call_9")])
    with pytest.raises(openai.BadRequestError, match="temperature"):
        chat_model([say("x")], temperature=3).invoke("Hi")
