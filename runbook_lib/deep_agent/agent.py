"""`build_agent`: the runbook's deep agent, as the source builds it, with one thing made safe."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langgraph.graph.state import CompiledStateGraph

from runbook_lib.model import chat_model

from ._stack import Middleware, built_in_names
from .tools import TOOLS

PROMPT_PATH = Path(__file__).with_name("system-prompt.txt")
DEMO_RULES = (
    "You are an OpenUI assistant with weather, finance and research tools. Use them when they help, then answer "
    "only in OpenUI Lang. What the weather, stock and search tools return is demo data: never present it as live."
)

Agent = CompiledStateGraph[Any, Any, Any, Any]


def build_agent(model: BaseChatModel | None = None, **create_deep_agent_kwargs: Any) -> Agent:
    """Build the runbook's deep agent: `create_deep_agent` with the runbook's model, tools and prompt.

    Every keyword of `create_deep_agent` can be given and then replaces the runbook's own value. Raises ValueError
    for a tool or a middleware whose name would replace a built-in: `create_deep_agent` does that without a word,
    and the agent then lacks, say, its file tools' behaviour (deepagents 0.7.32).
    """
    options = {"tools": list(TOOLS), "system_prompt": system_prompt()} | create_deep_agent_kwargs
    _refuse_replacements(options["tools"] or (), options.get("middleware") or ())
    return create_deep_agent(model=model or chat_model(), **options)


def system_prompt() -> str:
    """The agent's system prompt: how to write OpenUI Lang, then what the tools are."""
    return PROMPT_PATH.read_text(encoding="utf-8") + "\n" + DEMO_RULES


def _refuse_replacements(tools: Sequence[Any], middleware: Sequence[Middleware]) -> None:
    tool_names, middleware_names = built_in_names()
    clashes = [("tool", name) for name in map(_name_of, tools) if name in tool_names]
    clashes += [("middleware", each.name) for each in middleware if each.name in middleware_names]
    if clashes:
        kind, name = clashes[0]
        raise ValueError(
            f"The {kind} {name!r} has the name of a built-in of create_deep_agent and would silently take its place. "
            f"Rename it, or call create_deep_agent directly if replacing the built-in is what you want."
        )


def _name_of(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name", ""))
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", ""))
