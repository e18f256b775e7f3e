"""One request seen as a conversation: what a script looks at to decide the next turn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._turns import tokens

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Conversation:
    """A checked Chat Completions request; `request` is its JSON body."""

    request: Mapping[str, Any]

    @property
    def messages(self) -> list[Message]:
        """The messages in wire form, oldest first."""
        return list(self.request["messages"])

    @property
    def tools(self) -> list[str]:
        """Names of the function tools offered."""
        return [tool["function"]["name"] for tool in self.request.get("tools") or [] if "function" in tool]

    @property
    def turn(self) -> int:
        """How many turns the model has had: the number of assistant messages."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def user_texts(self) -> list[str]:
        """The text of each user message, oldest first."""
        return [text_of(message) for message in self.messages if message["role"] == "user"]

    @cached_property
    def digest(self) -> str:
        """Hash (40 hex digits) of the messages: equal conversations, equal digest."""
        text = json.dumps(self.messages, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:40]


def text_of(message: Message) -> str:
    """Return a message's text: its string, or its text parts joined."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def prompt_tokens(conversation: Conversation) -> int:
    """Estimate the tokens of the whole prompt: tools first, then the messages."""
    return _estimate(conversation, len(conversation.messages))


def cached_tokens(conversation: Conversation) -> int:
    """Estimate the prompt tokens a prefix cache would serve.

    What the previous request of this conversation sent (everything before the last assistant message) is taken
    to be cached, in steps of 128 tokens from 1,024 on, as OpenAI documents prompt caching. A first request has
    none: whether other conversations have warmed the cache cannot be known from this one.
    """
    roles = [message["role"] for message in conversation.messages]
    if "assistant" not in roles:
        return 0
    sent = _estimate(conversation, len(roles) - 1 - roles[::-1].index("assistant"))
    return sent // 128 * 128 if sent >= 1024 else 0


def _estimate(conversation: Conversation, count: int) -> int:
    tools = conversation.request.get("tools")
    parts = [json.dumps(tools)] if tools else []
    parts += [json.dumps(message, ensure_ascii=False) for message in conversation.messages[:count]]
    return sum(len(tokens(part)) for part in parts)
