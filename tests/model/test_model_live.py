"""The switch to a live service, through real sockets; and what the environment may not do to an offline model."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
from typing import Any

import httpx
import openai
import pytest
from langsmith.utils import tracing_is_enabled

from runbook_lib.model import assistant, call, chat_model, describe, drop, http_error, is_live, loopback, say

KEY = "sk-live-7f3a9c52d1e84b06"
HOSTILE_ENVIRONMENT = {
    "OPENAI_API_KEY": KEY,
    "OPENAI_BASE_URL": "http://elsewhere.invalid/v1",
    "OPENAI_API_BASE": "http://elsewhere.invalid/v1",
    "OPENAI_PROXY": "http://proxy.invalid:3128",
    "HTTP_PROXY": "http://proxy.invalid:3128",
    "HTTPS_PROXY": "http://proxy.invalid:3128",
    "ALL_PROXY": "http://proxy.invalid:3128",
    "OPENAI_ORG_ID": "org-x",
    "OPENAI_ORGANIZATION": "org-x",
    "OPENAI_PROJECT_ID": "proj-x",
    "OPENAI_CUSTOM_HEADERS": "X-Leak: 1",
    "LANGSMITH_TRACING": "true",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGSMITH_API_KEY": "ls-x",
    "LANGSMITH_ENDPOINT": "http://elsewhere.invalid",
    "LANGSMITH_GATEWAY": "true",
    "LANGSMITH_GATEWAY_API_KEY": "gw-x",
    "SSL_CERT_FILE": "/nowhere/cert.pem",
}


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the environment of a live model, with the loopback server as the service."""
    for name in [name for name in os.environ if name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("RUNBOOK_LIVE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def against(server: Any) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    return against


def closed(model: Any) -> None:
    """Close a live model's connections: an unclosed socket is a warning, and so an error."""
    model.root_client.close()


async def asked_once(model: Any, text: str) -> Any:
    try:
        return await model.ainvoke(text)
    finally:
        await model.root_async_client.close()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": KEY}, False),
        ({"RUNBOOK_LIVE": "1"}, False),
        ({"RUNBOOK_LIVE": "1", "OPENAI_API_KEY": "  "}, False),
        ({"RUNBOOK_LIVE": "0", "OPENAI_API_KEY": KEY}, False),
        ({"RUNBOOK_LIVE": "true", "OPENAI_API_KEY": KEY}, False),
        ({"RUNBOOK_LIVE": "1", "OPENAI_API_KEY": KEY}, True),
    ],
)
def test_live_needs_both(environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNBOOK_LIVE", "OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_live() is expected
    assert describe().startswith("Model: live, gpt-4.1-mini at api.openai.com." if expected else "Model: offline")
    assert KEY not in describe()


def test_describe_names_model_and_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNBOOK_LIVE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_MODEL", "qwen3")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:secret@models.example:8443/v1?token=secret")
    assert describe() == "Model: live, qwen3 at models.example."
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "OPENAI_API_KEY is not" in describe()


def test_no_environment_leads_an_offline_model_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in HOSTILE_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    model = chat_model()
    assert model.openai_api_base == "http://offline.invalid/v1"
    assert "CardHeader" in model.invoke("Hi").text
    assert "CardHeader" in asyncio.run(model.ainvoke("Hi")).text
    assert KEY not in str(model.root_client.api_key)
    assert "not-a-key" in str(model.root_client.api_key)
    assert not tracing_is_enabled()


def test_a_live_model_goes_where_describe_says(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "LANGSMITH_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_BASE", "http://elsewhere.invalid/v1")
    monkeypatch.setenv("LANGSMITH_GATEWAY", "true")
    monkeypatch.setenv("LANGSMITH_GATEWAY_API_KEY", "gw-x")
    model = chat_model()
    assert (model.openai_api_base, model.stream_usage) == ("https://api.openai.com/v1", True)
    assert "api.openai.com" in describe()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.example/v1")
    model = chat_model()
    assert (model.openai_api_base, model.stream_usage) == ("http://models.example/v1", False)
    assert "models.example" in describe()


def test_a_scripted_model_is_offline_even_when_live(live: Any) -> None:
    with loopback([say("from the server")]) as server:
        live(server)
        assert chat_model([say("from the script")]).invoke("Hi").text == "from the script"


