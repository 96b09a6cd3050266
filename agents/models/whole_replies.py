"""Keeps a chat model from giving a reply that was cut off, or a call that LangChain completes by a guess.

LangChain joins the pieces of a stream and completes the JSON of their calls, so that the joined message does
not show a cut. The pieces themselves are therefore checked, before anybody sees a call.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, wraps
from typing import Final, TypeVar, cast

from langchain_core.exceptions import ModelConnectionError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    ToolCallChunk,
)
from langchain_core.messages.ai import UsageMetadata, subtract_usage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableBinding

from agents.credentials.masking import mask_error, read_error
from agents.models.identity import read_secrets
from agents.models.ollama import OllamaReplies
from agents.models.openai_replies import EmptyStreamError, OpenAIReplies, read_parameters
from agents.models.server_answers import NoReplyError, read_answers
from agents.parsing.end_reasons import (
    END_NAMES,
    find_cut_off,
    has_end,
    is_blocked,
    is_failure,
    is_token_limit,
    read_refusal,
)
from agents.parsing.loose_json import BROKEN, find_broken

_STATE: Final = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
_ENDING: Final = frozenset({"BaseChatOpenAI", "ChatAnthropic", "ChatOllama"})
"""LangChain's classes for protocols in which each stream says why it ended.

