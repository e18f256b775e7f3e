"""`AgentPlayground`: talk to an agent, see its events and its answer as a UI, decide on its tools, in a notebook."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import traitlets
from ipywidgets import Accordion, Box, Layout, VBox  # type: ignore[import-untyped]
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from runbook_lib.ag_ui import arun_events
from runbook_lib.widgets._lanes import attribution, one_line
from runbook_lib.widgets._wire import Event, to_json
from runbook_lib.widgets.event_stream import EventStreamView
from runbook_lib.widgets.openui_view import Action, OpenUIView, shown_text

_HERE = Path(__file__).parent
GRACE_SECONDS = 1.0
Agent = CompiledStateGraph[Any, Any, Any, Any]


@dataclass
class Turn:
    """One message of the reader and what came of it. `status`: running, done, stopped, waiting or failed.

    `calls` are name, arguments and result (None until it comes) by call id; `questions` is what a waiting turn asks.
    """

    asked: str
    status: str = "running"
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    questions: list[dict[str, Any]] = field(default_factory=list)
    answer: str = ""
    error: str = ""

    def note(self, event: Event) -> bool:
        """Take in an event of the run; return whether it changed what a reader sees of the turn."""
        call = self.calls.get(str(event.get("toolCallId")))
        match event["type"]:
            case "TOOL_CALL_START" if not attribution(event)[0]:
                new = {"name": event["toolCallName"], "arguments": "", "result": None}
                self.calls.setdefault(event["toolCallId"], new)
            case "TOOL_CALL_ARGS" if call and call["result"] is None:
                call["arguments"] += event["delta"]
            case "TOOL_CALL_RESULT" if call:
                call["result"] = event["content"]
            case "RUN_ERROR":
                self.status, self.error = "failed", f"{event.get('code', 'Error')}: {event['message']}"
            case "RUN_FINISHED":
                self._finish(event.get("outcome") or {})
            case _:
                return False
        return bool(event["type"] != "TOOL_CALL_ARGS")

    def _finish(self, outcome: Event) -> None:
        self.status = {"interrupt": "waiting", "cancelled": "stopped"}.get(outcome.get("type", ""), "done")
        self.questions = [question for each in outcome.get("interrupts", ()) for question in _questions(each)]

    def lines(self) -> list[str]:
        """Return the turn as lines of text, without ids and times."""
        calls = [one_line(f"calls {call['name']} {call['arguments']}") for call in self.calls.values()]
        asks = [one_line(f"asks: {question['text']}") for question in self.questions]
        end = {"failed": f"failed: {self.error}", "stopped": "stopped", "waiting": "waits for a decision"}
        shown = [f"answer:\n{shown_text(self.answer)}"] if self.answer else []
        return [f"you: {shown_text(self.asked)}", *calls, *asks, *shown, *filter(None, [end.get(self.status)])]


class _Conversation(anywidget.AnyWidget):
    """The turns so far and the box to type in. What is typed stays there until Python has taken it."""

    _esm = _HERE / "playground.js"
    _css = _HERE / "playground.css"

    turns: traitlets.List[Any] = traitlets.List().tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    shown = traitlets.Int(-1, help="The turn whose answer is on screen.").tag(sync=True)


class AgentPlayground(VBox):  # type: ignore[misc]
    """A conversation with an agent: its events as they come, its answer as a UI, its tools on approval.

    `agent` is a compiled graph with a `messages` channel. One without a checkpointer gets one in memory, so that it
    remembers: turns share `thread_id`. `ui` and `events` are the views of the answer and of the turn's AG-UI events;
    `turns` is what was said. A click in the answer becomes the next message. A failing run is shown in its place.
    """

    def __init__(self, agent: Agent, *, thread_id: str | None = None) -> None:
        remembers = isinstance(agent.checkpointer, BaseCheckpointSaver)
        self._agent = agent if remembers else agent.copy({"checkpointer": InMemorySaver()})
        self.thread_id = thread_id or str(uuid4())
        self.turns: list[Turn] = []
        self.ui, self.events, self._talk = OpenUIView(), EventStreamView(), _Conversation()
        self._cancel, self._loop = asyncio.Event(), _running_loop()
        self._reading: asyncio.Task[EventStreamView] | None = None
        self._talk.on_msg(self._receive)
        self.ui.on_action(self._act)
        self._talk.layout, self.ui.layout = Layout(flex="2 1 320px"), Layout(flex="3 1 420px")
        above = Box(
            [self._talk, self.ui], layout=Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="8px")
        )
        below = Accordion([self.events], titles=("Events of this turn",), selected_index=0)
        super().__init__([above, below], layout=Layout(grid_gap="8px"))

    async def ask(self, text: str) -> None:
        """Send a message; returns when the turn is over, or waits for a decision.

        Raises `RuntimeError` while another turn runs or waits, and `ValueError` for an empty message.
        """
        self._refuse_while("running", "waiting")
        if not text.strip():
            raise ValueError("The message is empty: write what the agent should do.")
        self.turns.append(Turn(text))
        self.events.events = []
        await self._run({"messages": [HumanMessage(text, id=str(uuid4()))]})

    async def decide(self, *decisions: Any) -> None:
        """Answer what the agent asks, and let it go on: one decision for each question, or one for all.

        For a tool "approve" or "reject", or a decision of `HumanInTheLoopMiddleware` such as
        `{"type": "reject", "message": "not today"}`; for any other interrupt the value that it returns.
        """
        questions = self.turns[-1].questions if self.turns and self.turns[-1].status == "waiting" else []
        if not questions or len(decisions) not in (1, len(questions)):
            raise ValueError(f"{len(questions)} decisions are asked for, {len(decisions)} were given.")
        given = list(decisions) * (len(questions) if len(decisions) == 1 else 1)
        await self._run(Command(resume=_resume(questions, given)))

    async def retry(self) -> None:
        """Go on from the last checkpoint of a turn that failed or was stopped."""
        self._refuse_while("running", "waiting")
        if self.turns:
            await self._run(None)

    def stop(self) -> None:
        """Interrupt the running turn; what has arrived stays."""
        if self._loop:
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        """Ask the run to end; one that does not (a cancellation can get lost in a model's start) is cut off."""
        self._cancel.set()
        if self._loop and self._reading:
            self._loop.call_later(GRACE_SECONDS, self._reading.cancel)

    def show(self, turn: int) -> None:
        """Put the answer of an earlier turn on screen."""
        self.ui.program, self._talk.shown = self.turns[turn].answer, turn

    async def _run(self, input: Any) -> None:
        turn, self._cancel, self._loop = self.turns[-1], asyncio.Event(), asyncio.get_running_loop()
        turn.status, turn.error, turn.questions, self._talk.note = "running", "", [], ""
        self.show(len(self.turns) - 1)
        self._publish()
        config: Any = {"configurable": {"thread_id": self.thread_id}}
        try:
            run = arun_events(self._agent, input, config, cancel=self._cancel)
            self._reading = asyncio.create_task(self.events.follow(self.ui.passing(self._noted(run, turn))))
            await self._reading
        except asyncio.CancelledError:
            if not self._cancel.is_set():
                raise
        except Exception as error:
            turn.status, turn.error = "failed", f"{type(error).__name__}: {error}"
        finally:
            turn.status = "stopped" if turn.status == "running" else turn.status
            turn.answer = self.ui.program
            self._publish()

    async def _noted(self, run: AsyncIterator[Event], turn: Turn) -> AsyncIterator[Event]:
        async for event in run:
            if turn.note(event):
                self._publish()
            yield event

    def _publish(self) -> None:
        self._talk.turns = [{**asdict(turn), "calls": list(turn.calls.values())} for turn in self.turns]

    def _is_running(self) -> bool:
        return bool(self.turns) and self.turns[-1].status == "running"

    def _refuse_while(self, *statuses: str) -> None:
        if self.turns and self.turns[-1].status in statuses:
            raise RuntimeError("The last turn is not over: wait for it, stop it, or decide what it asks.")

    def _act(self, action: Action) -> None:
        self._start(self.ask(_as_message(action)))

    def _receive(self, _: object, content: dict[str, Any], buffers: object) -> None:
        match content:
            case {"kind": "ask", "text": str(text)}:
                self._start(self.ask(text))
            case {"kind": "decide", "decisions": list(decisions)}:
                self._start(self.decide(*decisions))
            case {"kind": "retry"}:
                self._start(self.retry())
            case {"kind": "stop"}:
                self.stop()
            case {"kind": "show", "turn": int(turn)} if 0 <= turn < len(self.turns) and not self._is_running():
                self.show(turn)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the loop of the notebook's cells; messages of the browser may arrive in another thread."""
        asyncio.run_coroutine_threadsafe(self._noting_refusal(work), self._loop or asyncio.get_running_loop())

    async def _noting_refusal(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (RuntimeError, ValueError) as error:
            self._talk.note = str(error)

    def __repr__(self) -> str:
        count = len(self.turns)
        head = f"AgentPlayground: {count} turn{'' if count == 1 else 's'}"
        return "\n".join([head, *(line for turn in self.turns for line in turn.lines())])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": repr(self), "text/html": f"<pre>{escape(repr(self))}</pre>"}


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _as_message(action: Action) -> str:
    """What a click says: its words, then the fields of its form."""
    said = [str(action.get("message") or action.get("type") or "")]
    context = (action.get("params") or {}).get("context")
    fields = [f"{name}: {_in_words(value)}" for name, value in (action.get("values") or {}).items()]
    return "\n".join([*said, *([str(context)] if context else []), *fields])


def _questions(interrupt: Event) -> list[dict[str, Any]]:
    """What an interrupt asks: one question for each tool call on approval, else one."""
    value = interrupt.get("metadata", {}).get("value")
    requests = value.get("action_requests") if isinstance(value, dict) else None
    is_approval = interrupt.get("reason") == "tool_approval"
    return [
        {
            "interrupt": interrupt["id"],
            "batched": bool(requests),
            "approval": is_approval,
            "text": f"{each['name']} {to_json(each['args'])}" if is_approval else _in_words(each),
        }
        for each in requests or [value]
    ]


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


def _resume(questions: list[dict[str, Any]], decisions: list[Any]) -> dict[str, Any]:
    """The answers by interrupt id, in the form that each interrupt takes."""
    answers: dict[str, Any] = {}
    for question, decision in zip(questions, decisions, strict=True):
        answer = {"type": decision} if question["approval"] and isinstance(decision, str) else decision
        if question["batched"]:
            answers.setdefault(question["interrupt"], {"decisions": []})["decisions"].append(answer)
        else:
            answers[question["interrupt"]] = answer
    return answers
