"""The situations an AG-UI stream must be right in: real agents over a scripted transport, one row each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

import httpx
from ag_ui_play import Situation, Turn
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    ToolErrorMiddleware,
    after_model,
    hook_config,
    wrap_model_call,
)
from langchain.agents.middleware.internal_call_transformer import InternalCallTransformer, internal_call_metadata
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, RetryPolicy, TimeoutPolicy, interrupt
from typing_extensions import TypedDict

from runbook_lib.model import Turn as Answer
from runbook_lib.model import attempts, call, chat_model, drop, ending, http_error, raw, say, stall

FAMILY = "가족 👨‍👩‍👧‍👦 여행, 🇰🇷 서울"
ROWS: list[Situation] = []


def row(build: Callable[[], Any], inputs: list[Any] | None = None, **more: Any) -> Callable[..., Any]:
    """Add a situation, named by the function that says what must be seen."""

    def add(see: Callable[..., None]) -> Callable[..., None]:
        name = see.__name__.removeprefix("see_")
        ROWS.append(Situation(name, build, see, **({"inputs": inputs} if inputs else {}), **more))
        return see

    return add


def deep(*script: Answer, tools: Any = None, **kwargs: Any) -> Callable[[], Any]:
    """A deep agent on a script, made anew for each run of the row."""
    model = kwargs.pop("model", {})
    return lambda: create_deep_agent(
        chat_model(list(script), **model), tools or TOOLS, checkpointer=InMemorySaver(), **kwargs
    )


def agent(*script: Answer, tools: Any = None, **kwargs: Any) -> Callable[[], Any]:
    """A plain agent on a script."""
    model = kwargs.pop("model", {})
    return lambda: create_agent(
        chat_model(list(script), **model), TOOLS if tools is None else tools, checkpointer=InMemorySaver(), **kwargs
    )


# -- tools --------------------------------------------------------------------------------------------------------


@tool
def weather(city: str = "Seoul") -> str:
    """The weather in a city."""
    return f"21 degrees in {city}"


@tool
def price(ticker: str) -> str:
    """The price of a stock."""
    return f"{ticker} 190"


@tool
def age(years: int) -> str:
    """A tool with a strict schema."""
    return f"{years}"


@tool
def broken(city: str) -> str:
    """Always fails."""
    raise ValueError(f"no weather station in {city}")


@tool
def as_dict() -> dict[str, Any]:
    """A dict."""
    return {"city": "서울", "degrees": 21}


@tool
def as_command(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """A Command."""
    return Command(update={"messages": [ToolMessage("from a command", tool_call_id=tool_call_id)]})


@tool
def as_blocks() -> list[dict[str, Any]]:
    """Content blocks."""
    return [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]


@tool(return_direct=True)
def as_image() -> list[dict[str, Any]]:
    """Content blocks with an image."""
    return [{"type": "text", "text": "chart"}, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}]


class Station:
    """An object without a JSON form."""

    def __str__(self) -> str:
        return "Station 47108"


@tool
def as_object() -> Any:
    """An object."""
    return Station()


@tool(response_format="content_and_artifact")
def as_artifact() -> tuple[str, dict[str, Any]]:
    """Content and an artifact."""
    return "see the chart", {"points": [1, 2, 3]}


@tool
def as_nothing() -> None:
    """Nothing."""


@tool
def reporting() -> str:
    """Reports its progress."""
    get_stream_writer()({"progress": 0.5})
    return "done"


@tool
def slowly(runtime: ToolRuntime) -> str:
    """Sends its output in parts."""
    runtime.emit_output_delta("first half")
    runtime.emit_output_delta({"rows": 2})
    return "all of it"


TOOLS = [weather, price]
SHAPES = [as_dict, as_command, as_blocks, as_image, as_object, as_artifact, as_nothing]


# -- text and calls -----------------------------------------------------------------------------------------------


@row(deep(say("Hello, how can I help?")))
def see_plain_text(turn: Turn) -> None:
    assert turn.texts() == ["Hello, how can I help?"]
    assert turn.outcome == "success"
    assert not turn.of("MESSAGES_SNAPSHOT")


@row(deep(call("weather", city="Seoul", pieces=6), say("Sunny.")))
def see_call_with_arguments_in_pieces(turn: Turn) -> None:
    assert turn.calls() == [("weather", {"city": "Seoul"})]
    assert len(turn.of("TOOL_CALL_ARGS")) == 6
    assert turn.results() == ["21 degrees in Seoul"]


@row(deep(call("weather", city="Seoul", pieces="whole"), say("Sunny.")))
def see_call_in_one_chunk(turn: Turn) -> None:
    assert turn.calls() == [("weather", {"city": "Seoul"})]
    assert turn.results() == ["21 degrees in Seoul"]


@row(deep(call("weather", pieces="whole"), say("Sunny.")))
def see_call_without_arguments(turn: Turn) -> None:
    assert turn.calls() == [("weather", {})]
    assert turn.results() == ["21 degrees in Seoul"]


@row(deep(call("weather", "", pieces="whole"), say("Sunny.")))
def see_call_with_empty_arguments(turn: Turn) -> None:
    assert turn.calls() == [("weather", {})]
    assert turn.results() == ["21 degrees in Seoul"]


def _two(turn: Turn) -> None:
    assert turn.calls() == [("weather", {"city": "Seoul"}), ("price", {"ticker": "AAPL"})]
    assert turn.results() == ["21 degrees in Seoul", "AAPL 190"]


SEOUL, AAPL = call("weather", city="Seoul", pieces=4), call("price", ticker="AAPL", pieces=4)
BUSAN = call("weather", city="Busan", pieces=5)


@row(deep(SEOUL | AAPL, say("Both.")))
def see_two_calls_interleaved(turn: Turn) -> None:
    _two(turn)


@row(deep(SEOUL + AAPL, say("Both.")))
def see_two_calls_one_after_the_other(turn: Turn) -> None:
    _two(turn)


@row(deep(SEOUL & AAPL, say("Both.")))
def see_two_calls_in_every_chunk(turn: Turn) -> None:
    _two(turn)


@row(deep(call("weather", city="Seoul", pieces="whole") & call("price", ticker="AAPL", pieces="whole"), say("Both.")))
def see_two_calls_whole_in_one_chunk(turn: Turn) -> None:
    _two(turn)


@row(deep((SEOUL | AAPL) | BUSAN, say("All three.")))
def see_three_calls_interleaved(turn: Turn) -> None:
    assert sorted(turn.results()) == ["21 degrees in Busan", "21 degrees in Seoul", "AAPL 190"]
    assert len(turn.calls()) == 3


@row(deep(say("Let me look.") + SEOUL, say("Sunny.")))
def see_text_then_call(turn: Turn) -> None:
    assert turn.texts() == ["Let me look.", "Sunny."]
    assert turn.calls() == [("weather", {"city": "Seoul"})]


@row(deep(SEOUL + say("Let me look."), say("Sunny.")))
def see_call_then_text(turn: Turn) -> None:
    assert turn.texts() == ["Let me look.", "Sunny."]
    assert turn.calls() == [("weather", {"city": "Seoul"})]


@row(deep(say("Let me look.", pieces=5) & SEOUL, say("Sunny.")))
def see_text_and_call_in_one_chunk(turn: Turn) -> None:
    assert turn.texts() == ["Let me look.", "Sunny."]
    assert turn.calls() == [("weather", {"city": "Seoul"})]


@row(deep(SEOUL | say("Let me look.", pieces=7), say("Sunny.")))
def see_call_and_text_interleaved(turn: Turn) -> None:
    assert turn.texts() == ["Let me look.", "Sunny."]
    assert turn.calls() == [("weather", {"city": "Seoul"})]


@row(deep(say("Hi there", pieces=["", "Hi", "", " there", ""])))
def see_empty_deltas(turn: Turn) -> None:
    assert [event["delta"] for event in turn.of("TEXT_MESSAGE_CONTENT")] == ["Hi", " there"]


@row(deep(say("", pieces=["", "", ""])))
def see_empty_answer(turn: Turn) -> None:
    assert not any(kind.startswith("TEXT") for kind in turn.kinds)
    assert turn.outcome == "success"


@row(agent(say("word " * 5000, pieces=["word "] * 5000)))
def see_five_thousand_deltas(turn: Turn) -> None:
    assert len(turn.of("TEXT_MESSAGE_CONTENT")) == 5000
    assert turn.texts() == ["word " * 5000]


@row(deep(say(FAMILY) + call("weather", city=FAMILY), say(FAMILY), model={"chunking": 1}))
def see_unicode_with_sse_cut_at_every_byte(turn: Turn) -> None:
    assert turn.texts() == [FAMILY, FAMILY]
    assert turn.calls() == [("weather", {"city": FAMILY})]


BROKEN = raw({"content": "a\ud83d"}, {"content": "\ude00b"}, {"content": "\ud800 lone"}, {"content": " end\udfff"})


@row(agent(BROKEN), settled=False)
def see_lone_surrogates(turn: Turn) -> None:
    """The checkpoint stores each as "?", which no stream can know."""
    assert turn.texts() == ["a😀b� lone end�"]
    assert turn.outcome == "success"
    turn.everything().encode()


@row(agent(call("weather", '{"city": "\\ud800X"}', pieces="whole")), settled=False)
def see_lone_surrogate_in_arguments(turn: Turn) -> None:
    assert turn.results() == ["21 degrees in �X"]
    turn.everything().encode()


@row(
    deep(
        raw({"tool_calls": [{"id": "A", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]}),
        say("Sunny."),
    )
)
def see_call_without_index(turn: Turn) -> None:
    assert turn.calls() == [("weather", {})]


# -- what goes wrong with a call ----------------------------------------------------------------------------------


@row(agent(say("Look. ") + call("broken", city="Atlantis"), tools=[broken]), settled=False)
def see_tool_that_raises(turn: Turn) -> None:
    assert turn.outcome == "ValueError"
    assert turn.events[-1]["message"] == "no weather station in Atlantis"


HANDLED = ToolErrorMiddleware(on_error=lambda error, request: f"Failed: {error}")


@row(deep(call("broken", city="Atlantis"), say("Sorry."), tools=[broken], middleware=[HANDLED]))
def see_handled_tool_exception(turn: Turn) -> None:
    assert "no weather station in Atlantis" in turn.results()[0]
    assert turn.texts() == ["Sorry."]


@row(deep(call("age", years="abc"), say("Sorry."), tools=[age]))
def see_arguments_that_fail_the_schema(turn: Turn) -> None:
    assert turn.calls() == [("age", {"years": "abc"})]
    assert "valid integer" in turn.results()[0]


@row(deep(call("weather", '{"city": "Seoul', pieces=3)))
def see_arguments_that_are_not_json(turn: Turn) -> None:
    assert turn.calls() == []
    (invalid,) = turn.custom("openui.invalid_tool_call")
    assert invalid["toolCallName"] == "weather"
    assert invalid["arguments"] == '{"city": "Seoul'


@row(deep(call("weather", "[1, 2]", pieces="whole")))
def see_arguments_that_are_no_object(turn: Turn) -> None:
    """LangChain itself refuses such a message."""
    assert turn.calls() == []
    assert turn.outcome == "ValidationError"


@row(deep(SEOUL + call("price", "{oops", pieces=2), say("Half of it.")))
def see_one_valid_and_one_invalid_call(turn: Turn) -> None:
    assert turn.calls() == [("weather", {"city": "Seoul"})]
    assert turn.results() == ["21 degrees in Seoul"]
    assert len(turn.custom("openui.invalid_tool_call")) == 1


@row(deep(call("fly", to="Mars"), say("I cannot fly.")))
def see_unknown_tool(turn: Turn) -> None:
    assert turn.calls() == [("fly", {"to": "Mars"})]
    assert "fly is not a valid tool" in turn.results()[0]


@row(deep(ending("length", say("Let me look. ") + call("weather", '{"city": "Se', pieces=2))))
def see_answer_cut_inside_a_call(turn: Turn) -> None:
    assert turn.texts() == ["Let me look. "]
    assert turn.calls() == []
    assert len(turn.custom("openui.invalid_tool_call")) == 1


def _same_id() -> Any:
    script = [call("weather", city="Seoul", id="A"), call("weather", city="Busan", id="A"), say("Both.")]
    return create_agent(chat_model(script), TOOLS, checkpointer=InMemorySaver())


@row(_same_id)
def see_call_id_used_twice(turn: Turn) -> None:
    assert [event["toolCallId"] for event in turn.of("TOOL_CALL_START")] == ["A"]
    assert [m["toolCalls"][0]["id"] for m in turn.client if m.get("toolCalls")] == ["A", "A"]


@row(
    agent(call("weather", id="call_0"), say("One."), call("price", ticker="AAPL", id="call_0"), say("Two.")), ["1", "2"]
)
def see_same_call_id_in_every_turn(one: Turn, two: Turn) -> None:
    """Some servers count from zero in each answer; a client would append to the old call."""
    assert one.calls() == [("weather", {})]
    assert two.calls() == []
    assert [m["content"] for m in two.client if m["role"] == "tool"] == ["21 degrees in Seoul", "AAPL 190"]


# -- what tools return --------------------------------------------------------------------------------------------


def _shape(name: str, expected: str) -> None:
    def see(turn: Turn) -> None:
        assert turn.results() == [expected]
        assert turn.outcome == "success"

    see.__name__ = f"tool_returns_{name.removeprefix('as_')}"
    row(deep(call(name), say("Done."), tools=SHAPES))(see)


for _name, _expected in (
    ("as_dict", '{"city": "서울", "degrees": 21}'),
    ("as_command", "from a command"),
    ("as_blocks", "one two"),
    (
        "as_image",
        '[{"type": "text", "text": "chart"}, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}]',
    ),
    ("as_object", "Station 47108"),
    ("as_artifact", "see the chart"),
    ("as_nothing", "null"),
):
    _shape(_name, _expected)


@row(deep(call("reporting"), say("Done."), tools=[reporting]))
def see_custom_event_of_a_tool(turn: Turn) -> None:
    assert turn.custom("langgraph.custom") == [{"progress": 0.5}]


@row(deep(call("slowly"), say("Done."), tools=[slowly]))
def see_partial_output_of_a_tool(turn: Turn) -> None:
    call_id = turn.of("TOOL_CALL_START")[0]["toolCallId"]
    expected = [{"toolCallId": call_id, "delta": delta} for delta in ("first half", {"rows": 2})]
    assert turn.custom("langgraph.tool_output") == expected
    assert turn.results() == ["all of it"]


# -- the model fails ----------------------------------------------------------------------------------------------


@row(deep(drop(3, say("This answer breaks off", pieces=5))), settled=False)
def see_connection_dropped_in_text(turn: Turn) -> None:
    assert turn.events[-1]["type"] == "RUN_ERROR"
    assert len(turn.of("TEXT_MESSAGE_END")) == 1


@row(deep(drop(3, call("weather", city="Seoul", pieces=5))), settled=False)
def see_connection_dropped_in_arguments(turn: Turn) -> None:
    assert turn.events[-1]["type"] == "RUN_ERROR"
    assert turn.calls() == []


@row(deep(http_error(500)))
def see_http_500_before_anything(turn: Turn) -> None:
    assert turn.kinds == ["RUN_STARTED", "RUN_ERROR"]


@row(deep(SEOUL, http_error(500)))
def see_http_500_after_a_tool(turn: Turn) -> None:
    assert turn.events[-1]["type"] == "RUN_ERROR"
    assert turn.results() == ["21 degrees in Seoul"]


@row(deep(http_error(503), attempts(http_error(503)), say("never")), ["one", "two"], settled=True)
def see_two_failing_runs_on_one_thread(one: Turn, two: Turn) -> None:
    assert one.events[-1]["type"] == two.events[-1]["type"] == "RUN_ERROR"


RETRIED = attempts(drop(3, say("Half an answer", pieces=6)), say("The whole answer."))


@row(agent(RETRIED, middleware=[ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)]))
def see_model_retried_in_mid_text(turn: Turn) -> None:
    assert turn.texts()[-1] == "The whole answer."
    assert len(turn.of("MESSAGES_SNAPSHOT")) == 1
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["The whole answer."]


def _retried_node(answer: Answer, **policies: Any) -> Callable[[], Any]:
    def build() -> Any:
        model = chat_model([answer])

        async def speak(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("speak", speak, **policies)
        graph.add_edge(START, "speak")
        return graph.compile(checkpointer=InMemorySaver())

    return build


ONCE_MORE = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False, retry_on=lambda _: True)


@row(_retried_node(RETRIED, retry_policy=ONCE_MORE), modes=("async",))
def see_node_retried_in_mid_text(turn: Turn) -> None:
    assert turn.texts()[-1] == "The whole answer."
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["The whole answer."]


STALLED = attempts(stall(3, 30.0, say("Half an answer", pieces=6)), say("The whole answer."))


@row(
    _retried_node(STALLED, retry_policy=ONCE_MORE, timeout=TimeoutPolicy(idle_timeout=0.15)),
    modes=("async",),
)
def see_node_timed_out_in_mid_text_and_retried(turn: Turn) -> None:
    assert turn.texts()[-1] == "The whole answer."
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["The whole answer."]
    kinds = turn.kinds
    assert kinds.index("MESSAGES_SNAPSHOT") < len(kinds) - 1 - kinds[::-1].index("TEXT_MESSAGE_START")


def _fallback() -> Any:
    broken_off = chat_model([drop(3, say("Half an answer", pieces=6))])
    middleware = [ModelFallbackMiddleware(chat_model([say("The other model.")]))]
    return create_agent(broken_off, TOOLS, middleware=middleware, checkpointer=InMemorySaver())


@row(_fallback)
def see_fallback_model_after_half_an_answer(turn: Turn) -> None:
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["The other model."]


# -- subagents ----------------------------------------------------------------------------------------------------


def task(kind: str, description: str, **more: Any) -> Any:
    return call("task", {"description": description, "subagent_type": kind}, **more)


def helper(name: str, *script: Answer, **more: Any) -> dict[str, Any]:
    model = chat_model(list(script))
    return {"name": name, "description": name, "system_prompt": name, "model": model, "tools": TOOLS, **more}


def delegating(*script: Answer, helpers: Callable[[], list[Any]], **kwargs: Any) -> Callable[[], Any]:
    return lambda: create_deep_agent(
        chat_model(list(script)), TOOLS, subagents=helpers(), checkpointer=InMemorySaver(), **kwargs
    )


@row(
    delegating(
        task("scout", "look"),
        say("Final answer."),
        helpers=lambda: [helper("scout", say("Secret scratch. ") + SEOUL, say("Scout's report."))],
    )
)
def see_subagent(turn: Turn) -> None:
    assert turn.texts() == ["Final answer."]
    assert turn.subagents() == {"scout": ["Secret scratch. ", "Scout's report."]}
    assert turn.calls() == [("task", {"description": "look", "subagent_type": "scout"}), ("weather", {"city": "Seoul"})]
    (started,) = turn.of("SUBAGENT_STARTED")
    assert started["parentToolCallId"] == turn.of("TOOL_CALL_START")[0]["toolCallId"]
    assert turn.of("SUBAGENT_FINISHED")[0]["outcome"] == {"type": "success"}
    assert turn.results() == ["Scout's report.", "21 degrees in Seoul"]


@row(
    delegating(
        task("scout", "look") | task("clerk", "count"),
        say("Final answer."),
        helpers=lambda: [helper("scout", SEOUL, say("Scouted.")), helper("clerk", AAPL, say("Counted."))],
    )
)
def see_two_parallel_subagents(turn: Turn) -> None:
    assert turn.subagents() == {"scout": ["Scouted."], "clerk": ["Counted."]}
    assert turn.texts() == ["Final answer."]
    assert sorted(turn.results()) == ["21 degrees in Seoul", "AAPL 190", "Counted.", "Scouted."]


@row(
    delegating(
        task("scout", "look"),
        say("never said"),
        helpers=lambda: [helper("scout", drop(3, say("The scout breaks off", pieces=6)))],
    )
)
def see_failing_subagent(turn: Turn) -> None:
    assert turn.events[-1]["type"] == "RUN_ERROR"
    assert len(turn.of("SUBAGENT_ERROR")) == 1
    assert turn.texts() == []


@row(
    delegating(
        task("scout", "look"),
        say("The scout failed."),
        helpers=lambda: [helper("scout", drop(3, say("The scout breaks off", pieces=6)))],
        middleware=[HANDLED],
    )
)
def see_failing_subagent_handled_by_its_parent(turn: Turn) -> None:
    assert turn.texts() == ["The scout failed."]
    assert turn.outcome == "success"
    assert len(turn.of("SUBAGENT_ERROR")) == 1
    assert not turn.of("SUBAGENT_FINISHED")


@row(
    delegating(
        task("scout", "look"),
        say("Final."),
        helpers=lambda: [helper("scout", call("reporting"), say("Reported."), tools=[reporting])],
    )
)
def see_custom_event_of_a_subagent(turn: Turn) -> None:
    (event,) = turn.of("CUSTOM")
    assert event["value"] == {"progress": 0.5}
    assert event["subagentRunId"] == turn.of("SUBAGENT_STARTED")[0]["subagentRunId"]


def _agent_in_a_tool(script: list[Answer]) -> Callable[[], Any]:
    def build() -> Any:
        expert = create_agent(
            chat_model([say("Secret thoughts. ") + SEOUL, say("Expert opinion.")]), TOOLS, name="expert"
        )

        @tool
        def ask_expert(question: str) -> str:
            """Ask an expert."""
            return str(expert.invoke({"messages": [("user", question)]})["messages"][-1].text)

        @tool
        async def ask_expert_async(question: str) -> str:
            """Ask an expert."""
            return str((await expert.ainvoke({"messages": [("user", question)]}))["messages"][-1].text)

        return create_agent(chat_model(script), [ask_expert, ask_expert_async], checkpointer=InMemorySaver())

    return build


@row(_agent_in_a_tool([call("ask_expert", question="why"), say("Because.")]))
def see_agent_wrapped_in_a_tool(turn: Turn) -> None:
    assert turn.texts() == ["Because."]
    assert turn.subagents() == {"expert": ["Secret thoughts. ", "Expert opinion."]}
    assert turn.results() == ["Expert opinion.", "21 degrees in Seoul"]


@row(_agent_in_a_tool([call("ask_expert_async", question="why"), say("Because.")]), modes=("async",))
def see_agent_wrapped_in_an_async_tool(turn: Turn) -> None:
    assert turn.texts() == ["Because."]
    assert turn.subagents() == {"expert": ["Secret thoughts. ", "Expert opinion."]}


def _nested() -> Any:
    inner = create_deep_agent(chat_model([say("Deepest.")]), name="inner")
    middle = create_deep_agent(
        chat_model([task("inner", "deeper"), say("Middle.")]),
        subagents=[{"name": "inner", "description": "inner", "runnable": inner}],
        name="middle",
    )
    return create_deep_agent(
        chat_model([task("middle", "deep"), say("Top.")]),
        subagents=[{"name": "middle", "description": "middle", "runnable": middle}],
        checkpointer=InMemorySaver(),
    )


@row(_nested)
def see_subagent_of_a_subagent(turn: Turn) -> None:
    assert turn.texts() == ["Top."]
    assert turn.subagents() == {"middle": ["Middle."], "inner": ["Deepest."]}
    middle, inner = turn.of("SUBAGENT_STARTED")
    assert inner["parentSubagentRunId"] == middle["subagentRunId"]


# -- graphs ------------------------------------------------------------------------------------------------------


def _agent_as_node() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("assistant", create_agent(chat_model([say("Let me look. ") + SEOUL, say("Sunny.")]), TOOLS))
    graph.add_edge(START, "assistant")
    return graph.compile(checkpointer=InMemorySaver())


@row(_agent_as_node)
def see_agent_as_a_node(turn: Turn) -> None:
    assert turn.texts() == ["Let me look. ", "Sunny."]
    assert turn.results() == ["21 degrees in Seoul"]
    assert not turn.of("SUBAGENT_STARTED")


def _two_agents_in_a_row() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("first", create_agent(chat_model([SEOUL, say("First.")]), TOOLS))
    graph.add_node("second", create_agent(chat_model(lambda _: say("Second.")), TOOLS))
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    return graph.compile(checkpointer=InMemorySaver())


@row(_two_agents_in_a_row)
def see_two_agents_as_nodes(turn: Turn) -> None:
    assert turn.texts() == ["First.", "Second."]


def _plain_node() -> Any:
    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("Written by a node.", id="node-1")]}

    graph = StateGraph(MessagesState)
    graph.add_node("speak", speak)
    graph.add_edge(START, "speak")
    return graph.compile(checkpointer=InMemorySaver())


@row(_plain_node)
def see_message_written_by_a_node(turn: Turn) -> None:
    assert turn.texts() == ["Written by a node."]
    assert turn.of("TEXT_MESSAGE_START")[0]["messageId"] == "node-1"


def _written_as(*values: Any) -> Callable[[], Any]:
    """A node for each value, one after the other, that writes it to `messages`."""

    def build() -> Any:
        graph = StateGraph(MessagesState)
        graph.add_sequence([(f"n{number}", lambda _, value=value: value) for number, value in enumerate(values)])
        graph.add_edge(START, "n0")
        return graph.compile(checkpointer=InMemorySaver())

    return build


@row(_written_as({"messages": ("ai", "A pair.")}, {"messages": [{"role": "assistant", "content": "A dict."}]}))
def see_messages_written_in_other_forms(turn: Turn) -> None:
    """Only the state knows their ids."""
    assert turn.texts() == ["A pair.", "A dict."]


@row(
    _written_as(
        [Command(update={"messages": [AIMessage("One.")]}), Command(update={"messages": [AIMessage("Two.")]})],
        {"messages": [HumanMessage("A node asks.", id="h"), AIMessage("A node answers.", id="a")]},
    )
)
def see_several_writes_of_one_node(turn: Turn) -> None:
    assert turn.texts() == ["One.", "Two.", "A node answers."]
    assert "A node asks." in [m["content"] for m in turn.client if m["role"] == "user"]


def _two_at_once() -> Any:
    model = chat_model(lambda c: say(f"About {c.user_texts[-1]}.", pieces=6), token_delay=0.002)

    async def both(state: MessagesState) -> dict[str, Any]:
        return {"messages": await asyncio.gather(model.ainvoke("cats"), model.ainvoke("dogs"))}

    graph = StateGraph(MessagesState)
    graph.add_node("both", both)
    graph.add_edge(START, "both")
    return graph.compile(checkpointer=InMemorySaver())


@row(_two_at_once, modes=("async",), ordered=False)
def see_one_node_asking_two_models_at_once(turn: Turn) -> None:
    """Where one starts after the other has begun it looks like a retry until the task ends: then both are there."""
    answers = [m["content"] for m in turn.client if m["role"] == "assistant"]
    assert sorted(answers) == ["About cats.", "About dogs."]


def _kept_and_dropped() -> Any:
    model = chat_model(lambda _: say("Streamed by a node."))

    def draft(state: MessagesState) -> dict[str, Any]:
        model.invoke(state["messages"])  # not an answer: the node keeps nothing of it
        return {}

    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("draft", draft)
    graph.add_node("speak", speak)
    graph.add_edge(START, "draft")
    graph.add_edge("draft", "speak")
    return graph.compile(checkpointer=InMemorySaver())


@row(_kept_and_dropped)
def see_node_that_drops_what_its_model_said(turn: Turn) -> None:
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["Streamed by a node."]


class Count(TypedDict):
    total: int


def _no_messages() -> Any:
    def count(state: Count) -> dict[str, int]:
        get_stream_writer()("counting")
        return {"total": state["total"] + 1}

    graph = StateGraph(Count)
    graph.add_node("count", count)
    graph.add_edge(START, "count")
    return graph.compile(checkpointer=InMemorySaver())


@row(_no_messages, [{"total": 41}])
def see_graph_without_messages(turn: Turn) -> None:
    assert turn.of("STATE_SNAPSHOT")[-1]["snapshot"] == {"total": 42}
    assert turn.custom("langgraph.custom") == ["counting"]


@row(deep(call("write_file", file_path="/notes.txt", content="Sunny."), say("Noted.")))
def see_state_beside_the_messages(turn: Turn) -> None:
    assert turn.of("STATE_SNAPSHOT")[-1]["snapshot"]["files"]["/notes.txt"]["content"] == "Sunny."


def _branches() -> Any:
    graph = StateGraph(MessagesState)
    for name in ("left", "right"):
        model = chat_model(lambda _, name=name: say(f"From the {name}.", pieces=5))
        graph.add_node(name, lambda state, model=model: {"messages": [model.invoke(state["messages"])]})
        graph.add_edge(START, name)
    return graph.compile(checkpointer=InMemorySaver())


@row(_branches, ordered=False)
def see_two_nodes_speaking_at_once(turn: Turn) -> None:
    assert sorted(turn.texts()) == ["From the left.", "From the right."]


# -- interrupts ---------------------------------------------------------------------------------------------------


def approve(*decisions: dict[str, Any]) -> Command[Any]:
    return Command(resume={"decisions": list(decisions)})


ASKING = deep(say("May I? ") + call("weather", city="Seoul"), say("Thanks."), interrupt_on={"weather": True})


def _asked(turn: Turn) -> None:
    assert turn.outcome == "interrupt"
    (asked,) = turn.interrupts
    assert asked["reason"] == "tool_approval"
    assert turn.calls() == [("weather", {"city": "Seoul"})]
    assert turn.results() == []


@row(ASKING, ["Hi", approve({"type": "approve"})])
def see_interrupt_approved(first: Turn, second: Turn) -> None:
    _asked(first)
    assert second.results() == ["21 degrees in Seoul"]
    assert second.texts() == ["Thanks."]
    assert second.outcome == "success"


@row(ASKING, ["Hi", approve({"type": "reject", "message": "No."})])
def see_interrupt_rejected(first: Turn, second: Turn) -> None:
    _asked(first)
    assert "rejected" in second.results()[0]
    assert second.texts() == ["Thanks."]


EDITED = {"type": "edit", "edited_action": {"name": "weather", "args": {"city": "Busan"}}}


@row(ASKING, ["Hi", approve(EDITED)])
def see_interrupt_edited(first: Turn, second: Turn) -> None:
    _asked(first)
    (result,) = second.results()
    assert result.endswith("21 degrees in Busan")


@row(ASKING, ["Hi", approve({"type": "respond", "message": "It is snowing."})])
def see_interrupt_answered_for_the_tool(first: Turn, second: Turn) -> None:
    assert second.results() == ["It is snowing."]


PER_CALL = HumanInTheLoopMiddleware({"weather": True, "price": True}, interrupt_mode="per_call")


def answer_each(turn: Turn) -> Command[Any]:
    return Command(resume={asked["id"]: {"type": "approve"} for asked in turn.interrupts})


@row(agent(SEOUL | AAPL, say("Both."), middleware=[PER_CALL]), ["Hi", answer_each])
def see_two_interrupts_resumed_by_id(first: Turn, second: Turn) -> None:
    assert first.outcome == "interrupt"
    by_call = {asked["toolCallId"]: asked for asked in first.interrupts}
    assert sorted(by_call) == sorted(event["toolCallId"] for event in first.of("TOOL_CALL_START"))
    assert all(asked["responseSchema"] for asked in first.interrupts)
    assert sorted(second.results()) == ["21 degrees in Seoul", "AAPL 190"]


def answer_first(turn: Turn) -> Command[Any]:
    return Command(resume={turn.interrupts[0]["id"]: {"type": "approve"}})


@row(agent(SEOUL | AAPL, say("Both."), middleware=[PER_CALL]), ["Hi", answer_first, answer_each])
def see_two_interrupts_resumed_one_by_one(first: Turn, second: Turn, third: Turn) -> None:
    assert len(first.interrupts) == 2
    assert second.outcome == "interrupt"
    assert len(second.interrupts) == 1
    assert third.outcome == "success"
    assert third.texts() == ["Both."]


@tool
def confirm(question: str) -> str:
    """Ask the user."""
    return f"The user says {interrupt(question)}"


@row(
    deep(say("One moment. ") + call("confirm", question="Really?"), say("Good."), tools=[confirm]),
    ["Hi", Command(resume="yes")],
)
def see_interrupt_inside_a_tool(first: Turn, second: Turn) -> None:
    assert first.interrupts[0]["message"] == "Really?"
    assert second.results() == ["The user says yes"]


@row(
    delegating(
        task("scout", "look"),
        say("Final."),
        helpers=lambda: [
            helper("scout", say("Asking. ") + call("confirm", question="Go?"), say("Gone."), tools=[confirm])
        ],
    ),
    ["Hi", Command(resume="yes")],
)
def see_interrupt_inside_a_subagent(first: Turn, second: Turn) -> None:
    assert first.outcome == "interrupt"
    assert first.of("SUBAGENT_FINISHED")[0]["outcome"] == {"type": "suspended"}
    assert second.texts() == ["Final."]
    assert second.subagents() == {"scout": ["Gone."]}


# -- threads ------------------------------------------------------------------------------------------------------


@row(deep(say("One."), SEOUL, say("Two."), say("Three.")), ["1", "2", "3"])
def see_several_turns(one: Turn, two: Turn, three: Turn) -> None:
    assert [turn.texts() for turn in (one, two, three)] == [["One."], ["Two."], ["Three."]]
    assert not any(turn.of("MESSAGES_SNAPSHOT") for turn in (one, two, three))


SENT = [
    {"role": "user", "content": "Hi", "id": "u1"},
    {"role": "assistant", "content": "Hello.", "id": "a1"},
    {"role": "user", "content": "And now?", "id": "u2"},
]


@row(deep(say("unused"), say("Now this.")), [{"messages": SENT}])
def see_client_sent_history(turn: Turn) -> None:
    assert turn.texts() == ["Now this."]


CUT = [
    HumanMessage("Hi", id="u1"),
    AIMessage("", id="a1", tool_calls=[{"id": "A", "name": "weather", "args": {}}]),
    HumanMessage("And now?", id="u2"),
]


@row(deep(say("unused"), say("Repaired.")), [{"messages": CUT}])
def see_patched_history(turn: Turn) -> None:
    assert turn.texts() == ["Repaired."]
    assert [m["role"] for m in turn.client] == ["user", "assistant", "tool", "user", "assistant"]


EDITED_FIRST = {"messages": [{"role": "user", "content": "1, edited", "id": "user-0"}]}


@row(deep(say("One."), say("Two.")), ["1", EDITED_FIRST])
def see_edited_earlier_message(one: Turn, two: Turn) -> None:
    assert [m.get("content") for m in two.client] == ["1, edited", "One.", "Two."]


START_OVER = {"messages": [RemoveMessage(id="__remove_all__"), HumanMessage("1, edited", id="user-9")]}


@row(agent(say("One."), say("unused")), ["1", START_OVER])
def see_thread_started_over(one: Turn, two: Turn) -> None:
    assert [m.get("content") for m in two.client] == ["1, edited", "One."]


# -- who speaks ---------------------------------------------------------------------------------------------------


def _tool_with_a_model() -> Any:
    inner = chat_model(lambda _: say("Inner tokens."))

    @tool
    def think(question: str) -> str:
        """Ask a model."""
        return f"It said: {inner.invoke(question).text}"

    return create_deep_agent(
        chat_model([call("think", question="why"), say("Because.")]), [think], checkpointer=InMemorySaver()
    )


@row(_tool_with_a_model)
def see_tool_that_calls_a_model(turn: Turn) -> None:
    assert turn.texts() == ["Because."]
    assert turn.results() == ["It said: Inner tokens."]
    assert not turn.of("SUBAGENT_STARTED")


class Guard(AgentMiddleware):
    """Asks a model before each answer."""

    def __init__(self, hook: str, tagged: bool) -> None:
        super().__init__()
        self.model = chat_model(lambda _: say("GUARD TOKENS"))
        self.transformers = (InternalCallTransformer,) if tagged else ()
        self.config: Any = {"metadata": internal_call_metadata()} if tagged else {}
        self.hook = hook

    def before_model(self, state: Any, runtime: Any) -> None:
        if self.hook == "before":
            self.model.invoke("safe?", self.config)

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        if self.hook == "before":
            await self.model.ainvoke("safe?", self.config)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        if self.hook == "wrap":
            self.model.invoke("safe?", self.config)
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        if self.hook == "wrap":
            await self.model.ainvoke("safe?", self.config)
        return await handler(request)


def _guarded(hook: str, tagged: bool) -> Callable[[], Any]:
    return lambda: create_agent(
        chat_model([say("The answer.")]), TOOLS, middleware=[Guard(hook, tagged)], checkpointer=InMemorySaver()
    )


@row(_guarded("before", tagged=True))
def see_tagged_internal_call(turn: Turn) -> None:
    assert turn.texts() == ["The answer."]
    assert "GUARD" not in turn.everything()


@row(_guarded("before", tagged=False))
def see_untagged_internal_call(turn: Turn) -> None:
    assert turn.texts() == ["The answer."]
    assert "GUARD" not in turn.everything()


@row(_guarded("wrap", tagged=True))
def see_tagged_internal_call_around_the_model(turn: Turn) -> None:
    assert "GUARD" not in turn.everything()


@row(_guarded("wrap", tagged=False))
def see_untagged_internal_call_around_the_model(turn: Turn) -> None:
    """Nothing tells it from the answer until the task ends: then a snapshot takes it away."""
    assert "GUARD" not in json.dumps(turn.client)


def _summarizing() -> Any:
    summary = SummarizationMiddleware(
        chat_model(lambda _: say("SUMMARY")), trigger=("messages", 4), keep=("messages", 1)
    )
    return create_agent(
        chat_model(lambda c: say(f"Answer {len(c.messages)}.")), [], middleware=[summary], checkpointer=InMemorySaver()
    )


@row(_summarizing, ["1", "2", "3"])
def see_summarization(*turns: Turn) -> None:
    assert turns[-1].texts()[-1].startswith("Answer")
    assert len(turns[-1].of("MESSAGES_SNAPSHOT")) in (1, 2)
    assert "SUMMARY" in turns[-1].client[0]["content"]


def _deep_summarizing() -> Any:
    model = chat_model(lambda c: say("SUMMARY" if "summar" in json.dumps(c.messages[-1]).lower() else "Answer."))
    model.profile = {"max_input_tokens": 30_000, "max_output_tokens": 1000}
    return create_deep_agent(model, checkpointer=InMemorySaver())


@row(_deep_summarizing, ["1" * 40_000, "2" * 40_000, "3" * 40_000])
def see_deep_agents_summarization(*turns: Turn) -> None:
    assert [turn.texts() for turn in turns] == [["Answer."]] * 3
    assert "SUMMARY" not in json.dumps([turn.client for turn in turns])


@row(agent(SEOUL, say("Sunny."), model={"streaming": False, "disable_streaming": True}))
def see_streaming_disabled(turn: Turn) -> None:
    assert turn.calls() == [("weather", {"city": "Seoul"})]
    assert turn.results() == ["21 degrees in Seoul"]
    assert turn.texts() == ["Sunny."]


@row(agent(SEOUL, say("never"), middleware=[ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")]))
def see_message_written_by_middleware(turn: Turn) -> None:
    assert len(turn.texts()) == 1
    assert "limit" in turn.texts()[0].lower()
    assert turn.results() == ["21 degrees in Seoul"]


class Stop(AgentMiddleware):
    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("Stopped here.", id="stop")], "jump_to": "end"}


@row(agent(say("An answer."), middleware=[Stop()]))
def see_stop_message(turn: Turn) -> None:
    assert turn.texts() == ["An answer.", "Stopped here."]


PII = PIIMiddleware("email", strategy="redact", apply_to_output=True, apply_to_input=True)


@row(agent(say("Write to kim@example.com now."), middleware=[PII]), ["I am lee@example.com"])
def see_answer_rewritten_by_middleware(turn: Turn) -> None:
    assert "kim@example.com" not in json.dumps(turn.client)
    assert "[REDACTED_EMAIL]" in turn.client[-1]["content"]


@wrap_model_call
def shout(request: Any, handler: Any) -> Any:
    response = handler(request)
    message = response.result[0]
    response.result = [message.model_copy(update={"content": message.text.upper()})]
    return response


@row(agent(say("Quiet."), middleware=[shout]), modes=("sync",))
def see_answer_rewritten_around_the_model(turn: Turn) -> None:
    assert turn.client[-1]["content"] == "QUIET."


@wrap_model_call
def ask_again(request: Any, handler: Any) -> Any:
    handler(request)
    return handler(request)


@row(agent(attempts(SEOUL, AAPL), say("Done."), middleware=[ask_again]), modes=("sync",))
def see_answer_with_a_call_discarded(turn: Turn) -> None:
    """The first call never runs; the snapshot takes it away."""
    assert [c["function"]["name"] for m in turn.client for c in m.get("toolCalls", ())] == ["price"]


@after_model
def forget(state: Any, runtime: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=state["messages"][-1].id), AIMessage("Instead.", id="instead")]}


@row(agent(say("Forget me."), middleware=[forget]))
def see_answer_replaced_by_middleware(turn: Turn) -> None:
    assert [m.get("content") for m in turn.client if m["role"] == "assistant"] == ["Instead."]


class Weather(TypedDict):
    """The weather."""

    degrees: int


@row(agent(call("Weather", degrees=21), response_format=ToolStrategy(Weather)))
def see_structured_response(turn: Turn) -> None:
    assert turn.of("STATE_SNAPSHOT")[-1]["snapshot"]["structured_response"] == {"degrees": 21}


# -- reasoning: the Responses API, whose events ChatOpenAI turns into reasoning blocks ------------------------------


def _responses() -> Any:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 1}}
    response = {"id": "resp_1", "object": "response", "created_at": 0, "model": "m", "output": [], "tools": []}
    response |= {"tool_choice": "auto", "parallel_tool_calls": True, "usage": usage, "status": "completed"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    text = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    where = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    said = {"item_id": "msg_1", "output_index": 1, "content_index": 0, "logprobs": []}
    events = [
        {"type": "response.created", "response": response | {"status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": thought},
        {"type": "response.reasoning_summary_part.added", **where, "part": {"type": "summary_text", "text": ""}},
        {"type": "response.reasoning_summary_text.delta", **where, "delta": "Let me "},
        {"type": "response.reasoning_summary_text.delta", **where, "delta": "think."},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_item.added", "output_index": 1, "item": text},
        {"type": "response.content_part.added", **said, "part": part},
        {"type": "response.output_text.delta", **said, "delta": "The "},
        {"type": "response.output_text.delta", **said, "delta": "answer."},
        {"type": "response.completed", "response": response},
    ]
    numbered = [event | {"sequence_number": number} for number, event in enumerate(events)]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    )
    model = ChatOpenAI(
        model="gpt-5-mini",
        api_key="offline",
        use_responses_api=True,
        output_version="v1",
        streaming=True,
        http_client=httpx.Client(transport=transport),
        http_async_client=httpx.AsyncClient(transport=transport),
    )
    return create_agent(model, [], checkpointer=InMemorySaver())


@row(_responses)
def see_reasoning(turn: Turn) -> None:
    assert "".join(event["delta"] for event in turn.of("REASONING_MESSAGE_CONTENT")) == "Let me think."
    assert turn.texts() == ["The answer."]
    kinds = turn.kinds
    assert kinds.index("REASONING_END") < kinds.index("TEXT_MESSAGE_START")
