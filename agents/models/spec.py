"""Reads a model specification such as "ollama:qwen3" and builds its chat model.

Imports a model's libraries on first use.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from agents.errors import ModelSpecError
from agents.models.embedded import build_embedded
from agents.models.hosted import build_openai, build_provider_model
from agents.models.ollama import build_ollama
from agents.models.weights import check_weights

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_OWN_KINDS: Final = ("local", "gguf", "openai")
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
      ``init_chat_model`` knows, with the packages ``langchain`` and the provider's, and its key.

    Args:
        spec: The model specification.
        options: Settings of LangChain's class for it (``ChatOllama``, ``ChatOpenAI`` or the provider's own),
            such as ``temperature``; for ``local`` and ``gguf`` also ``n_ctx``, the context's size in tokens.

    Returns:
        LangChain's own chat model. It never retries by itself, and every call has a timeout, as far as the
        class of another provider has settings for these.

    Raises:
        ModelSpecError: The specification names no model, or an option is not accepted.
        ModelSetupError: The model's package, weights or key are missing; the message says what to do.
    """
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
    return {"timeout": seconds} if kind in _OWN_KINDS else {}


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
