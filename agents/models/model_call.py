"""Runs an agent's logic, a generator that yields requests, with blocking or awaited calls, within limits.

Every agent asks the limits before each call of its model, so that no agent has to be built in another way.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Final, Protocol, TypeAlias, TypeVar, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import Runnable, RunnableBinding

from agents.errors import ModelSpecError
from agents.models.chat_options import Sampling, apply_sampling, remove_refused
from agents.models.identity import find_address, find_name, hide_credentials
from agents.models.ollama import require_complete
from agents.models.server_errors import (
    accepts_schema,
    convert_errors,
    is_schema_refusal,
    remember_schema_refusal,
)
from agents.models.transport_retry import TransportRetry, find_status, read_retry_after
from agents.parsing.loose_json import replace_surrogates
from agents.reply_types import JsonSchema

_log: Final = logging.getLogger(__name__)
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}
"""Seconds in each unit of time."""
_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
# A model that is a number would be the port of a URL whose model was forgotten.
_LIMIT: Final = re.compile(
    r"(?P<endpoint> https?://(?:\[[^\]\s]+\]|[^\s/:\[]+)(?::\d+)?(?:/[^\s:]*)?(?!:\d+=) | [a-z][a-z0-9_]*)"
    r":(?P<model>(?!//)\S+)=(?P<calls>[1-9]\d{0,5})/(?P<unit>s|min|h)",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and where it is served.

    Attributes:
        provider: The provider, such as "ollama" or "openai": the package of LangChain's class.
        address: The URL of its endpoint without credentials; empty if only the class knows it.
        name: The model's name.
    """

    provider: str
    address: str
    name: str


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """The greatest number of calls of a model in any period; ``read_limit`` reads it.

    Attributes:
        endpoint: A provider, or the URL of an endpoint.
        model: Name of the model; ``*`` stands for any characters.
        calls: Number of calls in any period.
        period_s: The period in seconds.
    """

    endpoint: str
    model: str
    calls: int
    period_s: int

    @property
    def name(self) -> str:
        """What is limited. Limits of one name count the same calls."""
        return f"{self.endpoint}:{self.model}"

    def covers(self, model: ServedModel) -> bool:
        """Checks whether the calls of a model are counted."""
        return self.endpoint in (model.provider, model.address) and fnmatchcase(model.name, self.model)


class PausingRateLimiter(BaseRateLimiter):
    """LangChain's interface of a rate limiter, with pauses that the endpoint asks for."""

    @abstractmethod
    def pause(self, seconds: float) -> None:
        """Grants no call for this time. Does not block."""


FindLimiter: TypeAlias = Callable[[ServedModel], PausingRateLimiter | None]
"""Returns what limits a model; None for nothing."""
_finders: list[FindLimiter] = []


def read_limit(text: str) -> ModelLimit:
    """Reads a limit such as ``ollama:qwen3=20/s``, ``openai:*=500/min`` or ``http://gpu1:8000/v1:llama=9/s``.

    Raises:
        ModelSpecError: The text is no limit.
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ModelSpecError(
            f"the limit {text!r:.200} is not accepted; give ENDPOINT:MODEL=CALLS/UNIT with a provider or a "
            "URL, a model or *, and s, min or h, such as ollama:qwen3=20/s or openai:*=500/min"
        )
    endpoint = match["endpoint"]
    place = hide_credentials(endpoint) if "://" in endpoint else endpoint
    return ModelLimit(place, match["model"], int(match["calls"]), _UNITS[match["unit"]])


@contextmanager
def limit_calls(find: FindLimiter) -> Iterator[None]:
    """Limits the calls of all agents of this process during the block."""
    _finders.append(find)
    try:
        yield
    finally:
        _finders.remove(find)


def wait_for_call(model: object) -> None:
    """Waits until a model may be called."""
    for limiter in _find_limiters(model):
        limiter.acquire()


async def await_call(model: object) -> None:
    """Does the same without blocking the event loop."""
    for limiter in _find_limiters(model):
        await limiter.aacquire()


def heed_refusal(model: object, error: Exception) -> None:
    """Pauses the calls of a model if its server has no capacity and says for how long."""
    seconds = read_retry_after(error) if _finders and find_status(error) in _BUSY else None
    if seconds is not None:
        for limiter in _find_limiters(model):
            limiter.pause(seconds)


def read_served_model(model: object) -> ServedModel:
    """Returns the provider, the endpoint and the name of a model, also of one with tools bound."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    package = type(model).__module__.partition(".")[0]
    address = find_address(model)
    shown = "" if address is None else hide_credentials(address)
    return ServedModel(package.removeprefix("langchain_"), shown, find_name(model) or type(model).__name__)


def _find_limiters(model: object) -> list[PausingRateLimiter]:
    if not _finders:
        return []
    served = read_served_model(model)
    return [limiter for find in _finders if (limiter := find(served)) is not None]


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
