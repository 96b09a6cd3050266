"""Reads from OpenAI-compatible servers what LangChain's ChatOpenAI passes over."""

# ChatOpenAI declares its clients as fields; here they are properties.
# mypy: disable-error-code="misc, override"

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final

from langchain_core.exceptions import ModelConnectionError
from langchain_core.messages import AIMessage

from agents.models.chat_options import unbind_model
from agents.models.server_answers import NoReplyError, read_answers, read_words
from agents.parsing.loose_json import load_json
from agents.parsing.verdicts import is_finite_json

if TYPE_CHECKING:
    import openai
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_openai.chat_models.base import BaseChatOpenAI as Base
else:
    Base = object

BROKEN: Final = "]"
"""Before arguments that are no JSON object, so that LangChain does not complete them."""
_TAIL: Final = 100_000
"""Number of bytes in which the last event of a stream is looked for."""
_REASONING: Final = ("reasoning_content", "reasoning")
"""Names of the thoughts in the messages of servers; one that wants them back has no other name for them."""


class _View:
    """An object of OpenAI's client with other methods."""

    def __init__(self, own: Any) -> None:  # noqa: ANN401 - the library's
        self._own = own

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._own, name)


class _Response(_View):
    """The response of a stream; the client reads it to its end only if ``[DONE]`` does not come.

    Some servers write a reason in each piece, so that the reason beside a text does not show the end.
    """

    def iter_bytes(self) -> Iterator[bytes]:
        tail = b""
        for part in self._own.iter_bytes():
            tail = (tail + part)[-_TAIL:]
            yield part
        _require_empty(tail)

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        tail = b""
        async for part in self._own.aiter_bytes():
            tail = (tail + part)[-_TAIL:]
            yield part
        _require_empty(tail)


def _require_empty(tail: bytes) -> None:
    """Raises if the last event of a stream is cut off, or has a text or a call."""
    events = [line[len(b"data:") :].strip() for line in tail.splitlines() if line.startswith(b"data:")]
    event = events[-1].decode(errors="replace") if events else ""
    body = load_json(event)
    choices = body.get("choices") if isinstance(body, Mapping) else None
    parts = [each for each in choices if isinstance(each, Mapping)] if isinstance(choices, list) else []
    deltas = [each["delta"] for each in parts if isinstance(each.get("delta"), Mapping)]
    is_cut = body is None and event.startswith("{")
    if is_cut or any(each.get("content") or each.get("tool_calls") for each in deltas):
        raise ModelConnectionError("the reply ended before the server said that it was done")


class _Completions(_View):
    """The completions of OpenAI's client, whose streams end as the protocol says."""

    def create(self, **payload: object) -> Any:  # noqa: ANN401
        answer = self._own.create(**payload)
        return _await_stream(answer) if isawaitable(answer) else _watch_stream(answer)


async def _await_stream(answer: Awaitable[object]) -> object:
    return _watch_stream(await answer)


def _watch_stream(answer: Any) -> object:  # noqa: ANN401
    if hasattr(answer, "response"):  # a stream
        answer.response = _Response(answer.response)
    return answer


class OpenAIReplies(Base):
    """Methods of ChatOpenAI for servers that are not OpenAI's.

    An answer without a reply is an error with the words of the server, usage is requested from streams, and
    the thoughts of a reply with calls are sent back.
    """

    @property
    def client(self) -> Any:  # noqa: ANN401
        """The client, with streams that have an end."""
        return _Completions(vars(self)["client"])

    @property
    def async_client(self) -> Any:  # noqa: ANN401
        """Like ``client``, without blocking the event loop."""
        return _Completions(vars(self)["async_client"])

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        # The client returns JSON that is no object, and any other text, as it is.
        body: Any = response.model_dump(warnings=False) if hasattr(response, "model_dump") else response
        _refuse_error(body)
        with read_answers(body):
            choices = [_complete_choice(choice) for choice in body["choices"]]
            if choices != body["choices"]:
                response = body = {**body, "choices": choices}
            result = super()._create_chat_result(response, generation_info)
        if not choices:
            raise NoReplyError(body)
        for generation, choice in zip(result.generations, body["choices"], strict=True):
            generation.message.additional_kwargs.update(_read_reasoning(choice["message"]))
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        _refuse_error(chunk)
        with read_answers(chunk):
            converted = super()._convert_chunk_to_generation_chunk(
                chunk, default_chunk_class, base_generation_info
            )
        choices = chunk.get("choices") or (chunk.get("chunk") or {}).get("choices")
        if converted is not None and choices:
            converted.message.additional_kwargs.update(_read_reasoning(choices[0].get("delta")))
        return converted

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: object
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        messages = self._convert_input(input_).to_messages()
        # Only with calls: servers refuse the thoughts of an answer, and want those that led to a call.
        for message, sent in zip(messages, payload.get("messages", ()), strict=False):
            if isinstance(message, AIMessage) and sent.get("tool_calls"):
                sent.update(_read_reasoning(message.additional_kwargs))
        # The Responses API has no seed, which its client refuses.
        return {name: payload[name] for name in payload if name != "seed" or "messages" in payload}

    def _should_stream_usage(self, stream_usage: bool | None = None, **kwargs: object) -> bool:
        # Without a choice of the user, LangChain asks OpenAI's own address alone.
        options = {"include_usage": True} if self.stream_usage is None else {}
        return super()._should_stream_usage(stream_usage, **{"stream_options": options, **kwargs})


def list_models(model: object, timeout: float = 5.0) -> list[str]:
    """Lists the models that an OpenAI-compatible server has; empty if it does not say.

    Args:
        model: A chat model; one of another class gives an empty list.
        timeout: Timeout in seconds.
    """
    client = getattr(unbind_model(model), "root_client", None)
    if client is None:
        return []
    try:
        page = client.with_options(timeout=timeout, max_retries=0).models.list()
        return [str(each.id) for each in page.data or ()]
    # AttributeError, TypeError: the answer is no list of models. The library's errors are of no common class.
    except Exception:  # noqa: BLE001 - the sentence is told without the list
        return []


def is_object(text: str) -> bool:
    """Checks whether the arguments of a call are a JSON object without NaN in which no key occurs twice."""
    value = load_json(text)
    return isinstance(value, dict) and is_finite_json(value)


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
    parts = [body, *choices] if isinstance(choices, list) else [body]
    failed = [part for part in parts if isinstance(part, Mapping) and part.get("error")]
    # Some servers send the words alone, as an event of the type "error".
    if failed or (choices is None and read_words(body)):
        raise NoReplyError(failed[-1] if failed else body)


def _complete_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a choice whose message has a role, and whose calls have arguments that are read in one way."""
    message = choice["message"]
    calls = [_complete_call(call) for call in message.get("tool_calls") or ()]
    added = {"tool_calls": calls} if calls else {}
    return {**choice, "message": {**message, "role": message.get("role") or "assistant", **added}}


def _complete_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call with its arguments as text; LangChain would take null or a list for no arguments."""
    function = call.get("function")
    if function is None:
        return dict(call)
    given = function.get("arguments")
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given)
    arguments = text if is_object(text or "{}") else f"{BROKEN}{text}"
    return {**call, "function": {**function, "arguments": arguments or "{}"}}


def _read_reasoning(message: object) -> dict[str, str]:
    if not isinstance(message, Mapping):
        return {}
    return {
        name: message[name] for name in _REASONING if isinstance(message.get(name), str) and message[name]
    }
