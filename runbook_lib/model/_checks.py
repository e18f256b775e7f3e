"""Requests are checked as the real service checks them, and refused with its error shape.

Types come from the `openai` package's own TypedDicts; the rules between messages, which no type can say, are here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionDeveloperMessageParam,
    ChatCompletionFunctionMessageParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionToolMessageParam,
    ChatCompletionToolUnionParam,
    ChatCompletionUserMessageParam,
)
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from pydantic import TypeAdapter, ValidationError

_ROLES: dict[str, Any] = {
    "assistant": ChatCompletionAssistantMessageParam,
    "developer": ChatCompletionDeveloperMessageParam,
    "function": ChatCompletionFunctionMessageParam,
    "system": ChatCompletionSystemMessageParam,
    "tool": ChatCompletionToolMessageParam,
    "user": ChatCompletionUserMessageParam,
}
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "n": (1, 128),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
    "max_tokens": (1, float("inf")),
    "max_completion_tokens": (1, float("inf")),
    "top_logprobs": (0, 20),
}


class Refusal(Exception):
    """A request the service answers with an error: HTTP `status`, and `body` in the service's error shape."""

    def __init__(
        self, message: str, param: str | None = None, code: str | None = None, *, status: int = 400,
        type: str = "invalid_request_error", retry_after: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.body = {"error": {"message": message, "type": type, "param": param, "code": code}}


def check_http(method: str, path: str, headers: Mapping[str, str], key: str | None = None) -> None:
    """Check what comes before the body: path, method and bearer. `headers` has lower-case names.

    Raises Refusal (404, 405, 401). No message repeats what the client sent as a key.
    """
    if not path.endswith("/chat/completions"):
        raise Refusal(
            f"Unknown path ({method} {path}): this server answers POST .../chat/completions.", status=404
        )
    if method != "POST":
        raise Refusal(
            f"Method {method} is not allowed here: use POST.", None, "method_not_allowed", status=405
        )
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refusal("No API key was sent. It goes in the header Authorization: Bearer KEY.", status=401)
    if key is not None and token.strip() != key:
        raise Refusal("The API key is not the right one.", None, "invalid_api_key", status=401)


def check_body(content: bytes) -> dict[str, Any]:
    """Return the request as a dict, or raise Refusal (400) with what is wrong and where."""
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
    if not request.get("model"):
        raise Refusal(
            "No model is named: the parameter 'model' is missing.", "model", "missing_required_parameter"
        )
    if "messages" not in request:
        raise Refusal("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    if not isinstance(request["messages"], list) or not request["messages"]:
        raise Refusal("'messages' must be an array with one message at least.", "messages", "empty_array")
    for name in sorted(request.keys() - CompletionCreateParamsBase.__annotations__.keys() - {"stream"}):
        raise Refusal(f"Unrecognized request argument: {name}", name, "unknown_parameter")
    for name in ("stream", *sorted(request.keys() - {"messages", "tools", "stream"})):
        if request.get(name) is not None:
            _typed(_parameter_type(name), request[name], name)
    for name, (low, high) in _RANGES.items():
        value = request.get(name)
        if value is not None and not low <= value <= high:
            expected = f"at least {low}" if high == float("inf") else f"between {low} and {high}"
            raise Refusal(
                f"Invalid '{name}': {value} is out of range, it must be {expected}.", name, "invalid_value"
            )
    if request.get("n") not in (None, 1):
        raise Refusal("This server gives one choice: 'n' must be 1.", "n", "unsupported_value")
    if request.get("stream_options") is not None and not request.get("stream"):
        raise Refusal(
            "'stream_options' is only allowed when 'stream' is true.", "stream_options", "invalid_value"
        )


@cache
def _parameter_type(name: str) -> Any:
    from typing import get_type_hints

    if name == "stream":
        return bool
    return get_type_hints(CompletionCreateParamsBase)[name]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _typed(kind: Any, value: Any, param: str) -> None:
    """Check a value against a type; iterables are lazy in pydantic, so walk to the end of each."""
    try:
        _walk(_adapter(kind).validate_python(value, strict=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"] if isinstance(step, int) or step.islower())
        raise Refusal(
            f"Invalid '{param}': {first['msg']} ({where or 'value'}).", param, "invalid_type"
        ) from None


def _walk(value: Any) -> None:
    if isinstance(value, Mapping):
        value = value.values()
    elif isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return
    for item in value:
        _walk(item)


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise Refusal(f"Invalid '{where}': a message is an object.", where, "invalid_type")
    role = message.get("role")
    if role not in _ROLES:
        roles = ", ".join(_ROLES)
        raise Refusal(
            f"Invalid '{where}.role': {role!r} is not one of {roles}.", f"{where}.role", "invalid_value"
        )
    _typed(_ROLES[role], message, where)
    if role == "assistant":
        _check_assistant(message, where)


def _check_assistant(message: dict[str, Any], where: str) -> None:
    if message.get("tool_calls") == []:
        raise Refusal(
            f"Invalid '{where}.tool_calls': the array is empty.", f"{where}.tool_calls", "empty_array"
        )
    if message.get("content") is None and not any(
        message.get(key) for key in ("tool_calls", "refusal", "function_call", "audio")
    ):
        raise Refusal(
            f"Invalid '{where}.content': null without a tool call.", f"{where}.content", "invalid_type"
        )


def _check_history(messages: list[dict[str, Any]]) -> None:
    """Hold tool calls and tool results together: each call answered before the next turn, no result without a call."""
    called: set[str] = set()
    open_ids: dict[str, None] = {}
    for index, message in enumerate(messages):
        where = f"messages[{index}].role"
        if message["role"] == "tool":
            if message["tool_call_id"] not in called:
                raise Refusal(
                    f"Invalid '{where}': this tool message answers no tool call just before it ({message['tool_call_id']}).",
                    where,
                )
            open_ids.pop(message["tool_call_id"], None)
            continue
        _check_answered(open_ids, index, where)
        called = {made["id"] for made in message.get("tool_calls") or []}
        open_ids = dict.fromkeys(made["id"] for made in message.get("tool_calls") or [])
    _check_answered(open_ids, len(messages), "messages")


def _check_answered(open_ids: dict[str, None], index: int, where: str) -> None:
    if open_ids:
        ids = ", ".join(open_ids)
        raise Refusal(
            f"An assistant message with 'tool_calls' must be followed by a tool message for each call; before messages[{index}] these have none: {ids}",
            where,
        )


def _check_tool(tool: Any, where: str) -> None:
    _typed(ChatCompletionToolUnionParam, tool, where)
    if tool["type"] != "function":
        return
    name, parameters = tool["function"]["name"], tool["function"].get("parameters")
    if not _TOOL_NAME.match(name):
        raise Refusal(
            f"Invalid '{where}.function.name': {name!r} must be 1 to 64 of a-z, A-Z, 0-9, _ and -.",
            f"{where}.function.name",
            "invalid_value",
        )
    if not parameters:
        return
    if parameters.get("type") != "object":
        raise _bad_schema(name, where, f"its type must be 'object', not {parameters.get('type')!r}")
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        raise _bad_schema(name, where, error.message) from None


def _bad_schema(name: str, where: str, why: str) -> Refusal:
    return Refusal(
        f"Invalid schema for function '{name}': {why}.",
        f"{where}.function.parameters",
        "invalid_function_parameters",
    )


def _check_tool_choice(request: dict[str, Any]) -> None:
    tools = request.get("tools")
    if tools == []:
        raise Refusal("Invalid 'tools': the array is empty.", "tools", "empty_array")
    for name in ("tool_choice", "parallel_tool_calls"):
        if request.get(name) is not None and not tools:
            raise Refusal(f"'{name}' is only allowed when 'tools' are given.", name, "invalid_value")
    chosen = request.get("tool_choice")
    name = (chosen.get("function") or {}).get("name") if isinstance(chosen, dict) else None
    if name and name not in [tool.get("function", {}).get("name") for tool in tools or []]:
        raise Refusal(
            f"'tool_choice' names {name!r}, which is not among the tools.", "tool_choice", "invalid_value"
        )
