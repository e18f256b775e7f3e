"""Errors, dropped, stalled and slow streams; retries; cancellation."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import openai
import pytest

from runbook_lib.model import attempts, call, chat_model, drop, http_error, raw, say, slow, stall

ABC = say("abc", pieces=["a", "b", "c"])


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses a sync transport would make, without making them; those of no length left out."""
    made: list[float] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: made.append(round(seconds, 6)) if seconds else None)
    return made


def texts(model: Any) -> tuple[list[str], Exception | None]:
    """The texts that arrived, and what ended the stream."""
    seen: list[str] = []
    try:
        for chunk in model.stream("Hi"):
            seen.append(chunk.text)
    except Exception as error:
        return [text for text in seen if text], error
    return [text for text in seen if text], None


async def atexts(model: Any) -> tuple[list[str], Exception | None]:
    seen: list[str] = []
    try:
        async for chunk in model.astream("Hi"):
            seen.append(chunk.text)
    except Exception as error:
        return [text for text in seen if text], error
    return [text for text in seen if text], None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
def test_http_errors_are_the_clients_errors(status: int, kind: type[Exception]) -> None:
    asked: list[Any] = []
    with pytest.raises(kind, match="Out of service") as raised:
        chat_model([http_error(status, "Out of service", code="down")], on_request=asked.append).invoke("Hi")
    assert getattr(raised.value, "code", None) == "down"
    assert len(asked) == 1, "offline an error is not retried unless asked for"
    with pytest.raises(kind):
        asyncio.run(chat_model([http_error(status)]).ainvoke("Hi"))


def test_retries_are_those_of_the_client() -> None:
    asked: list[Any] = []
    script = [attempts(http_error(503, retry_after=0.001), http_error(429, retry_after=0.001), say("Better now."))]
    model = chat_model(script, max_retries=2, on_request=asked.append)
    assert model.invoke("Hi").text == "Better now."
    assert len(asked) == 3
    assert model.invoke("Hi").text == "Better now."
    with pytest.raises(openai.InternalServerError):
        chat_model(script).invoke("Hi")


def test_attempts_count_each_conversation_by_itself() -> None:
    model = chat_model([attempts(http_error(500), say("again"))])
    for text in ("one", "two"):
        with pytest.raises(openai.InternalServerError):
            model.invoke(text)
    assert [model.invoke(text).text for text in ("one", "two", "one")] == ["again"] * 3
    with pytest.raises(ValueError, match="at least one"):
        attempts()


def test_a_dropped_stream_gives_what_came_before() -> None:
    for after, expected in ((0, []), (2, ["a", "b"]), (9, ["a", "b", "c"])):
        for seen, error in (texts(chat_model([drop(after, ABC)])), asyncio.run(atexts(chat_model([drop(after, ABC)])))):
            assert seen == expected
            assert isinstance(error, openai.APIConnectionError)
            assert isinstance(error.__cause__.__cause__, httpx.RemoteProtocolError)  # type: ignore[union-attr]
    plain = chat_model([drop(1, ABC)]).model_copy(update={"streaming": False})
    with pytest.raises(openai.APIConnectionError):
        plain.invoke("Hi")


def test_a_drop_inside_a_call_leaves_half_of_it() -> None:
    model = chat_model([drop(2, call("f", '{"q": 1}', id="A", pieces=['{"q"', ": 1}"]))])
    seen: list[Any] = []
    with pytest.raises(openai.APIConnectionError):
        seen.extend(made for chunk in model.stream("Hi") for made in chunk.tool_call_chunks)
    assert [(made["id"], made["args"]) for made in seen] == [("A", ""), (None, '{"q"')]


def test_no_connection_at_all() -> None:
    with pytest.raises(openai.APIConnectionError):
        chat_model([drop()]).invoke("Hi")
    with pytest.raises(openai.APIConnectionError):
        asyncio.run(chat_model([drop()]).ainvoke("Hi"))


def test_pauses_are_where_they_were_asked_for(pauses: list[float]) -> None:
    expected = {
        (0.1, 0.02, 0.02): slow(ABC, first=0.1 - 0.02, each=0.02),
        (7.0,): stall(2, 7.0, ABC),
        (8.0,): stall(3, 8.0, ABC),
        (0.5, 9.0): slow(stall(1, 9.0, ABC), first=0.5),
        (1.0, 1.0): slow(say("x", pieces="whole"), each=1.0) + slow(call("f", pieces="whole"), each=1.0),
    }
    for wanted, turn in expected.items():
        pauses.clear()
        assert texts(chat_model([turn]))[1] is None
        assert tuple(pauses) == wanted


def test_token_delay_goes_before_each_piece(pauses: list[float]) -> None:
    chat_model([ABC], token_delay=0.25).invoke("Hi")
    assert pauses == [0.25] * 3
    pauses.clear()
    chat_model([ABC], token_delay=0.25).model_copy(update={"streaming": False}).invoke("Hi")
    assert pauses == [0.75]


def test_a_stall_before_the_pause_has_let_the_text_through(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = chat_model([stall(2, 30.0, ABC)]).stream("Hi")
    monkeypatch.setattr(time, "sleep", lambda seconds: None if seconds == 0 else pytest.fail("went on"))
    seen = ""
    while "b" not in seen:
        seen += next(stream).text
    assert seen == "ab"


def test_the_clients_read_timeout_ends_a_stall() -> None:
    model = chat_model([stall(1, 30.0, ABC)], timeout=0.05)
    for seen, error in (texts(model), asyncio.run(atexts(model))):
        assert seen == ["a"]
        assert isinstance(error, openai.APITimeoutError)
    with pytest.raises(openai.APITimeoutError):
        chat_model([slow(ABC, first=30.0)], timeout=0.05).model_copy(update={"streaming": False}).invoke("Hi")


def test_a_run_can_be_cancelled_in_a_stall_and_in_a_busy_stream() -> None:
    async def stopped(turn: Any) -> str:
        seen: list[str] = []
        reached = asyncio.Event()

        async def read() -> None:
            async for chunk in chat_model([turn]).astream("Hi"):
                seen.append(chunk.text)
                if chunk.text:
                    reached.set()

        task = asyncio.create_task(read())
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return "".join(seen)

    assert asyncio.run(stopped(stall(1, 30.0, ABC))) == "a"
    assert len(asyncio.run(stopped(say("x" * 4000)))) < 400


def test_closing_a_stream_early_is_quiet() -> None:
    stream = chat_model([ABC]).stream("Hi")
    next(stream)
    stream.close()


def test_a_dropped_answer_cannot_be_joined() -> None:
    dropped: Any = drop(1, ABC)
    with pytest.raises(ValueError, match="drop the whole"):
        dropped + raw({"content": "x"})
    with pytest.raises(ValueError, match="drop the whole"):
        ABC | dropped
