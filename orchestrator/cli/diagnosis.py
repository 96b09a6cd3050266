"""What this machine has that a run needs; nothing is downloaded, and no secret is shown."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from pydantic import BaseModel, ConfigDict

from agents import ModelSetupError
from agents.models.embedded import embedded_endpoint, require_runtime
from agents.models.ollama import installed_models, server_address
from agents.models.weights import DEFAULT_SOURCES, Sources, Weights, find_weights

PACKAGES: Final = (
    "plan-execute-monitor",
    "langgraph",
    "langchain-core",
    "langchain-ollama",
    "langchain-openai",
    "xllamacpp",
)
_NO_WEIGHTS: Final = (
    "no weights are on this machine; `orchestrator run` downloads them (98 MB) where there is a network, "
    "or set PEM_WEIGHTS to a GGUF file"
)


class _Fact(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Embedded(_Fact):
    """The embedded model; ``ready`` once it was loaded, ``problem`` where it could not be."""

    ready: bool
    path: str | None = None
    origin: str | None = None
    size_bytes: int | None = None
    problem: str | None = None


class Ollama(_Fact):
    """An Ollama server; ``models`` in its order."""

    host: str
    answers: bool
    models: list[str]


class OpenAICompatible(_Fact):
    """Whether the variables are set."""

    api_key_set: bool
    base_url_set: bool


class Diagnosis(_Fact):
    """What was found; ``usable`` holds the specifications of models that a run can use now."""

    python: str
    platform: str
    versions: dict[str, str | None]
    embedded: Embedded
    ollama: Ollama
    openai: OpenAICompatible
    usable: list[str]


def diagnose(environment: Mapping[str, str] = os.environ) -> Diagnosis:
    """Look around; loads the embedded model and waits for Ollama for 2 s at most.

    Args:
        environment: The variables that OpenAI's settings and Ollama's host are read from for display.
    """
    embedded, ollama, openai = find_embedded(), _ollama(environment), _openai(environment)
    return Diagnosis(
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        versions={name: installed_version(name) for name in PACKAGES},
        embedded=embedded,
        ollama=ollama,
        openai=openai,
        usable=[
            *(["local"] if embedded.ready else []),
            *(f"ollama:{name}" for name in ollama.models),
            *(["openai:NAME"] if openai.api_key_set or openai.base_url_set else []),
        ],
    )


def installed_version(package: str) -> str | None:
    """A package's version; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def find_embedded(sources: Sources = DEFAULT_SOURCES) -> Embedded:
    """Look for the weights, and load them where they are there."""
    try:
        require_runtime()
        weights = find_weights(sources)
    except ModelSetupError as error:
        return Embedded(ready=False, problem=str(error))
    if weights is None:
        return Embedded(ready=False, problem=_NO_WEIGHTS)
    problem = _load_problem(weights)
    return Embedded(
        ready=problem is None,
        path=str(weights.path),
        origin=weights.origin,
        size_bytes=weights.size_bytes,
        problem=problem,
    )


def _load_problem(weights: Weights) -> str | None:
    try:
        embedded_endpoint(weights)
    except (ModelSetupError, ImportError) as error:
        return str(error)
    return None


def _ollama(environment: Mapping[str, str]) -> Ollama:
    models = installed_models()
    return Ollama(
        host=server_address(environment.get("OLLAMA_HOST")), answers=models is not None, models=models or []
    )


def _openai(environment: Mapping[str, str]) -> OpenAICompatible:
    return OpenAICompatible(
        api_key_set=bool(environment.get("OPENAI_API_KEY")),
        base_url_set=bool(environment.get("OPENAI_BASE_URL") or environment.get("OPENAI_API_BASE")),
    )
