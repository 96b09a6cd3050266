"""``orchestrator evaluate``: recorded runs of any framework, or the cases of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.text import Text

from evaluation import ContractError, read_case_set
from evaluation.cases import case_result
from evaluation.cases.case_files import MAX_BYTES, YAML_SUFFIXES, CaseSet, read_contract_file, read_values
from evaluation.cases.case_result import CaseResult, EvaluationHeader
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, UnknownFormat, read_folder, read_runs
from evaluation.reporting.junit import write_junit
from evaluation.reporting.summaries import describe_counts, describe_pass_rates, rank_problems
from evaluation.values import JsonObject, as_object, count_noun
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Requirement
from orchestrator.study.recorded_evaluation import (
    FailOn,
    RecordedEvaluation,
    Source,
    check_cases,
    check_names,
)

_LABELS: Final = frozenset({"owner", "complete"})
"""Fields of a contract that demand nothing by themselves."""
_FOR_CASES: Final = ("target", "model", "repeat", "concurrency")


class EvaluateOptions(BaseModel):
    """The runs or cases, their contract, and the files of the results."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    files: Annotated[list[Path], options.Argument(metavar="FILE...")] = []
    """Files of recorded runs in any known format, folders, a file of cases, or one that --out wrote."""
    contract: options.File[Path | None] = None
    """A contract that holds for every run, or cases whose names or tasks are those of the runs."""
    fail_on: FailOn | None = None
    """The least severe status that is not accepted. Default: needs_review."""
    require: Requirement | None = None
    """What an accepted run has to rest on."""
    judge: options.Spec[str | None] = None
    """Ask this model what no program can decide."""
    target: options.Code[str | None] = None
    """What executes the cases: a function of the task, or an orchestrator. It imports MODULE from the current
    folder or an installed package: this runs its code."""
    model: options.Spec[str | None] = None
    """Without a target: the model of the orchestrator. Default: local."""
    repeat: options.Count[int | None] = None
    """How often each case is executed."""
    concurrency: options.Count[int] = 1
    """Executions at once. Default: 1."""
    out: options.OutputFile = None
    """Store each result as it ends. The same command continues an interrupted evaluation."""
    baseline: options.OutputFile = None
    """Fail for cases that are worse than in this file, and for no others."""
    save_baseline: options.OutputFile = None
    """Write the results as a baseline."""
    html: options.OutputFile = None
    """Write a report to look at, with all runs in one HTML file."""
    junit: options.OutputFile = None
    """Write a JUnit report to this file."""
    otlp: bool = False
    """Send the verdicts to the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT, below the spans of their runs."""
    as_json: Annotated[bool, typer.Option("--json")] = False
    """Print the report of each run as a line of JSON."""


def evaluate(chosen: EvaluateOptions) -> None:
    """Evaluate recorded runs of any framework, or execute the cases of a file and evaluate their runs.

    Without a contract, it compares what each run says with what it did: claimed actions without a call,
    failures told as done, other values, facts that contradict a result, leaked credentials, replies that were
    cut off. A run in which nothing is found is not verified. With --contract, the runs of a file
    that --out wrote are judged again, without running anything.

    Exit status: 0 if nothing is found against any run (with --baseline: if no case is worse), 1 for a defect
    or, unless --fail-on failed, a suspicion, 2 for bad input, or for a run or a case that cannot be read.
    """
    console = consoles.build_console(stderr=True)
    with consoles.print_logs_on(console), consoles.take_stdout() as stream:
        status = _evaluate(chosen, console, consoles.build_console(file=stream))
    if status:
        raise typer.Exit(status)


def _evaluate(chosen: EvaluateOptions, console: Console, printed: Console) -> int:
    """Evaluates the runs, prints and writes their results, and returns the exit status."""
    _check_options(chosen)
    before = None if chosen.baseline is None else case_result.read_baseline(chosen.baseline)
    evaluation = _build_evaluation(chosen)
    source = _build_source(chosen, evaluation)
    if before is not None and source.keys:
        # Before anything is executed.
        case_result.check_same_cases(before, {name for name, _, _ in source.keys})
    results = _take_results(source, chosen, console, printed)
    console.print(draw_summary(results, evaluation.unread, evaluation.ignored))
    asked = [as_object(each.report.get("judge")) for each in results] if chosen.judge else []
    if asked and not any(each.get("called") for each in asked):
        reason = f"the judge was not asked: {asked[0].get('reason')}; a rubric in --contract asks it"
        console.print(Text(reason))
    if not results:
        return BAD_INPUT
    _write_files(chosen, results)
    is_worse = False
    if before is not None:
        changes = case_result.compare_baselines(before, case_result.build_baseline(results))
        console.print(draw_changes(changes))
        is_worse = bool(changes.worse)
    if evaluation.unread or any(result.status == "invalid" for result in results):
        return BAD_INPUT
    if chosen.save_baseline is not None:
        case_result.write_baseline(chosen.save_baseline, case_result.build_baseline(results))
    # A baseline says which cases may fail, unless the gate is asked for, too.
    is_gated = before is None or chosen.fail_on is not None or chosen.require is not None
    return FAILED if is_worse or (is_gated and not all(result.accepted for result in results)) else 0


