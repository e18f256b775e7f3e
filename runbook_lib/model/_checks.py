"""Requests are checked as the real service checks them, and refused with its error shape.

The types are the `openai` package's own TypedDicts; the rules between messages, which no type can say, are here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]
from openai.types import chat
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from pydantic import TypeAdapter, ValidationError

from ._turns import HttpError

_ROLES: dict[str, Any] = {
    "assistant": chat.ChatCompletionAssistantMessageParam,
    "developer": chat.ChatCompletionDeveloperMessageParam,
    "function": chat.ChatCompletionFunctionMessageParam,
    "system": chat.ChatCompletionSystemMessageParam,
    "tool": chat.ChatCompletionToolMessageParam,
    "user": chat.ChatCompletionUserMessageParam,
}
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "n": (1, 1),  # the service takes up to 128; this one gives a single choice and says so
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
    "max_tokens": (1, float("inf")),
    "max_completion_tokens": (1, float("inf")),
    "top_logprobs": (0, 20),
}


class Refusal(Exception):
    """A request the service answers with an error; `error` is what it answers."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        body = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
        self.error = HttpError(status, {"error": body})


def check_http(method: str, path: str, headers: Mapping[str, str], key: str | None = None) -> None:
    """Check path, method and bearer; `headers` has lower-case names.

    Raises Refusal (404, 405, 401). It never repeats what the client sent as a key.
    """
    if not path.endswith("/chat/completions"):
        raise Refusal(f"Unknown path ({method} {path}): this is POST .../chat/completions.", status=404)
    if method != "POST":
        raise Refusal(f"{method} is not allowed here: use POST.", code="method_not_allowed", status=405)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refusal("No API key was sent. It goes in the header Authorization: Bearer KEY.", status=401)
    if key is not None and token.strip() != key:
        raise Refusal("The API key that was sent is not valid.", code="invalid_api_key", status=401)


def check_body(content: bytes) -> dict[str, Any]:
    """Return the request, or raise Refusal (400) with what is wrong and where."""
    try:
        request = json.loads(content)
    except ValueError:
        raise Refusal("The body of the request is not valid JSON.") from None
    if not isinstance(request, dict):
        raise Refusal("The body of the request must be a JSON object.")
    _check_parameters(request)
    for index, message in enumerate(request["messages"]):
        _check_message(message, f"messages[{index}]")
    _check_history(request["messages"])
    for index, tool in enumerate(request.get("tools") or []):
        _check_tool(tool, f"tools[{index}]")
    _check_tool_choice(request)
    return request


def _check_parameters(request: dict[str, Any]) -> None:
    for name in ("model", "messages"):
        if not request.get(name):
            raise Refusal(f"'{name}' is missing or empty.", name, "missing_required_parameter")
    for name, value in request.items():
        if name not in _parameters():
            raise Refusal(f"Unrecognized request argument: {name}.", name, "unknown_parameter")
        if name in ("messages", "tools") and not isinstance(value, list | None):
            raise Refusal(f"Invalid '{name}': it must be an array.", name, "invalid_type")
        if value is not None and name not in ("messages", "tools"):
            _check_type(_parameters()[name], value, name)
    for name, (low, high) in _RANGES.items():
        value = request.get(name)
        if value is not None and not low <= value <= high:
            raise Refusal(f"Invalid '{name}': {value} is not in {low} to {high}.", name, "invalid_value")
    if request.get("stream_options") and not request.get("stream"):
        raise Refusal("'stream_options' is only allowed when 'stream' is true.", "stream_options", "invalid_value")


@cache
def _parameters() -> dict[str, Any]:
    return {**get_type_hints(CompletionCreateParamsBase), "stream": bool}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _check_type(kind: Any, value: Any, param: str) -> None:
    try:
        _walk(_adapter(kind).validate_python(value, strict=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = next((f" in '{step}'" for step in reversed(first["loc"]) if str(step).isidentifier()), "")
        raise Refusal(f"Invalid '{param}': {first['msg']}{field}.", param, "invalid_type") from None


def _walk(value: Any) -> None:
    """Visit everything: pydantic validates an Iterable item by item, when it is read."""
    if isinstance(value, Mapping):
        value = value.values()
    if not isinstance(value, str) and hasattr(value, "__iter__"):
        for item in value:
            _walk(item)


def _check_message(message: Any, where: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in _ROLES:
        raise Refusal(
            f"Invalid '{where}.role': {role!r} is none of {sorted(_ROLES)}.", f"{where}.role", "invalid_value"
        )
    _check_type(_ROLES[role], message, where)
    if role != "assistant":
        return
    if message.get("tool_calls") == []:
        raise Refusal(f"Invalid '{where}.tool_calls': the array is empty.", f"{where}.tool_calls", "empty_array")
    if message.get("content") is None and not message.keys() & {"tool_calls", "refusal", "function_call", "audio"}:
        raise Refusal(f"Invalid '{where}.content': nothing, and no tool call.", f"{where}.content", "invalid_type")


def _check_history(messages: list[dict[str, Any]]) -> None:
    """Hold calls and results together: each call answered before the next turn, no result without its call."""
    called: list[str] = []
    unanswered: list[str] = []
    for index, message in enumerate([*messages, {"role": "end"}]):
        where = f"messages[{index}].role"
        if message["role"] == "tool":
            id = message["tool_call_id"]
            if id not in called:
                raise Refusal(f"Invalid '{where}': no assistant message just before has a tool call {id!r}.", where)
            unanswered = [other for other in unanswered if other != id]
        elif unanswered:
            raise Refusal(
                "An assistant message with 'tool_calls' must be followed by one tool message for each tool_call_id. "
                f"None for: {', '.join(unanswered)}.",
                where,
            )
        else:
            called = unanswered = [made["id"] for made in message.get("tool_calls") or []]


def _check_tool(tool: Any, where: str) -> None:
    _check_type(chat.ChatCompletionToolUnionParam, tool, where)
    if tool["type"] != "function":
        return
    name, parameters = tool["function"]["name"], tool["function"].get("parameters")
    if not _TOOL_NAME.fullmatch(name):
        param = f"{where}.function.name"
        raise Refusal(f"Invalid '{param}': {name!r} is not 1 to 64 of a-z, A-Z, 0-9, _, -.", param, "invalid_value")
    if problem := _schema_problem(parameters):
        param = f"{where}.function.parameters"
        raise Refusal(f"Invalid schema for function '{name}': {problem}.", param, "invalid_function_parameters")


def _schema_problem(parameters: dict[str, Any] | None) -> str | None:
    if not parameters:
        return None
    if parameters.get("type") != "object":
        return f"its type must be 'object', not {parameters.get('type')!r}"
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        return str(error.message)
    return None


def _check_tool_choice(request: dict[str, Any]) -> None:
    tools, choice = request.get("tools"), request.get("tool_choice")
    if tools == []:
        raise Refusal("Invalid 'tools': the array is empty.", "tools", "empty_array")
    for name in ("tool_choice", "parallel_tool_calls"):
        if request.get(name) is not None and not tools:
            raise Refusal(f"'{name}' is only allowed when 'tools' are given.", name, "invalid_value")
    wanted = (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None
    if wanted and wanted not in [tool.get("function", {}).get("name") for tool in tools or []]:
        raise Refusal(f"'tool_choice' names {wanted!r}, which is not among the tools.", "tool_choice", "invalid_value")
