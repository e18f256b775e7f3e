"""The default script: an assistant that follows the conversation and answers in OpenUI Lang.

It calls the tools a message asks for, then lays out their results; for anything else it answers with a help card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import reduce
from typing import Any

from ._conversation import Conversation, Message, text_of
from ._intent import ARGUMENT, Wish, asks_comparison, asks_other_day, wishes
from ._program import answer_card, comparison_card, help_card
from ._turns import Answer, Turn, call, say

Result = tuple[str, dict[str, Any] | str]


def assistant(conversation: Conversation) -> Turn:
    """Return the next turn: tool calls when something must be looked up, otherwise a program in OpenUI Lang."""
    asked = _asked(conversation)
    if forced := _forced(conversation, asked):
        return forced
    fresh = _results(conversation.messages[_last_user(conversation) + 1 :])
    if fresh:
        return say(_laid_out(fresh, _message(conversation)))
    offered = [wish for wish in asked if wish.tool in conversation.tools]
    if offered and conversation.request.get("tool_choice") != "none":
        return reduce(Answer.__add__, [call(wish.tool, {ARGUMENT[wish.tool]: wish.value}) for wish in offered])
    return say(_from_history(conversation, asked))


def _laid_out(results: list[Result], message: str) -> str:
    if asks_comparison(message) and len(results) > 1:
        return comparison_card(results)
    return answer_card(results, asks_other_day(message))


def _from_history(conversation: Conversation, asked: list[Wish]) -> str:
    """Answer without a tool: a comparison or another day from what is known, else what can be asked."""
    message, known = _message(conversation), _results(conversation.messages)
    if asks_comparison(message) and known:
        return comparison_card(known)
    if asks_other_day(message) and known:
        return answer_card(_latest(conversation), other_day=True)
    return help_card(message, [wish.tool for wish in asked])


def _asked(conversation: Conversation) -> list[Wish]:
    """Read the last user message; a follow-up such as "what about Tokyo?" is about what came before.

    A comparison needs no tool for what is known: only what it names itself is looked up.
    """
    message, earlier = _message(conversation), _earlier(conversation)
    asked = wishes(message, earlier)
    if asks_comparison(message):
        return [wish for wish in asked if wish not in earlier]
    return asked


def _forced(conversation: Conversation, asked: list[Wish]) -> Turn | None:
    """Honour a `tool_choice` that demands a call."""
    choice = conversation.request.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        return _call_for(choice["function"]["name"], conversation, asked)
    if choice == "required" and conversation.tools:
        offered = [wish.tool for wish in asked if wish.tool in conversation.tools]
        return _call_for(offered[0] if offered else conversation.tools[0], conversation, asked)
    return None


def _call_for(name: str, conversation: Conversation, asked: list[Wish]) -> Turn:
    """Call one tool: with what was asked of it, else with the whole message for each required text."""
    for wish in asked:
        if wish.tool == name:
            return call(name, {ARGUMENT[wish.tool]: wish.value})
    schema = next(
        tool["function"].get("parameters") or {}
        for tool in conversation.request["tools"]
        if tool["function"]["name"] == name
    )
    fields = schema.get("properties", {})
    texts = [key for key in schema.get("required", []) if fields.get(key, {}).get("type") == "string"]
    return call(name, dict.fromkeys(texts, _message(conversation)[:200]))


def _message(conversation: Conversation) -> str:
    return conversation.user_texts[-1] if conversation.user_texts else ""


def _last_user(conversation: Conversation) -> int:
    roles = [message["role"] for message in conversation.messages]
    return len(roles) - 1 - roles[::-1].index("user") if "user" in roles else -1


def _earlier(conversation: Conversation) -> list[Wish]:
    """What the turns before the last user message asked of the tools."""
    found = []
    for message in conversation.messages[: _last_user(conversation)]:
        for made in message.get("tool_calls") or []:
            tool = next((tool for tool in ARGUMENT if tool == made["function"]["name"]), None)
            arguments = _value(made["function"]["arguments"])
            if tool and isinstance(arguments, dict):
                found.append(Wish(tool, str(arguments.get(ARGUMENT[tool], ""))))
    return found


def _latest(conversation: Conversation) -> list[Result]:
    """The results of the last turn that had any."""
    groups: list[list[Message]] = [[]]
    for message in conversation.messages:
        groups = [*groups, []] if message["role"] == "user" else groups
        groups[-1].append(message)
    return next(found for group in reversed(groups) if (found := _results(group)))


def _results(messages: list[Message]) -> list[Result]:
    """Pair each tool result with the tool's name; its JSON object, or its text when it is none (an error)."""
    names = {made["id"]: made["function"]["name"] for message in messages for made in message.get("tool_calls") or []}
    tool_messages = [message for message in messages if message["role"] == "tool"]
    return [(names.get(message["tool_call_id"], ""), _value(text_of(message))) for message in tool_messages]


def _value(text: str) -> dict[str, Any] | str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
