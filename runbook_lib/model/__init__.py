"""An OpenAI-compatible model inside the process, and the switch to a live one.

Offline is a transport, not a mode: `chat_model()` is a real `ChatOpenAI` either way. Offline its HTTP clients talk
to a transport in this process that speaks the Chat Completions wire format; nothing is sent anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
from langchain_openai import ChatOpenAI

from ._assistant import assistant
from ._conversation import Conversation
from ._loopback import loopback
from ._service import Chunking, Script, Service
from ._transport import OfflineTransport
from ._turns import Answer, Turn, attempts, call, drop, ending, http_error, raw, say, slow, stall, tokens

__all__ = [
    "Answer",
    "Conversation",
    "Script",
    "Turn",
    "assistant",
    "attempts",
    "call",
    "chat_model",
    "describe",
    "drop",
    "ending",
    "http_error",
    "is_live",
    "loopback",
    "raw",
    "say",
    "slow",
    "stall",
]

DEFAULT_MODEL = "gpt-4.1-mini"
OPENAI_URL = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "offline-placeholder-not-a-key"


def is_live() -> bool:
    """Whether the environment asks for a real service: RUNBOOK_LIVE=1 and a non-empty OPENAI_API_KEY, both."""
    return os.environ.get("RUNBOOK_LIVE") == "1" and bool(os.environ.get("OPENAI_API_KEY", "").strip())


def describe() -> str:
    """Return one line: offline, or live with model and host. Never the key."""
    if is_live():
        host = urlsplit(_live_url() or OPENAI_URL).hostname
        return f"Model: live, {_model_name()} at {host}."
    if os.environ.get("RUNBOOK_LIVE") == "1":
        return "Model: offline, inside this process (RUNBOOK_LIVE=1 is set, but OPENAI_API_KEY is not)."
    return "Model: offline, inside this process. Live: set RUNBOOK_LIVE=1 and OPENAI_API_KEY."


def chat_model(
    script: Script | None = None,
    *,
    token_delay: float = 0.0,
    chunking: Chunking | None = None,
    on_request: Callable[[dict[str, Any]], object] | None = None,
    **options: Any,
) -> ChatOpenAI:
    """Return a `ChatOpenAI` (Chat Completions, streaming) on the runbook's offline transport, or a live one.

    `script`: a list of turns (the n-th answers a conversation that has n assistant messages), a mapping of lists
    (the longest key found in the first user message picks one), or a function from `Conversation` to a turn. None
    is `assistant`, or the live service when `is_live()`; a scripted model is always offline.

    Offline only: `token_delay` seconds go before each piece; `chunking` cuts the bytes of a body anew, into pieces
    of that many bytes or as a function says; `on_request` gets the JSON body of each accepted request. `options` are
    fields of `ChatOpenAI`; offline `max_retries` is 0 unless given, so that an error is seen at once.

    Offline nothing leaves the process whatever the environment says, LangSmith traces included: unless the
    environment is live, tracing is switched off for the process. One method of `ChatOpenAI` does not go through a
    client and cannot be kept in: `get_num_tokens_from_messages` makes tiktoken fetch its tables.

        chat_model([call("get_weather", city="Seoul"), say("It is sunny.")])
    """
    common: dict[str, Any] = {"model": _model_name(), "streaming": True, "use_responses_api": False}
    if script is None and is_live():
        return ChatOpenAI(**{**common, **_live(), **options})
    if not is_live():
        _keep_traces_home()
    transport = OfflineTransport(
        Service(assistant if script is None else script, token_delay, chunking, on_request=on_request)
    )
    return ChatOpenAI(**{**common, **_offline(transport), **options})


def _live() -> dict[str, Any]:
    """Settings that go where `describe` says; usage in streams is asked of OpenAI only, others may refuse it."""
    key, url = os.environ["OPENAI_API_KEY"].strip(), _live_url()
    return {"api_key": key, "base_url": url or OPENAI_URL, "stream_usage": url is None}


def _offline(transport: OfflineTransport) -> dict[str, Any]:
    """Settings that no environment variable can override; the host cannot exist (RFC 2606)."""
    return {
        "api_key": PLACEHOLDER_KEY,
        "base_url": "http://offline.invalid/v1",
        "openai_proxy": None,
        "max_retries": 0,
        "stream_usage": True,
        "custom_get_token_ids": lambda text: list(range(len(tokens(text)))),  # tiktoken fetches its tables from the web
        "http_client": httpx.Client(transport=transport, trust_env=False),
        "http_async_client": httpx.AsyncClient(transport=transport, trust_env=False),
    }


def _keep_traces_home() -> None:
    import langsmith

    langsmith.configure(enabled=False)


def _model_name() -> str:
    return os.environ.get("OPENAI_MODEL", "").strip() or DEFAULT_MODEL


def _live_url() -> str | None:
    return os.environ.get("OPENAI_BASE_URL", "").strip() or None
