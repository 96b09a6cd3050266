"""The middleware of ExecutionAgent: what its loop does beside the effects, and how it calls its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime

from agents.errors import ToolLoopError
from agents.loop.decisions import Withheld, build_effect
from agents.loop.effects import read_execution
from agents.loop.effects_middleware import AsyncModelHandler as AsyncHandler
from agents.loop.effects_middleware import EffectsMiddleware, EffectsState, Output, find_last_reply
from agents.loop.effects_middleware import ModelHandler as Handler
from agents.loop.langgraph_internals import has_saver, read_values
from agents.loop.stored_replies import mark_reply
from agents.loop.tool_answers import (
    build_answer,
    describe_error,
    format_lists,
    read_answer,
    read_invalid_call,
)
from agents.loop.tool_arguments import IDEMPOTENCY_KEY, ToolArguments, add_call_ids, build_call_key
from agents.models.chat_options import Sampling, apply_sampling, remove_refused
from agents.models.identity import name_called
from agents.models.model_call import await_call, heed_refusal, make_sendable, wait_for_call
from agents.models.ollama import require_complete
from agents.models.server_errors import convert_errors
from agents.models.transport_retry import TransportRetry


@dataclass(frozen=True, slots=True)
class StepContext:
    """What LangGraph's runtime passes to the graph of ExecutionAgent.

    Attributes:
        system: The system prompt of the step; empty for none.
        sampling: Model, temperature and seed of the replies; None for the model's own.
    """

    system: str = ""
    sampling: Sampling | None = None


class ExecutorMiddleware(EffectsMiddleware):
    """Tells the model of errors and broken calls, and bounds the rounds of calls.

    Args:
        max_rounds: Maximum number of rounds of calls.
        arguments: How each tool reads its arguments, by its name.
    """

    def __init__(self, max_rounds: int, arguments: dict[str, ToolArguments]) -> None:
        super().__init__()
        self._max_rounds = max_rounds
        self._arguments = arguments

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: EffectsState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answers broken calls, and decides about the others.

        Raises:
            ToolLoopError: The model called tools in more rounds than allowed.
        """
        reply, answered = find_last_reply(state["messages"])
        if reply is None or not (reply.tool_calls or reply.invalid_tool_calls):
            return None
        self._check_rounds(state)
        told = self._tell_invalid(reply, answered)
        update = super().after_model(state, runtime) or {}
        if not told:
            return update
        # Without a call that can be made, the agent would end here.
        jump = {} if reply.tool_calls else {"jump_to": "model"}
        return {**update, **jump, "messages": [*told, *update.get("messages", [])]}

    def prepare_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Gives the system prompt of the step."""
        system = _read_context(request.runtime).system
        prepared = super().prepare_request(request)
        return prepared.override(system_message=SystemMessage(system)) if system else prepared

    def tell_error(self, request: ToolCallRequest, error: BaseException) -> ToolMessage:
        """Tells the model what a tool raised."""
        if isinstance(error, GraphBubbleUp):  # such as a command to a parent graph
            raise error
        return build_answer(request.tool_call, describe_error(error))

    def tell_pause(self, request: ToolCallRequest, pause: GraphInterrupt) -> Output:
        """Tells the model that nobody can be asked, if nothing keeps the question."""
        if has_saver():
            raise pause
        text = "The tool asks a person, and nobody can be asked."
        self._find_gate().note_call(request.tool_call, {**self._read_intent(request), "answer": text}, text)
        return build_answer(request.tool_call, text)

    def read_output(self, request: ToolCallRequest, output: Output) -> Output:
        """Returns the answer with the id of the call, which a tool may have written itself."""
        if read_answer(output) is None:
            return build_answer(request.tool_call, "The tool ended without an answer. Go on without it.")
        if not isinstance(output, ToolMessage):
            return output
        return format_lists(output).model_copy(update={"tool_call_id": request.tool_call["id"]})

    def begin_call(self, request: ToolCallRequest) -> ToolCallRequest:
        """Gives the tool the idempotency key of the call."""
        execution = read_values(request.runtime.config).get(IDEMPOTENCY_KEY)
        if isinstance(execution, str):
            name = request.tool_call["name"]
            messages = request.state["messages"]
            key = build_call_key(
                execution, request.tool_call, messages, self._arguments.get(name, ToolArguments())
            )
            # LangGraph makes a config for each call, and takes no other one from a middleware.
            request.runtime.config["configurable"][IDEMPOTENCY_KEY] = key
        return request

    def _check_rounds(self, state: EffectsState) -> None:
        replies = [each for each in state["messages"] if isinstance(each, AIMessage)]
        rounds = sum(bool(each.tool_calls or each.invalid_tool_calls) for each in replies)
        if rounds > self._max_rounds:
            raise ToolLoopError(self._max_rounds)

    def _tell_invalid(self, reply: AIMessage, answered: set[str]) -> list[ToolMessage]:
        gate, told = self._find_gate(), list[ToolMessage]()
        for invalid in reply.invalid_tool_calls:
            call, text = read_invalid_call(invalid)
            if call["id"] in answered:
                continue
            gate.note_call(call, build_effect(call, Withheld(text, None), gate.execution), text)
            told.append(build_answer(call, text))
        return told


class ModelCallMiddleware(AgentMiddleware[Any, Any, Any]):
    """Calls the model: with retries after transient errors, within limits, with the sampling of the step.

    It stands last in ``middleware``, so that the others see one call.

    Args:
        retry: The retries.
    """

    def __init__(self, retry: TransportRetry) -> None:
        super().__init__()
        self._retry = retry

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Calls the model.

        Raises:
            ModelUnavailableError: The error was still there after the last retry.
            ModelRefusedError: The server refused the request.
        """
        with convert_errors(request.model):
            return self._retry.sync()(self._call, request, handler, _read_context(request.runtime).sampling)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncHandler) -> ModelResponse[Any]:
        """Like ``wrap_model_call``, without blocking the event loop."""
        sampling = _read_context(request.runtime).sampling
        with convert_errors(request.model):
            return await self._retry.asynchronous()(self._acall, request, handler, sampling)

    def _call(
        self, request: ModelRequest[Any], handler: Handler, sampling: Sampling | None
    ) -> ModelResponse[Any]:
        sent = _apply(request, sampling)
        wait_for_call(sent.model)
        try:
            return _complete(sent, handler(sent))
        except Exception as error:  # noqa: BLE001 - raised again, unless the server refused a setting
            other = _remove_refused(sent.model, sampling, error)
        return self._call(request, handler, other)

    async def _acall(
        self, request: ModelRequest[Any], handler: AsyncHandler, sampling: Sampling | None
    ) -> ModelResponse[Any]:
        sent = _apply(request, sampling)
        await await_call(sent.model)
        try:
            return _complete(sent, await handler(sent))
        except Exception as error:  # noqa: BLE001 - as above
            other = _remove_refused(sent.model, sampling, error)
        return await self._acall(request, handler, other)


