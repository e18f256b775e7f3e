"""OpenUI Lang programs built from tool results. Every text goes through JSON quoting, whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

from ._intent import COMPANIES

Result = tuple[str, dict[str, Any] | str]


class Expression(str):
    """Source text of OpenUI Lang, as against a string value."""

    __slots__ = ()


Card = list[tuple[str, Expression]]  # name and expression of each child


def literal(value: object) -> Expression:
    """Return `value` as OpenUI Lang: texts quoted as JSON (a code fence stays inside its string), lists, objects."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, list):
        return Expression(f"[{', '.join(map(literal, value))}]")
    if isinstance(value, dict):
        return Expression("{" + ", ".join(f"{key}: {literal(item)}" for key, item in value.items()) + "}")
    return Expression(json.dumps(str(value), ensure_ascii=False).replace("`", "\\u0060"))


def component(name: str, *arguments: object) -> Expression:
    """Return a component with positional arguments: `component("TextContent", "Hi", "large-heavy")`."""
    return Expression(f"{name}({', '.join(map(literal, arguments))})")


def answer_card(results: Sequence[Result], other_day: bool = False) -> str:
    """Return a program with one card for each tool result."""
    cards = [_card(tool, value) for tool, value in results]
    if other_day and cards:
        note = "The demo tools know the present only: there is no forecast for another day."
        cards[-1].append(("note", component("TextCallout", "info", "Today only", note)))
    return _program(cards)


def comparison_card(results: Sequence[Result]) -> str:
    """Return a program that sets the known figures of the last tool side by side, highest first."""
    last = results[-1][0]
    figures = dict(figure for tool, value in results if tool == last and (figure := _figure(value)))
    if not figures:
        return answer_card(results[-1:])
    ordered = sorted(figures.items(), key=lambda figure: -figure[1])
    (highest, most), (lowest, least) = ordered[0], ordered[-1]
    verdict = f"{highest} is highest with {most:g}, {lowest} lowest with {least:g}."
    verdict = verdict if most > least else f"No difference: {most:g}."
    header = ("header", component("TextContent", "Comparison", "large-heavy"))
    details = _entities([(name, f"{figure:g}") for name, figure in ordered])
    return _program([[header, ("verdict", component("TextContent", verdict)), ("details", details)]])


def help_card(message: str, missing: Sequence[str] = ()) -> str:
    """Return a program that says what can be asked, and which tool a request would have needed."""
    heard = " ".join(message.split())
    said = f"You wrote: {heard[:80]}{'...' if len(heard) > 80 else ''}" if heard else "The message was empty."
    if missing:
        said = f"This needs a tool that was not offered: {', '.join(dict.fromkeys(missing))}."
    ideas = [
        "What is the weather in Seoul?",
        "What is the Apple stock price?",
        "Search the web for delta channels",
    ]
    hint = "Ask about the weather, a stock price, or a topic to search."
    asked = [Expression(f"Action([@ToAssistant({literal(idea)})])") for idea in ideas]
    buttons = [component("Button", idea, action) for idea, action in zip(ideas, asked, strict=True)]
    header = ("header", component("CardHeader", "How can I help?", hint))
    choice = component("Buttons", buttons, "column")
    return _program([[header, ("heard", component("TextContent", said)), ("ideas", choice)]])


def _program(cards: Sequence[Card]) -> str:
    """Write root first, then each card, then its children; names are numbered when there are several cards."""
    many = len(cards) > 1
    suffixes = [str(index + 1) if many else "" for index in range(len(cards))]
    lines = [f"root = {component('Stack', [Expression(f'card{suffix}') for suffix in suffixes])}"]
    for suffix, children in zip(suffixes, cards, strict=True):
        names = [Expression(name + suffix) for name, _ in children]
        lines.append(f"card{suffix} = {component('Card', names, 'card', 'column', 'm', 'start', 'center')}")
        lines += [f"{name} = {expression}" for name, (_, expression) in zip(names, children, strict=True)]
    return "\n".join(lines)


def _card(tool: str, value: dict[str, Any] | str) -> Card:
    if isinstance(value, str):
        return [("problem", component("Callout", "error", f"{tool or 'The tool'} did not work", value))]
    return {"get_weather": _weather, "get_stock_price": _stock, "search_web": _search}.get(tool, _other)(value)


def _weather(value: dict[str, Any]) -> Card:
    rows = [("Humidity", f"{_get(value, 'humidity_percent')}%"), ("Wind", f"{_get(value, 'wind_kph')} km/h")]
    return [
        ("header", component("TextContent", f"Weather in {_get(value, 'city')}", "large-heavy")),
        ("temperature", component("TextContent", f"{_get(value, 'temperature_c')} °C", "large-heavy")),
        ("condition", component("TextContent", _get(value, "condition"), "default")),
        ("details", _entities(rows + _source(value))),
    ]


def _stock(value: dict[str, Any]) -> Card:
    symbol = _get(value, "symbol")
    name = COMPANIES.get(symbol, ("",))[0]
    title = f"{name} Stock ({symbol})" if name else f"{symbol} Stock"
    change = f"{_get(value, 'change')} ({_get(value, 'change_percent')}%)"
    rows = [("Volume", _get(value, "volume"))]
    rows += [(label, f"${_get(value, key)}") for label, key in (("Day High", "day_high"), ("Day Low", "day_low"))]
    return [
        ("header", component("TextContent", title, "large-heavy")),
        ("price", component("TextContent", f"${_get(value, 'price')}", "large-heavy")),
        ("change", component("TextContent", change, "default")),
        ("details", _entities(rows + _source(value))),
    ]


def _search(value: dict[str, Any]) -> Card:
    results = value.get("results")
    found = [entry for entry in results if isinstance(entry, dict)] if isinstance(results, list) else []
    header = ("header", component("TextContent", f"Results for {_get(value, 'query')}", "large-heavy"))
    if not found:
        return [header, ("results", component("TextContent", "Nothing was found."))]
    lines = []
    for letter, entry in zip(ascii_lowercase, found, strict=False):
        text = f"{_get(entry, 'snippet')} ({_get(entry, 'url')})"
        lines += [
            (f"title_{letter}", component("TextContent", _get(entry, "title"), "small-heavy")),
            (f"text_{letter}", component("TextContent", text)),
        ]
    source = [("source", component("TextContent", "Demo data", "small"))] if value.get("demo") else []
    return [header, *lines, *source]


def _other(value: dict[str, Any]) -> Card:
    header = ("header", component("TextContent", "Result", "large-heavy"))
    return [header, ("details", _entities([(str(key), str(item)) for key, item in value.items()]))]


def _get(value: dict[str, Any], key: str) -> str:
    return str(value.get(key, "unknown"))


def _source(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [("Source", "Demo data")] if value.get("demo") else []


def _entities(rows: Sequence[tuple[str, str]]) -> Expression:
    return component("EntityList", [{"left": left, "right": right} for left, right in rows], "default")


def _figure(value: dict[str, Any] | str) -> tuple[str, float] | None:
    """Return the name and the figure a result is compared by: degrees Celsius, or a price."""
    if isinstance(value, str):
        return None
    name = value.get("city", value.get("symbol"))
    figure = value.get("temperature_c", value.get("price"))
    return (str(name), float(figure)) if isinstance(figure, int | float) else None