def test_the_live_path_streams_over_a_socket(live: Any) -> None:
    seen: list[dict[str, Any]] = []
    with loopback(
        [say("Let me look.") + call("f", {"city": "서울"}, id="A")], key=KEY, on_request=seen.append
    ) as server:
        live(server)
        model = chat_model(stream_usage=True)
        messages = [model.invoke("Hi"), asyncio.run(asked_once(model, "Hi"))]
        closed(model)
    for message in messages:
        assert (message.text, message.tool_calls[0]["args"]) == ("Let me look.", {"city": "서울"})
        assert message.usage_metadata
    assert [(request["model"], request["stream"]) for request in seen] == [("gpt-4.1-mini", True)] * 2


def test_the_default_assistant_answers_over_a_socket_as_in_process(live: Any) -> None:
    with loopback() as server:
        live(server)
        model = chat_model()
        text = model.invoke("Hello").text
        closed(model)
    assert text == chat_model(assistant).invoke("Hello").text
    assert text.startswith("root = Stack([card])")


def test_faults_over_a_socket(live: Any) -> None:
    scripts = {"drop": [drop(1, say("abc", pieces=3))], "refuse": [drop()], "error": [http_error(503, "Down")]}
    with loopback(scripts) as server:
        live(server)
        model = chat_model(max_retries=0)
        seen: list[str] = []
        with pytest.raises(openai.APIConnectionError):
            seen.extend(chunk.text for chunk in model.stream("drop"))
        with pytest.raises(openai.APIConnectionError):
            model.invoke("refuse")
        with pytest.raises(openai.InternalServerError, match="Down"):
            model.invoke("error")
        closed(model)
    assert "".join(seen) == "a"


def test_a_raw_http_client_reads_the_stream(live: Any) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    with loopback([say("Hello", pieces="whole")]) as server, httpx.Client(trust_env=False) as client:
        response = client.post(f"{server.base_url}/chat/completions", json=body, headers={"Authorization": "Bearer x"})
        unknown = client.get(f"{server.base_url}/models")
        assert server.base_url.startswith("http://127.0.0.1:")
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert events[-1] == "[DONE]"
    assert json.loads(events[1])["choices"][0]["delta"] == {"content": "Hello"}
    assert unknown.status_code == 404


def everything_said(model: Any, caught: BaseException | None = None) -> str:
    """All that a notebook or a log could show of a model and an error."""
    clients = {"client", "async_client", "root_client", "root_async_client", "http_client", "http_async_client"}
    parts = [repr(model), str(model), model.model_dump_json(exclude=clients), model.model_dump(), model.to_json()]
    parts += [
        repr(model.root_client),
        describe(),
        repr(model.bind_tools([])),
        model.lc_attributes,
        model._identifying_params,
    ]
    while caught:
        parts += [repr(caught), str(caught), getattr(caught, "body", ""), vars(caught)]
        caught = caught.__cause__ or caught.__context__
    return " ".join(map(str, parts))


def test_the_key_is_shown_nowhere(
    live: Any,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "openai._base_client", "httpx"):  # a server that ran in this process may have muted them
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
        caplog.set_level(logging.DEBUG, logger=name)
    with loopback([say("Hi there")], key="another-key") as server:
        live(server)
        model = chat_model(max_retries=0)
        with pytest.raises(openai.AuthenticationError, match="not valid") as refused:
            model.invoke("Hi")
        said = everything_said(model, refused.value)
        closed(model)
    with loopback([say("Hi there")], key=KEY) as server:
        live(server)
        model = chat_model()
        events = list(model.stream("Hi"))
        said += everything_said(model) + str(events)
        closed(model)
    assert "".join(event.text for event in events) == "Hi there"
    output = capfd.readouterr()
    logged = " ".join(record.getMessage() for record in caplog.records)
    assert "POST" in logged, "nothing was logged at DEBUG, so nothing was shown by that"
    assert KEY not in said + logged + output.out + output.err


def test_an_offline_model_has_no_key_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = chat_model([http_error(401)])
    with pytest.raises(openai.AuthenticationError) as refused:
        model.invoke("Hi")
    assert KEY not in everything_said(model, refused.value)


def test_turns_can_be_pickled_and_compared() -> None:
    turn = say("a") + call("f", x=1)
    assert pickle.loads(pickle.dumps(turn)) == turn == say("a") + call("f", x=1)
