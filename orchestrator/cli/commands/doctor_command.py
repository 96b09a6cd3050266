"""``orchestrator doctor``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

import typer
from rich.text import Text

from agents import ModelRefusedError, ModelSetupError, ModelUnavailableError, MonitoringAgent, load_model
from agents.models import embedded
from agents.models.model_call import Model
from agents.models.ollama import format_address, installed_models
from agents.roles import build_roles
from evaluation import JudgeTrust, TaskCase, evaluate, measure_judge, run_from_state, save_trust
from evaluation.contract.requirements import Contract
from evaluation.judges import figures as trust_figures
from evaluation.statistics import Proportion
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import FAILED
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.judging.evidence import ACCEPTING
from orchestrator.judging.verification import identify_verifier
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import VerifierName
from orchestrator.study.tune_spec import list_names, read_cases

_OF_A_JUDGE: Final = ("total", "false_accepts", "false_rejects", "needs_review", "trusted", "distrust")
_OF_A_VERIFIER: Final = ("threshold", "precision", "coverage")
_WRONG: Final[dict[trust_figures.Kind, str]] = {
    "subtle": "subtly wrong",
    "plain": "plainly wrong",
    "injected": "with a text that asks for approval",
}


def report_judge(spec: str, *, json: bool) -> None:
    """Measures the monitor with a model, prints the figures, keeps them, and exits.

    Args:
        spec: The model specification.
        json: Print one JSON document.

    Raises:
        typer.Exit: The judge is not trusted, or the model failed or cannot be used.
    """
    outputs = trust_figures.load_labelled_set()
    with _report_failures():
        monitor = MonitoringAgent(load_model(spec))
        trust_figures.get_trust_folder().mkdir(
            parents=True, exist_ok=True
        )  # fails before the calls, which may cost money
        typer.echo(f"Asking the judge about {len(outputs)} outputs, one call each.", err=True)
        trust = measure_judge(monitor, outputs=outputs)
        file = str(save_trust(trust))
    document = {**asdict(trust), **{name: getattr(trust, name) for name in _OF_A_JUDGE}}
    _conclude(document if json else _list_trust(trust), file, is_trusted=trust.trusted)


def report_verifier(verifier: VerifierName, tasks: str, model: str, *, json: bool) -> None:
    """Measures a verifier on tasks with known answers, prints the figures, keeps them, and exits.

    Args:
        verifier: The verifier.
        tasks: A file of tasks with known answers.
        model: The model specification.
        json: Print one JSON document.

    Raises:
        typer.Exit: The bound was not shown, or the input is not accepted.
    """
    with _report_failures():
        cases = read_answered_tasks(tasks)
        typer.echo(f"Running {len(cases)} tasks.", err=True)
        figures = measure_verifier(model, verifier, cases)
        file = str(trust_figures.save_figures(figures))
    document = {**asdict(figures), **{name: getattr(figures, name) for name in _OF_A_VERIFIER}}
    is_trusted = figures.threshold is not None
    _conclude(document if json else _list_claims(figures, verifier), file, is_trusted=is_trusted)


@contextmanager
def _report_failures() -> Iterator[None]:
    with (
        consoles.print_logs_on(consoles.build_console(stderr=True)),
        consoles.report_bad_input(ModelUnavailableError, ModelRefusedError, OSError),
    ):
        yield


def _conclude(figures: dict[str, object] | Iterable[str], file: str, *, is_trusted: bool) -> None:
    """Prints the JSON document or the lines, and exits if the judge or verifier is not trusted."""
    if isinstance(figures, dict):
        consoles.print_json({**figures, "file": file})
    else:
        consoles.build_console().print(Text(consoles.clean("\n".join([*figures, f"Kept in {file}"]))))
    if not is_trusted:
        raise typer.Exit(FAILED)


def _list_trust(trust: JudgeTrust) -> Iterator[str]:
    accepts, rejects = trust.false_accepts, trust.false_rejects
    yield f"Judge: {trust.name}"
    yield f"It accepted {_format_count(accepts, 'wrong output')}. False accepts: {_format_rate(accepts)}."
    for kind, name in _WRONG.items():
        counts = trust.counts[kind]
        yield f"  {name}: accepted {counts.accepted} of {counts.accepted + counts.refused}"
    yield f"It refused {_format_count(rejects, 'right output')}. False rejects: {_format_rate(rejects)}."
    yield f"It gave no verdict on {trust.needs_review} of {consoles.count_noun(trust.total, 'output')}."
    yield "Trusted." if trust.distrust is None else f"Not trusted: {trust.distrust}."


def _list_claims(figures: trust_figures.VerifierFigures, verifier: VerifierName) -> Iterator[str]:
    yield f"Verifier: {figures.name}"
    for count in figures.counts:
        total = count.right + count.wrong
        yield f"  {count.share:.0%} approve: {consoles.count_noun(total, 'answer')}, {count.right} right"
    right, covered = figures.precision, figures.coverage
    if figures.threshold is None:
        needed = trust_figures.count_needed_claims(figures.max_wrong)
        yield f"Not shown: that at most {figures.max_wrong:.0%} of its claims are wrong."
        yield f"{needed} right ones of {needed} would be enough. A run with this verifier claims nothing."
        return
    yield f"A run claims an answer from {figures.threshold:.0%} of approvals on: `run --verifier {verifier}`."
    yield f"Precision: {right.successes} of {right.trials} claims are right, {_format_rate(right)}."
    tasks = consoles.count_noun(covered.trials, "task")
    yield f"Coverage: {covered.successes} of {tasks}, {_format_rate(covered)}."


def _format_count(rate: Proportion, noun: str) -> str:
    return f"{rate.successes} of {consoles.count_noun(rate.trials, noun)} that it gave a verdict on"


def _format_rate(rate: Proportion) -> str:
    """Formats a rate with its interval: "90% (95% interval: 80% to 96%)"."""
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.0%} (95% interval: {rate.interval.low:.0%} to {rate.interval.high:.0%})"


_MAX_WRONG: Final = 0.05
"""The bound on the share of wrong claims."""


def read_answered_tasks(path: str) -> list[TaskCase]:
    """Reads tasks whose contracts state the content of the answer.

    Raises:
        ConfigurationError: The file cannot be read, a task has no answer, or no result on so few tasks can
            show the bound.
    """
    cases, needed = read_cases(path), trust_figures.count_needed_claims(_MAX_WRONG)
    if unanswered := [case.title for case in cases if not _states_answer(case)]:
        raise ConfigurationError(
            f"tasks: {len(unanswered)} of {len(cases)} tasks have no known answer: {list_names(unanswered)}; "
            "give each a contract that states its content, such as keywords, or leave it out"
        )
    if len(cases) < needed:
        raise ConfigurationError(
            f"tasks: {path!r} has {len(cases)} tasks, and a bound of {_MAX_WRONG:.0%} needs {needed} claims, "
            f"all of them right; give at least {needed - len(cases)} more"
        )
    return cases


def _states_answer(case: TaskCase) -> bool:
    return case.contract != "from_task" and Contract.of(case.contract).checks_content


def measure_verifier(
    model: str | Model, verifier: VerifierName, cases: Sequence[TaskCase]
) -> trust_figures.VerifierFigures:
    """Runs each task, which does not see its contract, and compares the claims with the contracts.

    Args:
        model: The model of all agents, as ``LangGraphOrchestrator.from_model`` takes it.
        verifier: The verifier.
        cases: Tasks whose contracts state the answer.

    Raises:
        ConfigurationError: The model has no identity, by which the figures would be found again.
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded; the message says what to do.
    """
    roles = build_roles(model)
    identity = identify_verifier(verifier, roles.executor, roles.monitor)
    if identity is None:
        raise ConfigurationError(
            f"model {format_repr(model, 80)} cannot be identified, so that its figures would not be found "
            "again; give a model whose name and address LangChain states"
        )
    agents = (roles.planner, roles.executor, roles.monitor)
    orchestrator = LangGraphOrchestrator(*agents, contract="from_task", planning="auto", verifier=verifier)
    claims: Counter[tuple[float, bool]] = Counter()
    for case in cases:
        state = orchestrator.run(case.task)
        if (share := _read_share(state)) is not None:
            claims[share, _is_right(state, case)] += 1
    shares = sorted({share for share, _ in claims}, reverse=True)
    counts = tuple(
        trust_figures.ClaimCount(share, claims[share, True], claims[share, False]) for share in shares
    )
    return trust_figures.VerifierFigures(identity, len(cases), _MAX_WRONG, counts)


def _read_share(state: OrchestratorState) -> float | None:
    """Returns the share of approvals of an accepted output; None if the run has no such output."""
    if state["status"] != "success":
        return None
    last = (state["synthesis"] or state["results"])[-1]
    return last["verification"]["share"] if "verification" in last else None


def _is_right(state: OrchestratorState, case: TaskCase) -> bool:
    contract = {} if case.contract == "from_task" else case.contract.model_dump(exclude_unset=True)
    return evaluate({**contract, "agent_run": run_from_state(state)}).status in ACCEPTING


_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
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


def doctor(
    judge: options.Spec[str | None] = None,
    verifier: VerifierName | None = None,
    tasks: options.File[str | None] = None,
    model: options.Spec[str] = "local",
    json: options.Json = False,
) -> None:
    """Check which models can run, or how far a judge or a verifier can be trusted.

    With --judge, a model judges outputs whose verdicts are known. With --verifier, your tasks are run, and
    the answers that it approves are compared with the known ones.

    Exit status: 0 if a model can be used, 1 if none can. With --judge or --verifier: 0 if it is trusted, 1
    if not.

    Args:
        judge: Measure this model as a judge, and keep the figures.
        verifier: Measure how often a claim of `run --verifier` is right, on --tasks.
        tasks: With --verifier: a file of tasks with known answers.
        model: With --verifier: the model of the runs.
    """
    if (verifier is None) != (tasks is None):
        raise typer.BadParameter("--verifier and --tasks need each other; give both, or none")
    if judge is None and verifier is None:
        _report_sources(json=json)
        return
    if judge is not None:
        report_judge(judge, json=json)
    elif verifier is not None and tasks is not None:
        report_verifier(verifier, tasks, model, json=json)


def _report_sources(*, json: bool) -> None:
    with consoles.print_logs_on(consoles.build_console(stderr=True)):
        sources = {name: check() for name, check in _SOURCES.items()}
    usable = [model for source in sources.values() for model in source.models]
    if json:
        consoles.print_json({**sources, "usable": usable})
    else:
        consoles.build_console().print(Text("\n").join(_draw_rows(sources, usable)))
    if not usable:
        raise typer.Exit(FAILED)


def check_embedded_model() -> Source:
    """Looks for the weights and loads them."""
    try:
        embedded.require_runtime()
        weights = embedded.find_weights()
        if weights is None:
            return Source(
                [], f"this machine has no weights; {embedded.GET_WEIGHTS}, or let a run download them"
            )
        # Loading proves more than finding: the file may be damaged, or the memory too small.
        embedded.embedded_endpoint(weights)
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
        yield Text.assemble(mark, (f"{name}: ", "bold"), consoles.one_line(source.detail))
    if usable:
        yield Text(f"\nReady to run with --model {consoles.one_line(', '.join(usable))}", style="green")
    else:
        yield Text(f"\n{_NOTHING_USABLE}", style="red")
