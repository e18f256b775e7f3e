import asyncio

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from runbook_lib import deep_agent
from runbook_lib.deep_agent import PROMPT_PATH, TOOLS, build_agent, captured_middleware, record_hooks, tool_names
from runbook_lib.model import call, chat_model, say
from runbook_lib.openui import Catalog, validate


def ask(text):
    return {"messages": [{"role": "user", "content": text, "id": "user-1"}]}


def test_the_agent_answers_a_question_nobody_rehearsed():
    state = build_agent().invoke(ask("What is the weather in Punta Arenas?"))
    kinds = [message.type for message in state["messages"]]
    assert kinds == ["human", "ai", "tool", "ai"]
    assert "Punta Arenas" in state["messages"][-1].text
    assert state["messages"][-1].text.startswith("root = Stack(")


def test_the_runbook_s_tools_come_after_the_built_in_ones():
    assert tool_names(build_agent())[-3:] == [each.name for each in TOOLS]


@pytest.mark.parametrize("name", ["ls", "task", "read_file"])
def test_a_tool_that_would_replace_a_built_in_is_refused(name):
    @tool(name)
    def mine(path: str) -> str:
        """Do something else."""
        return path

    with pytest.raises(ValueError, match=f"tool '{name}' has the name of a built-in"):
        build_agent(tools=[mine])


def test_a_tool_given_as_a_schema_is_refused_too():
    with pytest.raises(ValueError, match="built-in"):
        build_agent(tools=[{"type": "function", "function": {"name": "grep", "parameters": {}}}])


def test_a_middleware_that_would_replace_a_built_in_is_refused():
    class FilesystemMiddleware(AgentMiddleware):
        pass

    with pytest.raises(ValueError, match="middleware 'FilesystemMiddleware' has the name of a built-in"):
        build_agent(middleware=[FilesystemMiddleware()])


def test_middleware_of_one_s_own_is_accepted_and_recorded_around_the_right_nodes():
    class Mine(AgentMiddleware):
        def before_model(self, state, runtime):
            return None

        def wrap_tool_call(self, request, handler):
            return handler(request)

    with record_hooks() as hooks:
        agent = build_agent(chat_model([call("get_weather", city="Oslo"), say("ok")]), middleware=[Mine()])
    agent.invoke(ask("hi"))
    mine = [(hook.hook, hook.node, hook.moment) for hook in hooks if hook.middleware == "Mine"]
    assert mine == [
        ("before_model", "Mine.before_model", "run"),
        ("wrap_tool_call", "tools", "enter"),
        ("wrap_tool_call", "tools", "exit"),
        ("before_model", "Mine.before_model", "run"),
    ]


def test_sync_and_async_runs_record_the_same_hooks_properly_nested():
    with record_hooks() as hooks:
        agent = build_agent(chat_model([say("hello")]))
    agent.invoke(ask("hi"))
    first = list(hooks)
    hooks.clear()
    asyncio.run(agent.ainvoke(ask("hi")))
    assert hooks == first
    depth = 0
    for hook in first:
        depth -= hook.moment == "exit"
        assert hook.depth == depth
        depth += hook.moment == "enter"
    assert depth == 0


def test_recording_ends_with_the_block():
    with record_hooks() as hooks:
        pass
    build_agent(chat_model([say("hello")])).invoke(ask("hi"))
    assert hooks == []


def test_the_captured_stack_is_the_default_one():
    with captured_middleware() as stack:
        build_agent()
    names = [middleware.name for middleware in stack]
    assert {"FilesystemMiddleware", "SubAgentMiddleware", "PatchToolCallsMiddleware"} <= set(names)
    assert "TodoListMiddleware" not in names


def test_the_served_module_has_a_graph_and_fresh_transformers():
    assert deep_agent.graph.get_graph().nodes.keys() >= {"model", "tools"}
    assert [cls.__name__ for cls in deep_agent.stream_transformers()] == ["OpenUIStreamTransformer"]


def test_a_thread_remembers_the_turn_before():
    agent = build_agent(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    agent.invoke(ask("weather in Seoul"), config)
    answer = agent.invoke({"messages": [{"role": "user", "content": "what about Busan?", "id": "user-2"}]}, config)
    assert "Busan" in answer["messages"][-1].text


def test_the_prompt_teaches_the_catalog_as_it_is():
    """`system-prompt.txt` begins with the section that the catalog generates; when this fails, write it anew."""
    section = Catalog.load("general").prompt(["Stack", "Card", "TextContent", "EntityList"])
    assert PROMPT_PATH.read_text(encoding="utf-8").startswith(section)


def test_the_answers_of_the_offline_assistant_are_what_the_prompt_asks_for():
    state = build_agent().invoke(ask("Weather in Lima, AAPL price, and search the web for delta channels"))
    assert validate(state["messages"][-1].text).findings == ()
