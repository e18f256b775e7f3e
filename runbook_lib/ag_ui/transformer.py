"""`OpenUIStreamTransformer`: LangGraph protocol events in, AG-UI events out.

Four streams are read. `messages` carries the tokens of every model call. `tasks` says which task made the call
and, when the task ends, which messages it really wrote, with the ids the checkpoint will hold. `values` is the
state after each superstep. `tools` and `custom` carry progress. The rule that makes every situation right:
**tokens are shown as they come, and each task's result settles them.** What was shown but not kept (half an
answer that a retry replaced, a message that middleware rewrote) is corrected by one MESSAGES_SNAPSHOT.
"""

from typing import Any, ClassVar

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.stream import StreamChannel, StreamTransformer
from langgraph.stream._types import ProtocolEvent  # no public home in langgraph 1.2

from ._messages import Event, calls_of, json_value, messages_in, result_of, text_of
from ._snapshot import Transcript
from ._speakers import Speakers, Subagent, task_of
from ._stream import MessageStream, ToolCall


class OpenUIStreamTransformer(StreamTransformer):
    """Pushes AG-UI events (dicts in camelCase wire form) on the stream channel `openui`.

    Use it with `graph.stream_events(input, version="v3", transformers=[OpenUIStreamTransformer])`, or return it
    from the `stream_transformers()` of a module served by `langgraph dev`. One instance serves one run. It never
    emits RUN_STARTED, RUN_FINISHED or RUN_ERROR, because a transformer does not know the run: `run_events` does.
    """

    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages", "tasks", "values", "tools", "custom")

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._channel: StreamChannel[Event] = StreamChannel("openui")
        self._speakers = Speakers(self._emit)
        self._transcript = Transcript()
        self._streams: dict[str, MessageStream] = {}  # by the model call's run id
        self._started: set[str] = set()  # tool calls named in this stream: a result may follow
        self._state_changed = False
        self._now = 0
        self._handlers = {
            "messages": self._on_message,
            "tasks": self._on_task,
            "values": self._on_values,
            "tools": self._on_tool,
            "custom": self._on_custom,
        }

    def init(self) -> dict[str, Any]:
        """The projection: `run.extensions["openui"]`."""
        return {"openui": self._channel}

    def process(self, event: ProtocolEvent) -> bool:
        """Translate one protocol event; it stays in the main log."""
        handler = self._handlers.get(event["method"])
        if handler is not None:
            params = event["params"]
            self._now = params["timestamp"]
            handler(params["namespace"], params["data"])
        return True

    def _namespace(self, path: list[str]) -> tuple[str, ...]:
        """An event's namespace as seen from the scope this instance serves."""
        return tuple(path[len(self.scope) :])

    def finalize(self) -> None:
        """End what is open when the run ends, is cancelled or pauses for an interrupt."""
        self._close(None)

    def fail(self, err: BaseException) -> None:
        """End what is open when the run fails."""
        self._close(err)

    def _close(self, error: BaseException | None) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        self._speakers.close_all(error, suspended=error is None)

    def _emit(self, event: Event) -> None:
        event["timestamp"] = self._now
        self._channel.push(event)

    # -- messages: tokens as they come -----------------------------------------------------------------------

    def _on_message(self, path: list[str], data: Any) -> None:
        payload, metadata = data
        if not isinstance(payload, dict):
            return  # whole messages are taken from the task's result, where they have their final ids
        if payload["event"] == "message-start":
            self._open(path, payload, metadata)
        stream = self._streams.get(metadata["run_id"])
        if stream is not None and not stream.abandoned and stream.handle(payload):
            for index in sorted(stream.calls):
                self._send_call(stream, stream.calls[index])

    def _open(self, path: list[str], payload: Any, metadata: Any) -> None:
        if self._speakers.internal(metadata, payload.get("role")):
            return
        subagent = self._speakers.at(self._namespace(path), metadata)
        task = task_of(metadata)
        self._abandon(task)
        stream = MessageStream(payload["id"], task, subagent.id if subagent else None, self._emit)
        self._streams[metadata["run_id"]] = stream

    def _abandon(self, task: str) -> None:
        """A task that starts a new message while one is unfinished has been retried: take the half away."""
        halves = [s for s in self._streams.values() if s.task == task and s.shown and not (s.finished or s.abandoned)]
        for stream in halves:
            stream.close()
            stream.abandoned = self._transcript.outdated = True
        if halves and self._transcript.begun:
            self._send_snapshot()

    def _send_call(self, stream: MessageStream, call: ToolCall) -> None:
        if call.arguments is None:
            stream.emit_invalid(call)
        elif call.id in self._transcript.calls:
            self._transcript.outdated = True  # an id used twice cannot be started twice; a snapshot can show it
        else:
            self._transcript.calls.add(call.id)
            self._started.add(call.id)
            stream.emit_call(call)

    # -- tasks: what was kept ----------------------------------------------------------------------------------

    def _on_task(self, path: list[str], task: Any) -> None:
        namespace = self._namespace(path)
        subagent = self._speakers.at(namespace, task.get("metadata") or {})
        if "triggers" in task:
            self._speakers.started(task, subagent)
            return
        ended = self._speakers.finished(task, subagent)
        self._settle(self._take(task["id"], ended), list(messages_in(task.get("result"))), subagent)
        if not namespace and set(task.get("result") or ()) - {"messages"}:
            self._state_changed = True

    def _take(self, task: str, ended: Subagent | None) -> dict[str | None, MessageStream]:
        """The streams that end with this task (and with the subagent inside it), closed and forgotten, by id."""
        owner = ended.id if ended is not None else ""
        gone = [run_id for run_id, stream in self._streams.items() if stream.task == task or stream.owner == owner]
        streams = [self._streams.pop(run_id) for run_id in gone]
        for stream in streams:
            stream.close()
        return {stream.id: stream for stream in streams}

    def _settle(
        self, streams: dict[str | None, MessageStream], written: list[BaseMessage], subagent: Subagent | None
    ) -> None:
        kept = {message.id for message in written}
        if any(stream.shown and not stream.abandoned and stream.id not in kept for stream in streams.values()):
            self._transcript.outdated = True
        if any(isinstance(message, RemoveMessage) for message in written):
            return  # a rewritten history: the state after the superstep tells what is new
        for message in written:
            if message.id is not None and not self._transcript.knows(message):
                self._settle_one(streams.get(message.id), message, subagent)

    def _settle_one(self, stream: MessageStream | None, message: BaseMessage, subagent: Subagent | None) -> None:
        if stream is None:
            shown = self._show(message, subagent)
        else:
            shown = not stream.abandoned
            if stream.text != text_of(message) or stream.valid_calls() != calls_of(message):
                self._transcript.outdated = True
        if shown:
            self._transcript.add(message, subagent)
        elif subagent is None:
            self._transcript.outdated = True  # no event can show it; a snapshot can

    def _show(self, message: BaseMessage, subagent: Subagent | None) -> bool:
        """Send a message that arrives whole: written by a node, or by a model that does not stream."""
        owner = subagent.id if subagent else None
        if isinstance(message, ToolMessage):
            return self._show_result(message, owner)
        if not isinstance(message, AIMessage):
            return False
        stream = MessageStream(message.id or "", "", owner, self._emit)
        stream.add_text(text_of(message))
        stream.close()
        for call_id, name, arguments in calls_of(message):
            self._send_call(stream, ToolCall(call_id, name, arguments=arguments))
        return True

    def _show_result(self, message: ToolMessage, owner: str | None) -> bool:
        call = message.tool_call_id
        if call not in self._transcript.calls or call in self._transcript.answered:
            return False  # the client would put it behind another call
        if call not in self._started:
            self._send_snapshot()  # the call was made in an earlier run: this stream must name it first
        self._transcript.answered.add(call)
        event: Event = {"type": "TOOL_CALL_RESULT", "messageId": message.id, "toolCallId": call}
        event |= {"content": result_of(message), "role": "tool"}
        self._emit(event if owner is None else event | {"subagentRunId": owner})
        return True

    # -- values, tools, custom -----------------------------------------------------------------------------------

    def _on_values(self, path: list[str], state: Any) -> None:
        if self._namespace(path) or not isinstance(state, dict):
            return
        if isinstance(state.get("messages"), list):
            self._compare(state["messages"])
        if self._state_changed:
            self._state_changed = False
            snapshot = json_value({key: value for key, value in state.items() if key != "messages"})
            self._emit({"type": "STATE_SNAPSHOT", "snapshot": snapshot})

    def _compare(self, messages: list[BaseMessage]) -> None:
        for message in self._transcript.advance(messages):
            self._settle_one(None, message, None)
        if self._transcript.outdated:
            self._send_snapshot()

    def _send_snapshot(self) -> None:
        for messages in self._transcript.snapshots(self._streams.values()):
            self._started.update(call["id"] for message in messages for call in message.get("toolCalls", ()))
            self._emit({"type": "MESSAGES_SNAPSHOT", "messages": messages})

    def _on_tool(self, path: list[str], data: Any) -> None:
        if data["event"] == "tool-output-delta":
            value = {"toolCallId": data["tool_call_id"], "delta": json_value(data["delta"])}
            self._send_custom(path, "langgraph.tool_output", value)

    def _on_custom(self, path: list[str], data: Any) -> None:
        self._send_custom(path, "langgraph.custom", json_value(data))

    def _send_custom(self, path: list[str], name: str, value: Any) -> None:
        event: Event = {"type": "CUSTOM", "name": name, "value": value}
        subagent = self._speakers.at(self._namespace(path), {})
        self._emit(event if subagent is None else event | {"subagentRunId": subagent.id})
