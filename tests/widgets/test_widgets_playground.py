"""`AgentPlayground` without a browser: turns on one thread, decisions, stopping, errors, what the transcript says."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from runbook_lib.deep_agent import build_agent
from runbook_lib.model import call, chat_model, http_error, say, stall
from runbook_lib.widgets import AgentPlayground

PROGRAM = 'root = Stack([TextContent("Sunny")])'
APPROVED = {"get_weather": True}


def agent(script: Any, **options: Any) -> Any:
    return build_agent(chat_model(script), **options)


def weather(*extra: Any, **options: Any) -> Any:
    return agent([call("get_weather", city="Seoul"), say(PROGRAM), *extra], **options)


def run(playground: AgentPlayground, *questions: str) -> AgentPlayground:
    async def ask_all() -> None:
        for question in questions:
            await playground.ask(question)

    asyncio.run(ask_all())
    return playground


def click(playground: AgentPlayground, send: dict[str, Any], widget: Any = None) -> None:
    """What the browser's message does, and the turn that follows from it."""

    async def handle() -> None:
        playground._loop = asyncio.get_running_loop()
        (widget or playground._talk)._handle_custom_msg(send, [])
        await asyncio.sleep(0)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(handle())


def test_the_transcript_is_the_text() -> None:
    playground = run(AgentPlayground(weather()), "Weather in Seoul?")
    assert repr(playground).splitlines() == [
        "AgentPlayground: 1 turn",
        "you: Weather in Seoul?",
        'calls get_weather {"city": "Seoul"}',
        "answer:",
        PROGRAM,
    ]
    data = playground._repr_mimebundle_()
    assert data["text/plain"] == repr(playground)
    assert "&quot;Sunny&quot;" in data["text/html"]
    assert playground.thread_id not in data["text/plain"] + data["text/html"]


