"""Builds the graph of ExecutionAgent with LangChain's ``create_agent``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from agents.errors import ModelSetupError
from agents.loop.executor_middleware import ExecutorMiddleware, ModelCallMiddleware, StepContext
from agents.loop.tool_arguments import read_arguments
from agents.models.model_call import Model, answer_text
from agents.models.transport_retry import TransportRetry

AgentGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]


def build_executor_graph(
    llm: Model,
    tools: Sequence[BaseTool],
    middleware: Sequence[AgentMiddleware[Any, Any, Any]],
    max_rounds: int,
    retry: TransportRetry,
) -> AgentGraph:
    """Builds the graph.

    Args:
        llm: The model.
        tools: The tools.
        middleware: The caller's middleware; ours stands around it.
        max_rounds: Maximum number of rounds of calls.
        retry: Retries after transient errors of the model's server.

    Raises:
        ModelSetupError: The model cannot call tools.
    """
    if not isinstance(llm, BaseChatModel):
        raise ModelSetupError(f"llm is a {type(llm).__name__}; with tools, give a LangChain chat model")
    _check_tool_calls(llm, tools)
    arguments = read_arguments(tools)
    around = [
        ExecutorMiddleware(max_rounds, arguments), *middleware, ModelCallMiddleware(retry, arguments),
    ]  # fmt: skip
    graph = create_agent(llm, [*tools], middleware=around, context_schema=StepContext)
    return cast("AgentGraph", graph)


def read_output(state: object) -> str:
    """Returns the text of the last message of an agent, without thoughts; empty if there is none."""
    messages = state.get("messages") if isinstance(state, Mapping) else None
    return answer_text(messages[-1]) if messages else ""


def _check_tool_calls(llm: BaseChatModel, tools: Sequence[BaseTool]) -> None:
    try:
        llm.bind_tools(tools)
    except NotImplementedError:
        raise ModelSetupError(
            f"{type(llm).__name__} cannot call tools; give a model that can, or no tools"
        ) from None
