"""Runs through the endpoint: legal streams whose messages are the checkpoint's, on threads that persist."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from serve_harness import (
    THREAD,
    Connection,
    agent,
    drive,
    events_of,
    post,
    refused,
    run_input,
    served,
    stored,
    transcript,
    turn,
    user,
)

from runbook_lib.ag_ui import check_events, fold_events
from runbook_lib.ag_ui.endpoint import encode, stored_thread_id
from runbook_lib.deep_agent import build_agent, get_weather
from runbook_lib.model import call, chat_model, http_error, say

FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
COUNT = [say("r1"), say("r2"), say("r3"), say("r4")]


def echo(conversation: Any) -> Any:
    return say(f"answer to {conversation.user_texts[-1]}")


def two_kinds(script: Any) -> list[Any]:
    """The same conversation on a plain channel and on deep agents' delta channel."""
    return [agent(script), build_agent(chat_model(script), checkpointer=InMemorySaver())]


def test_a_run_is_framed_legal_and_what_the_checkpoint_holds() -> None:
    graph = agent([call("get_weather", city="Seoul"), say(f"서울은 맑아요 {FAMILY}")], [get_weather])
    events = turn(served(graph), user("날씨는?", "u1"), run="r-1")
    assert check_events(events, stored(graph), held=[user("날씨는?", "u1")]) == []
    assert events[0] | {"type": "RUN_STARTED", "threadId": THREAD, "runId": "r-1"} == events[0]
    assert events[-1]["outcome"] == {"type": "success"}
    assert [event["type"] for event in events].count("RUN_STARTED") == 1
    assert transcript(graph)[-1][1] == f"서울은 맑아요 {FAMILY}"


def test_a_thread_id_that_is_no_uuid_comes_back_as_the_client_wrote_it() -> None:
    graph = agent(COUNT)
    events = turn(served(graph), user("hi", "u1"), thread="chat of 김")
    assert events[0]["threadId"] == events[-1]["threadId"] == "chat of 김"
    assert stored_thread_id("chat of 김") == stored_thread_id("chat of 김") != stored_thread_id("chat of 이")
    assert stored_thread_id(THREAD) == THREAD
    assert len(stored(graph, "chat of 김")) == 2


def test_a_client_that_sends_its_whole_history_adds_only_what_is_new() -> None:
    graph = agent(echo)
    client: list[Any] = []
    for at in range(4):
        client = [*client, user(f"question {at}", f"u{at}")]
        events = turn(served(graph), *client)
        assert "MESSAGES_SNAPSHOT" not in {event["type"] for event in events}
        client = fold_events(events, client)
    assert [message["id"] for message in client] == [message.id for message in stored(graph)]
    assert [text for _, text in transcript(graph)][-2:] == ["question 3", "answer to question 3"]


def test_a_client_that_sends_only_the_new_message_adds_it() -> None:
    graph = agent(COUNT)
    turn(served(graph), user("one", "u1"))
    turn(served(graph), user("two", "u2"))
    assert [text for _, text in transcript(graph)] == ["one", "r1", "two", "r2"]


def test_an_edited_message_replaces_everything_that_followed_it() -> None:
    for graph in two_kinds(COUNT):
        app = served(graph)
        first = turn(app, user("first", "u1"))
        client = fold_events(first, [user("first", "u1")])
        turn(app, *client, user("second", "u2"))
        events = turn(app, *client, user("edited", "u2"))
        assert [text for _, text in transcript(graph)] == ["first", "r1", "edited", "r2"]
        assert check_events(events, stored(graph), held=[*client, user("edited", "u2")]) == []

        events = turn(app, user("first, edited", "u1"))
        assert transcript(graph)[0] == ("u1", "first, edited")
        assert [text for _, text in transcript(graph)] == ["first, edited", "r1"]
        assert check_events(events, stored(graph), held=[user("first, edited", "u1")]) == []


