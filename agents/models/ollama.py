"""Models of an Ollama server: the limits that its client leaves unset, and its errors in a sentence."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import httpx
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableBinding

from agents.models.construction import build_chat_model
from agents.models.context_guard import ContextGuard
from agents.models.transport_retry import iter_causes

if TYPE_CHECKING:
    from langchain_ollama import ChatOllama

DEFAULT_NUM_CTX: Final = 8192
DEFAULT_TIMEOUT_S: Final = 300.0
# A kept connection belongs to its event loop: the next asyncio.run would find it closed.
_KEEP_NONE: Final = httpx.Limits(max_keepalive_connections=0)
_DEFAULT_PORT: Final = 11434
_DEFAULT_HOST: Final = f"127.0.0.1:{_DEFAULT_PORT}"
_NO_SERVER: Final = "Failed to connect to Ollama"
_NO_MODEL: Final = re.compile(r"""model ['"](?P<name>[^'"]+)['"] not found""")


def build_ollama(name: str, options: Mapping[str, object]) -> ChatOllama:
    """A chat model of an Ollama server; its host comes from ``OLLAMA_HOST``.

    The server cuts a prompt that is longer than ``num_ctx`` without saying so: a reply whose reported
    prompt size reaches it is logged as a WARNING.

    Args:
        name: The model's name, with or without a tag.
        options: Settings of ``ChatOllama``; by default ``num_ctx`` 8192 tokens, temperature 0 and
            ``client_kwargs={"timeout": 300.0}`` (seconds; loading a large model counts).

    Raises:
        ModelSpecError: An option that is not accepted.
    """
    from langchain_ollama import ChatOllama  # noqa: PLC0415 - heavy; only for who uses it

    model = build_chat_model(
        ChatOllama,
        fixed={"model": name},
        defaults={
            "num_ctx": DEFAULT_NUM_CTX,
            "temperature": 0.0,
            "client_kwargs": {"timeout": DEFAULT_TIMEOUT_S, "limits": _KEEP_NONE},
        },
        options=options,
    )
    given = model.callbacks or []
    handlers = given if isinstance(given, list) else given.handlers
    model.callbacks = [*handlers, ContextGuard(name, model.num_ctx or DEFAULT_NUM_CTX)]
    return model


def explain_error(llm: object | None, error: BaseException) -> str | None:
    """One sentence with the command that mends it, for a missing Ollama server or model.

    Args:
        llm: The model that was called, if known; the sentence then names its host.
        error: What the call raised, or an error raised from that.

    Returns:
        The sentence; None where the error is another one, or not Ollama's.
    """
    for cause in iter_causes(error):
        address = _unreachable(llm, cause)
        if address is not None:
            return (
                f"no Ollama server answers at {address}; start it with `ollama serve`, "
                "or set OLLAMA_HOST to where it runs"
            )
        name = _unknown_model(cause)
        if name is not None:
            return f"the Ollama server has no model {name!r}; get it with `ollama pull {name}`"
    return None


def require_complete(llm: object, replies: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The replies, unless an Ollama server's stream ended before it said that it was done.

    Where a connection is closed in good order in the middle of a stream, its client takes that for the end.

    Args:
        llm: The model that replied, with whatever is bound to it.
        replies: What it replied.

    Raises:
        RemoteProtocolError: httpx's, as for a connection that breaks off.
    """
    if _is_ollama(llm) and not all(reply.response_metadata.get("done") for reply in replies):
        raise httpx.RemoteProtocolError("the reply ended before the server said that it was done")
    return list(replies)


def format_address(given: str | None = None) -> str:
    """Scheme, host and port that Ollama's client asks, without the password that an address may carry.

    Args:
        given: As in ``OLLAMA_HOST``; None or blank stands for the default.
    """
    address = (given or "").strip() or _DEFAULT_HOST
    has_scheme = "://" in address
    try:
        url = httpx.URL(address if has_scheme else f"http://{address}")
    except httpx.InvalidURL:
        return "what OLLAMA_HOST names, which is no address"
    port = "" if has_scheme or url.port else f":{_DEFAULT_PORT}"
    return f"{_shown(url)}{port}"


def installed_models(host: str | None = None, timeout: float = 2.0) -> list[str] | None:
    """The names of the models that an Ollama server has.

    Args:
        host: Its address; None stands for ``OLLAMA_HOST``, or the default port on this machine.
        timeout: Seconds to wait for it.

    Returns:
        The names in the server's order; None where no Ollama server answers.
    """
    from ollama import Client, ResponseError  # noqa: PLC0415 - heavy; only for who uses it

    try:
        client = Client(host=host, timeout=timeout, limits=_KEEP_NONE)
        found = client.list().models
    # An address that is none is a ValueError, and so is an answer that is not Ollama's.
    except (OSError, httpx.HTTPError, httpx.InvalidURL, ResponseError, ValueError):
        return None
    return [model.model for model in found if model.model]


def _unreachable(llm: object | None, error: BaseException) -> str | None:
    """The address at which no Ollama server answered; None for any other error."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        url = _asked(error)
        if url is not None:
            return _shown(url) if url.path.startswith("/api/") else None
        return _host(llm) if _is_ollama(llm) else None
    if isinstance(error, ConnectionError) and str(error).startswith(_NO_SERVER):
        return _host(llm)
    return None


def _asked(error: httpx.RequestError) -> httpx.URL | None:
    try:
        return error.request.url
    except RuntimeError:  # httpx says so where the error was raised outside of a request
        return None


def _unknown_model(error: BaseException) -> str | None:
    client = sys.modules.get("ollama")
    if (
        client is None
        or not isinstance(error, client.ResponseError)
        or error.status_code != httpx.codes.NOT_FOUND
    ):
        return None
    found = _NO_MODEL.search(str(error))
    return found["name"] if found else None


def _is_ollama(llm: object | None) -> bool:
    module = sys.modules.get("langchain_ollama")
    while isinstance(llm, RunnableBinding):
        llm = llm.bound
    return module is not None and isinstance(llm, module.ChatOllama)


def _host(llm: object | None) -> str:
    given = getattr(llm, "base_url", None) or os.environ.get("OLLAMA_HOST")
    return format_address(None if given is None else str(given))


def _shown(url: httpx.URL) -> str:
    """Scheme, host and port alone: an address may carry a password."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"
