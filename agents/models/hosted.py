"""Builds models of OpenAI-compatible endpoints, and of the providers that LangChain has a package for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.chat_options import HTTP_DEFAULTS, build_chat_model, explain_settings, read_field_names

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_openai import ChatOpenAI


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
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ModelSetupError(f"{provider}:{name} cannot be built: {reason}") from error
    return model
