"""One core for sync and async: an agent's logic is a generator that asks, and is sent the replies."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Protocol, TypeVar, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from agents.calls.redaction import mask_keys, read_secrets
from agents.calls.structured_output import accepts_schema, is_schema_refusal, remember_schema_refusal
from agents.contracts import JsonSchema
from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError
from agents.models.ollama import explain_error, require_complete
from agents.models.transport_retry import TransportRetry, http_status, is_transient, is_undecodable
from agents.parsing.surrogates import make_sendable, replace_surrogates

T = TypeVar("T")

Model = Runnable[LanguageModelInput, BaseMessage]
StructuredModel = Runnable[LanguageModelInput, dict[str, object]]


class Request(Protocol):
    """Something to be done outside of the logic; its result is sent back as messages."""

    def run(self) -> list[BaseMessage]:
        """Do it."""
        ...

    async def arun(self) -> list[BaseMessage]:
        """Do it without blocking the event loop."""
        ...


Conversation = Generator[Request, list[BaseMessage], T]


def run_conversation(conversation: Conversation[T]) -> T:
    """Run a conversation to its end with blocking calls."""
    request = _first(conversation)
    while isinstance(request, _Asked):
        request = _next(conversation, request.request.run())
    return request


async def arun_conversation(conversation: Conversation[T]) -> T:
    """Run a conversation to its end with awaited calls."""
    request = _first(conversation)
    while isinstance(request, _Asked):
        request = _next(conversation, await request.request.arun())
    return request


@dataclass(frozen=True, slots=True)
class _Asked:
    request: Request


def _first(conversation: Conversation[T]) -> _Asked | T:
    try:
        return _Asked(next(conversation))
    except StopIteration as end:
        return cast("T", end.value)


def _next(conversation: Conversation[T], replies: list[BaseMessage]) -> _Asked | T:
    try:
        return _Asked(conversation.send(replies))
    except StopIteration as end:
        return cast("T", end.value)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a chat model, tried again after passing faults.

    Attributes:
        model: The model, with whatever is bound to it.
        messages: The prompt.
        retry: How passing faults are met.
        schema: The JSON schema that constrains the reply, where one is wanted and the model can.
    """

    model: Model
    messages: Sequence[BaseMessage]
    retry: TransportRetry
    schema: JsonSchema | None = None

    def run(self) -> list[BaseMessage]:
        """Call the model.

        Returns:
            One message; none where the server seems not to take the schema.

        Raises:
            ModelUnavailableError: The fault did not pass within the retries.
            ModelRefusedError: The server refused for good.
        """
        structured, messages = bind_schema(self.model, self.schema), make_sendable(self.messages)
        with _explained(self.model):
            return self.retry.sync()(self._ask, structured, messages)

    async def arun(self) -> list[BaseMessage]:
        """Call the model; returns and raises as ``run`` does."""
        structured, messages = bind_schema(self.model, self.schema), make_sendable(self.messages)
        with _explained(self.model):
            return await self.retry.asynchronous()(self._aask, structured, messages)

    def _ask(self, structured: StructuredModel | None, messages: list[BaseMessage]) -> list[BaseMessage]:
        if structured is None:
            return require_complete(self.model, [self.model.invoke(messages)])
        return require_complete(self.model, _invoke_structured(structured, messages))

    async def _aask(
        self, structured: StructuredModel | None, messages: list[BaseMessage]
    ) -> list[BaseMessage]:
        if structured is None:
            return require_complete(self.model, [await self.model.ainvoke(messages)])
        return require_complete(self.model, await _ainvoke_structured(structured, messages))


def ask_model(call: ModelCall) -> Conversation[BaseMessage]:
    """Make a call; without the schema, then and from then on, where the model's server takes none."""
    replies = yield call
    if not replies:
        replies = yield replace(call, schema=None)
        remember_schema_refusal(call.model)
    return replies[0]


def bind_schema(model: Model, schema: JsonSchema | None) -> StructuredModel | None:
    """The model with its replies held to ``schema``; None where that is not wanted or not supported."""
    if schema is None or not isinstance(model, BaseChatModel) or not accepts_schema(model):
        return None
    try:
        bound = model.with_structured_output(schema, method="json_schema", include_raw=True)
    except (NotImplementedError, TypeError, ValueError):
        return None
    return cast("StructuredModel", bound)


def reply_text(message: BaseMessage) -> str:
    """The text of a reply; for models that answer a schema through a tool call, its arguments as JSON."""
    text: str = message.text
    if not text and isinstance(message, AIMessage) and message.tool_calls:
        text = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    return replace_surrogates(text)


def _invoke_structured(model: StructuredModel, messages: list[BaseMessage]) -> list[BaseMessage]:
    try:
        return [_raw(model.invoke(messages))]
    except Exception as error:
        if (instead := _in_place_of(error)) is None:
            raise
        return instead


async def _ainvoke_structured(model: StructuredModel, messages: list[BaseMessage]) -> list[BaseMessage]:
    try:
        return [_raw(await model.ainvoke(messages))]
    except Exception as error:
        if (instead := _in_place_of(error)) is None:
            raise
        return instead


def _in_place_of(error: Exception) -> list[BaseMessage] | None:
    """What a structured call gives instead of an error; None where the error is to be raised."""
    if isinstance(error, _cut_off_errors()):
        return [_partial(error)]
    return [] if is_schema_refusal(error) else None


def _raw(reply: dict[str, object]) -> BaseMessage:
    raw = reply["raw"]
    return raw if isinstance(raw, BaseMessage) else AIMessage(str(raw))


def _cut_off_errors() -> tuple[type[Exception], ...]:
    """What LangChain's OpenAI model lets out of a structured call whose reply hit the token limit."""
    openai = sys.modules.get("openai")
    return (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) if openai else ()


def _partial(error: Exception) -> AIMessage:
    completion = getattr(error, "completion", None)
    return AIMessage((completion.choices[0].message.content or "") if completion else "")


@contextmanager
def _explained(model: Model) -> Iterator[None]:
    try:
        yield
    except AgentError:
        raise
    except Exception as error:
        known = _known(model, error)
        if known is None:
            raise
        raise known from error


def _known(model: Model, error: Exception) -> AgentError | None:
    status, passing, undecodable = http_status(error), is_transient(error), is_undecodable(error)
    if status is None and not passing and not undecodable:
        return None
    # Below 400 nothing was refused: at this address answers something else than a model.
    answered = (status or 0) < HTTPStatus.BAD_REQUEST
    kind = ModelUnavailableError if passing or answered else ModelRefusedError
    detail = " ".join(mask_keys(str(error), read_secrets(model)).split())[:300] or type(error).__name__
    return kind(
        explain_error(model, error) or f"the model's server failed ({type(error).__name__}): {detail}"
    )
