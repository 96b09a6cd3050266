"""The graph of ExecutionAgent: LangChain's ``create_agent`` with our middleware around the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt, ParentCommand
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode
from langgraph.types import Command

from agents.errors import ModelSetupError
from agents.loop.effects import Effect, Output, check_rounds, find_gate
from agents.loop.effects_middleware import AnyHandler, AnyRequest, EffectsMiddleware
from agents.loop.langgraph_internals import (
    AFTER_MODEL,
    AnyPregel,
    find_storage_problem,
    has_outer_graph,
    has_saver,
)
from agents.loop.tool_answers import (
    answer_error,
    build_answer,
    describe_unused,
    read_answer,
)
from agents.loop.tool_arguments import ToolWatch
from agents.models.model_call import Model, Sampling, answer_text, retry_call
from agents.models.server_errors import TransportRetry
from agents.sync import Conversation, awaited, blocking, call_either, set_variable

_NO_GRAPH: Final = "The tool hands over to another graph, and there is none. Go on without it."
AgentGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class StepOptions:
    """The options of a step. They are not in the context of the graph, where tools and middleware see them.

    Attributes:
        system: The system prompt of the step; empty for none.
        sampling: Model, temperature and seed of the replies; None for the model's own.
    """

    system: str = ""
    sampling: Sampling | None = None


_NO_OPTIONS: Final = StepOptions()
_step: Final[ContextVar[StepOptions]] = ContextVar("step_options", default=_NO_OPTIONS)


def use_step(options: StepOptions) -> AbstractContextManager[StepOptions]:
    """Gives the options to the graph of ExecutionAgent that runs within this context."""
    return set_variable(_step, options)


class ExecutorMiddleware(EffectsMiddleware):
    """Tells the model of errors, and bounds the rounds of calls.

    Args:
        max_rounds: Maximum number of rounds of calls.
    """

    def __init__(self, max_rounds: int) -> None:
        super().__init__()
        self._max_rounds = max_rounds

    def check_response(self, request: AnyRequest, response: ModelResponse[Any]) -> None:
        """Checks the number of rounds.

        Raises:
            ToolLoopError: The model called tools in more rounds than allowed.
        """
        check_rounds([*request.messages, *response.result], self._max_rounds)

    def prepare_request(self, request: AnyRequest) -> AnyRequest:
        """Gives the system prompt and the model of the step."""
        step = _step.get()
        other = None if step.sampling is None else step.sampling.model
        prepared = super().prepare_request(request if other is None else request.override(model=other))
        return prepared.override(system_message=SystemMessage(step.system)) if step.system else prepared

    def tell_error(self, request: ToolCallRequest, error: BaseException, watch: ToolWatch) -> ToolMessage:
        """Tells the model the error of a tool, or that its answer cannot be used."""
        is_told = type(error) in (GraphBubbleUp, ParentCommand) and not _has_graph_around(request)
        if isinstance(error, GraphBubbleUp) and not is_told:
            raise error
        call = request.tool_call
        is_behind = watch.has_ended(error)
        return build_answer(call, describe_unused(error)) if is_behind else answer_error(call, error)

    def tell_pause(self, request: ToolCallRequest, pause: GraphInterrupt, effect: Effect) -> Output:
        """Tells the model that nobody can be asked, if nothing keeps the question."""
        if has_saver():
            raise pause
        text = "The tool asks a person, and nobody can be asked."
        self._find_gate().note_call(request.tool_call, {**effect, "answer": text}, text)
        return build_answer(request.tool_call, text)

    def read_output(self, request: ToolCallRequest, output: Output) -> Output:
        """Returns the answer with the id of the call, which a tool may have written itself.

        An artifact that the saver cannot store is left out: it would end the run after the call was made.
        """
        if isinstance(output, Command) and output.graph is not None:
            return output if _has_graph_around(request) else build_answer(request.tool_call, _NO_GRAPH)
        if read_answer(output) is None:
            return build_answer(request.tool_call, "The tool ended without an answer. Go on without it.")
        if not isinstance(output, ToolMessage):
            problem = find_storage_problem(request.runtime.config, output)
            return output if problem is None else build_answer(request.tool_call, describe_unused(problem))
        update: dict[str, object] = {"tool_call_id": request.tool_call["id"]}
        if output.artifact is not None and find_storage_problem(request.runtime.config, output) is not None:
            update["artifact"] = None
        return output.model_copy(update=update)


class ModelCallMiddleware(AgentMiddleware[Any, Any, Any]):
    """Calls the model: with retries after transient errors, with the sampling of the step.

    It stands last in ``middleware``, so that the others see one call.

    Args:
        retry: The retries.
    """

    def __init__(self, retry: TransportRetry) -> None:
        super().__init__()
        self._retry = retry

    def _wrap_model_call(self, request: AnyRequest, handler: AnyHandler) -> Conversation[ModelResponse[Any]]:
        """Calls the model.

        Raises:
            ModelUnavailableError: The error was still there after the last retry.
            ModelRefusedError: The server refused the request.
        """

        def ask(model: BaseChatModel) -> Conversation[ModelResponse[Any]]:
            response: ModelResponse[Any] = yield call_either(handler, handler, request.override(model=model))
            return response

        return retry_call(request.model, self._retry, _step.get().sampling, ask)

    wrap_model_call, awrap_model_call = blocking(_wrap_model_call), awaited(_wrap_model_call)  # type: ignore[arg-type]


def _has_graph_around(request: ToolCallRequest) -> bool:
    """Returns whether a graph of the user takes the update of a tool for another graph; a run takes none."""
    return find_gate() is None and has_outer_graph(request.runtime.config)


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
    around = [ExecutorMiddleware(max_rounds), *middleware, ModelCallMiddleware(retry)]
    graph = create_agent(llm, [*tools], middleware=around)
    return cast("AgentGraph", graph)


def find_tools(graph: AnyPregel) -> list[BaseTool]:
    """Returns the tools that a graph calls itself, also those of its middleware."""
    nodes = [node.bound for node in graph.nodes.values()]
    return [tool for node in nodes if isinstance(node, ToolNode) for tool in node.tools_by_name.values()]


def find_effects_middleware(graph: AnyPregel) -> str | None:
    """Returns the name of the EffectsMiddleware of an agent, also of a subclass; None if it has none."""
    for name, node in graph.nodes.items():
        hook = getattr(node.bound, "func", None)
        if name.endswith(AFTER_MODEL) and isinstance(getattr(hook, "__self__", None), EffectsMiddleware):
            return name.removesuffix(AFTER_MODEL)
    return None


def check_middleware(middleware: object) -> None:
    """Checks that middleware is a sequence of LangChain's middleware, none of it ours.

    Raises:
        TypeError: It is something else.
        ValueError: It has ours.
    """
    if not isinstance(middleware, Sequence) or not all(
        isinstance(each, AgentMiddleware) for each in middleware
    ):
        raise TypeError(
            f"middleware is {middleware!r:.80}; give a list of instances of LangChain's AgentMiddleware"
        )
    if any(isinstance(each, EffectsMiddleware) for each in middleware):
        raise ValueError(
            "middleware has an EffectsMiddleware, and an ExecutionAgent has one already; leave it out, and "
            "give acting_tools= to LangGraphOrchestrator"
        )


def wraps_only(middleware: Sequence[AgentMiddleware[Any, Any, Any]], *, is_async: bool) -> bool:
    """Checks whether middleware wraps calls only as a coroutine, or only as a blocking function."""
    pairs = (("wrap_model_call", "awrap_model_call"), ("wrap_tool_call", "awrap_tool_call"))
    wraps = [
        [getattr(type(each), name) is not getattr(AgentMiddleware, name) for name in pair]
        for each in middleware
        for pair in pairs
    ]
    return [not is_async, is_async] in wraps


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