def _check_options(chosen: EvaluateOptions) -> None:
    if not chosen.files:
        raise typer.BadParameter("give the files of recorded runs, or a file of cases")
    if chosen.target is not None and chosen.model is not None:
        raise typer.BadParameter("--target executes the cases without --model; give one of them")
    written = (chosen.save_baseline, chosen.junit, chosen.html, chosen.out)
    consoles.check_outputs(written, [*chosen.files, chosen.contract, chosen.baseline])
    if chosen.save_baseline is not None and chosen.save_baseline.exists():
        case_result.read_baseline(chosen.save_baseline)  # another file is not replaced


def _build_evaluation(chosen: EvaluateOptions) -> RecordedEvaluation:
    contract = cases = judge = None
    if chosen.judge is not None:
        # LangChain is slow to import, and most evaluations need no model.
        from agents import load_model
        from evaluation.judges.model_judge import RubricJudge

        judge = RubricJudge(load_model(chosen.judge))
    if chosen.contract is not None:
        contract, cases = _read_stated_contracts(chosen.contract)
    is_kept, gate = bool(chosen.out or chosen.html), chosen.fail_on or "needs_review"
    return RecordedEvaluation(contract, gate, chosen.require, judge, is_kept, cases=cases)


def _read_stated_contracts(file: Path) -> tuple[JsonObject | None, Mapping[str, JsonObject] | None]:
    """Reads the contract that holds for every run, or the contracts of cases by their names and tasks.

    Args:
        file: A file in YAML or JSON: the fields of a contract, also below ``contract``; or cases.

    Returns:
        The fields of the contract, and the fields of each case; one of the two is None.

    Raises:
        ConfigurationError: The file cannot be read, it has no contract, or a case has none of its own.
    """
    try:
        if "cases" in as_object(read_values(file)):
            return None, _index_contracts(read_case_set(file), file)
        contract = read_contract_file(file)
        check_names({"": contract}, file)
        fields: JsonObject = contract.model_dump(mode="json", exclude_unset=True)
        # An empty trajectory demands that no tool is called.
        if any(fields[name] or name == "expected_trajectory" for name in fields.keys() - _LABELS):
            return fields, None
        raise ContractError("it demands nothing of a run; give at least one check")
    except ValueError as error:
        raise ConfigurationError(
            f"--contract {str(file)!r} cannot be used ({error}); see `orchestrator checks --save`"
        ) from None


def _index_contracts(cases: CaseSet, file: Path) -> dict[str, JsonObject]:
    check_cases(cases, file)
    contracts: dict[str, JsonObject] = {}
    for case in cases.cases:
        if isinstance(case.contract, str):
            raise ContractError(f"the case {consoles.one_line(case.title, 80)!r} has no contract of its own")
        fields = case.contract.model_dump(mode="json", exclude_unset=True)
        contracts |= dict.fromkeys((" ".join(case.task.split()), case.title), fields)
    return contracts


