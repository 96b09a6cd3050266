"""Builds models of an OpenAI-compatible endpoint from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agents.errors import ModelSetupError
from agents.models.chat_options import HTTP_DEFAULTS, build_chat_model

if TYPE_CHECKING:
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

    base_url = _first_set(options, "base_url", "openai_api_base") or _first_set(
        os.environ, "OPENAI_BASE_URL", "OPENAI_API_BASE"
    )
    key = _first_set(options, "api_key", "openai_api_key") or os.environ.get("OPENAI_API_KEY") or None
    if key is None and base_url is None:
        raise ModelSetupError(
            f"openai:{name} needs a key, and OPENAI_API_KEY is not set; run `export OPENAI_API_KEY=...`, "
            "or set OPENAI_BASE_URL to an endpoint that needs none"
        )
    return build_chat_model(
        ChatOpenAI,
        fixed={"model": name},
        # ChatOpenAI needs a key, also for an endpoint that needs none.
        defaults={**HTTP_DEFAULTS, "base_url": base_url, "api_key": key or "none"},
        options=options,
    )


def _first_set(settings: Mapping[str, object], *names: str) -> object | None:
    return next((value for name in names if (value := settings.get(name))), None)