def _read_context(runtime: object) -> StepContext:
    context = getattr(runtime, "context", None)
    return context if isinstance(context, StepContext) else StepContext()


def _apply(request: ModelRequest[Any], sampling: Sampling | None) -> ModelRequest[Any]:
    other = None if sampling is None else sampling.model
    model = apply_sampling(other or request.model, sampling)
    return request.override(model=model, messages=cast("list[Any]", make_sendable(request.messages)))


def _complete(request: ModelRequest[Any], response: ModelResponse[Any]) -> ModelResponse[Any]:
    *others, reply = response.result
    whole = require_complete(request.model, reply)
    if isinstance(whole, AIMessage) and (whole.tool_calls or whole.invalid_tool_calls):
        whole = add_call_ids(whole, request.messages)
    # LangGraph replaces a message by one with the same id, which some servers give to all replies.
    if whole.id in {message.id for message in request.messages}:
        whole = whole.model_copy(update={"id": None})
    if isinstance(whole, AIMessage):
        whole = mark_reply(whole, name_called(request.model), read_execution())
    return ModelResponse(result=[*others, whole], structured_response=response.structured_response)


def _remove_refused(model: BaseChatModel, sampling: Sampling | None, error: Exception) -> Sampling:
    """Returns the sampling without what the server refused; raises an error about something else."""
    heed_refusal(model, error)
    accepted = None if sampling is None else remove_refused(sampling, error)
    if accepted is None:
        raise error
    return accepted
