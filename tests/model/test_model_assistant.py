"""The default assistant: which tools a message calls, follow-ups, what it shows, and tool_choice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from model_conversations import TOOLS, Talk, demo

from runbook_lib.model import chat_model

WEATHER, STOCK, SEARCH = "get_weather", "get_stock_price", "search_web"

CALLED: dict[str, list[tuple[str, str]]] = {
    "weather in Seoul and Busan and the AAPL price": [(WEATHER, "Seoul"), (WEATHER, "Busan"), (STOCK, "AAPL")],
    "서울 날씨 알려줘": [(WEATHER, "서울")],
    "what's it like in Reykjavik today?": [(WEATHER, "Reykjavik")],
    "Will I need an umbrella in New York this weekend?": [(WEATHER, "New York")],
    "How hot is it in São Paulo right now": [(WEATHER, "São Paulo")],
    "weather for Llanfairpwllgwyngyll": [(WEATHER, "Llanfairpwllgwyngyll")],
    "ulaanbaatar weather": [(WEATHER, "ulaanbaatar")],
    "Seoul and Busan weather": [(WEATHER, "Seoul"), (WEATHER, "Busan")],
    "Weather in Ho Chi Minh City, Rio de Janeiro and Bath": [
        (WEATHER, "Ho Chi Minh City"), (WEATHER, "Rio de Janeiro"), (WEATHER, "Bath"),
    ],
    'weather in "Trinidad and Tobago"': [(WEATHER, "Trinidad and Tobago")],
    "Hello, what's the weather in Paris?": [(WEATHER, "Paris")],
    "I want to go to Lisbon. What's the weather like there?": [(WEATHER, "Lisbon")],
    "Look up the weather in Oslo and report back.": [(WEATHER, "Oslo")],
    "compare Rome and Paris weather": [(WEATHER, "Rome"), (WEATHER, "Paris")],
    "서울과 부산 날씨 알려줘": [(WEATHER, "서울"), (WEATHER, "부산")],
    "두바이 날씨는?": [(WEATHER, "두바이")],
    "오타와 날씨 알려줘": [(WEATHER, "오타와")],
    "내일 도쿄는 몇 도야?": [(WEATHER, "도쿄")],
    "서울 날씨랑 애플 주가 알려줘": [(WEATHER, "서울"), (STOCK, "AAPL")],
    "What's the current Apple stock price?": [(STOCK, "AAPL")],
    "How is Microsoft stock doing?": [(STOCK, "MSFT")],
    "Is the price of AAPL higher than TSLA?": [(STOCK, "AAPL"), (STOCK, "TSLA")],
    "ZQXY stock price": [(STOCK, "ZQXY")],
    "$gme": [(STOCK, "GME")],
    "Berkshire Hathaway stock": [(STOCK, "BERKSHIRE HATHAWAY")],
    "삼성전자 주가 알려줘": [(STOCK, "005930.KS")],
    "search the web for delta channels": [(SEARCH, "delta channels")],
    "search for graph streaming and tell me the weather in Oslo": [(WEATHER, "Oslo"), (SEARCH, "graph streaming")],
    "Find out about volcanoes in Iceland": [(SEARCH, "volcanoes in Iceland")],
    "news about LangGraph 1.2.": [(SEARCH, "LangGraph 1.2")],
    "델타 채널에 대해 찾아줘": [(SEARCH, "델타 채널")],
    "서울 날씨와 AAPL 주가, 그리고 델타 채널 검색해줘": [(WEATHER, "서울"), (STOCK, "AAPL"), (SEARCH, "델타 채널")],
}  # fmt: skip


@pytest.mark.parametrize("message", CALLED)
def test_a_message_calls_the_tools_it_asks_for(message: str) -> None:
    talk = Talk()
    program = talk.ask(message)
    assert talk.calls == CALLED[message]
    assert all(json.dumps(value, ensure_ascii=False)[1:-1] in program for _, value in talk.calls)


OTHER = ["hi", "안녕하세요", "", "   ", "\n", "tell me a joke", "weather", "where can I buy a good umbrella?"]


@pytest.mark.parametrize("message", [*OTHER, "weather in Oslo " * 400])
def test_anything_else_gets_a_help_card(message: str) -> None:
    talk = Talk()
    program = talk.ask(message)
    assert talk.calls == []
    assert 'CardHeader("How can I help?"' in program
    assert len(program) < 1000


def test_follow_ups_are_about_what_came_before() -> None:
    talk = Talk()
    steps: list[tuple[str, list[tuple[str, str]]]] = [
        ("weather in Seoul", [(WEATHER, "Seoul")]),
        ("what about Tokyo?", [(WEATHER, "Tokyo")]),
        ("도쿄는?", [(WEATHER, "도쿄")]),
        ("And Microsoft?", [(STOCK, "MSFT")]),
        ("how about NVDA", [(STOCK, "NVDA")]),
        ("and Osaka?", [(WEATHER, "Osaka")]),
        ("what's the weather like there?", [(WEATHER, "Osaka")]),
        ("thanks!", []),
        ("그럼 대구는 어때?", [(WEATHER, "대구")]),
        ("And Paris and Rome?", [(WEATHER, "Paris"), (WEATHER, "Rome")]),
    ]
    for message, expected in steps:
        talk.ask(message)
        assert (message, talk.calls) == (message, expected)


def test_another_day_and_comparisons_are_answered_from_the_history() -> None:
    talk = Talk()
    talk.ask("weather in Rio")
    for message in ("and tomorrow?", "내일은?"):
        program = talk.ask(message)
        assert talk.calls == []
        assert "Weather in Rio" in program
        assert "no forecast" in program
    talk.ask("what about Reykjavik?")
    for message in ("which is warmer?", "어디가 더 추워?", "is Rio warmer than Reykjavik?"):
        program = talk.ask(message)
        assert talk.calls == []
        assert "Reykjavik is highest with 9, Rio lowest with 3." in program
    assert "How can I help?" in Talk().ask("which is warmer?")


def test_a_comparison_looks_up_what_it_does_not_know() -> None:
    talk = Talk()
    talk.ask("weather in Rome")
    program = talk.ask("compare Rome and Reykjavik weather")
    assert talk.calls == [(WEATHER, "Reykjavik")]
    assert "Reykjavik" in program


def test_the_stock_answer_has_the_shape_of_the_source() -> None:
    assert Talk().ask("Apple stock").split("\n") == [
        "root = Stack([card])",
        'card = Card([header, price, change, details], "card", "column", "m", "start", "center")',
        'header = TextContent("Apple Stock (AAPL)", "large-heavy")',
        'price = TextContent("$189.32", "large-heavy")',
        'change = TextContent("-0.52 (-0.27%)", "default")',
        'details = EntityList([{left: "Volume", right: "45.1M"}, {left: "Day High", right: "$191.86"}, '
        '{left: "Day Low", right: "$188.12"}, {left: "Source", right: "Demo data"}], "default")',
    ]


def test_a_tool_error_is_shown_as_one() -> None:
    talk = Talk(run_tool=lambda name, arguments: 'symbol "?" is not a ticker.')
    assert 'Callout("error", "get_stock_price did not work", "symbol \\"?\\" is not a ticker.")' in talk.ask("ZZ stock")


def test_only_offered_tools_are_called() -> None:
    talk = Talk(TOOLS[:1])
    program = talk.ask("weather in Oslo and the AAPL price")
    assert talk.calls == [(WEATHER, "Oslo")]
    assert "Weather in Oslo" in program
    assert "was not offered: get_stock_price" in talk.ask("AAPL price")
    assert "was not offered: get_weather" in Talk([]).ask("weather in Oslo")


def turn(text: str, **request: Any) -> dict[str, Any]:
    talk = Talk(**request)
    talk.messages.append({"role": "user", "content": text})
    return talk.turn()


def called(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(made["function"]["name"], json.loads(made["function"]["arguments"])) for made in message["tool_calls"]]


def test_tool_choice_is_honoured() -> None:
    assert "tool_calls" not in turn("weather in Oslo", tool_choice="none")
    assert called(turn("weather in Oslo", tool_choice="required")) == [(WEATHER, {"city": "Oslo"})]
    assert called(turn("Oslo", tool_choice="required")) == [(WEATHER, {"city": "Oslo"})]
    forced = {"type": "function", "function": {"name": SEARCH}}
    assert called(turn("weather in Oslo", tool_choice=forced)) == [(SEARCH, {"query": "weather in Oslo"})]
    unknown = {"type": "function", "function": {"name": "noop", "parameters": {"type": "object", "properties": {}}}}
    assert called(turn("Hi", tools=[unknown], tool_choice="required")) == [("noop", {})]


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return demo(WEATHER, {"city": city})


@tool
def get_stock_price(symbol: str) -> str:
    """Get the price of a stock."""
    return demo(STOCK, {"symbol": symbol})


def test_an_agent_runs_on_it_from_question_to_card() -> None:
    agent = create_agent(chat_model(), [get_weather, get_stock_price])
    messages = agent.invoke({"messages": [("user", "weather in Nuuk and the AAPL price")]})["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "ai"]
    assert messages[-1].text.startswith("root = Stack([card1, card2])")
    assert "Weather in Nuuk" in messages[-1].text


def test_no_message_takes_long_to_read() -> None:
    """Regular expressions that backtrack would: each of these is read in far under the second it gets."""
    for text in ("a ", "서울 ", " ", "in ", "and ", '"', "가", "AAPL ", "search for ", "\n", "더 "):
        Talk().ask((text * 2000)[:2000])
