"""The agent that carries out one step, with tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool

from agents import prompts
from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import (
    Conversation,
    Model,
    ModelCall,
    arun_conversation,
    reply_text,
    run_conversation,
)
from agents.calls.journal import JournaledRequests
from agents.calls.planned_call import add_call_ids, plan_calls, read_arguments
from agents.calls.tool_binding import bind_tools, build_tools, has_async_only_tool
from agents.calls.tool_run import answer_calls
from agents.errors import ToolLoopError
from agents.models.chat_options import Sampling
from agents.models.transport_retry import TransportRetry
from agents.parsing.objects import remove_thoughts
from agents.reply_types import JsonSchema
from agents.sync import run_sync


class ExecutionAgent(BaseAgent):
    """Carries out one step of a plan.

    Args:
        llm: Any LangChain chat model; with tools, one that can call them.
        tools: LangChain tools, or plain functions with a docstring.
        system_prompt: Replaces the built-in instructions.
        max_tool_rounds: Maximum number of rounds of tool calls in one step.
        transport_retry: Retries after transient errors of the model's server.

    Raises:
        ModelSetupError: There are tools, and the model cannot call any.
        ValueError: ``max_tool_rounds`` is below 1.
        TypeError: ``tools`` is not a list, or an item is neither a tool nor a function.
    """

    instructions = prompts.EXECUTION

    def __init__(
        self,
        llm: Model,
        tools: Sequence[BaseTool | Callable[..., object]] | None = None,
        system_prompt: str | None = None,
        *,
        max_tool_rounds: int = 8,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        super().__init__(llm, system_prompt, transport_retry=transport_retry)
        if max_tool_rounds < 1:
            raise ValueError(f"max_tool_rounds is {max_tool_rounds!r}; give a whole number of at least 1")
        self.tools = build_tools(tools)
        self.max_tool_rounds = max_tool_rounds
        self._model = bind_tools(llm, self.tools)
        self._arguments = read_arguments(self.tools)

    def execute_step(
        self,
        step_description: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> str:
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
        messages = self._request_step(step_description, context, task)
        return self._run(self._converse(messages, schema, sampling))

    async def aexecute_step(
        self,
        step_description: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> str:
        """Like ``execute_step``, without blocking the event loop."""
        messages = self._request_step(step_description, context, task)
        return await arun_conversation(self._converse(messages, schema, sampling))

    def correct_step(
        self,
        step_description: str,
        previous_output: str,
        feedback: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> str:
        """Carries out a step again, after its last output and the reason why it was refused.

        The output is the model's own message in the chat, and the reason is the answer to it.

        Returns and raises as ``execute_step`` does.
        """
        refused = previous_output, feedback
        messages = self._request_step(step_description, context, task, refused)
        return self._run(self._converse(messages, schema, sampling))

    async def acorrect_step(
        self,
        step_description: str,
        previous_output: str,
        feedback: str,
        context: str = "",
        *,
        task: str = "",
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> str:
        """Like ``correct_step``, without blocking the event loop."""
        refused = previous_output, feedback
        messages = self._request_step(step_description, context, task, refused)
        return await arun_conversation(self._converse(messages, schema, sampling))

    def synthesize(
        self, task: str, results: str, *, schema: JsonSchema | None = None, sampling: Sampling | None = None
    ) -> str:
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
        return run_conversation(self._converse_without_tools(messages, schema, sampling))

    async def asynthesize(
        self, task: str, results: str, *, schema: JsonSchema | None = None, sampling: Sampling | None = None
    ) -> str:
        """Like ``synthesize``, without blocking the event loop."""
        messages = self._messages(prompts.answer_request(task, results))
        return await arun_conversation(self._converse_without_tools(messages, schema, sampling))

    def _request_step(
        self, step: str, context: str, task: str, refused: tuple[str, str] | None = None
    ) -> list[BaseMessage]:
        messages = self._messages(prompts.step_request(step, context, task))
        # A step that stands alone is a whole task: the first attempt at it is what one call of the model is.
        if self.system_prompt == prompts.EXECUTION and not (context or task):
            messages = messages[1:]
        if refused is None:
            return messages
        output, feedback = refused
        # Servers refuse a message without text.
        shown = AIMessage(output if output.strip() else "(empty)")
        return [*messages, shown, HumanMessage(prompts.correction_turn(feedback))]

    def _converse_without_tools(
        self, messages: Sequence[BaseMessage], schema: JsonSchema | None, sampling: Sampling | None
    ) -> Conversation[str]:
        reply = yield from self._call(_add_schema(messages, schema), schema, sampling)
        return remove_thoughts(reply_text(reply))

    def _run(self, conversation: Conversation[str]) -> str:
        # Async-only tools need a loop, which a plain call does not have.
        if has_async_only_tool(self.tools):
            return run_sync(lambda: arun_conversation(conversation))
        return run_conversation(conversation)

    def _converse(
        self, messages: Sequence[BaseMessage], schema: JsonSchema | None, sampling: Sampling | None
    ) -> Conversation[str]:
        if not self.tools:
            return self._converse_without_tools(messages, schema, sampling)
        return self._converse_with_tools(_add_schema(messages, schema), sampling)

    def _converse_with_tools(
        self, messages: Sequence[BaseMessage], sampling: Sampling | None
    ) -> Conversation[str]:
        tools = {tool.name: tool for tool in self.tools}
        other = None if sampling is None else sampling.model
        model = self._model if other is None else bind_tools(other, self.tools)
        rounds = 0
        while True:
            call = ModelCall(model, messages, self.transport_retry, sampling=sampling)
            [reply] = yield JournaledRequests([call])
            if not (isinstance(reply, AIMessage) and (reply.tool_calls or reply.invalid_tool_calls)):
                return remove_thoughts(reply_text(reply))
            # Only here, so that the model may still answer after the last allowed round.
            if rounds == self.max_tool_rounds:
                raise ToolLoopError(rounds)
            reply = add_call_ids(reply, len(messages))
            calls = plan_calls(messages, reply, self._arguments)
            answers = yield from answer_calls(tools, calls)
            messages = [*messages, reply, *answers]
            rounds += 1


def _add_schema(messages: Sequence[BaseMessage], schema: JsonSchema | None) -> list[BaseMessage]:
    """Adds the schema of the result to the last message."""
    *earlier, last = messages
    return [*earlier, HumanMessage(prompts.add_schema(last.text, schema))]