def test_messages_that_the_client_removed_are_gone() -> None:
    for graph in two_kinds(echo):
        app = served(graph)
        client: list[Any] = []
        for at in range(3):
            client = fold_events(turn(app, *client, user(f"q{at}", f"u{at}")), [*client, user(f"q{at}", f"u{at}")])
        turn(app, *client[:2], *client[4:], user("q3", "u3"))  # without the second exchange
        assert [text for _, text in transcript(graph)][::2] == ["q0", "q2", "q3"]
        turn(app, *client[:1])  # regenerate the first answer
        assert [text for _, text in transcript(graph)] == ["q0", "answer to q0"]


def test_what_a_client_cannot_show_stays() -> None:
    graph = agent(COUNT)
    config: Any = {"configurable": {"thread_id": THREAD}}
    hidden = [SystemMessage("be kind", id="s"), HumanMessage("one", id="u1"), AIMessage("", id="empty")]
    graph.update_state(config, {"messages": [*hidden, AIMessage("r", id="a1")]})
    turn(served(graph), user("one", "u1"), {"id": "a1", "role": "assistant", "content": "r"}, user("two", "u2"))
    assert [message.id for message in stored(graph)][:5] == ["s", "u1", "empty", "a1", "u2"]


def test_results_of_parallel_calls_may_come_back_in_any_order() -> None:
    script = [call("get_weather", city="Seoul") + call("get_weather", city="Busan"), say("done"), say("again")]
    graph = agent(script, [get_weather])
    app = served(graph)
    client = fold_events(turn(app, user("both?", "u1")), [user("both?", "u1")])
    before = [message.id for message in stored(graph)]
    client[2], client[3] = client[3], client[2]
    events = turn(app, *client, user("and?", "u2"))
    assert "MESSAGES_SNAPSHOT" not in {event["type"] for event in events}
    assert [message.id for message in stored(graph)][: len(before)] == before


def test_a_result_that_the_client_left_too_early_to_see_stays_with_its_call() -> None:
    graph = agent([call("get_weather", city="Seoul"), say("sunny"), say("again")], [get_weather])
    app = served(graph)
    client = fold_events(turn(app, user("weather?", "u1")), [user("weather?", "u1")])
    turn(app, *client[:2], user("well?", "u2"))
    assert [message.type for message in stored(graph)] == ["human", "ai", "tool", "human", "ai"]


def test_progress_reasoning_and_subagents_in_the_history_are_not_conversation() -> None:
    graph = agent(COUNT)
    aside = [
        {"id": "x1", "role": "activity", "activityType": "plan", "content": {}},
        {"id": "x2", "role": "reasoning", "content": "hm"},
        {"id": "x3", "role": "assistant", "content": "inner", "subagentRunId": "s"},
    ]
    turn(served(graph), *aside, user("one", "u1"))
    assert [text for _, text in transcript(graph)] == ["one", "r1"]


def test_a_history_and_an_answer_to_a_call_that_only_the_client_has() -> None:
    graph = agent([say("never"), say("thanks")], [get_weather])
    asked = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Seoul"}'}}
    history = [
        user("weather?", "u1"),
        {"id": "a1", "role": "assistant", "toolCalls": [asked]},
        {"id": "t1", "role": "tool", "toolCallId": "c1", "content": "sunny"},
    ]
    events = turn(served(graph), *history)
    assert [message.type for message in stored(graph)] == ["human", "ai", "tool", "ai"]
    assert check_events(events, stored(graph), held=history) == []


