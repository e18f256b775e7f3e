"""`RunAgentInput`, as a client sends it, to what a LangGraph run starts from.

A client sends its whole conversation each time. What the thread already holds is not written again; where the
client's list differs (a message edited, removed, or put in), the thread's messages become the client's list.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from ag_ui.core import RunAgentInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Interrupt, StateSnapshot
from pydantic import ValidationError

from ._messages import as_wire, whole_characters


class RefusedError(Exception):
    """An input that starts no run: the HTTP status, the field that is wrong, and what to do about it."""

    def __init__(self, status: int, field: str, message: str) -> None:
        super().__init__(message)
        self.status, self.field = status, field


def parse(body: bytes) -> RunAgentInput:
    """The request body as `RunAgentInput`. Raises RefusedError (400 for what is no JSON, 422 for a wrong field)."""
    data = _json(body)
    try:
        run = RunAgentInput.model_validate(data)
    except ValidationError as error:
        raise RefusedError(422, *_first(error, data)) from None
    for field, value in (("threadId", run.thread_id), ("runId", run.run_id)):
        if not value or len(value) > 255:
            raise RefusedError(422, field, "An id has 1 to 255 characters")
    if run.tools:
        raise RefusedError(422, "tools", "This agent cannot call tools that run in the client. Send an empty list")
    _refuse_shared_ids(run)
    return run


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:  # JavaScript escapes a lone surrogate, which orjson refuses
        return _whole(json.loads(body.decode("utf-8"), parse_constant=_no_constant))
    except UnicodeDecodeError:
        raise RefusedError(400, "body", "The body is not UTF-8") from None
    except (ValueError, RecursionError):
        raise RefusedError(400, "body", "The body is not JSON, or is nested too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _whole(value: Any) -> Any:
    """JSON data in which every string can be encoded as UTF-8."""
    if isinstance(value, dict):
        return {whole_characters(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return whole_characters(value) if isinstance(value, str) else value


def _first(error: ValidationError, data: Any) -> tuple[str, str]:
    """The first field that is wrong, such as `messages.0.content`, and how; of a union, the deepest."""
    found = [(_path(each, data), each["msg"][:300]) for each in error.errors(include_url=False, include_input=False)]
    field, message = max((each for each in found if each[0].startswith(found[0][0])), key=lambda each: len(each[0]))
    return field or "body", message


def _path(error: Any, data: Any) -> str:
    """Where an error is in the data: without the names of union members that pydantic puts in between."""
    path: list[str] = []
    for at, part in enumerate(error["loc"]):
        inside = isinstance(data, dict) and part in data
        if inside or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
        elif at < len(error["loc"]) - 1 or not isinstance(data, dict):
            continue
        path.append(str(part))
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        path.append(error["ctx"]["discriminator"].strip("'"))
    return ".".join(path)


def _refuse_shared_ids(run: RunAgentInput) -> None:
    seen: set[str] = set()
    for index, message in enumerate(run.messages):
        if not message.id or message.id in seen:
            raise RefusedError(422, f"messages.{index}.id", "Each message needs an id of its own")
        seen.add(message.id)


def graph_input(run: RunAgentInput, state: StateSnapshot) -> Any:
    """What `graph.astream_events` takes for this run on a thread in this state; None goes on with what is pending.

    `resume` entries become `Command(resume={id: value})`. Raises RefusedError when there is nothing to run, an
    interrupt is unknown or unanswered, or a tool result answers no call.
    """
    stored = list(state.values.get("messages", ())) if isinstance(state.values, dict) else []
    sent = [*_conversation(run)]
    index = {message.id: at for at, message in enumerate(run.messages)}
    if run.resume or state.interrupts:
        _refuse_news(sent, stored, index, state.interrupts)
        return Command(resume=_answers(run, state.interrupts))
    kept, rest = branch(stored, sent)
    _refuse_orphans(kept, rest, index)
    if len(kept) < len(stored):
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept, *rest]}
    if rest:
        return {"messages": rest}
    if state.next:
        return None
    raise RefusedError(422, "messages", "There is nothing to answer: send a message that the thread does not have yet")


def branch(stored: list[BaseMessage], sent: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """The beginning of `stored` that stays, and what follows it now.

    A client that shares no message with the thread adds to it. Otherwise its list is the conversation, except that
    it cannot reorder messages, nor take away what no client shows (system messages, empty answers) or the result
    of a call that stays (it may have left before the result came).
    """
    place = {message.id: at for at, message in enumerate(stored)}
    known = sorted((message for message in sent if message.id in place), key=lambda message: place[message.id])
    if not known:
        return stored, sent
    in_order = iter(known)
    sent = [next(in_order) if message.id in place else message for message in sent]
    sent_ids = {message.id for message in sent}
    taken = end = 0
    for at, message in enumerate(stored):
        if taken < len(sent) and sent[taken].id == message.id and _shown(sent[taken]) == _shown(message):
            taken, end = taken + 1, at + 1
        elif isinstance(message, ToolMessage) and message.id not in sent_ids:
            end = at + 1
        elif _is_shown(message):
            return stored[:end], [_as_stored(message, stored, place) for message in sent[taken:]]
    return stored, sent[taken:]


def _as_stored(message: BaseMessage, stored: list[BaseMessage], place: dict[str | None, int]) -> BaseMessage:
    """The thread's own form of a message that the client has not changed: it knows more than the wire carries."""
    mine = stored[place[message.id]] if message.id in place else message
    return mine if _shown(mine) == _shown(message) else message


