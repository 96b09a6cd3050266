"""The agent that carries out one step, with tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool

from agents import prompts
from agents.base import DEFAULT_RETRY, BaseAgent, ainvoke_override, overrides_invoke
from agents.errors import TextualCallError
from agents.loop.effects import find_gate
from agents.loop.executor_graph import (
    AgentGraph,
    StepOptions,
    build_executor_graph,
    check_middleware,
    find_tools,
    read_output,
    use_step,
    wraps_only,
)
from agents.loop.langgraph_internals import choose_durability
from agents.loop.reply_problems import find_unmade_call
from agents.loop.tool_arguments import build_tools, has_async_only_tool, list_parameters
from agents.models.model_call import Model, Sampling, answer_text
from agents.models.server_errors import TransportRetry
from agents.parsing.textual_calls import TELLINGS
from agents.reply_types import JsonSchema
from agents.sync import Call, Conversation, awaited, blocking, call_either, run_in_thread, run_sync


class ExecutionAgent(BaseAgent):
    """Carries out one step of a plan.

    Args:
        llm: Any LangChain chat model; with tools, one that can call them.
        tools: LangChain tools, or plain functions with a docstring.
        system_prompt: Replaces the built-in instructions.
        middleware: Further middleware of LangChain's ``create_agent``.
        max_tool_rounds: Maximum number of rounds of tool calls in one step.
        transport_retry: Retries after transient errors of the model's server.

    Attributes:
        graph: The agent as a LangGraph; None without tools and middleware.

    Raises:
        ModelSetupError: There are tools, and the model cannot call any.
        ValueError: ``max_tool_rounds`` is below 1, or ``middleware`` has an ``EffectsMiddleware``.
        TypeError: ``tools`` is not a list, or an item is neither a tool nor a function; ``middleware`` is not
            a sequence of LangChain's middleware.
    """

    instructions = prompts.EXECUTION

    def __init__(
        self,
        llm: Model,
        tools: Sequence[BaseTool | Callable[..., object]] | None = None,
        system_prompt: str | None = None,
        *,
        middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
        max_tool_rounds: int = 8,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        super().__init__(llm, system_prompt, transport_retry=transport_retry)
        if max_tool_rounds < 1:
            raise ValueError(f"max_tool_rounds is {max_tool_rounds!r}; give a whole number of at least 1")
        check_middleware(middleware)
        self.graph: AgentGraph | None = None
        if (built := build_tools(tools)) or middleware:
            self.graph = build_executor_graph(llm, built, middleware, max_tool_rounds, transport_retry)
        # Middleware may bring tools of its own.
        self.tools = [] if self.graph is None else find_tools(self.graph)
        self._is_async_only = wraps_only(middleware, is_async=True) or has_async_only_tool(self.tools)
        self._is_blocking_only = wraps_only(middleware, is_async=False)

    def _ask_model(self, user_input: str, schema: JsonSchema | None = None) -> Conversation[str]:
        if self.graph is None:
            return (yield from super()._ask_model(user_input, schema))
        return (yield from self._run_graph(self.graph, self._messages(user_input), schema))

    def _execute_step(
        self,
        step_description: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> Conversation[str]:
        """Carries out a step.

        Args:
            step_description: The step.
            context: Results of earlier steps.
            task: The task that the step is a part of, with the outline of the plan.
            schema: The JSON Schema of the result. Without tools, the model is constrained by it if it can be.
            sampling: Model, temperature and seed of this call. Default: the agent's own.

        Returns:
            The result as text.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
            ToolLoopError: The model called tools in more than ``max_tool_rounds`` rounds.
        """
        return self._converse(self._request_step(step_description, context, task), schema, sampling)

    def _correct_step(
        self,
        step_description: str,
        previous_output: str,
        feedback: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> Conversation[str]:
        """Carries out a step again, after its last output and the reason why it was refused.

        The output is the model's own message in the chat, and the reason is the answer to it.

        Returns and raises as ``execute_step`` does.
        """
        request = self._request_step(step_description, context, task)
        # Servers refuse a message without text.
        shown = AIMessage(previous_output if (previous_output or "").strip() else "(empty)")
        turn = HumanMessage(prompts.correction_turn(feedback))
        return self._converse([*request, shown, turn], schema, sampling)

    def _synthesize(
        self, task: str, results: str, *, schema: JsonSchema | None = None, sampling: Sampling | None = None
    ) -> Conversation[str]:
        """Writes the final answer to a task from the results of its steps, without tools.

        Args:
            task: The task.
            results: The results of the steps; on a retry, also the last answer and why it was refused.
            schema: The JSON Schema of the answer. The model is constrained by it if it can be.
            sampling: Model, temperature and seed of this call. Default: the agent's own.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        messages = self._messages(prompts.answer_request(task, results))
        return self._converse_without_tools(messages, schema, sampling)

    execute_step, aexecute_step = blocking(_execute_step), awaited(_execute_step)
    correct_step, acorrect_step = blocking(_correct_step), awaited(_correct_step)
    synthesize, asynthesize = blocking(_synthesize), awaited(_synthesize)

    def _request_step(self, step: str, context: str, task: str) -> list[BaseMessage]:
        request = prompts.step_request(step, context or "", task)
        # A step that stands alone is a whole task: the first attempt at it is what one call of the model is.
        is_alone = self.system_prompt == prompts.EXECUTION and not (context or task)
        return [HumanMessage(request)] if is_alone else self._messages(request)

    def _converse_without_tools(
        self, messages: Sequence[BaseMessage], schema: JsonSchema | None, sampling: Sampling | None
    ) -> Conversation[str]:
        request, call = _add_schema(messages, schema), ""
        for _ in range(TELLINGS + 1):
            reply = yield from self._call(request, schema, sampling)
            text = answer_text(reply)
            call = self._find_call(reply, schema)
            if not call:
                return text
            shown = AIMessage(text or call)
            request = [*request, shown, HumanMessage(prompts.tell_textual_call(call))]
        raise TextualCallError(call)

    def _find_call(self, reply: BaseMessage, schema: JsonSchema | None) -> str:
        """Finds a call in a reply that was to be an answer; a schema may be filled in as a call."""
        called = reply.tool_calls if isinstance(reply, AIMessage) and schema is None else []
        if called and not reply.text:
            return called[0]["name"]
        return find_unmade_call(reply, list_parameters(self.tools)) or ""

    def _converse(
        self, messages: Sequence[BaseMessage], schema: JsonSchema | None, sampling: Sampling | None
    ) -> Conversation[str]:
        if overrides_invoke(self):
            text = _join_request(messages, schema)
            output: str = yield call_either(self.invoke, partial(ainvoke_override, self), text)
            return output
        if self.graph is None:
            return (yield from self._converse_without_tools(messages, schema, sampling))
        return (yield from self._run_graph(self.graph, messages, schema, sampling))

    def _run_graph(
        self,
        graph: AgentGraph,
        messages: Sequence[BaseMessage],
        schema: JsonSchema | None,
        sampling: Sampling | None = None,
    ) -> Conversation[str]:
        """Runs the graph to its end; a run is told of all calls, also of those before a crash."""
        system = "\n".join(message.text for message in messages if isinstance(message, SystemMessage))
        others = [each for each in _add_schema(messages, schema) if not isinstance(each, SystemMessage)]
        given, durability = {"messages": others}, choose_durability()
        arun = partial(graph.ainvoke, given, durability=durability)
        run = partial(graph.invoke, given, durability=durability)
        if self._is_blocking_only:
            arun = partial(run_in_thread, run)
        with use_step(StepOptions(system, sampling)):
            # A plain call has no loop.
            state = yield Call(partial(run_sync, arun) if self._is_async_only else run, arun)
        if (gate := find_gate()) is not None:
            gate.note_history(state["messages"], state.get("effects", {}))
        return read_output(state)


def _add_schema(messages: Sequence[BaseMessage], schema: JsonSchema | None) -> list[BaseMessage]:
    """Adds the schema of the result to the last message."""
    *earlier, last = messages
    if schema is None:
        return [*messages]
    return [*earlier, HumanMessage(prompts.add_schema(last.text, schema))]


def _join_request(messages: Sequence[BaseMessage], schema: JsonSchema | None) -> str:
    """Returns a request as one text, for an ``invoke`` that takes no other."""
    shown = [message for message in _add_schema(messages, schema) if not isinstance(message, SystemMessage)]
    return "\n\n".join(str(message.text) for message in shown)
