"""Reads from OpenAI-compatible servers what LangChain's ChatOpenAI passes over."""

# ChatOpenAI declares its clients as fields; here they are properties.
# mypy: disable-error-code="misc, override"

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_core.exceptions import ModelConnectionError
from langchain_core.messages import AIMessage

from agents.models.server_answers import NoReplyError, read_answers
from agents.parsing.loose_json import BROKEN, find_broken, load_json

if TYPE_CHECKING:
    import openai
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_openai.chat_models.base import BaseChatOpenAI as Base
    from openai._streaming import SSEDecoder as Decoder
else:
    Base = Decoder = object

_TEXTS: Final = ("reasoning_content", "reasoning", "refusal")
"""Names of a refusal and of thoughts in messages; servers want thoughts back by the same name."""
_SIGNATURE: Final = "extra_content"
"""Name of the signature of thoughts in a call, which Gemini wants back with the call."""
_COUNTS: Final = ("prompt_tokens", "completion_tokens")
_TOLD: Final = ("message", "msg", "detail", "errors")
"""Names of the words of an error in an answer without choices."""


class EmptyStreamError(ModelConnectionError):
    """Nothing came where a reply must have an end: the server may have answered without a stream."""


class _Events(Decoder):
    """Decoder of a stream, which the client reads to its end only if ``[DONE]`` does not come.

    Some servers write a reason in each piece, so that the reason beside a text does not show the end.
    """

    _last = ""

    def decode(self, line: str) -> Any:  # noqa: ANN401 - the library's
        """Decodes a line; raises the error that an event is."""
        line = line.removeprefix("\ufeff")
        if line.startswith("data:"):
            self._last = line.removeprefix("data:").strip()
        if event := super().decode(line):
            body = load_json(event.data)
            if "error" in (event.event, body.get("type") if isinstance(body, Mapping) else None):
                raise NoReplyError(body or {"error": event.data})
            _refuse_error(body)
        return event

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[Any]:
        yield from super().iter_bytes(iterator)
        _require_empty(self._last)

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for event in super().aiter_bytes(iterator):
            yield event
        _require_empty(self._last)


def _require_empty(event: str) -> None:
    """Raises if the last event of a stream is missing or cut off, or has a text or a call."""
    if not event:
        raise EmptyStreamError("the reply ended before the server said that it was done")
    body = load_json(event)
    choices = body.get("choices") if isinstance(body, Mapping) else None
    parts = [each for each in choices if isinstance(each, Mapping)] if isinstance(choices, list) else []
    deltas = [each["delta"] for each in parts if isinstance(each.get("delta"), Mapping)]
    is_cut = body is None and event.startswith("{")
    if is_cut or any(each.get("content") or each.get("tool_calls") for each in deltas):
        raise ModelConnectionError("the reply ended before the server said that it was done")


def _watch_client(client: Any) -> Any:  # noqa: ANN401
    """Returns a copy of OpenAI's client whose streams are checked while they are decoded."""
    if client is None:
        return None
    watching = client.with_options()
    watching._make_sse_decoder = type("Events", (_Events, type(client._make_sse_decoder())), {})  # noqa: SLF001
    return watching


def _build_client(name: str) -> Any:  # noqa: ANN401
    """Builds a property that returns the client with its streams checked for their end."""
    return property(lambda model: _watch_client(vars(model)[name]))


def _build_completions(name: str, root: str) -> Any:  # noqa: ANN401
    """Builds a property that returns the checked completions; without a client, those that the user gave.

    Their answers stay as they are decoded, since LangChain needs no other form of them.
    """

    def read(model: object) -> object:
        if (watched := _watch_client(vars(model)[root])) is None:
            return vars(model)[name]
        watched._process_response_data = lambda *, data, **_: data  # noqa: SLF001
        return watched.chat.completions

    return property(read)


