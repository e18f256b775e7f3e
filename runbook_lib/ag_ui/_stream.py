"""One model call, from its protocol events to AG-UI text, reasoning and tool call events.

LangGraph's v3 `messages` events name the message once, at `message-start`; every later event of the call is
found by the model's run id. Text and reasoning go out as they arrive. A tool call goes out when its block has
finished, because only then is it known whether its arguments are valid: AG-UI has no way to take back a
TOOL_CALL_START, and a call that must not run must never look as if it could.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._messages import Event, Fragments, as_json, whole_characters

Emit = Callable[[Event], None]

_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")  # as a character, or as an escape of JSON


@dataclass(slots=True)
class ToolCall:
    """One tool call while it streams; `arguments` stays None until the block has finished and is valid."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    arguments: dict[str, Any] | None = None
    error: str = "The answer ended inside the arguments"

    def finish(self, content: Mapping[str, Any]) -> None:
        """Take the verdict of `content-block-finish`: a `tool_call`, or an `invalid_tool_call`."""
        self.id = self.id or content.get("id") or ""
        self.name = self.name or content.get("name") or ""
        if not (self.id and self.name):  # as some servers repeat them, empty, in every fragment
            self.error = "The call has no id or no name"
        elif content["type"] == "tool_call" and isinstance(content.get("args"), dict):
            self.arguments = content["args"]
        else:
            self.error = content.get("error") or "The arguments are not a JSON object"

    def deltas(self) -> list[str]:
        """The fragments as they came when they spell the arguments, otherwise the arguments in one piece."""
        text = "".join(self.pieces)
        try:
            as_they_came = json.loads(text) == self.arguments and not _SURROGATE.search(text)
        except ValueError:
            as_they_came = False
        return [piece for piece in self.pieces if piece] if as_they_came else [as_json(self.arguments)]


@dataclass(slots=True)
class MessageStream:
    """One assistant message while it streams.

    `emit` receives the events; `owner` is the subagentRunId, None for the agent itself; `task` is the id of the
    LangGraph task that called the model, which later says whether the message was kept.
    """

    id: str
    task: str
    owner: str | None
    emit: Emit
    pieces: list[str] = field(default_factory=list)
    calls: dict[int, ToolCall] = field(default_factory=dict)
    finished: bool = False
    abandoned: bool = False
    _text_open: bool = False
    _reasoning_open: bool = False
    _text: Fragments = field(default_factory=Fragments)
    _reasoning: Fragments = field(default_factory=Fragments)

    @property
    def text(self) -> str:
        """The text that a client shows so far."""
        return "".join(self.pieces)

    @property
    def shown(self) -> bool:
        """True when a client has seen anything of this message."""
        return bool(self.pieces) or any(call.arguments is not None for call in self.calls.values())

    def valid_calls(self) -> list[tuple[str, str, dict[str, Any]]]:
        """The calls as (id, name, arguments), in the form of `calls_of`."""
        calls = (self.calls[index] for index in sorted(self.calls))
        return [(call.id, call.name, call.arguments) for call in calls if call.arguments is not None]

    def handle(self, payload: Mapping[str, Any]) -> bool:
        """Translate one protocol event; True when it was the message's last."""
        match payload["event"]:
            case "content-block-delta":
                delta = payload["delta"]
                match delta["type"]:
                    case "text-delta":
                        self.add_text(delta["text"])
                    case "tool-call-delta":
                        self.calls[payload["index"]].pieces.append(delta["args"])
                    case "reasoning-delta":
                        self._add_reasoning(delta["reasoning"])
            case "content-block-start":
                self._start(payload["index"], payload["content"])
            case "content-block-finish":
                self._finish(payload["index"], payload["content"])
            case "message-finish":
                self.close()
                self.finished = True
                self._warn_if_cut(payload.get("metadata") or {})
        return self.finished

    def _warn_if_cut(self, metadata: Mapping[str, Any]) -> None:
        """A Chat Completions stream that just ends, without a finish_reason, looks like a whole answer."""
        if metadata.get("model_provider") == "openai" and not metadata.get("finish_reason"):
            self._emit({"type": "CUSTOM", "name": "openui.no_finish_reason", "value": {"messageId": self.id}})

    def _start(self, index: int, content: Mapping[str, Any]) -> None:
        if content["type"] == "tool_call_chunk":
            call = ToolCall(content.get("id") or "", content.get("name") or "")
            self.calls[index] = call
            call.pieces.append(content.get("args") or "")
        elif content["type"] == "text":
            self.add_text(content.get("text", ""))
        elif content["type"] == "reasoning":
            self._add_reasoning(content.get("reasoning", ""))

    def _finish(self, index: int, content: Mapping[str, Any]) -> None:
        if content["type"] in ("tool_call", "invalid_tool_call"):
            self.calls.setdefault(index, ToolCall("", "")).finish(content)

    def add_text(self, text: str) -> None:
        """Show a fragment of the answer; empty fragments are no events."""
        text = self._text.whole(text)
        if not text:
            return
        if not self._text_open:
            self._text_open = True
            self._close_reasoning()
            self._emit({"type": "TEXT_MESSAGE_START", "messageId": self.id, "role": "assistant"})
        self.pieces.append(text)
        self._emit({"type": "TEXT_MESSAGE_CONTENT", "messageId": self.id, "delta": text})

    def _add_reasoning(self, text: str) -> None:
        text = self._reasoning.whole(text)
        if not text:
            return
        message_id = f"{self.id}-reasoning"
        if not self._reasoning_open:
            self._reasoning_open = True
            self._emit({"type": "REASONING_START", "messageId": message_id})
            self._emit({"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning"})
        self._emit({"type": "REASONING_MESSAGE_CONTENT", "messageId": message_id, "delta": text})

    def _close_reasoning(self) -> None:
        self._add_reasoning(self._reasoning.rest())
        if self._reasoning_open:
            self._reasoning_open = False
            self._emit({"type": "REASONING_MESSAGE_END", "messageId": f"{self.id}-reasoning"})
            self._emit({"type": "REASONING_END", "messageId": f"{self.id}-reasoning"})

    def close(self) -> None:
        """End what is open, so that nothing is left hanging when the message or the run ends."""
        self._close_reasoning()
        self.add_text(self._text.rest())
        if self._text_open:
            self._text_open = False
            self._emit({"type": "TEXT_MESSAGE_END", "messageId": self.id})

    def emit_call(self, call: ToolCall) -> None:
        """Send one valid call: START, its arguments, END."""
        self._emit(
            {"type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name, "parentMessageId": self.id}
        )
        for delta in call.deltas():
            self._emit({"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": delta})
        self._emit({"type": "TOOL_CALL_END", "toolCallId": call.id})

    def emit_invalid(self, call: ToolCall) -> None:
        """Report a call that must not run, as a CUSTOM event that no client mistakes for a call."""
        raw = whole_characters("".join(call.pieces))
        value = {"messageId": self.id, "toolCallName": call.name, "arguments": raw, "error": call.error}
        self._emit({"type": "CUSTOM", "name": "openui.invalid_tool_call", "value": value})

    def _emit(self, event: Event) -> None:
        if self.owner is not None:
            event["subagentRunId"] = self.owner
        self.emit(event)
