"""Runs an agent's logic, a generator that yields requests, with blocking or with awaited calls."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from agents.calls.server_errors import (
    accepts_schema,
    convert_errors,
    is_schema_refusal,
    remember_schema_refusal,
)
from agents.models.call_limits import await_call, heed_refusal, wait_for_call
from agents.models.chat_options import Sampling, apply_sampling, remove_refused
from agents.models.ollama import require_complete
from agents.models.transport_retry import TransportRetry
from agents.parsing.loose_json import replace_surrogates
from agents.reply_types import JsonSchema

T = TypeVar("T")

_SENT_FIELDS: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")

Model = Runnable[LanguageModelInput, BaseMessage]


class Request(Protocol):
    """A call that the logic asks for. Its result is sent back to the logic as messages."""

    def run(self) -> list[BaseMessage]:
        """Makes the call."""
        ...

    async def arun(self) -> list[BaseMessage]:
        """Makes the call without blocking the event loop."""
        ...


Conversation = Generator[Request, list[BaseMessage], T]


@dataclass(frozen=True, slots=True)
class _Pending:
    request: Request


def run_conversation(conversation: Conversation[T]) -> T:
    """Runs a conversation to its end with blocking calls."""
    step = _advance(conversation)
    while isinstance(step, _Pending):
        step = _advance(conversation, step.request.run())
    return step


async def arun_conversation(conversation: Conversation[T]) -> T:
    """Runs a conversation to its end with awaited calls."""
    step = _advance(conversation)
    while isinstance(step, _Pending):
        step = _advance(conversation, await step.request.arun())
    return step


def _advance(conversation: Conversation[T], replies: list[BaseMessage] | None = None) -> _Pending | T:
    # Only the logic runs in here: a StopIteration of a model or a tool must not look like the logic's end.
    try:
        return _Pending(next(conversation) if replies is None else conversation.send(replies))
    except StopIteration as end:
        return cast("T", end.value)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a chat model, with retries after transient errors.

    If the server does not accept the schema, it is asked without one.

    Attributes:
        model: The model, with its tools bound.
        messages: The prompt.
        retry: The retries after transient errors.
        schema: The JSON schema of the reply, which is used if the model supports it.
        sampling: Temperature and seed of the reply; None for the model's own.
    """

    model: Model
    messages: Sequence[BaseMessage]
    retry: TransportRetry
    schema: JsonSchema | None = None
    sampling: Sampling | None = None

    def run(self) -> list[BaseMessage]:
        """Calls the model; returns one message.

        Raises:
            ModelUnavailableError: The error was still there after the last retry.
            ModelRefusedError: The server refused the request.
        """
        with convert_errors(self.model):
            return [self.retry.sync()(self._invoke)]

    async def arun(self) -> list[BaseMessage]:
        """Calls the model; returns and raises as ``run`` does."""
        with convert_errors(self.model):
            return [await self.retry.asynchronous()(self._ainvoke)]

    def _invoke(self) -> BaseMessage:
        model, is_structured = self._prepare()
        wait_for_call(self.model)
        try:
            return require_complete(self.model, model.invoke(make_sendable(self.messages)))
        except Exception as error:  # noqa: BLE001 - raised again, unless the server refused a setting
            other = self._replace_error(error, is_structured=is_structured)
        return self._note(other, other._invoke()) if isinstance(other, ModelCall) else other  # noqa: SLF001 - the same class

    async def _ainvoke(self) -> BaseMessage:
        model, is_structured = self._prepare()
        await await_call(self.model)
        try:
            return require_complete(self.model, await model.ainvoke(make_sendable(self.messages)))
        except Exception as error:  # noqa: BLE001 - raised again, unless the server refused a setting
            other = self._replace_error(error, is_structured=is_structured)
        return self._note(other, await other._ainvoke()) if isinstance(other, ModelCall) else other  # noqa: SLF001

    def _prepare(self) -> tuple[Model, bool]:
        """Returns the model to call, and whether it is constrained by the schema."""
        model = apply_sampling(self.model, self.sampling)
        # A refusal of schemas is remembered for the model itself, not for its copy.
        is_accepted = isinstance(self.model, BaseChatModel) and accepts_schema(self.model)
        structured = bind_schema(model, self.schema) if is_accepted else None
        return structured or model, structured is not None

    def _replace_error(self, error: Exception, *, is_structured: bool) -> BaseMessage | ModelCall:
        """Returns the call without the settings that the server refused, or the reply in the error."""
        heed_refusal(self.model, error)
        accepted = None if self.sampling is None else remove_refused(self.sampling, error)
        if accepted is not None:
            return replace(self, sampling=accepted)
        openai = sys.modules.get("openai")
        # LangChain's OpenAI model raises these for a structured reply that was cut off or blocked.
        if openai and isinstance(error, openai.LengthFinishReasonError):
            text = error.completion.choices[0].message.content or ""
            return AIMessage(text, response_metadata={"finish_reason": "length"})
        if openai and isinstance(error, openai.ContentFilterFinishReasonError):
            return AIMessage("", response_metadata={"finish_reason": "content_filter"})
        if is_structured and is_schema_refusal(error):
            return replace(self, schema=None)
        raise error

    def _note(self, other: ModelCall, reply: BaseMessage) -> BaseMessage:
        # Only after a reply is it certain that the schema was the reason.
        if self.schema is not None and other.schema is None:
            remember_schema_refusal(self.model)
        return reply


def bind_schema(model: Model, schema: JsonSchema | None) -> Model | None:
    """Constrains a model's replies by a schema. Returns None if there is none or it is not supported."""
    if schema is None or not isinstance(model, BaseChatModel):
        return None
    try:
        return model.with_structured_output(schema, method="json_schema", include_raw=True).pick("raw")
    except (NotImplementedError, TypeError, ValueError):
        return None


def reply_text(message: BaseMessage) -> str:
    """Returns the text of a reply, or the arguments of its tool calls as JSON if it has no text."""
    text: str = message.text
    if not text and isinstance(message, AIMessage) and message.tool_calls:
        # All of them: with two answers, the reader has to see that the model gave none.
        text = "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)
    return replace_surrogates(text)


def make_sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Replaces lone surrogates in messages. A message without any stays the same object."""
    return [_make_sendable(message) for message in messages]


def _make_sendable(message: BaseMessage) -> BaseMessage:
    fields = {name: value for name in _SENT_FIELDS if (value := getattr(message, name, None))}
    update = {name: _replace_in(value) for name, value in fields.items()}
    return message if update == fields else message.model_copy(update=update)


def _replace_in(value: object) -> object:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_replace_in(item) for item in value]
    if isinstance(value, dict):
        return {_replace_in(key): _replace_in(item) for key, item in value.items()}
    return value
