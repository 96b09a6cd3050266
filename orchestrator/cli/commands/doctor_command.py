"""``orchestrator doctor``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final, TypeAlias

import typer
from rich.text import Text

from agents import ModelSetupError, MonitoringAgent, load_model
from agents.models import embedded
from agents.models.ollama import format_address, installed_models
from evaluation import JudgeTrust, measure_judge, save_trust
from evaluation.judges import figures as trust_figures
from evaluation.statistics import Proportion
from evaluation.values import count_noun
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import FAILED

_OF_A_JUDGE: Final = ("total", "false_accepts", "false_rejects", "needs_review", "trusted", "distrust")
_WRONG: Final[dict[trust_figures.Kind, str]] = {
    "subtle": "subtly wrong",
    "plain": "plainly wrong",
    "injected": "with a text that asks for approval",
}


_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_NOTHING_USABLE: Final = (
    "No model can be used. Fix the embedded model as described above, or start Ollama with `ollama serve` "
    "and get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)
Source: TypeAlias = tuple[list[str], str]
"""The specifications of the models that a run can use now, and a text about them, or why there is none."""


def doctor(
    judge: options.Spec[str | None] = None,
    json: options.Json = False,
) -> None:
    """Check which models can run, or how far a judge can be trusted.

    With --judge, a model judges outputs whose verdicts are known.

    Exit status: 0 if a model can be used, 1 if none can. With --judge: 0 if it is trusted, 1 if not.

    Args:
        judge: Measure this model as a judge, and keep the figures.
    """
    with consoles.print_logs_on(consoles.build_console(stderr=True)):
        is_good = _report_sources(json=json) if judge is None else _report_judge(judge, json=json)
    if not is_good:
        raise typer.Exit(FAILED)


def _report_sources(*, json: bool) -> bool:
    """Prints the sources of models, and returns whether one can be used."""
    sources = {"embedded": _check_embedded(), "ollama": _check_ollama(), "openai": _check_openai()}
    usable = [model for models, _ in sources.values() for model in models]
    if json:
        named = {name: {"models": models, "detail": detail} for name, (models, detail) in sources.items()}
        consoles.print_json({**named, "usable": usable})
        return bool(usable)
    rows = [f"{'ok' if models else '- '} {name}: {detail}" for name, (models, detail) in sources.items()]
    end = f"Ready to run with --model {', '.join(usable)}" if usable else _NOTHING_USABLE
    consoles.build_console().print(Text("\n".join([*map(consoles.one_line, rows), "", end])))
    return bool(usable)


def _check_embedded() -> Source:
    """Looks for the weights and loads them."""
    try:
        embedded.require_runtime()
        weights = embedded.find_weights()
        if weights is None:
            return [], f"this machine has no weights; {embedded.GET_WEIGHTS}, or let a run download them"
        # Loading proves more than finding: the file may be damaged, or the memory too small.
        embedded.embedded_endpoint(weights)
    except (ModelSetupError, ImportError) as error:
        return [], str(error)
    return ["local"], f"{weights} ({weights.stat().st_size / 1e6:.0f} MB)"


def _check_ollama() -> Source:
    host, names = format_address(os.environ.get("OLLAMA_HOST")), installed_models()
    if names is None:
        return [], f"no server answers at {host}; start one with `ollama serve`, or set OLLAMA_HOST"
    if not names:
        return [], f"{host} answers and has no model; get one with `ollama pull llama3.2`"
    return [f"ollama:{name}" for name in names], f"{host} answers and has {', '.join(names)}"


def _check_openai() -> Source:
    # A base URL is enough, because local servers need no key.
    variables = [name for name in _OPENAI if os.environ.get(name)]
    if not variables:
        return [], "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"
    return ["openai:NAME"], f"set: {', '.join(variables)}"


def _report_judge(spec: str, *, json: bool) -> bool:
    """Measures the monitor with a model, prints and keeps the figures, and returns whether it is trusted."""
    outputs = trust_figures.load_labelled_set()
    monitor = MonitoringAgent(load_model(spec))
    # Fails before the calls, which may cost money.
    trust_figures.get_trust_folder().mkdir(parents=True, exist_ok=True)
    typer.echo(f"Asking the judge about {len(outputs)} outputs, one call each.", err=True)
    trust = measure_judge(monitor, outputs=outputs)
    file = str(save_trust(trust))
    if json:
        known = {name: getattr(trust, name) for name in _OF_A_JUDGE}
        consoles.print_json({**asdict(trust), **known, "file": file})
    else:
        lines = [*_list_trust(trust), f"Kept in {file}"]
        consoles.build_console().print(Text(consoles.clean("\n".join(lines))))
    return trust.trusted


def _list_trust(trust: JudgeTrust) -> Iterator[str]:
    accepts, rejects = trust.false_accepts, trust.false_rejects
    yield f"Judge: {trust.name}"
    yield f"It accepted {_format_count(accepts, 'wrong output')}. False accepts: {_format_rate(accepts)}."
    for kind, name in _WRONG.items():
        counts = trust.counts[kind]
        yield f"  {name}: accepted {counts.accepted} of {counts.accepted + counts.refused}"
    yield f"It refused {_format_count(rejects, 'right output')}. False rejects: {_format_rate(rejects)}."
    yield f"It gave no verdict on {trust.needs_review} of {count_noun(trust.total, 'output')}."
    yield "Trusted." if trust.distrust is None else f"Not trusted: {trust.distrust}."


def _format_count(rate: Proportion, noun: str) -> str:
    return f"{rate.successes} of {count_noun(rate.trials, noun)} that it gave a verdict on"


def _format_rate(rate: Proportion) -> str:
    """Formats a rate with its interval: "90% (95% interval: 80% to 96%)"."""
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.0%} (95% interval: {rate.interval.low:.0%} to {rate.interval.high:.0%})"
