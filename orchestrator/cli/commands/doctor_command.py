"""``orchestrator doctor``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer
from rich.text import Text

from agents import ModelSetupError
from agents.models.embedded import embedded_endpoint, require_runtime
from agents.models.ollama import format_address, installed_models
from agents.models.weights import DEFAULT_SOURCES, GET_WEIGHTS, Sources, find_weights
from orchestrator.cli import shared_options as shared
from orchestrator.cli.process_exit import FAILED
from orchestrator.cli.view.consoles import build_console, one_line, print_json, print_logs_on
from orchestrator.state.records import VerifierName

_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_NOTHING_USABLE: Final = (
    "No model can be used. Fix the embedded model as described above, or start Ollama with `ollama serve` "
    "and get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)
Judge = Annotated[
    str | None,
    typer.Option(help="Measure this model as a judge, and keep the figures.", metavar="SPEC"),
]
Verify = Annotated[
    VerifierName | None,
    typer.Option("--verifier", help="Measure how often a claim of `run --verifier` is right, on --tasks."),
]
Tasks = Annotated[
    str | None, typer.Option(help="With --verifier: a file of tasks with known answers.", metavar="FILE")
]
Model = Annotated[str, typer.Option(help="With --verifier: the model of the runs.", metavar="SPEC")]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of models.

    Attributes:
        models: The model specifications that a run can use now.
        detail: Text about the models, or the reason why there is none and how to get one.
    """

    models: list[str]
    detail: str


def doctor(
    judge: Judge = None,
    verifier: Verify = None,
    tasks: Tasks = None,
    model: Model = "local",
    json: shared.Json = False,
) -> None:
    """Check which models can run, or how far a judge or a verifier can be trusted.

    With --judge, a model judges outputs whose verdicts are known. With --verifier, your tasks are run, and
    the answers that it approves are compared with the known ones.

    Exit status: 0 if a model can be used, 1 if none can. With --judge or --verifier: 0 if it is trusted, 1
    if not.
    """
    if (verifier is None) != (tasks is None):
        raise typer.BadParameter("--verifier and --tasks need each other; give both, or none")
    if judge is None and verifier is None:
        _report_sources(json=json)
        return
    from orchestrator.cli.session import trust_measurement  # its imports take their time

    if judge is not None:
        trust_measurement.report_judge(judge, json=json)
    elif verifier is not None and tasks is not None:
        trust_measurement.report_verifier(verifier, tasks, model, json=json)


def _report_sources(*, json: bool) -> None:
    with print_logs_on(build_console(stderr=True)):
        sources = {name: check() for name, check in _SOURCES.items()}
    usable = [model for source in sources.values() for model in source.models]
    if json:
        print_json({**sources, "usable": usable})
    else:
        build_console().print(Text("\n").join(_draw_rows(sources, usable)))
    if not usable:
        raise typer.Exit(FAILED)


def check_embedded_model(sources: Sources = DEFAULT_SOURCES) -> Source:
    """Looks for the weights and loads them."""
    try:
        require_runtime()
        weights = find_weights(sources)
        if weights is None:
            return Source([], f"this machine has no weights; {GET_WEIGHTS}, or let a run download them")
        # Loading proves more than finding: the file may be damaged, or the memory too small.
        embedded_endpoint(weights)
    except (ModelSetupError, ImportError) as error:
        return Source([], str(error))
    return Source(["local"], f"{weights} ({weights.stat().st_size / 1e6:.0f} MB)")


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


_SOURCES: Final = {"embedded": check_embedded_model, "ollama": _check_ollama, "openai": _check_openai}


def _draw_rows(sources: Mapping[str, Source], usable: Sequence[str]) -> Iterator[Text]:
    for name, source in sources.items():
        mark = ("ok ", "green") if source.models else ("-  ", "yellow")
        yield Text.assemble(mark, (f"{name}: ", "bold"), one_line(source.detail))
    if usable:
        yield Text(f"\nReady to run with --model {one_line(', '.join(usable))}", style="green")
    else:
        yield Text(f"\n{_NOTHING_USABLE}", style="red")
