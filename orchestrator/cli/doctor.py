"""``orchestrator doctor``: what this machine has, and what to do where something is missing."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import typer
from pydantic import BaseModel, ConfigDict
from rich.text import Text

from agents import ModelSetupError
from agents.models.embedded import embedded_endpoint, require_runtime
from agents.models.ollama import format_address, installed_models
from agents.models.weights import DEFAULT_SOURCES, Sources, Weights, find_weights
from orchestrator.cli.exits import FAILED, unwritten_exits
from orchestrator.cli.view.consoles import logs_on, progress_console, result_console
from orchestrator.cli.view.text import as_json, one_line

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
    embedded, ollama, openai = find_embedded(), _find_ollama(environment), _find_openai(environment)
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


def _find_ollama(environment: Mapping[str, str]) -> Ollama:
    models = installed_models()
    return Ollama(
        host=format_address(environment.get("OLLAMA_HOST")), answers=models is not None, models=models or []
    )


def _find_openai(environment: Mapping[str, str]) -> OpenAICompatible:
    return OpenAICompatible(
        api_key_set=bool(environment.get("OPENAI_API_KEY")),
        base_url_set=bool(environment.get("OPENAI_BASE_URL") or environment.get("OPENAI_API_BASE")),
    )


_MEGABYTE: Final = 1_000_000
_NOTHING_USABLE: Final = (
    "No model can be used. Mend the embedded model as said above, or start Ollama with `ollama serve` and "
    "get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)
_NAMES_SHOWN: Final = 5


def examine(*, json: bool) -> None:
    """Look around, print what was found and exit.

    Raises:
        typer.Exit: No model can be used.
    """
    with logs_on(progress_console()):
        found = diagnose()
    with unwritten_exits():
        _report(found, json=json)
    if not found.usable:
        raise typer.Exit(FAILED)


def _report(found: Diagnosis, *, json: bool) -> None:
    if json:
        typer.echo(as_json(found.model_dump()).encode())
    else:
        result_console().print(describe(found))


def describe(found: Diagnosis) -> Text:
    """What was found, in words."""
    return Text("\n").join([*_rows(found), Text(), _verdict(found)])


def _rows(found: Diagnosis) -> Iterator[Text]:
    yield _row("Python", f"{found.python} on {found.platform}", good=True)
    for package, installed in found.versions.items():
        yield _row(package, installed or "not installed", good=installed is not None)
    yield _row("embedded model", _embedded(found.embedded), good=found.embedded.ready)
    yield _row("Ollama", _ollama_line(found.ollama), good=bool(found.ollama.models))
    yield _row("OpenAI-compatible", _openai_line(found.openai), good=_configured(found.openai))


def _row(name: str, text: str, *, good: bool) -> Text:
    mark = ("ok ", "green") if good else ("-  ", "yellow")
    return Text.assemble(mark, (f"{name}: ", "bold"), one_line(text))


def _embedded(embedded: Embedded) -> str:
    if embedded.size_bytes is None:
        return embedded.problem or "not found"
    where = f"{embedded.path} ({embedded.size_bytes / _MEGABYTE:.0f} MB, from the {embedded.origin})"
    return where if embedded.problem is None else f"{where}: {embedded.problem}"


def _ollama_line(ollama: Ollama) -> str:
    if not ollama.answers:
        return f"no server answers at {ollama.host}; start one with `ollama serve`, or set OLLAMA_HOST"
    if not ollama.models:
        return f"{ollama.host} answers and has no model; get one with `ollama pull llama3.2`"
    return f"{ollama.host} answers and has {_some(ollama.models)}"


def _openai_line(openai: OpenAICompatible) -> str:
    key, url = ("set" if there else "not set" for there in (openai.api_key_set, openai.base_url_set))
    return f"OPENAI_API_KEY is {key}, OPENAI_BASE_URL is {url}"


def _configured(openai: OpenAICompatible) -> bool:
    return openai.api_key_set or openai.base_url_set


def _verdict(found: Diagnosis) -> Text:
    if not found.usable:
        return Text(_NOTHING_USABLE, style="red")
    return Text(f"Ready to run with --model {_some(found.usable)}", style="green")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return shown if more <= 0 else f"{shown} and {more} more"
