"""Reads a model specification such as "ollama:qwen3" and builds its chat model.

Imports a model's libraries on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.errors import ModelSpecError
from agents.models.embedded import build_embedded
from agents.models.ollama import build_ollama
from agents.models.openai import build_openai
from agents.models.weights import check_weights

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def load_model(spec: str = "local", **options: object) -> BaseChatModel:
    """Builds a chat model.

    - ``local``: SmolLM2-135M on this machine, without key or setup; ``PEM_WEIGHTS`` names other weights.
    - ``gguf:PATH``: any weights file in llama.cpp's format, on this machine.
    - ``ollama:NAME``: a model of an Ollama server, at ``OLLAMA_HOST``.
    - ``openai:NAME``: a model of an OpenAI-compatible endpoint, at ``OPENAI_BASE_URL``,
      with ``OPENAI_API_KEY``.

    Args:
        spec: The model specification.
        options: Settings of LangChain's class for it (``ChatOllama``, else ``ChatOpenAI``), such as
            ``temperature``; for ``local`` and ``gguf`` also ``n_ctx``, the context's size in tokens.

    Returns:
        LangChain's own chat model. It never retries by itself, and every call has a timeout.

    Raises:
        ModelSpecError: The specification names no model, or an option is not accepted.
        ModelSetupError: The model's runtime, weights or key are missing; the message says what to do.
    """
    kind, separator, name = (part.strip() for part in str(spec).partition(":"))
    match kind:
        case "local" if not separator:
            return build_embedded(None, options)
        case "gguf" if name:
            return build_embedded(check_weights(name, named_by="the specification"), options)
        case "ollama" if name:
            return build_ollama(name, options)
        case "openai" if name:
            return build_openai(name, options)
    raise ModelSpecError(
        f"the model specification {spec!r} names no model; "
        'give "local", "ollama:NAME", "gguf:PATH" or "openai:NAME"'
    )