Ollama's client streams each reply, and reports no error for a connection that is closed in the middle.
"""
LARGEST: Final = 20_000_000
"""Greatest number of characters of a reply: more than any model writes."""

M = TypeVar("M")


_READERS: Final[Mapping[str, type]] = {
    "BaseChatOpenAI": OpenAIReplies,
    "ChatOllama": OllamaReplies,
}


def check_replies(model: M) -> M:
    """Returns the model with its replies checked; a model with other things bound keeps them.

    A reply that ends before its provider says so raises ModelConnectionError, which is retried. A call whose
    arguments are no JSON object, or have a key twice, is invalid, and usage that a server repeats in each
    piece counts once. Calls are given at the end of a stream; a reply that its provider blocked has none.

    Returns:
        A view of the same state by another class; the model itself if it is checked, or no chat model.
    """
    if isinstance(model, RunnableBinding):
        return cast("M", model.model_copy(update={"bound": check_replies(model.bound)}))
    if not isinstance(model, BaseChatModel) or isinstance(model, CheckedReplies):
        return model
    view = object.__new__(_build_class(type(model)))
    for name in _STATE:
        object.__setattr__(view, name, getattr(model, name, None))
    return cast("M", view)


class CheckedReplies:
    """The base class of models whose replies are checked."""


@lru_cache(maxsize=64)
def _build_class(model_class: type[BaseChatModel]) -> type[BaseChatModel]:
    """Builds a subclass of the same name that checks the methods of the class itself."""
    names = {each.__name__ for each in model_class.__mro__}
    methods = {
        name: check(getattr(model_class, name))
        for name, check in _CHECKS.items()
        if getattr(model_class, name) is not getattr(BaseChatModel, name)
    }
    bases = (CheckedReplies, *(reader for name, reader in _READERS.items() if name in names), model_class)
    place = {"__module__": model_class.__module__, "__qualname__": model_class.__qualname__}
    return cast("type[BaseChatModel]", type(model_class.__name__, bases, {**place, **methods}))


@contextmanager
def _convert_errors(model: object) -> Iterator[None]:
    """Reads an answer that the client library cannot read as an error; no error shows the model's key.

    A model without a client library raises its own errors.
    """
    packages = {
        each.__module__.partition("_")[0] for each in type(model).__mro__ if "_core" not in each.__module__
    }
    try:
        with read_answers() if "langchain" in packages else nullcontext():
            yield
    except Exception as error:
        masked = mask_error(error, read_secrets(model))
        if masked != read_error(error):
            error.args = (masked,)
            vars(error)["message"] = masked
        raise


def _check_stream(stream: Callable[..., Iterator[ChatGenerationChunk]]) -> object:
    @wraps(stream)
    def checked(self: object, *args: object, **kwargs: object) -> Iterator[ChatGenerationChunk]:
        reader = _Stream(self, kwargs.get("tools"))
        with _convert_errors(self):
            for chunk in stream(self, *args, **kwargs):
                yield from reader.read(chunk)
        yield from reader.end()

    return checked


def _check_astream(stream: Callable[..., AsyncIterator[ChatGenerationChunk]]) -> object:
    @wraps(stream)
    async def checked(self: object, *args: object, **kwargs: object) -> AsyncIterator[ChatGenerationChunk]:
        reader = _Stream(self, kwargs.get("tools"))
        with _convert_errors(self):
            async for chunk in stream(self, *args, **kwargs):
                for each in reader.read(chunk):
                    yield each
        for each in reader.end():
            yield each

    return checked


def _check_generate(generate: Callable[..., ChatResult]) -> object:
    @wraps(generate)  # LangChain reads its parameters
    def checked(self: object, *args: object, **kwargs: object) -> ChatResult:
        with _convert_errors(self):
            result = generate(self, *args, **kwargs)
        return _check_result(result, must_end=isinstance(self, OllamaReplies))

    return checked


def _check_agenerate(generate: Callable[..., Awaitable[ChatResult]]) -> object:
    @wraps(generate)
    async def checked(self: object, *args: object, **kwargs: object) -> ChatResult:
        with _convert_errors(self):
            result = await generate(self, *args, **kwargs)
        return _check_result(result, must_end=isinstance(self, OllamaReplies))

    return checked


_CHECKS: Final[Mapping[str, Callable[..., object]]] = {
    "_stream": _check_stream,
    "_astream": _check_astream,
    "_generate": _check_generate,
    "_agenerate": _check_agenerate,
}


class _Stream:
    """The pieces of one streamed reply; those from the first call on are held until its end."""

    def __init__(self, model: object, tools: object) -> None:
        self._must_end = any(each.__name__ in _ENDING for each in type(model).__mro__)
        self._schemas = read_parameters(tools)
        self._report: dict[str, object] = {}
        self._usage: UsageMetadata | None = None
        self._held: list[ChatGenerationChunk] = []
        self._size = 0

    def read(self, chunk: ChatGenerationChunk) -> Sequence[ChatGenerationChunk]:
        """Takes a piece; returns it unless it is held.

        Raises:
            NoReplyError: There are more than ``LARGEST`` characters.
        """
        if find_cut_off({name: self._report.get(name) for name in END_NAMES}) is not None:
            _drop_reasons(chunk)
        self._report = {**self._report, **_read_report(chunk)}
        message = chunk.message
        self._size += _require_size(message, self._size)
        if isinstance(message, AIMessageChunk):
            usage = message.usage_metadata
            message.usage_metadata = _count_once(self._usage, usage)
            self._usage = usage or self._usage
        if self._held or (isinstance(message, AIMessageChunk) and message.tool_call_chunks):
            self._held.append(chunk)
            return ()
        return (chunk,)

    def end(self) -> Sequence[ChatGenerationChunk]:
        """Returns the held pieces.

        Raises:
            ModelConnectionError: The stream ended before the provider said so, or the provider failed.
        """
        reason = _require_end(self._report, must_end=self._must_end)
        if not self._held:
            return ()
        joined = self._held[0] + self._held[1:]
        message = cast("AIMessageChunk", joined.message)
        calls = [self._check(call, may_be_empty=reason is None) for call in message.tool_call_chunks]
        if reason is not None and is_token_limit(reason):
            calls[-1] = {**calls[-1], "args": f"{BROKEN}{(calls[-1]['args'] or '').removeprefix(BROKEN)}"}
        if reason is not None and is_blocked(reason):
            message = _drop_calls(message)
        elif calls == message.tool_call_chunks:
            return self._held
        else:
            fields = {**dict(message), "tool_call_chunks": calls, "tool_calls": [], "invalid_tool_calls": []}
            message = AIMessageChunk(**fields)
        return (ChatGenerationChunk(message=message, generation_info=joined.generation_info),)

    def _check(self, call: ToolCallChunk, *, may_be_empty: bool) -> ToolCallChunk:
        # OpenAI's servers write an empty object for no arguments, and nothing if their parser lost them.
        # Anthropic's protocol, with another form of tools, writes nothing for an empty object.
        has_parameters = bool(self._schemas.get(call["name"] or "", {}).get("properties"))
        written = call["args"] or ("{}" if may_be_empty and not has_parameters else "")
        broken = _find_broken(call["name"], written)
        return call if broken is None else {**call, "args": broken}


def _drop_reasons(chunk: ChatGenerationChunk) -> None:
    """Drops the reasons behind the first one that ends no whole reply; LangChain would join their words."""
    for report in (chunk.generation_info or {}, chunk.message.response_metadata):
        for name in END_NAMES:
            report.pop(name, None)


def _count_once(before: UsageMetadata | None, usage: UsageMetadata | None) -> UsageMetadata | None:
    """Returns the usage that a piece adds: a server that repeats the prompt's tokens repeats all."""
    if before is None or usage is None or not 0 < before["input_tokens"] <= usage["input_tokens"]:
        return usage
    return subtract_usage(usage, before)