def _shown(message: BaseMessage) -> tuple[Any, ...]:
    """What a client sees of a message, comparable."""
    wire = as_wire(message)
    calls = [(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in _calls(wire)]
    return wire["role"], wire.get("content") or "", wire.get("toolCallId"), calls


def _calls(wire: dict[str, Any]) -> list[dict[str, Any]]:
    return list(wire.get("toolCalls", ()))


def _is_shown(message: BaseMessage) -> bool:
    wire = as_wire(message)
    return message.type != "system" and bool(wire.get("content") or _calls(wire) or message.type != "ai")


def _refuse_orphans(kept: list[BaseMessage], rest: list[BaseMessage], index: dict[str, int]) -> None:
    open_calls: set[str] = set()
    for at, message in enumerate((*kept, *rest)):
        if isinstance(message, AIMessage):
            open_calls.update(call["id"] or "" for call in message.tool_calls)
        elif isinstance(message, ToolMessage):
            if message.tool_call_id not in open_calls and at >= len(kept):
                field = f"messages.{index[message.id or '']}.toolCallId"
                raise RefusedError(422, field, "No earlier message makes this call, or it has a result already")
            open_calls.discard(message.tool_call_id)


def _refuse_news(
    sent: list[BaseMessage], stored: list[BaseMessage], index: dict[str, int], interrupts: Sequence[Interrupt]
) -> None:
    """Answers to interrupts continue a run as it stands: the conversation cannot change in the same step."""
    known = {message.id for message in stored}
    for message in sent:
        if message.id not in known and not isinstance(message, AIMessage):
            waiting = ", ".join(interrupt.id for interrupt in interrupts)
            field = f"messages.{index[message.id or '']}"
            raise RefusedError(422, field, f"The thread waits for answers in `resume` to: {waiting or 'nothing'}")


def _answers(run: RunAgentInput, interrupts: Iterable[Interrupt]) -> dict[str, Any]:
    """The answers by interrupt id: AG-UI 1.0 asks that each open interrupt is answered exactly once."""
    waiting = {interrupt.id: interrupt for interrupt in interrupts}
    answers: dict[str, Any] = {}
    for index, entry in enumerate(run.resume or ()):
        if entry.interrupt_id not in waiting or entry.interrupt_id in answers:
            field = f"resume.{index}.interruptId"
            raise RefusedError(422, field, "No interrupt of this thread waits under this id, or it is answered twice")
        cancelled = entry.status == "cancelled" and entry.payload is None
        answers[entry.interrupt_id] = _rejection(waiting[entry.interrupt_id]) if cancelled else entry.payload
    if missing := [interrupt_id for interrupt_id in waiting if interrupt_id not in answers]:
        raise RefusedError(422, "resume", f"Interrupts without an answer: {', '.join(missing)}")
    return answers


def _rejection(interrupt: Interrupt) -> Any:
    """The answer to an interrupt that was abandoned: a human-in-the-loop approval is rejected, others get None."""
    asked = interrupt.value if isinstance(interrupt.value, dict) else {}
    if asked.get("type") == "tool_approval":
        return {"type": "reject"}
    requests = asked.get("action_requests")
    return {"decisions": [{"type": "reject"} for _ in requests]} if requests else None


def _conversation(run: RunAgentInput) -> Iterable[BaseMessage]:
    """The agent's own conversation among a client's messages: without progress, reasoning and subagents' talk."""
    for index, message in enumerate(run.messages):
        if message.role in ("activity", "reasoning") or message.subagent_run_id is not None:
            continue
        yield _message(message, f"messages.{index}")


def _message(message: Any, field: str) -> BaseMessage:
    match message.role:
        case "user":
            return HumanMessage(_content(message.content), id=message.id)
        case "tool":
            status = "error" if message.error else "success"
            content = _content(message.content)
            return ToolMessage(content, id=message.id, tool_call_id=message.tool_call_id, status=status)
        case "assistant":
            calls = [_call(call, f"{field}.toolCalls.{at}") for at, call in enumerate(message.tool_calls or ())]
            return AIMessage(message.content or "", id=message.id, tool_calls=calls)
    return SystemMessage(message.content, id=message.id)  # system, and OpenAI's newer name for it: developer


def _call(call: Any, field: str) -> Any:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise RefusedError(422, f"{field}.function.arguments", "The arguments are not a JSON object")
    return {"name": call.function.name, "args": arguments, "id": call.id, "type": "tool_call"}


def _content(content: Any) -> Any:
    """AG-UI content parts as LangChain content blocks."""
    return content if isinstance(content, str) else [_block(part) for part in content]


def _block(part: Any) -> dict[str, Any]:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    place = {"url": "url", "data": "base64", "file": "file_id"}[part.source.type]
    block = {"type": "file" if part.type == "document" else part.type, place: part.source.value}
    return block | ({"mime_type": part.source.mime_type} if part.source.mime_type else {})
