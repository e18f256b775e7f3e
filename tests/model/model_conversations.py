"""Conversations with the default assistant, without a graph around it: demo tools, and the loop that calls them."""

from __future__ import annotations

import json
from typing import Any

from runbook_lib.model import Conversation, assistant
from runbook_lib.model._wire import completed

TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Demo: {name}.",
            "parameters": {"type": "object", "properties": {field: TEXT}, "required": [field]},
        },
    }
    for name, field in (("get_weather", "city"), ("get_stock_price", "symbol"), ("search_web", "query"))
]


def demo(name: str, arguments: dict[str, Any]) -> str:
    """What a tool of the runbook answers."""
    value = next(iter(arguments.values()))
    if name == "get_weather":
        facts: dict[str, Any] = {"city": value, "condition": "sunny", "temperature_c": len(value)}
        facts |= {"humidity_percent": 40, "wind_kph": 12}
    elif name == "get_stock_price":
        facts = {"symbol": value, "price": 189.32, "change": -0.52, "change_percent": -0.27}
        facts |= {"volume": "45.1M", "day_high": 191.86, "day_low": 188.12}
    else:
        result = {"title": f"About {value}", "url": "https://example.com/a?b=1#c", "snippet": f"On {value}."}
        facts = {"query": value, "results": [result, result]}
    return json.dumps({**facts, "demo": True})


class Talk:
    """One thread: `ask` returns the program the assistant answers with; `calls` are those of the last question."""

    def __init__(self, tools: list[dict[str, Any]] | None = None, run_tool: Any = demo, **request: Any) -> None:
        self.request = {"model": "m", "tools": TOOLS if tools is None else tools, **request}
        self.run_tool = run_tool
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        self.calls: list[tuple[str, str]] = []

    def ask(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        self.calls = []
        for _ in range(3):
            answer = self.turn()
            if not answer.get("tool_calls"):
                return str(answer["content"])
            for made in answer["tool_calls"]:
                self._run(made["id"], made["function"]["name"], json.loads(made["function"]["arguments"]))
        raise AssertionError("the assistant goes on calling tools")

    def turn(self) -> dict[str, Any]:
        """Ask the assistant once and keep what it says."""
        from runbook_lib.model._wire import _message

        conversation = Conversation({**self.request, "messages": list(self.messages)})
        message = _message(completed(assistant(conversation), conversation).deltas)
        self.messages.append(message)
        return message

    def _run(self, id: str, name: str, arguments: dict[str, Any]) -> None:
        self.calls.append((name, next(iter(arguments.values()), "")))
        self.messages.append({"role": "tool", "tool_call_id": id, "content": self.run_tool(name, arguments)})
