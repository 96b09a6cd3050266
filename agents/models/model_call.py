"""Calls a chat model, with retries after transient errors and with settings of one call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableBinding

from agents.models.chat_options import unbind_model
from agents.models.openai_replies import EmptyStreamError
from agents.models.server_answers import read_fault
from agents.models.server_errors import (
    TransportRetry,
    accepts_schema,
    convert_errors,
    remember_schema_refusal,
)
from agents.models.whole_replies import check_replies
from agents.parsing.end_reasons import read_refusal, read_report
from agents.parsing.loose_json import replace_surrogates
from agents.parsing.thoughts import remove_thoughts
from agents.reply_types import JsonSchema
from agents.sync import Call, Conversation, awaited, blocking, call_either

M = TypeVar("M", bound="Runnable[Any, BaseMessage]")
T = TypeVar("T")

_REFUSING: Final = frozenset({400, 422})
_ABOUT_NUMBERS: Final = re.compile(r"\b(?:temperature|seed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model writes one reply. A model without such a setting, or that refuses it, keeps its own.

    Attributes:
        temperature: The temperature; None keeps the model's own.
        seed: The seed of the random numbers; None keeps the model's own.
        model: The model that replies; None for the agent's.
    """

    temperature: float | None = None
    seed: int | None = None
    model: BaseChatModel | None = None


def apply_sampling(model: M, sampling: Sampling | None) -> M:
    """Returns a copy of the model with the temperature and the seed, or the model itself.

    The settings are fields of LangChain's classes: a keyword of a call is read by some of them only.
    """
    if sampling is None or sampling == Sampling(model=sampling.model):
        return model
    values = {"temperature": sampling.temperature, "seed": sampling.seed}
    return _change_settings(model, {name: value for name, value in values.items() if value is not None})


def remove_refused(sampling: Sampling, error: BaseException) -> Sampling | None:
    """Returns the sampling without the settings that a server refused.

    Args:
        sampling: The settings of the request.
        error: The answer of the server.

    Returns:
        The sampling; None if the error is not about these settings.
    """
    fault = read_fault(error)
    is_refusal = fault.status in _REFUSING and _ABOUT_NUMBERS.search(fault.text) is not None
    accepted = replace(sampling, temperature=None, seed=None)
    return accepted if is_refusal and accepted != sampling else None


def _change_settings(model: M, values: Mapping[str, object]) -> M:
    """Returns a copy of the model with the settings that its class has."""
    if isinstance(model, RunnableBinding):
        return cast("M", model.model_copy(update={"bound": _change_settings(model.bound, values)}))
    known = {
        name: value for name, value in values.items() if name in getattr(type(model), "model_fields", ())
    }
    if not isinstance(model, BaseChatModel) or not known:
        return model
    changed = model.model_copy(update=known)
    # Computed from the old settings, such as the text by which a cache knows the model.
    for name in [*vars(changed)]:
        if isinstance(getattr(type(changed), name, None), cached_property):
            delattr(changed, name)
    return cast("M", changed)


def read_provider(model: object) -> str:
    """Returns the provider of a model, such as "ollama": the package of LangChain's class."""
    return type(unbind_model(model)).__module__.partition(".")[0].removeprefix("langchain_")


_COUNTS: Final = {
    "input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens",
}  # fmt: skip
_SENT_FIELDS: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")

Model = Runnable[LanguageModelInput, BaseMessage]


def call_model(
    model: Model,
    messages: Sequence[BaseMessage],
    retry: TransportRetry,
    schema: JsonSchema | None = None,
    sampling: Sampling | None = None,
) -> Conversation[BaseMessage]:
    """Calls a chat model, with retries after transient errors.

    If the server does not accept the schema, it is asked without one.

    Args:
        model: The model, with its tools bound.
        messages: The prompt.
        retry: The retries after transient errors.
        schema: The JSON schema of the reply, which is used if the model supports it.
        sampling: Temperature and seed of the reply; None for the model's own.

    Raises:
        ModelUnavailableError: The error was still there after the last retry.
        ModelRefusedError: The server refused the request.
    """

    def ask(checked: Model) -> Conversation[BaseMessage]:
        # A refusal of schemas is remembered for the model itself, not for its copy.
        structured = bind_schema(checked, schema) if schema and accepts_schema(model) else None
        try:
            return (yield from _invoke(structured or checked, sent))
        except Exception as error:
            if structured is None or not read_fault(error).may_refuse_schema:
                raise
        reply = yield from _invoke(checked, sent)
        # Only after a reply is it certain that the schema was the reason.
        remember_schema_refusal(model)
        return reply

    sent = make_sendable(messages)
    return (yield from retry_call(model, retry, sampling, ask))


