"""Builds models of an Ollama server, and reads its replies and its list of models."""

# ChatOllama declares its clients as attributes; here they are properties.
# mypy: disable-error-code="misc, override"

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from copy import copy
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import httpx2
import jsonschema_rs

from agents.models.chat_options import build_chat_model, unbind_model
from agents.models.openai_replies import read_parameters
from agents.parsing.loose_json import BROKEN, load_json

if TYPE_CHECKING:
    from langchain_ollama import ChatOllama
    from langchain_ollama import ChatOllama as Base
else:
    Base = object

_DEFAULT_HOST: Final = "127.0.0.1"


def build_ollama(name: str, options: Mapping[str, object]) -> ChatOllama:
    """Builds a chat model of an Ollama server; its host comes from ``OLLAMA_HOST``.

    The server is told to refuse a prompt that is longer than ``num_ctx``, and to end a reply at the end of
    the context, which needs Ollama 0.12.6.

    Args:
        name: The model's name, with or without a tag.
        options: Settings of ``ChatOllama``; by default ``num_ctx`` 8192 tokens, temperature 0 and
            ``client_kwargs={"timeout": 300.0}`` (seconds, including the time to load the model).

    Raises:
        ModelSpecError: An option is not accepted.
    """
    from langchain_ollama import ChatOllama  # noqa: PLC0415 - slow to import

    # A connection that is kept open belongs to its event loop; the next asyncio.run cannot use it.
    return build_chat_model(
        ChatOllama,
        fixed={"model": name},
        defaults={
            "num_ctx": 8192,
            "temperature": 0.0,
            "client_kwargs": {"timeout": 300.0, "headers": {"Connection": "close"}},
        },
        options=options,
    )


def _build_client(name: str) -> Any:  # noqa: ANN401 - the library's
    return property(
        lambda model: SimpleNamespace(chat=partial(_chat, (model.__pydantic_private__ or {})[name]))
    )


class OllamaReplies(Base):
    """The clients of ChatOllama, which keep the calls of a reply as the server sends them.

    Ollama's client refuses a call without a name or an object, and names none of it. LangChain decodes each
    text in the arguments that is JSON, and drops one with the name ``functionName``.
    """

    _client, _async_client = _build_client("_client"), _build_client("_async_client")


def _chat(client: Any, **request: Any) -> Any:  # noqa: ANN401
    """Asks Ollama's client, or the one to await, with fields that it does not know."""
    schemas, asking = read_parameters(request.get("tools")), copy(client)

    def send(kind: Any, *args: object, json: Mapping[str, object], **options: object) -> Any:  # noqa: ANN401
        body, build = {**json, "truncate": False, "shift": False}, partial(_build_part, kind, schemas)
        return client._request(build, *args, json=body, **options)  # noqa: SLF001

    vars(asking)["_request"] = send
    return asking.chat(**request)


def _build_part(kind: Any, schemas: Mapping[str, dict[str, Any]], **part: Any) -> Any:  # noqa: ANN401
    """Builds a part of a reply with the arguments of each call as one text, which LangChain reads once."""
    message = part.get("message")
    calls = message.pop("tool_calls", None) if isinstance(message, dict) else None
    built = kind(**part)
    if calls:
        vars(built.message)["tool_calls"] = [_write_call(call["function"], schemas) for call in calls]
    return built


def _write_call(function: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]) -> dict[str, object]:
    name, given = str(function.get("name") or ""), function.get("arguments")
    fields = schemas.get(name, {}).get("properties") or {}
    args: dict[str, object] = {BROKEN: given}
    if isinstance(given, dict):
        args = {key: _read_text(value, fields.get(key, True)) for key, value in given.items()}
    return {"function": {"name": name, "arguments": json.dumps(args)}}


def _read_text(value: object, schema: dict[str, Any] | bool) -> object:
    """Returns the object or list that some models write as its JSON text, if the tool takes no text."""
    decoded = load_json(value) if isinstance(value, str) else None
    is_meant = isinstance(decoded, dict | list) and _takes(schema, decoded) and not _takes(schema, value)
    return decoded if is_meant else value


def _takes(schema: dict[str, Any] | bool, value: object) -> bool:
    """Checks a value against the schema of a parameter; one that cannot be read takes any value."""
    try:
        return jsonschema_rs.validator_for(schema).is_valid(value)
    except ValueError:
        return True


def format_address(host: str | None = None) -> str:
    """Formats the scheme, host and port of an Ollama server, without the password of its address.

    Args:
        host: The address, as in ``OLLAMA_HOST``. Default: port 11434 on this machine.
    """
    try:
        url = _read_address(host)
    except httpx2.InvalidURL:
        return "the address in OLLAMA_HOST, which is invalid"
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _read_address(host: str | None) -> httpx2.URL:
    """Reads an address as Ollama's own client does: its scheme, host and port may be left out."""
    address = (host or "").strip() or _DEFAULT_HOST
    if "://" in address:
        return httpx2.URL(address)
    url = httpx2.URL(f"http://{address}")
    return url.copy_with(host=url.host or _DEFAULT_HOST, port=url.port or 11434)


def installed_models(host: str | None = None) -> list[str] | None:
    """Lists the models of an Ollama server.

    Args:
        host: The server's address. Default: ``OLLAMA_HOST``, or the default port on this machine.

    Returns:
        The names in the server's order; None if no Ollama server answers.
    """
    key = os.environ.get("OLLAMA_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        url = _read_address(host or os.environ.get("OLLAMA_HOST"))
        address = url.copy_with(path=f"{url.path.rstrip('/')}/api/tags")
        reply = httpx2.get(address, headers=headers, timeout=2.0, follow_redirects=True)
        models: list[dict[str, str]] = reply.raise_for_status().json()["models"]
        return [model.get("model") or model["name"] for model in models]
    # Another kind of server may answer anything.
    except (httpx2.HTTPError, httpx2.InvalidURL, LookupError, TypeError, ValueError):
        return None


def server_address(llm: object) -> str | None:
    """Returns the address of an Ollama model's server without its password; None for another model."""
    # By name: importing the class is slow, and a caller's test may replace it by a double that is no class.
    kinds = ((each.__module__.partition(".")[0], each.__name__) for each in type(unbind_model(llm)).__mro__)
    host = getattr(unbind_model(llm), "base_url", None) or os.environ.get("OLLAMA_HOST")
    return format_address(host) if ("langchain_ollama", "ChatOllama") in kinds else None