def _build_source(chosen: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    """Builds the source of the results: recorded runs, or cases to execute."""
    if not any(map(_has_cases, chosen.files)):
        _refuse_unused(chosen, "these runs are recorded")
        return _read_recorded(chosen, evaluation)
    if len(chosen.files) > 1:
        raise ConfigurationError("a file of cases is executed alone; give it without other runs")
    return _read_cases(chosen.files[0], chosen, evaluation)


def _refuse_unused(chosen: EvaluateOptions, reason: str) -> None:
    """Refuses the options that have an effect only on cases that are executed."""
    fields = type(chosen).model_fields
    given = [name for name in _FOR_CASES if getattr(chosen, name) != fields[name].default]
    if given:
        raise ConfigurationError(
            f"nothing is executed, because {reason}; leave out {', '.join(f'--{name}' for name in given)}"
        )


def _has_cases(file: Path) -> bool:
    if file.is_dir():
        return False
    if file.suffix.lower() != ".json" or file.stat().st_size > MAX_BYTES:
        return file.suffix.lower() in YAML_SUFFIXES
    try:
        data = as_object(read_values(file))
    except ValueError:
        return False
    return "version" in data and bool({"cases", "task"} & data.keys())


def _read_recorded(chosen: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    if chosen.out is not None and chosen.out.is_file() and chosen.out.stat().st_size:
        raise ConfigurationError("--out has results, and recorded runs begin anew; give a new file")
    # A file that is refused is so before another one is written.
    runs = chain.from_iterable([_read_file(file, evaluation) for file in chosen.files])
    return Source(evaluation, lambda _: evaluation.evaluate(runs), _build_header(chosen, evaluation))


def _read_file(file: Path, evaluation: RecordedEvaluation) -> Iterable[ReadRun]:
    """Reads recorded runs; of a file that ``--out`` wrote, those that it has, to judge them again."""
    if file.is_dir():
        return _read_folder(file, evaluation)
    if not case_result.is_stored_evaluation(file):
        return read_runs(file)
    if not evaluation.has_contract:
        raise ConfigurationError(
            f"{file.name} has results; --contract FILE judges their runs again, and the command that wrote "
            "them shows them as they are"
        )
    evaluation.unread += case_result.read_end(file).unread
    return (
        RecordedRun({"case_id": each.name, "agent_run": each.agent_run}, arm=each.arm, trial=each.trial)
        for each in case_result.read_results(file)
    )


def _read_folder(folder: Path, evaluation: RecordedEvaluation) -> Iterator[ReadRun]:
    for run in read_folder(folder):
        if isinstance(run, UnknownFormat):
            evaluation.ignored.append(f"{run.where}: a file without recorded runs")
        else:
            yield run


def _read_cases(file: Path, chosen: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    from orchestrator.study.case_runs import CaseRunner, build_case_source, read_target

    cases = read_case_set(file)
    if all(case.agent_run is not None for case in cases.cases):
        _refuse_unused(chosen, f"each case of {file.name} has an agent_run")
    # A model that is typed takes the place of the target in the file.
    target, model = chosen.target or (None if chosen.model else cases.target), chosen.model or "local"
    runner = CaseRunner(read_target(cases, file, target, model), evaluation)
    header = _build_header(chosen, evaluation, target=target, model=None if target else model)
    return build_case_source([runner], cases, chosen.repeat, chosen.concurrency, header.options)


def _build_header(
    chosen: EvaluateOptions, evaluation: RecordedEvaluation, **named: object
) -> EvaluationHeader:
    values = {**named, "contract": evaluation.contract or evaluation.cases, "judge": chosen.judge}
    return EvaluationHeader(options={name: value for name, value in values.items() if value})


def _take_results(
    source: Source, chosen: EvaluateOptions, console: Console, printed: Console
) -> list[CaseResult]:
    results: list[CaseResult] = []
    tracer = None
    if chosen.otlp:
        from orchestrator.telemetry import export_verdicts  # it needs an extra

        tracer = export_verdicts()
    repeated = {(name, arm) for name, arm, trial in source.keys if trial}
    for result in source.take(chosen.out, partial(consoles.show_progress, console)):
        if tracer is not None:
            tracer.record(result)
        # Only the report has the runs; any number of them is summarised in little memory without it.
        results.append(result if chosen.html else result.without_run())
        if chosen.as_json:
            known = {"accepted": result.accepted, "verified": result.verified, "basis": result.basis}
            typer.echo(dumps({"run": result.name, **known, **result.report}), file=printed.file)
        elif not result.accepted or result.status != "passed":
            is_repeated = result.trial > 0 or (result.name, result.arm) in repeated
            printed.print(draw_result(result, is_repeated=is_repeated))
    return source.sort(results)


def _write_files(chosen: EvaluateOptions, results: Sequence[CaseResult]) -> None:
    if chosen.junit is not None:
        write_junit(chosen.junit, results)
    if chosen.html is not None:
        from evaluation.reporting.case_page import write_html  # Jinja takes a tenth of the start
        from orchestrator.study.recorded_trials import describe_results

        title = ", ".join(file.name for file in chosen.files)
        write_html(chosen.html, results, title, describe_results(results))


_COLOURS: Final = {"passed": "green", "warning": "yellow", "needs_review": "yellow"}
_MOST_SHOWN: Final = 3
"""Most reasons to look at first that are shown."""


def draw_result(result: CaseResult, *, is_repeated: bool) -> Text:
    """Draws a result in one line: its status, its name with the number of the run, and the first reason."""
    number = f"[{result.trial + 1}]" if is_repeated else ""
    head = (result.verdict, _COLOURS.get(result.verdict, "red"))
    reason = consoles.one_line(result.reasons[0], 300) if result.reasons else ""
    return Text.assemble(head, f"  {consoles.one_line(result.name)}{number}  {reason}")


def draw_summary(results: Sequence[CaseResult], unread: Sequence[str], ignored: Sequence[str]) -> Text:
    """Draws the counts, the bases of accepted runs, the rates of repeated ones, and unread files."""
    lines = [*_list_counts(results)]
    for label, sentences in (("not read", unread), ("ignored", ignored)):
        lines += consoles.list_places(label, sentences)
    return Text("\n".join(lines))


def draw_changes(changes: case_result.Changes) -> Text:
    """Draws the cases that are worse or better than in the baseline."""
    named = [("worse than in the baseline", changes.worse), ("better than in the baseline", changes.better)]
    lines = []
    for words, cases in named:
        lines.append(f"{count_noun(len(cases), 'case')} {words}")
        lines += [f"  {consoles.one_line(case)}" for case in cases]
    return Text("\n".join(lines))


def _list_counts(results: Sequence[CaseResult]) -> Iterator[str]:
    if not results:
        yield "nothing was evaluated: there is no run that can be read; give a file or a folder with runs"
        return
    yield from describe_counts(results)
    yield from map(consoles.one_line, describe_pass_rates(results))
    problems = rank_problems(results, _MOST_SHOWN)
    if problems:
        yield "look at first:"
    for each in problems:
        example = consoles.one_line(each.example, 300)
        yield f"  {each.level} {each.kind}, {count_noun(each.runs, 'run')}: {example}"