class OpenAIReplies(Base):
    """Methods of ChatOpenAI for servers that are not OpenAI's.

    An answer without a reply is an error with the words of the server, usage is requested from streams, and
    the thoughts of a reply with calls are sent back.
    """

    root_client = _build_client("root_client")
    root_async_client = _build_client("root_async_client")
    client = _build_completions("client", "root_client")
    async_client = _build_completions("async_client", "root_async_client")

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        body: Any = response.model_dump(warnings=False) if hasattr(response, "model_dump") else response
        _refuse_error(body)
        with read_answers(body):
            choice = _complete_choice(body["choices"])
            if (completed := {**_drop_part_of_usage(body), "choices": [choice]}) != body:
                response = completed
            result = super()._create_chat_result(response, generation_info)
        result.generations[0].message.additional_kwargs.update(_read_thoughts(choice["message"]))
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        with read_answers(chunk):
            deltas = [_complete_delta(choice) for choice in _list_first(chunk.get("choices") or ())]
            converted = super()._convert_chunk_to_generation_chunk(
                {**_drop_part_of_usage(chunk), "choices": deltas}, default_chunk_class, base_generation_info
            )
            choices = deltas or (chunk.get("chunk") or {}).get("choices")
            if converted is not None and choices:
                converted.message.additional_kwargs.update(_read_thoughts(choices[0].get("delta")))
        return converted

    def _get_generation_chunk_from_completion(self, completion: openai.BaseModel) -> ChatGenerationChunk:
        chunk = super()._get_generation_chunk_from_completion(completion)
        # The pieces before it had these.
        for name in (*_TEXTS, _SIGNATURE):
            chunk.message.additional_kwargs.pop(name, None)
        return chunk

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: object
    ) -> dict[str, Any]:
        messages = self._convert_input(input_).to_messages()
        payload: dict[str, Any] = super()._get_request_payload(messages, stop=stop, **kwargs)
        # Only with calls: servers refuse the thoughts of an answer, and want those that led to a call.
        for message, sent in zip(messages, payload.get("messages", ()), strict=False):
            if isinstance(message, AIMessage) and sent.get("tool_calls"):
                sent.update(_read_texts(message.additional_kwargs))
                signed = message.additional_kwargs.get(_SIGNATURE, {})
                sent["tool_calls"] = [{**call, **signed.get(call["id"], {})} for call in sent["tool_calls"]]
        # The Responses API has no seed, which its client refuses.
        return {name: payload[name] for name in payload if name != "seed" or "messages" in payload}

    def _should_stream_usage(self, stream_usage: bool | None = None, **kwargs: object) -> bool:
        # Without a choice of the user, LangChain asks OpenAI's own address alone.
        options = {"include_usage": True} if self.stream_usage is None else {}
        return super()._should_stream_usage(stream_usage, **{"stream_options": options, **kwargs})


def read_parameters(tools: object) -> dict[str, dict[str, Any]]:
    """Returns the schemas of the parameters of the tools in OpenAI's form, by the names of the tools."""
    known = [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, Sequence) else []
    functions = [tool.get("function", tool) for tool in known]
    return {each["name"]: each["parameters"] for each in functions if each.get("parameters")}


def _refuse_error(body: object) -> None:
    """Raises the error that stands in the place of an answer, or of one of its choices.

    Raises:
        NoReplyError: There is one.
    """
    if body == "":
        raise NoReplyError(body)
    if not isinstance(body, Mapping):
        return
    choices = body.get("choices", ())
    parts = [body, body.get("response"), *(choices if isinstance(choices, list) else ())]
    failed = [part for part in parts if isinstance(part, Mapping) and part.get("error")]
    # Some servers send the words alone; an event of the Responses API has no choices, and a type.
    is_told = not choices and "type" not in body and any(body.get(name) for name in _TOLD)
    if failed or is_told:
        raise NoReplyError(failed[-1] if failed else body)


def _drop_part_of_usage(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns an answer without its usage if a count is null, which LangChain would read as 0."""
    usage = body.get("usage")
    counts = [usage.get(name) for name in _COUNTS] if isinstance(usage, Mapping) else []
    return {**body, "usage": None} if None in counts else body


def _list_first(choices: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Lists the choices of the first answer: another index is another answer, which LangChain would join."""
    return [each for each in choices if str(each.get("index") or 0) == "0"]


def _complete_choice(choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the first answer, with a role, and calls whose arguments are read in one way."""
    choice = next(iter(_list_first(choices)), choices[0])
    message = {**choice["message"], "role": "assistant"}
    if calls := message.get("tool_calls"):
        made = [{**call, "function": _complete_function(call.get("function") or {})} for call in calls]
        message = {**message, "tool_calls": made}
    return {**choice, "message": message}


def _complete_function(function: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call with its arguments as text; LangChain would take null or a list for no arguments."""
    text = _write_arguments(function.get("arguments"))
    arguments = text if find_broken(text or "{}") is None else f"{BROKEN}{text}"
    return {**function, "name": str(function.get("name") or ""), "arguments": arguments or "{}"}


def _write_arguments(given: object) -> str:
    return given if isinstance(given, str) else "" if given is None else json.dumps(given)


def _complete_delta(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a choice of a stream with a delta, whose calls have an index.

    LangChain would drop all calls if one has none; Azure writes what its filter found without a delta.
    """
    delta = choice.get("delta") or {}
    parts = [(call, call.get("function") or {}) for call in delta.get("tool_calls") or ()]
    calls = [
        {"index": None, **call, "function": {**part, "arguments": _write_arguments(part.get("arguments"))}}
        for call, part in parts
    ]
    return {**choice, "delta": {**delta, "tool_calls": calls} if calls else delta}


def _read_texts(message: object) -> dict[str, str]:
    if not isinstance(message, Mapping):
        return {}
    return {name: message[name] for name in _TEXTS if isinstance(message.get(name), str) and message[name]}


def _read_thoughts(message: object) -> dict[str, object]:
    """Returns the thoughts of a message, and their signatures by the ids of its calls."""
    calls = (message.get("tool_calls") or ()) if isinstance(message, Mapping) else ()
    named = [call for call in calls if call.get("id") and call.get(_SIGNATURE)]
    signed = {call["id"]: {_SIGNATURE: call[_SIGNATURE]} for call in named}
    return {**_read_texts(message), **({_SIGNATURE: signed} if signed else {})}