def _check_result(result: ChatResult, *, must_end: bool) -> ChatResult:
    """Returns the result; a call is invalid that has a key twice, or is under way at the limit of tokens.

    Raises:
        NoReplyError: There is no reply.
        ModelConnectionError: The reply ended before the provider said so, or the provider failed.
    """
    if not result.generations:
        raise NoReplyError({})
    for generation in result.generations:
        report = {**(result.llm_output or {}), **_read_report(generation)}
        reason = _require_end(report, must_end=must_end)
        reply = generation.message
        _require_size(reply)
        if isinstance(reply, AIMessage) and reason is not None and is_blocked(reason):
            generation.message = _drop_calls(reply)
        elif isinstance(reply, AIMessage) and reply.tool_calls:
            read = [_check_call(call, reply, reason) for call in reply.tool_calls]
            invalid = [each for each in read if each["type"] == "invalid_tool_call"]
            reply.tool_calls = [each for each in read if each["type"] == "tool_call"]
            reply.invalid_tool_calls = [*reply.invalid_tool_calls, *invalid]
    return result


def _check_call(call: ToolCall, reply: AIMessage, reason: str | None) -> ToolCall | InvalidToolCall:
    blocks = [each for each in reply.content if isinstance(each, dict)]
    raw = [{**each["function"], **each} for each in reply.additional_kwargs.get("tool_calls") or ()]
    texts = {each.get("call_id", each.get("id")): each.get("arguments") for each in (*blocks, *raw)}
    text, args = texts.get(call["id"]), call["args"]
    # Servers give what there is of the last call, with its JSON completed.
    is_last = call is reply.tool_calls[-1] and not reply.invalid_tool_calls
    if is_last and reason and is_token_limit(reason):
        error = "the call was under way at the limit of tokens"
        return invalid_tool_call(name=call["name"], args=json.dumps(args), id=call["id"], error=error)
    if call["name"] and BROKEN not in args and not (isinstance(text, str) and text):
        return call
    broken = _find_broken(call["name"], text if isinstance(text, str) and text else json.dumps(args))
    return call if broken is None else invalid_tool_call(name=call["name"], args=broken, id=call["id"])


def _find_broken(name: str | None, written: str) -> str | None:
    """Returns the arguments of a call in a form that LangChain does not complete; None if it can be made."""
    broken = find_broken(written) if name else written
    return None if broken is None else f"{BROKEN}{broken}"


def _drop_calls(reply: M) -> M:
    """Returns a reply without its calls, which were written before the provider blocked it."""
    message = cast("AIMessage", reply)
    more = message.additional_kwargs
    names = {"tool_calls", "invalid_tool_calls", "tool_call_chunks"} & type(message).model_fields.keys()
    kept = {name: more[name] for name in more if name not in ("tool_calls", "function_call")}
    return cast("M", message.model_copy(update={"additional_kwargs": kept, **{name: [] for name in names}}))


def _require_end(report: Mapping[str, object], *, must_end: bool) -> str | None:
    """Returns why a reply that has ended is not a whole answer; None if it is."""
    if must_end and not has_end(report):
        kind = ModelConnectionError if report else EmptyStreamError
        raise kind("the reply ended before the server said that it was done")
    cut_off = find_cut_off(report)
    if cut_off is not None and is_failure(cut_off):
        raise ModelConnectionError(f"the server broke the reply off ({cut_off})")
    return cut_off


def _require_size(message: BaseMessage, before: int = 0) -> int:
    """Returns the number of characters of a message, of its calls and thoughts, too."""
    calls = getattr(message, "tool_call_chunks", None) or getattr(message, "tool_calls", None) or ()
    written = f"{message.content}{message.additional_kwargs}{[call['args'] for call in calls]}"
    if before + len(written) > LARGEST:
        raise NoReplyError(f"more than {LARGEST:,} characters without an end, such as {written[:1_000]!r}")
    return len(written)


def _read_report(generation: ChatGeneration) -> dict[str, object]:
    message = generation.message
    # In OpenAI's Responses API, a refusal is a part of the content.
    refusal = {"refusal": read_refusal({"content": message.content})}
    parts = (message.additional_kwargs, message.response_metadata, generation.generation_info or {}, refusal)
    return {name: value for part in parts for name, value in part.items() if value is not None}