def test_a_turn_fills_the_views() -> None:
    playground = run(AgentPlayground(weather()), "Weather in Seoul?")
    assert playground.ui.program == PROGRAM
    types = [event["type"] for event in playground.events.events]
    assert (types[0], types[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    assert playground.turns[0].calls.popitem()[1]["result"].startswith('{"city": "Seoul"')
    assert playground._talk.turns[0]["status"] == "done"


def test_the_next_turn_is_on_the_same_thread() -> None:
    seen: list[list[str]] = []

    def note(request: dict[str, Any]) -> None:
        seen.append([message["content"] for message in request["messages"] if message["role"] == "user"])

    model = chat_model([say("one"), say("two")], on_request=note)
    playground = run(AgentPlayground(build_agent(model), thread_id="t1"), "First", "Second")
    assert seen[-1] == ["First", "Second"]
    assert [turn.answer for turn in playground.turns] == ["one", "two"]
    playground.show(0)
    assert playground.ui.program == "one"


def test_a_checkpointer_of_the_agent_is_kept() -> None:
    saver = InMemorySaver()
    playground = run(AgentPlayground(agent([say("one")], checkpointer=saver), thread_id="t1"), "First")
    assert saver.get_tuple({"configurable": {"thread_id": playground.thread_id}}) is not None


@pytest.mark.parametrize(("decision", "ran"), [("approve", True), ("reject", False)])
def test_a_tool_waits_for_a_decision(decision: str, ran: bool) -> None:
    playground = run(AgentPlayground(weather(interrupt_on=APPROVED)), "Weather in Seoul?")
    assert playground.turns[0].status == "waiting"
    assert repr(playground).splitlines()[-2:] == ['asks: get_weather {"city":"Seoul"}', "waits for a decision"]
    with pytest.raises(RuntimeError, match="not over"):
        run(playground, "Something else")
    click(playground, {"kind": "decide", "decisions": [decision]})
    assert playground.turns[0].status == "done"
    assert ('"temperature_c"' in next(iter(playground.turns[0].calls.values()))["result"]) is ran
    assert playground.ui.program == PROGRAM


def test_looking_at_an_earlier_answer_meanwhile_changes_nothing() -> None:
    script = [say("one"), call("get_weather", city="Seoul"), say(PROGRAM)]
    playground = run(AgentPlayground(agent(script, interrupt_on=APPROVED)), "First", "Weather?")
    click(playground, {"kind": "show", "turn": 0})
    assert playground.ui.program == "one"
    click(playground, {"kind": "decide", "decisions": ["approve"]})
    assert [turn.answer for turn in playground.turns] == ["one", PROGRAM]
    assert playground._talk.shown == 1


def test_two_calls_take_two_decisions() -> None:
    both = call("get_weather", city="Seoul") + call("get_weather", city="Tokyo")
    playground = run(AgentPlayground(agent([both, say(PROGRAM)], interrupt_on=APPROVED)), "Both?")
    with pytest.raises(ValueError, match="2 decisions"):
        asyncio.run(playground.decide("approve", "approve", "reject"))
    asyncio.run(playground.decide("approve", {"type": "reject", "message": "not today"}))
    results = [each["result"] for each in playground.turns[0].calls.values()]
    assert '"temperature_c"' in results[0]
    assert "not today" in results[1]


def test_any_other_interrupt_takes_any_answer() -> None:
    def step(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", f"You said {interrupt('Which city?')}")]}

    graph = StateGraph(MessagesState).add_node("step", step).add_edge(START, "step").compile()
    playground = run(AgentPlayground(graph), "Hello")
    assert [question["text"] for question in playground.turns[0].questions] == ["Which city?"]
    asyncio.run(playground.decide("Busan"))
    assert playground.turns[0].answer == "You said Busan"


def test_a_run_is_stopped_and_what_arrived_stays() -> None:
    playground = AgentPlayground(agent([stall(2, 30, say(PROGRAM))]))

    async def stop_in_mid_answer() -> None:
        asking = asyncio.create_task(playground.ask("Weather?"))
        while not playground.ui.program:
            await asyncio.sleep(0.001)
        playground.stop()
        await asking

    asyncio.run(stop_in_mid_answer())
    assert playground.turns[0].status == "stopped"
    assert PROGRAM.startswith(playground.turns[0].answer)
    assert repr(playground).endswith("stopped")


def test_a_run_that_does_not_end_when_asked_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(*_: Any, **__: Any) -> Any:
        yield {"type": "RUN_STARTED"}
        await asyncio.sleep(60)

    monkeypatch.setattr("runbook_lib.widgets.playground.arun_events", deaf)
    monkeypatch.setattr("runbook_lib.widgets.playground.GRACE_SECONDS", 0.01)
    playground = AgentPlayground(agent([say(PROGRAM)]))

    async def stop_at_once() -> None:
        asking = asyncio.create_task(playground.ask("Weather?"))
        while not playground._reading:
            await asyncio.sleep(0)
        playground.stop()
        await asking

    asyncio.run(asyncio.wait_for(stop_at_once(), 30))
    assert playground.turns[0].status == "stopped"


def test_a_failing_run_is_shown_in_place_and_can_go_on() -> None:
    answers = iter([http_error(500), say(PROGRAM)])
    playground = run(AgentPlayground(agent(lambda _: next(answers))), "Weather?")
    assert playground.turns[0].status == "failed"
    assert "failed: OpenAIAPIError: Error code: 500" in repr(playground)
    click(playground, {"kind": "retry"})
    assert (playground.turns[0].status, playground.turns[0].answer) == ("done", PROGRAM)


def test_a_click_in_the_answer_becomes_the_next_message() -> None:
    playground = run(AgentPlayground(agent([say(PROGRAM), say("two")])), "Weather?")
    action = {"type": "continue_conversation", "message": "Send", "params": {}, "form": "f", "values": {"name": "Min"}}
    click(playground, {"kind": "action", "action": action}, playground.ui)
    assert [turn.asked for turn in playground.turns] == ["Weather?", "Send\nname: Min"]
    assert playground.ui.program == "two"


def test_what_cannot_be_done_is_said() -> None:
    playground = AgentPlayground(agent([say("one")]))
    click(playground, {"kind": "ask", "text": "  "})
    assert "empty" in playground._talk.note
    click(playground, {"kind": "decide", "decisions": ["approve"]})
    assert "0 decisions" in playground._talk.note
    click(playground, {"kind": "nonsense"})
    assert playground.turns == []


def test_what_everybody_says_is_escaped() -> None:
    playground = run(AgentPlayground(agent([say("<script>")])), "<img src=x>\u202e")
    shown = playground._repr_mimebundle_()["text/html"]
    assert "<script>" not in shown
    assert "<img" not in shown
    assert "\u202e" not in shown


def test_any_agent_will_do() -> None:
    @tool
    def ping() -> str:
        """Answer pong."""
        return "pong"

    graph = create_agent(chat_model([call("ping"), say("It works.")]), [ping])
    assert run(AgentPlayground(graph), "Ping?").turns[0].answer == "It works."
