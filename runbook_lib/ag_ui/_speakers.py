"""Who speaks: the agent itself, a subagent that a tool call started, or nobody a reader should hear."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._messages import Event, whole_characters
from ._secrets import without_secrets
from ._stream import Emit

Namespace = tuple[str, ...]

# create_agent names a middleware's node "<Middleware>.<hook>"; ToolNode is called "tools".
_HOOKS = (".before_agent", ".before_model", ".after_model", ".after_agent")
_TOOLS_NODE = "tools"


def task_of(metadata: Mapping[str, Any]) -> str:
    """The id of the LangGraph task a model call belongs to, from its metadata."""
    namespace = metadata.get("langgraph_checkpoint_ns") or ""
    return str(namespace).rpartition("|")[2].partition(":")[2]


@dataclass(frozen=True, slots=True)
class Subagent:
    """A run inside a tool call, as SUBAGENT_* events name it."""

    id: str
    parent_call: str | None


class Speakers:
    """Follows `tasks` events to know which namespaces belong to a tool call, and reports subagents' life cycle.

    A namespace is a path of tasks. If one of them ran a tool, what happens below is a subagent's; otherwise (an
    agent that is a node of a parent graph) it is the answer itself.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._tool_calls: dict[str, Mapping[str, Any]] = {}
        self._subagents: dict[Namespace, Subagent | None] = {(): None}
        self._open: dict[str, Subagent] = {}
        self._errors: dict[str, object] = {}  # by subagent: how the last task inside it failed

    def started(self, task: Mapping[str, Any], inside: Subagent | None) -> None:
        """Remember a task that runs a tool."""
        if inside is not None:
            self._errors.pop(inside.id, None)
        call = _tool_call(task.get("input"))
        if call is not None or task["name"] == _TOOLS_NODE:
            self._tool_calls[task["id"]] = call or {}

    def finished(self, task: Mapping[str, Any], inside: Subagent | None) -> Subagent | None:
        """Close the subagent that ran inside this task; returns it, or None if there was none.

        A subagent failed when its last task did, even if the tool that ran it handled the exception.
        """
        if inside is not None and task.get("error") is not None:
            self._errors[inside.id] = task["error"]
        self._tool_calls.pop(task["id"], None)
        subagent = self._open.get(task["id"])
        if subagent is not None:
            error = task.get("error") or self._errors.pop(subagent.id, None)
            self._close(task["id"], error, bool(task.get("interrupts")))
        return subagent

    def close_all(self, error: BaseException | None, suspended: bool = False) -> None:
        """Close what is still open when the run ends."""
        for task_id in reversed(list(self._open)):
            self._close(task_id, error, suspended)

    def _close(self, task_id: str, error: object, suspended: bool) -> None:
        subagent = self._open.pop(task_id)
        if error is not None:
            message = whole_characters(without_secrets(str(error)))
            self._emit({"type": "SUBAGENT_ERROR", "subagentRunId": subagent.id, "message": message})
            return
        outcome = {"type": "suspended" if suspended else "success"}
        self._emit({"type": "SUBAGENT_FINISHED", "subagentRunId": subagent.id, "outcome": outcome})

    def internal(self, metadata: Mapping[str, Any], role: str | None) -> bool:
        """True for a model call that is not an answer: made by a tool or by a middleware's own node."""
        node = str(metadata.get("langgraph_node", ""))
        if role == "tool" or "lc_internal_call" in metadata or node.endswith(_HOOKS):
            return True
        return task_of(metadata) in self._tool_calls

    def at(self, namespace: Namespace, metadata: Mapping[str, Any]) -> Subagent | None:
        """The subagent that owns a namespace, announced on first sight; None for the agent itself."""
        if namespace in self._subagents:
            return self._subagents[namespace]
        subagent = self.at(namespace[:-1], metadata)
        task_id = namespace[-1].partition(":")[2]
        if task_id in self._tool_calls:
            subagent = self._announce(task_id, metadata, subagent)
        self._subagents[namespace] = subagent
        return subagent

    def _announce(self, task_id: str, metadata: Mapping[str, Any], parent: Subagent | None) -> Subagent:
        call = self._tool_calls[task_id]
        arguments = call.get("args") or {}
        name = metadata.get("lc_agent_name") or arguments.get("subagent_type") or call.get("name")
        event: Event = {"type": "SUBAGENT_STARTED", "subagentRunId": task_id, "name": name or "subagent"}
        if parent is not None:
            event["parentSubagentRunId"] = parent.id
        if call.get("id"):
            event["parentToolCallId"] = call["id"]
        self._emit(event)
        self._open[task_id] = Subagent(task_id, call.get("id"))
        return self._open[task_id]


def _tool_call(task_input: object) -> Mapping[str, Any] | None:
    """The tool call a task was started for: create_agent sends one as a list, or with its context as a dict."""
    if isinstance(task_input, list) and task_input:
        task_input = task_input[0]
    if isinstance(task_input, Mapping) and isinstance(task_input.get("tool_call"), Mapping):
        task_input = task_input["tool_call"]
    if isinstance(task_input, Mapping) and task_input.get("type") == "tool_call":
        return task_input
    return None
