"""Reads a model specification such as "ollama:qwen3" and builds its chat model.

Imports a model's libraries on first use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from agents.credentials.masking import mask_error
from agents.errors import ModelSetupError, ModelSpecError
from agents.models.chat_options import HTTP_DEFAULTS, build_chat_model, explain_settings, read_field_names
from agents.models.embedded import build_embedded, check_weights
from agents.models.ollama import build_ollama
from agents.models.whole_replies import check_replies

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_openai import ChatOpenAI

_OLLAMA_SETTINGS: Final = ("num_ctx", "keep_alive", "reasoning", "num_predict", "temperature", "seed")
"""The settings that may follow the name of an Ollama model: no secrets, since stores keep a specification."""
_LONGEST_TIMEOUT: Final = 10**9


def load_model(spec: str = "local", **options: object) -> BaseChatModel:
    """Builds a chat model.

    - ``local``: SmolLM2-135M on this machine, without key or setup; ``PEM_WEIGHTS`` names other weights.
    - ``gguf:PATH``: any weights file in llama.cpp's format, on this machine.
    - ``ollama:NAME``: a model of an Ollama server, at ``OLLAMA_HOST``. Settings may follow:
      ``ollama:qwen3,num_ctx=16384,reasoning=false,keep_alive=30m``.
    - ``openai:NAME``: a model of an OpenAI-compatible endpoint, at ``OPENAI_BASE_URL``,
      with ``OPENAI_API_KEY``.
    - ``anthropic:NAME``, ``google_genai:NAME``, ...: a model of any provider that LangChain's
      ``init_chat_model`` knows, with the provider's package and its key.

    Args:
        spec: The model specification.
        options: Settings of LangChain's class for it (``ChatOllama``, ``ChatOpenAI`` or the provider's own),
            such as ``temperature``; for ``local`` and ``gguf`` also ``n_ctx``, the context's size in tokens.

    Returns:
        LangChain's own chat model, with its replies checked (``check_replies``). It never retries by itself,
        and every call has a timeout, as far as the class of another provider has settings for these.

    Raises:
        ModelSpecError: The specification names no model, or an option is not accepted.
        ModelSetupError: The model's package, weights or key are missing; the message says what to do.
    """
    return check_replies(_build_model(spec, options))


def _build_model(spec: str, options: dict[str, object]) -> BaseChatModel:
    kind, separator, name = (part.strip() for part in str(spec).partition(":"))
    match kind:
        case "local" if not separator:
            return build_embedded(None, options)
        case "gguf" if name:
            return build_embedded(check_weights(name), options)
        case "ollama" if name.partition(",")[0]:
            name, *settings = name.split(",")
            return build_ollama(name, {**options, **dict(_read_setting(spec, text) for text in settings)})
        case "openai" if name:
            return build_openai(name, options)
        case str() if name and kind not in ("", "local", "ollama"):
            return build_provider_model(kind, name, options)
    raise ModelSpecError(
        f'the model specification {spec!r} names no model; give "local", "ollama:NAME", "gguf:PATH", '
        '"openai:NAME", or PROVIDER:NAME with a provider of LangChain\'s init_chat_model'
    )


def timeout_option(spec: str, seconds: object) -> dict[str, object]:
    """Returns the option of ``load_model`` that gives a model's client as much time as a call may take.

    It is empty if there is no such time, and for a hosted provider, whose class may not have the option.
    """
    kind = spec.partition(":")[0].strip()
    if not isinstance(seconds, int | float) or not 0 < seconds < _LONGEST_TIMEOUT:
        return {}
    if kind == "ollama":
        return {"client_kwargs": {"timeout": seconds}}
    return {"timeout": seconds} if kind in ("local", "gguf", "openai") else {}


def _read_setting(spec: str, text: str) -> tuple[str, object]:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in _OLLAMA_SETTINGS or not value:
        raise ModelSpecError(
            f"the model specification {spec!r} has {text!r} after a comma; give NAME=VALUE with a name of "
            f"{', '.join(_OLLAMA_SETTINGS)}"
        )
    try:
        return name, json.loads(value.lower())
    except ValueError:  # a duration such as 30m, or a level such as low
        return name, value


def build_openai(name: str, options: Mapping[str, object]) -> ChatOpenAI:
    """Builds a chat model of an OpenAI-compatible endpoint.

    The endpoint comes from ``OPENAI_BASE_URL`` (or ``OPENAI_API_BASE``), the key from ``OPENAI_API_KEY``; the
    options ``base_url`` and ``api_key`` take precedence. A private endpoint may need no key.

    Args:
        name: The model's name at the endpoint.
        options: Settings of ``ChatOpenAI``; by default a timeout of 120 s and no retries.

    Raises:
        ModelSetupError: Neither a key nor an endpoint is set.
        ModelSpecError: An option is not accepted.
    """
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - slow to import

    variables = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    base_url = options.get("base_url") or variables
    key = options.get("api_key") or os.environ.get("OPENAI_API_KEY")
    if not key and not base_url:
        raise ModelSetupError(
            f"openai:{name} needs a key, and OPENAI_API_KEY is not set; run `export OPENAI_API_KEY=...`, "
            "or set OPENAI_BASE_URL to an endpoint that needs none"
        )
    return build_chat_model(
        ChatOpenAI,
        fixed={"model": name},
        # ChatOpenAI needs a key, also for an endpoint that needs none.
        defaults={**HTTP_DEFAULTS, "base_url": base_url or None, "api_key": key or "none"},
        options=options,
    )


def build_provider_model(provider: str, name: str, options: Mapping[str, object]) -> BaseChatModel:
    """Builds a chat model with LangChain's ``init_chat_model``, by its names of providers.

    Args:
        provider: The provider.
        name: The model's name at the provider.
        options: Settings of the provider's class; by default a timeout of 120 s and no retries, if the class
            has settings for these.

    Raises:
        ModelSetupError: LangChain knows no such provider, or a package or the key is missing.
        ModelSpecError: An option is not accepted.
    """
    names = read_field_names(type(_init_model(provider, name, options)))
    if unknown := sorted(set(options) - set(names)):
        raise ModelSpecError(f"option {unknown[0]!r} is not a setting of {provider}:{name}; leave it out")
    given = {names[option] for option in options}
    defaults = {each: value for each, value in HTTP_DEFAULTS.items() if names.get(each, each) not in given}
    known = {each: value for each, value in defaults.items() if each in names}
    return _init_model(provider, name, {**known, **options})


def _init_model(provider: str, name: str, options: Mapping[str, Any]) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - no dependency of ours

        model: BaseChatModel = init_chat_model(name, model_provider=provider, **options)
    except ValidationError as error:
        raise explain_settings(error, provider) from None
    except Exception as error:  # each provider's library has its own for a missing key
        reason = " ".join(mask_error(error).split())[:300] or type(error).__name__
        raise ModelSetupError(f"{provider}:{name} cannot be built: {reason}") from error
    return model
