"""Checks which models this machine can run, and tells how to install a missing one."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import typer
from rich.text import Text

from agents import ModelSetupError
from agents.models.embedded import embedded_endpoint, require_runtime
from agents.models.ollama import format_address, installed_models
from agents.models.weights import DEFAULT_SOURCES, Sources, Weights, find_weights
from orchestrator.cli.exits import FAILED
from orchestrator.cli.view.consoles import build_progress_console, build_result_console, print_logs_on
from orchestrator.cli.view.text import one_line, to_json

PACKAGES: Final = (
    "plan-execute-monitor",
    "langgraph",
    "langchain-core",
    "langchain-ollama",
    "langchain-openai",
    "xllamacpp",
)
_NO_WEIGHTS: Final = (
    "this machine has no weights; `orchestrator run` downloads them (98 MB) if there is a network, "
    "or set PEM_WEIGHTS to a GGUF file"
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embedded model: ``ready`` if it can be loaded, otherwise ``problem`` says why not."""

    ready: bool
    path: str | None = None
    origin: str | None = None
    size_bytes: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Ollama:
    """The Ollama server and its models, in the order of the server."""

    host: str
    answers: bool
    models: list[str]


@dataclass(frozen=True, slots=True)
class OpenAICompatible:
    """Whether the variables for an OpenAI-compatible server are set."""

    api_key_set: bool
    base_url_set: bool


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of all checks. ``usable`` lists the model specifications that a run can use now."""

    python: str
    platform: str
    versions: dict[str, str | None]
    embedded: Embedded
    ollama: Ollama
    openai: OpenAICompatible
    usable: list[str]


def diagnose(environment: Mapping[str, str] = os.environ) -> Diagnosis:
    """Check everything. Loads the embedded model, and waits at most 2 seconds for Ollama.

    Args:
        environment: Variables with the host of Ollama and the settings of OpenAI.
    """
    embedded, ollama, openai = check_embedded_model(), _check_ollama(environment), _check_openai(environment)
    return Diagnosis(
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        versions={name: find_version(name) for name in PACKAGES},
        embedded=embedded,
        ollama=ollama,
        openai=openai,
        usable=[
            *(["local"] if embedded.ready else []),
            *(f"ollama:{name}" for name in ollama.models),
            *(["openai:NAME"] if openai.api_key_set or openai.base_url_set else []),
        ],
    )


def find_version(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_embedded_model(sources: Sources = DEFAULT_SOURCES) -> Embedded:
    """Look for the weights and load them."""
    try:
        require_runtime()
        weights = find_weights(sources)
    except ModelSetupError as error:
        return Embedded(ready=False, problem=str(error))
    if weights is None:
        return Embedded(ready=False, problem=_NO_WEIGHTS)
    # Loading proves more than finding: the file may be damaged, or the memory too small.
    problem = _find_load_problem(weights)
    return Embedded(
        ready=problem is None,
        path=str(weights.path),
        origin=weights.origin,
        size_bytes=weights.size_bytes,
        problem=problem,
    )


def _find_load_problem(weights: Weights) -> str | None:
    try:
        embedded_endpoint(weights)
    except (ModelSetupError, ImportError) as error:
        return str(error)
    return None


def _check_ollama(environment: Mapping[str, str]) -> Ollama:
    models = installed_models()
    return Ollama(
        host=format_address(environment.get("OLLAMA_HOST")), answers=models is not None, models=models or []
    )


def _check_openai(environment: Mapping[str, str]) -> OpenAICompatible:
    return OpenAICompatible(
        api_key_set=bool(environment.get("OPENAI_API_KEY")),
        base_url_set=bool(environment.get("OPENAI_BASE_URL") or environment.get("OPENAI_API_BASE")),
    )


_MEGABYTE: Final = 1_000_000
_NOTHING_USABLE: Final = (
    "No model can be used. Fix the embedded model as described above, or start Ollama with `ollama serve` "
    "and get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)
_NAMES_SHOWN: Final = 5


def report_models(*, json: bool) -> None:
    """Check this machine, print the result and exit.

    Raises:
        typer.Exit: No model can be used.
    """
    with print_logs_on(build_progress_console()):
        diagnosis = diagnose()
    if json:
        typer.echo(to_json(asdict(diagnosis)).encode())
    else:
        build_result_console().print(draw_diagnosis(diagnosis))
    if not diagnosis.usable:
        raise typer.Exit(FAILED)


def draw_diagnosis(diagnosis: Diagnosis) -> Text:
    """Describe the result, one line per check."""
    return Text("\n").join([*_draw_rows(diagnosis), Text(), _draw_conclusion(diagnosis)])


def _draw_rows(diagnosis: Diagnosis) -> Iterator[Text]:
    yield _draw_row("Python", f"{diagnosis.python} on {diagnosis.platform}", good=True)
    for package, installed in diagnosis.versions.items():
        yield _draw_row(package, installed or "not installed", good=installed is not None)
    yield _draw_row("embedded model", _describe_embedded(diagnosis.embedded), good=diagnosis.embedded.ready)
    yield _draw_row("Ollama", _describe_ollama(diagnosis.ollama), good=bool(diagnosis.ollama.models))
    yield _draw_row(
        "OpenAI-compatible", _describe_openai(diagnosis.openai), good=_is_configured(diagnosis.openai)
    )


def _draw_row(name: str, text: str, *, good: bool) -> Text:
    mark = ("ok ", "green") if good else ("-  ", "yellow")
    return Text.assemble(mark, (f"{name}: ", "bold"), one_line(text))


def _describe_embedded(embedded: Embedded) -> str:
    if embedded.size_bytes is None:
        return embedded.problem or "not found"
    location = f"{embedded.path} ({embedded.size_bytes / _MEGABYTE:.0f} MB, from the {embedded.origin})"
    return location if embedded.problem is None else f"{location}: {embedded.problem}"


def _describe_ollama(ollama: Ollama) -> str:
    if not ollama.answers:
        return f"no server answers at {ollama.host}; start one with `ollama serve`, or set OLLAMA_HOST"
    if not ollama.models:
        return f"{ollama.host} answers and has no model; get one with `ollama pull llama3.2`"
    return f"{ollama.host} answers and has {_join_names(ollama.models)}"


def _describe_openai(openai: OpenAICompatible) -> str:
    key, url = ("set" if is_set else "not set" for is_set in (openai.api_key_set, openai.base_url_set))
    return f"OPENAI_API_KEY is {key}, OPENAI_BASE_URL is {url}"


def _is_configured(openai: OpenAICompatible) -> bool:
    # A base URL is enough, because local servers need no key.
    return openai.api_key_set or openai.base_url_set


def _draw_conclusion(diagnosis: Diagnosis) -> Text:
    if not diagnosis.usable:
        return Text(_NOTHING_USABLE, style="red")
    return Text(f"Ready to run with --model {_join_names(diagnosis.usable)}", style="green")


def _join_names(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return shown if more <= 0 else f"{shown} and {more} more"
