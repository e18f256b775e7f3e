"""The runbook's three tools. Their answers are demo data: made from the input, the same every time, never live."""

import json
import re
from hashlib import sha256
from urllib.parse import quote

from langchain_core.tools import BaseTool, ToolException, tool

_CONDITIONS = ("sunny", "partly cloudy", "cloudy", "light rain", "rain", "windy", "snow")
_SYMBOL = re.compile(r"[A-Z0-9][A-Z0-9.\-^=]{0,9}")
_AAPL = (189.32, -0.52, "45.1M", 191.86, 188.12)  # price, change, volume, day high, day low
_LONGEST = 200


@tool
def get_weather(city: str) -> str:
    """Get the current weather for a city."""
    place = _checked(city, "city", 'the name of a city, such as "Seoul"')
    condition = _CONDITIONS[_number(place, "condition", 0, len(_CONDITIONS) - 1)]
    low, high = (-12, 1) if condition == "snow" else (2, 34)
    return _demo(
        city=place,
        condition=condition,
        temperature_c=_number(place, "temperature", low, high),
        humidity_percent=_number(place, "humidity", 20, 95),
        wind_kph=_number(place, "wind", 0, 40),
    )


@tool
def get_stock_price(symbol: str) -> str:
    """Get the current price of a stock by its ticker symbol, for example AAPL."""
    ticker = _checked(symbol, "symbol", 'a ticker, such as "AAPL" or "005930.KS"').upper()
    if not _SYMBOL.fullmatch(ticker):
        raise ToolException(
            f"symbol {ticker[:20]!r} is not a ticker. Give letters, digits, dots or dashes, such as AAPL."
        )
    price, change, volume, high, low = _AAPL if ticker == "AAPL" else _quote(ticker)
    percent = round(100 * change / (price - change), 2)
    return _demo(
        symbol=ticker, price=price, change=change, change_percent=percent, volume=volume, day_high=high, day_low=low
    )


@tool
def search_web(query: str) -> str:
    """Search the web and return the best three results."""
    topic = _checked(query, "query", "a few words to search for")
    kinds = ("Overview", "Guide", "Questions and answers")
    results = [
        {
            "title": f"{kind}: {topic}",
            "url": f"https://example.com/{kind.split()[0].lower()}?q={quote(topic)}",
            "snippet": f"A demo search result about {topic}.",
        }
        for kind in kinds
    ]
    return _demo(query=topic, results=results)


TOOLS: tuple[BaseTool, ...] = (get_weather, get_stock_price, search_web)
"""The tools of the runbook's agent, in the order the model sees them."""

for _tool in TOOLS:
    # The message of a ToolException becomes the tool's answer (status "error"), so the model can correct itself.
    _tool.handle_tool_error = True


def _checked(value: str, name: str, expected: str) -> str:
    """`value` on one line without surrounding space; ToolException when it is empty or absurdly long."""
    text = " ".join(value.split())
    if not text:
        raise ToolException(f"{name} is empty. Give {expected}.")
    if len(text) > _LONGEST:
        raise ToolException(f"{name} has {len(text)} characters, the limit is {_LONGEST}. Give {expected}.")
    return text


def _number(text: str, purpose: str, low: int, high: int) -> int:
    """An integer from `low` to `high` that depends only on the text (ignoring case) and the purpose."""
    digest = sha256(f"{purpose}:{text.casefold()}".encode("utf-8", "surrogatepass")).digest()
    return low + int.from_bytes(digest[:8], "big") % (high - low + 1)


def _quote(ticker: str) -> tuple[float, float, str, float, float]:
    price = _number(ticker, "price", 500, 60_000) / 100
    change = round(price * _number(ticker, "change", -300, 300) / 10_000, 2)
    high = round(max(price, price - change) * 1.01, 2)
    low = round(min(price, price - change) * 0.99, 2)
    return price, change, f"{_number(ticker, 'volume', 10, 990) / 10}M", high, low


def _demo(**fields: object) -> str:
    return json.dumps(fields | {"demo": True}, ensure_ascii=False)
