"""``orchestrator compare``, ``tune`` and ``worth``: many runs of cases, and what their attempts are worth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluation import read_case_set
from evaluation.cases.case_result import CaseResult, group_trials, read_end, read_results
from evaluation.reporting.case_page import write_html
from evaluation.reporting.summaries import ArmDifference, compare_arms, list_unsolved, summarize_arms
from evaluation.values import JsonObject, as_list, as_object, count_noun
from orchestrator import persistence
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.errors import ConfigurationError
from orchestrator.study.case_runs import CaseRunner, build_case_source
from orchestrator.study.recorded_evaluation import RecordedEvaluation, check_cases
from orchestrator.study.recorded_trials import describe_results, read_judge_figures, read_state, read_trials
from orchestrator.study.targets import NO_VERDICT, build_arms, describe_unanswered
from orchestrator.study.trial_outcomes import Terms
from orchestrator.study.tune import Trial, TuneResult
from orchestrator.study.tune import tune as tune_study
from orchestrator.study.worth import Worth, WorthPoint, estimate_worth

_OPTION: Final = re.compile(r"\w+=")


def split_models(names: str) -> list[str]:
    """Splits specifications with commas; ``NAME=VALUE`` is an option of the model before it."""
    models: list[str] = []
    for part in filter(None, map(str.strip, names.split(","))):
        models = [*models[:-1], f"{models[-1]},{part}"] if models and _OPTION.match(part) else [*models, part]
    return models


def read_stored_arms(files: Sequence[Path]) -> list[CaseResult]:
    """Reads stored evaluations; the name of a file is the name of its side, before the names that it has.

    Raises:
        ConfigurationError: No case is in two sides, or two have one name.
        ContractError: A file is no evaluation.
        OSError: A file cannot be read.
    """
    results = [
        result.model_copy(update={"arm": f"{file.stem}: {result.arm}" if result.arm else file.stem})
        for file in files
        for result in read_results(file)
    ]
    names = ", ".join(map(str, files))
    if len({result.key for result in results}) < len(results):
        raise ConfigurationError(f"{names}: two files have one name; rename one of them")
    if not compare_arms(results):
        raise ConfigurationError(
            f"{names}: no case is in two evaluations; give evaluations of the same cases"
        )
    return results


_MOST_CASES: Final = 10


def draw_arms(figures: Sequence[JsonObject]) -> Table:
    """Draws a column for each side, with what ``summarize_arms`` computed of it."""
    table = Table("", *(consoles.one_line(str(each["arm"])) for each in figures), box=None, pad_edge=False)
    columns = [*map(_describe_side, figures)]
    for name in columns[0]:
        if any(column[name] for column in columns):
            table.add_row(name, *(column[name] or "-" for column in columns))
    return table


def list_differences(differences: Sequence[ArmDifference]) -> Iterator[str]:
    """Yields the difference of each pair of sides, and the cases that one passes and the other does not."""
    for each in differences:
        low, high = each.interval
        treatment, control = consoles.one_line(each.treatment), consoles.one_line(each.control)
        yield (
            f"{treatment} against {control}: success {each.value:+.2f} ({low:+.2f} to {high:+.2f}) "
            f"on {count_noun(each.cases, 'case')}, corrected p {each.p_value:.2g}; "
            f"{'' if each.is_shown else 'not '}told apart"
        )
        for name, (before, after) in [*each.changed.items()][:_MOST_CASES]:
            yield f"  {consoles.one_line(name)}: {before:.0%} of {control}, {after:.0%} of {treatment}"
        if (more := len(each.changed) - _MOST_CASES) > 0:
            yield f"  and {count_noun(more, 'case')} more"


def _describe_side(figures: JsonObject) -> Mapping[str, str]:
    # A rate over the cases, whose interval takes the runs of one case for one.
    rate = as_object(as_list(figures["pass_k"])[0])
    bases = ", ".join(f"{count} {basis}" for basis, count in as_object(figures["bases"]).items())
    return {
        "success": f"{rate['value']:.2f} ({rate['low']:.2f} to {rate['high']:.2f})",
        "accepted runs": f"{figures['accepted']} of {figures['runs']}",
        "rest on": bases,
        "wrong claims": f"{figures['wrong']} of {figures['known']}" if figures["known"] else "",
        "seconds a run": _format(figures["latency_ms"], 1000, ".1f"),
        "tokens a run": _format(figures["total_tokens"], 1, ",.0f"),
        "cost a run (USD)": _format(figures["cost_usd"], 1, ".4f"),
    }


def _format(value: object, unit: float, form: str) -> str:
    return format(value / unit, form) if isinstance(value, int | float) else ""


def compare(  # noqa: PLR0917
    files: options.Files = None,
    tasks: options.File[Path | None] = None,
    models: Annotated[str, typer.Option(metavar="SPEC,SPEC")] = "local",
    repeat: options.Count[int | None] = None,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    concurrency: options.Count[int] = 1,
    db: options.Database = None,
    out: options.OutputFile = None,
    html: options.OutputFile = None,
    json: options.Json = False,
) -> None:
    """Compare models on the same cases, or evaluations that --out of a command wrote.

    The runs are stored, and `orchestrator show` shows each. NAME=VALUE after a comma is an option of the
    model before it.

    Exit status: 0, 1 if a store failed, 2 for bad input or if a model did not answer.

    Args:
        files: Two or more files that --out wrote.
        tasks: A file of cases, which every model executes.
        models: The models, with commas.
        repeat: Runs of each case.
        seed: The seed of the first run of each case.
        concurrency: Runs at once.
        out: Store each result as it ends; the same command continues.
        html: Write a page with all runs and the charts of the models.
    """
    console = consoles.build_console(stderr=True)
    with consoles.print_logs_on(console), consoles.take_stdout():
        if (tasks is None) == (not files):
            raise typer.BadParameter("give either --tasks FILE with --models, or files that --out wrote")
        consoles.check_outputs([html, out], [*(files or ()), tasks])
        unread: list[str] = []
        if tasks is None:
            results = read_stored_arms(files or [])
            unread = [f"{file.name}: {each}" for file in files or [] for each in read_end(file).unread]
        else:
            cases, evaluation = read_case_set(tasks), RecordedEvaluation(None, keeps_runs=True)
            check_cases(cases, tasks)
            with persistence.open_store(db) as store:
                arms = build_arms(split_models(models), store, seed)
                runners = [CaseRunner(target, evaluation, name) for name, target in arms.items()]
                source = build_case_source(runners, cases, repeat, concurrency, {"seed": seed})
                results = source.sort([*source.take(out, partial(consoles.show_progress, console))])
        unread += describe_unanswered(results)
        notes = describe_unanswered(results, NO_VERDICT, "no verdict")
        for arm, trials in group_trials(results).items():
            notes += list_unsolved(trials, f"{arm}: ")
        if html is not None:
            write_html(html, results, "Comparison", describe_results(results))
    for sentence in (*unread, *notes):
        console.print(consoles.one_line(sentence), markup=False)
    _print(results, as_json=json)
    if unread:
        raise typer.Exit(BAD_INPUT)


def _print(results: Sequence[CaseResult], *, as_json: bool) -> None:
    figures, differences = summarize_arms(results), compare_arms(results)
    if as_json:
        consoles.print_json({"arms": figures, "differences": differences})
        return
    console = consoles.build_console()
    console.print(draw_arms(figures))
    for line in list_differences(differences):
        console.print(line, markup=False, soft_wrap=True)


def tune(
    spec: Annotated[str, typer.Argument(metavar="SPEC")],
    *,
    folder: Annotated[Path, typer.Option(metavar="PATH")] = Path("."),
) -> None:
    """Search for the retry policy that pays on your tasks.

    The policy is checked on tasks that the search did not see. An interrupted search goes on where it was if
    you give the same command again.

    Exit status: 0, 1 if a model failed, 2 for bad input, 130 after Ctrl-C.

    Args:
        spec: YAML file: tasks, space and budget.
        folder: Where the folder of the study is kept: its runs, report and policy.
    """
    progress = consoles.build_console(stderr=True)
    with consoles.print_logs_on(progress):
        result = tune_study(spec, folder=folder, on_trial=lambda trials: _print_trial(progress, trials))
        policy = folder / result.spec.name / "policy.yaml"
        policy.write_text(result.policy.to_yaml(), encoding="utf-8")
        picture = _draw_worth(policy.with_name("worth.html"), result)
    lines = [*list_unsolved(result.outcomes), result.sentence]
    lines += [f"{each.name}, held out: success {_format_success(each)}" for each in result.held_out or ()]
    lines += [picture, f"policy: {policy}"]
    consoles.build_console().print(Text(consoles.clean("\n".join(lines))), soft_wrap=True)


def _draw_worth(file: Path, result: TuneResult) -> str:
    """Writes the page of what each attempt of the recommended policy gave, and says where it is."""
    trial = next(each for each in result.trials if each.name == result.name)
    try:
        worth = estimate_worth(map(read_state, trial.states.values()))
    except ConfigurationError as error:
        return f"no picture of the attempts: {error}"
    write_html(file, [], "Worth of retries", [worth.describe(trial.name)])
    return f"picture of the attempts: {file}"


def _print_trial(console: Console, trials: Sequence[Trial]) -> None:
    trial = trials[-1]
    line = f"policy {len(trials)}: {trial.name}: success {_format_success(trial)}"
    console.print(Text(consoles.one_line(line)), soft_wrap=True)


def _format_success(trial: Trial) -> str:
    low, high = trial.interval or (0.0, 1.0)
    return f"{trial.success:.3f} ({low:.3f} to {high:.3f}) on {len(trial.states)} tasks"


_Amount: TypeAlias = Annotated[float, typer.Option(metavar="N")]
_TERMS: Final = Terms()


def worth(  # noqa: PLR0917
    files: options.Files = None,
    db: Annotated[str | None, typer.Option(metavar="PATH|URL")] = None,
    value: _Amount = _TERMS.value,
    loss: _Amount = _TERMS.loss,
    cost_per_attempt: _Amount = _TERMS.cost_per_attempt,
    cost_usd: bool = False,
    truth: Annotated[str | None, typer.Option(metavar="FIELD")] = None,
    judge: options.File[Path | None] = None,
    at_most_wrong: Annotated[float | None, typer.Option(metavar="SHARE")] = None,
    policy: options.OutputFile = None,
    html: options.OutputFile = None,
    json: options.Json = False,
) -> None:
    """Say from recorded attempts how many attempts pay, and from when on another one is a loss.

    The files have several trials of each task, or runs with retries: stores in SQLite, the files of
    --out of evaluate and compare, states that `show --json` prints, and runs in the known formats. No model
    is asked. Intervals are for 95 %.

    Exit status: 0, 1 if there is nothing to write to --policy, because it cannot be told, 2 for bad input.

    Args:
        files: The recorded runs.
        db: A store of runs, as of `run`: a SQLite file or a PostgreSQL URL.
        value: Value of a right acceptance.
        loss: Loss by a wrong acceptance.
        cost_per_attempt: Cost of an attempt, in the same unit.
        cost_usd: The recorded cost in US dollars instead of --cost-per-attempt.
        truth: The field of the runs that says whether they are right: true or 1, false or 0.
        judge: Without a truth: the figures of the judge that `doctor --judge SPEC --json` prints.
        at_most_wrong: Say what may be accepted so that at most this share of it is wrong.
        policy: Write the recommendation as a retry policy.
        html: Write a page with the picture.
    """
    if not files and db is None:
        raise typer.BadParameter("give the files of recorded runs, or --db with the store of runs")
    consoles.check_outputs([policy, html], [*(files or ()), judge])
    terms = Terms(value=value, loss=loss, cost_per_attempt=cost_per_attempt, in_usd=cost_usd)
    trust = None if judge is None else read_judge_figures(judge)
    console = consoles.build_console(stderr=True)
    with consoles.print_logs_on(console), console.status("reading the attempts, and resampling the tasks"):
        arms = {
            arm: estimate_worth(trials, terms, judge=trust, at_most_wrong=at_most_wrong)
            for arm, trials in read_trials(files or (), truth, trust, db).items()
        }
    described = [each.describe(arm) for arm, each in arms.items()]
    if html is not None:
        write_html(html, [], "Worth of retries", described)
    if json:
        consoles.print_json({"arms": described})
    else:
        _print_worth(arms)
    if policy is not None:
        _write_policy(policy, arms)


def _print_worth(arms: Mapping[str, Worth]) -> None:
    console = consoles.build_console()
    for arm, each in arms.items():
        if arm:
            console.print(consoles.one_line(arm), markup=False)
        console.print(_draw_points(each.points))
        for line in (*each.sentences, each.recommendation.sentence):
            console.print(consoles.one_line(line), markup=False, soft_wrap=True)


_COLUMNS: Final = {
    "k": "d",
    "tasks": "d",
    "right": ".0%",
    "wrong": ".0%",
    "attempts": ".2f",
    "tokens": ",.0f",
    "cost_usd": ".4f",
    "value": "+.2f",
}
"""The figures of a point that are shown, with their forms."""


def _draw_points(points: Sequence[WorthPoint]) -> Table:
    """Draws a row for each number of attempts, without the columns of which nothing is known."""
    shown = {name: form for name, form in _COLUMNS.items() if getattr(points[0], name) is not None}
    table = Table(*shown, box=None, pad_edge=False)
    for point in points:
        values = [(getattr(point, name), form) for name, form in shown.items()]
        table.add_row(*("-" if value is None else format(value, form) for value, form in values))
    return table


def _write_policy(file: Path, arms: Mapping[str, Worth]) -> None:
    if len(arms) > 1:
        raise ConfigurationError(f"--policy is for one model or policy, and these runs are of {len(arms)}")
    for each in arms.values():
        policy = each.build_policy()
        if policy is None:
            typer.echo(f"{file} is not written: {each.recommendation.sentence}", err=True)
            raise typer.Exit(FAILED)
        file.write_text(policy.to_yaml(), encoding="utf-8")