def test_pictures_reach_the_model_and_survive_a_turn() -> None:
    requests: list[Any] = []
    graph = create_agent(chat_model(COUNT, on_request=requests.append), checkpointer=InMemorySaver())
    picture = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
    shown = {"id": "u1", "role": "user", "content": [{"type": "text", "text": "what is it?"}, picture]}
    client = fold_events(turn(served(graph), shown), [shown])
    turn(served(graph), *client, user("and now?", "u2"))
    for request in requests:
        assert request["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert len(stored(graph)) == 4


def approving(script: Any, **options: Any) -> Any:
    approval = HumanInTheLoopMiddleware({"get_weather": True}, **options)
    return agent(script, [get_weather], middleware=[approval])


TWO_CALLS = [call("get_weather", city="Seoul") + call("get_weather", city="Busan"), say("done")]


def test_interrupts_are_answered_by_id() -> None:
    graph = approving(TWO_CALLS, interrupt_mode="per_call")
    app, asked = served(graph), user("both?", "u1")
    first = turn(app, asked)
    client = fold_events(first, [asked])
    waiting = [interrupt["id"] for interrupt in first[-1]["outcome"]["interrupts"]]
    assert len(waiting) == 2
    answers: list[Any] = [{"interruptId": waiting[1], "status": "cancelled"}]
    assert refused(app, run_input(*client, resume=answers)) == (422, "resume")
    answers.insert(0, {"interruptId": waiting[0], "status": "resolved", "payload": {"type": "approve"}})
    second = turn(app, *client, resume=answers)
    assert check_events(second, stored(graph), held=client) == []
    results = {message.tool_call_id: message.status for message in stored(graph) if message.type == "tool"}
    assert list(results.values()) == ["success", "error"]
    assert second[-1]["outcome"] == {"type": "success"}


def test_an_abandoned_approval_rejects_every_call_it_asks_about() -> None:
    graph = approving(TWO_CALLS)
    app = served(graph)
    first = turn(app, user("both?", "u1"))
    (waiting,) = first[-1]["outcome"]["interrupts"]
    turn(app, resume=[{"interruptId": waiting["id"], "status": "cancelled"}])
    assert [message.status for message in stored(graph) if message.type == "tool"] == ["error", "error"]


def test_a_waiting_thread_takes_only_answers_and_only_to_what_it_asked() -> None:
    app = served(graph := approving(TWO_CALLS))
    (waiting,) = turn(app, user("both?", "u1"))[-1]["outcome"]["interrupts"]
    approve = {"status": "resolved", "payload": {"decisions": [{"type": "approve"}] * 2}}
    before = transcript(graph)
    answer = {"interruptId": waiting["id"], **approve}
    assert refused(app, run_input(user("both?", "u1"), user("else", "u2"))) == (422, "messages.1")
    assert refused(app, run_input(user("else", "u2"), resume=[answer])) == (422, "messages.0")
    assert refused(app, run_input(resume=[{"interruptId": "other", **approve}])) == (422, "resume.0.interruptId")
    assert refused(app, run_input(resume=[answer, answer])) == (422, "resume.1.interruptId")
    assert transcript(graph) == before
    assert turn(app, resume=[answer])[-1]["outcome"] == {"type": "success"}


def test_a_failed_run_ends_in_an_error_and_the_same_request_tries_again() -> None:
    failures = [http_error(500), say("better")]
    graph = agent(lambda _: failures.pop(0))
    asked = user("hi", "u1")
    events = turn(served(graph), asked)
    assert check_events(events) == []
    assert events[-1]["type"] == "RUN_ERROR"
    events = turn(served(graph), asked)
    assert check_events(events, stored(graph), held=[asked]) == []
    assert [text for _, text in transcript(graph)] == ["hi", "better"]


def test_no_secret_leaves_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-very-secret-value")

    def leak(_: Any) -> Any:
        raise RuntimeError("rejected key a-very-secret-value")

    response = asyncio.run(post(served(agent(leak)), run_input(user("hi", "u1"))))
    assert "RUN_ERROR" in response.text
    assert "very-secret" not in response.text
    assert "Traceback" not in response.text


def test_what_json_libraries_disagree_on_goes_out_as_ascii() -> None:
    event = {"type": "CUSTOM", "value": ["\ud800", 2**70, "line\nbreak", "\u2028"]}
    frame = encode(event)
    assert frame.count(b"\n") == 2
    assert json.loads(frame.removeprefix(b"data: ")) == event


def test_a_lone_surrogate_in_a_question_is_replaced() -> None:
    graph = agent(echo)
    body = json.dumps(run_input(user("half \ud83d", "u1"))).encode()
    response = asyncio.run(post(served(graph), body))
    assert check_events(events_of(response.content), stored(graph), held=[user("half \ufffd", "u1")]) == []
    assert transcript(graph)[0][1] == "half \ufffd"


@pytest.mark.parametrize("where", ["tool", "model"])
def test_a_client_that_leaves_ends_its_run_and_frees_the_thread(where: str) -> None:
    """Nothing is sent while the agent waits, so only the client's leaving can tell."""
    log: list[str] = []

    async def wait(_: Any = None) -> Any:
        """Wait, the first time."""
        if log:
            return
        log.append("began")
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    class Waiting(AgentMiddleware[Any, Any, Any]):
        async def abefore_model(self, state: Any, runtime: Any) -> Any:
            if where == "model":
                await wait()

    async def scenario() -> None:
        tools = [StructuredTool.from_function(coroutine=wait, name="wait", args_schema={"type": "object"})]
        graph = agent([call("wait"), say("done")], tools, middleware=[Waiting()])
        connection = Connection(app := served(graph), run_input(user("go", "u1")))
        reading = asyncio.create_task(connection.read_until("RUN_FINISHED"))
        while not log:
            await asyncio.sleep(0.01)
        assert (await post(app, run_input(user("again", "u2")))).status_code == 409
        await connection.leave()
        reading.cancel()
        assert log == ["began", "cancelled"]
        assert (await post(app, run_input(user("again", "u2")))).status_code == 200

    drive(scenario)


def test_a_client_that_leaves_without_reading_ends_its_run() -> None:
    async def scenario() -> None:
        app = served(agent(echo))
        connection = Connection(app, run_input(user("go", "u1")))
        await connection.read()
        await asyncio.sleep(0.05)  # the server now waits for its second event to be taken
        before = asyncio.all_tasks()
        await connection.leave()
        await asyncio.sleep(0.05)
        assert asyncio.all_tasks() < before
        assert (await post(app, run_input(user("again", "u2")))).status_code == 200

    drive(scenario)


def test_one_run_at_a_time_on_a_thread_and_any_number_on_others() -> None:
    async def scenario() -> None:
        graph = agent(echo)
        app = served(graph)
        first = Connection(app, run_input(user("mine", "u1")))
        await first.read()
        second = await post(app, run_input(user("yours", "u2")))
        assert second.status_code == 409
        assert second.json()["error"]["field"] == "threadId"
        other = await post(app, run_input(user("elsewhere", "u3"), thread="another"))
        assert "answer to elsewhere" in "".join(e.get("delta", "") for e in events_of(other.content))
        await first.read_until("RUN_FINISHED")
        await first.done
        assert [text for _, text in transcript(graph)] == ["mine", "answer to mine"]
        assert (await post(app, run_input(user("yours", "u2")))).status_code == 200

    drive(scenario)


def test_a_thread_that_is_busy_elsewhere_is_left_alone() -> None:
    async def busy(thread_id: str) -> bool:
        return False

    graph = agent(COUNT)
    assert refused(served(graph, register=busy), run_input(user("hi", "u1"))) == (409, "threadId")
    assert transcript(graph) == []


def test_a_client_that_does_not_read_holds_the_run_back() -> None:
    """The next model call is not made while the events of the one before it have not been taken."""
    requests: list[Any] = []
    script = [call("get_weather", city="Seoul"), say("word " * 300), say("end")]

    async def scenario() -> None:
        model = chat_model(script, on_request=requests.append)
        app = served(create_agent(model, [get_weather], checkpointer=InMemorySaver()))
        connection = Connection(app, run_input(user("go", "u1")))
        await connection.read_until("TOOL_CALL_START")
        await asyncio.sleep(0.1)
        assert len(requests) == 1
        await connection.read_until("RUN_FINISHED")
        await connection.done
        assert len(requests) == 2

    drive(scenario)