def retry_call(
    model: M, retry: TransportRetry, sampling: Sampling | None, ask: Callable[[M], Conversation[T]]
) -> Conversation[T]:
    """Calls a model until an attempt has no transient error; raises as ``call_model`` does.

    Args:
        model: The model.
        retry: The retries after transient errors.
        sampling: Temperature and seed of the reply; a setting that the server refuses is left out.
        ask: Calls the model that it is given.
    """

    def attempt(accepted: Sampling | None, asked: M = model) -> Conversation[T]:
        try:
            return (yield from ask(check_replies(apply_sampling(asked, accepted))))
        except Exception as error:
            left = None if accepted is None else remove_refused(accepted, error)
            if left is None:
                raise
        return (yield from attempt(left, asked))

    with convert_errors(model, retry):
        try:
            reply: T = yield Call(
                lambda: retry.sync()(blocking(attempt), sampling),
                lambda: retry.asynchronous()(awaited(attempt), sampling),
            )
        except EmptyStreamError:
            # A client passes over the words, or the reply, of a server that answers without a stream.
            whole = _change_settings(model, {"disable_streaming": True, "streaming": False})
            reply = yield from attempt(sampling, whole)
        return reply


def _invoke(model: Model, messages: Sequence[BaseMessage]) -> Conversation[BaseMessage]:
    try:
        reply: BaseMessage = yield call_either(model.invoke, model.ainvoke, messages)
    except Exception as error:
        if (cut_off := read_cut_off(error)) is None:
            raise
        return cut_off
    return reply


def read_cut_off(error: BaseException) -> AIMessage | None:
    """Returns the cut-off reply that an error of OpenAI's client holds; None for another error."""
    is_filtered = type(error).__name__ == "ContentFilterFinishReasonError"
    reason = {"finish_reason": "content_filter" if is_filtered else "length"}
    completion = getattr(error, "completion", None)
    if completion is None:
        return AIMessage("", response_metadata=reason) if is_filtered else None
    choice = next(iter(getattr(completion, "choices", None) or ()), None)
    text = getattr(getattr(choice, "message", None), "content", None) or ""
    usage = getattr(completion, "usage", None)
    counts = {ours: getattr(usage, theirs, None) for ours, theirs in _COUNTS.items()}
    tokens = None if None in counts.values() else counts
    return AIMessage(text, usage_metadata=tokens, response_metadata=reason)


def bind_schema(model: Model, schema: JsonSchema | None) -> Model | None:
    """Constrains a model's replies by a schema. Returns None if there is none or it is not supported."""
    if schema is None or not isinstance(model, BaseChatModel):
        return None
    try:
        named = _name_root(schema)
        return model.with_structured_output(named, method="json_schema", include_raw=True).pick("raw")
    except (NotImplementedError, KeyError, TypeError, ValueError):  # KeyError: LangChain's, for a list
        return None


def _name_root(schema: JsonSchema) -> JsonSchema:
    """Returns the schema with an object and a title at its root: that of a recursive type is a reference."""
    definitions, reference = schema.get("$defs"), str(schema.get("$ref"))
    root = definitions.get(reference.rpartition("/")[2]) if isinstance(definitions, dict) else None
    return {
        "title": "reply",
        **(root or {}),
        **{key: schema[key] for key in schema if key != "$ref" or not root},
    }


def reply_text(message: BaseMessage) -> str:
    """Returns the text of a reply; without one, the arguments of its calls as JSON, or its refusal."""
    text = _read_answer(message)
    if not text and isinstance(message, AIMessage) and message.tool_calls:
        # All of them: with two answers, the reader has to see that the model gave none.
        text = "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)
    if not text:
        text = read_refusal(read_report(message)) or ""
    return replace_surrogates(text)


def _read_answer(message: BaseMessage) -> str:
    """Returns the text of a reply without the commentary that OpenAI's Responses API has before it."""
    parts = message.content if isinstance(message.content, list) else []
    answer = [each for each in parts if isinstance(each, str) or each.get("phase") != "commentary"]
    return str(AIMessage(answer).text or message.text)


def answer_text(message: BaseMessage) -> str:
    """Returns the text of a reply without thoughts and special tokens: the one way to an output."""
    return remove_thoughts(reply_text(message))


def make_sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Replaces lone surrogates in messages. A message without any stays the same object."""
    return [_make_sendable(message) for message in messages]


def _make_sendable(message: BaseMessage) -> BaseMessage:
    fields = {name: value for name in _SENT_FIELDS if (value := getattr(message, name, None))}
    text = json.dumps(fields, ensure_ascii=False, default=str)
    sendable = replace_surrogates(text)
    return message if sendable == text else message.model_copy(update=json.loads(sendable))
