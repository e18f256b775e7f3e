import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runbook_lib.deep_agent import TOOLS, get_stock_price, get_weather, search_web


def call(tool, **arguments):
    """The ToolMessage that an agent would put into its history."""
    return tool.invoke({"type": "tool_call", "id": "call_1", "name": tool.name, "args": arguments})


def test_the_source_s_apple_quote_is_reproduced():
    quote = json.loads(get_stock_price.invoke({"symbol": "AAPL"}))
    assert quote == {
        "symbol": "AAPL",
        "price": 189.32,
        "change": -0.52,
        "change_percent": -0.27,
        "volume": "45.1M",
        "day_high": 191.86,
        "day_low": 188.12,
        "demo": True,
    }


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_any_city_has_weather_that_is_the_same_every_time_and_says_it_is_demo_data(city):
    first, second = (json.loads(get_weather.invoke({"city": city})) for _ in range(2))
    assert first == second
    assert first["demo"] is True
    assert -12 <= first["temperature_c"] <= 34
    assert first["city"] == " ".join(city.split())


def test_snow_never_falls_in_summer_heat():
    towns = (json.loads(get_weather.invoke({"city": f"town {n}"})) for n in range(300))
    assert max(town["temperature_c"] for town in towns if town["condition"] == "snow") <= 1


@given(st.text(string.ascii_letters + string.digits, min_size=1, max_size=9))
def test_any_ticker_has_a_consistent_quote(ticker):
    quote = json.loads(get_stock_price.invoke({"symbol": ticker}))
    assert quote["day_low"] <= quote["price"] <= quote["day_high"]
    assert quote["change_percent"] == pytest.approx(
        100 * quote["change"] / (quote["price"] - quote["change"]), abs=0.01
    )


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_search_results_have_absolute_links(topic):
    found = json.loads(search_web.invoke({"query": topic}))
    assert [result["url"].startswith("https://example.com/") for result in found["results"]] == [True] * 3


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize(("value", "says"), [("", "is empty"), ("  \n ", "is empty"), ("x" * 5000, "the limit is")])
def test_empty_and_absurd_input_is_answered_with_what_to_do(tool, value, says):
    (argument,) = tool.args
    message = call(tool, **{argument: value})
    assert message.status == "error"
    assert says in message.content
    assert "Give " in message.content


def test_a_sentence_is_not_a_ticker():
    assert "not a ticker" in call(get_stock_price, symbol="the price of apples").content
