"""Checks which models this machine can run, and tells how to install a missing one."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import typer
from rich.text import Text

from agents import ModelSetupError
from agents.models.embedded import embedded_endpoint, require_runtime
from agents.models.ollama import format_address, installed_models
from agents.models.weights import DEFAULT_SOURCES, GET_WEIGHTS, Sources, find_weights
from orchestrator.cli.process.statuses import FAILED
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.text import one_line, to_json

_PACKAGES: Final = (
    "plan-execute-monitor",
    "langgraph",
    "langchain-core",
    "langchain-ollama",
    "langchain-openai",
    "xllamacpp",
)
_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_NO_WEIGHTS: Final = (
    f"this machine has no weights; {GET_WEIGHTS}, or let `orchestrator run` download them (98 MB) if there "
    "is a network"
)
_NOTHING_USABLE: Final = (
    "No model can be used. Fix the embedded model as described above, or start Ollama with `ollama serve` "
    "and get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)


@dataclass(frozen=True, slots=True)
class Source:
    """A source of models.

    Attributes:
        models: The model specifications that a run can use now.
        detail: Text about the models, or the reason why there is none and how to get one.
    """

    models: list[str]
    detail: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of all checks. ``usable`` lists the models of all sources."""

    python: str
    platform: str
    versions: dict[str, str | None]
    embedded: Source
    ollama: Source
    openai: Source
    usable: list[str]


def report_models(*, json: bool) -> None:
    """Check this machine, print the result and exit.

    Raises:
        typer.Exit: No model can be used.
    """
    with print_logs_on(build_console(stderr=True)):
        diagnosis = diagnose()
    if json:
        typer.echo(to_json(asdict(diagnosis)).encode())
    else:
        build_console().print(Text("\n").join(_draw_rows(diagnosis)))
    if not diagnosis.usable:
        raise typer.Exit(FAILED)


def diagnose() -> Diagnosis:
    """Check everything. Loads the embedded model, and waits at most 2 seconds for Ollama."""
    embedded, ollama, openai = check_embedded_model(), _check_ollama(), _check_openai()
    return Diagnosis(
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        versions={name: find_version(name) for name in _PACKAGES},
        embedded=embedded,
        ollama=ollama,
        openai=openai,
        usable=[*embedded.models, *ollama.models, *openai.models],
    )


def find_version(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_embedded_model(sources: Sources = DEFAULT_SOURCES) -> Source:
    """Look for the weights and load them."""
    try:
        require_runtime()
        weights = find_weights(sources)
        if weights is None:
            return Source([], _NO_WEIGHTS)
        # Loading proves more than finding: the file may be damaged, or the memory too small.
        embedded_endpoint(weights)
    except (ModelSetupError, ImportError) as error:
        return Source([], str(error))
    return Source(["local"], f"{weights.path} ({weights.size_bytes / 1e6:.0f} MB, from the {weights.origin})")


def _check_ollama() -> Source:
    host, names = format_address(os.environ.get("OLLAMA_HOST")), installed_models()
    if names is None:
        return Source([], f"no server answers at {host}; start one with `ollama serve`, or set OLLAMA_HOST")
    if not names:
        return Source([], f"{host} answers and has no model; get one with `ollama pull llama3.2`")
    return Source([f"ollama:{name}" for name in names], f"{host} answers and has {', '.join(names)}")


def _check_openai() -> Source:
    # A base URL is enough, because local servers need no key.
    variables = [name for name in _OPENAI if os.environ.get(name)]
    if not variables:
        return Source([], "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set")
    return Source(["openai:NAME"], f"set: {', '.join(variables)}")


def _draw_rows(diagnosis: Diagnosis) -> Iterator[Text]:
    yield _draw_row("Python", f"{diagnosis.python} on {diagnosis.platform}", good=True)
    for package, installed in diagnosis.versions.items():
        yield _draw_row(package, installed or "not installed", good=installed is not None)
    yield _draw_row("embedded model", diagnosis.embedded.detail, good=bool(diagnosis.embedded.models))
    yield _draw_row("Ollama", diagnosis.ollama.detail, good=bool(diagnosis.ollama.models))
    yield _draw_row("OpenAI-compatible", diagnosis.openai.detail, good=bool(diagnosis.openai.models))
    yield Text()
    if diagnosis.usable:
        yield Text(f"Ready to run with --model {one_line(', '.join(diagnosis.usable))}", style="green")
    else:
        yield Text(_NOTHING_USABLE, style="red")


def _draw_row(name: str, text: str, *, good: bool) -> Text:
    mark = ("ok ", "green") if good else ("-  ", "yellow")
    return Text.assemble(mark, (f"{name}: ", "bold"), one_line(text))
