"""``orchestrator evaluate`` and ``checks``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files as package_files
from json import dumps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from evaluation import EvaluationContract, TaskCase, write_case_set
from evaluation.cases import case_result
from evaluation.cases.case_result import CaseResult
from evaluation.checks import BaseCheck, CheckContext
from evaluation.reporting.case_page import write_html
from evaluation.reporting.summaries import describe_counts, rank_problems, write_junit
from evaluation.task_checks import DerivedChecks, derive_checks
from orchestrator.cli import consoles, options, result_source
from orchestrator.cli.options import OptionsOf
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.cli.result_source import EvaluateOptions
from orchestrator.cli.task_files import read_stated_contracts, read_task
from orchestrator.errors import ConfigurationError
from orchestrator.study.recorded_evaluation import RecordedEvaluation, Source

if TYPE_CHECKING:
    from evaluation.judges.model_judge import RubricJudge

_COLOURS: Final = {"passed": "green", "warning": "yellow", "needs_review": "yellow"}
_MOST_SHOWN: Final = 3
"""Most reasons to look at first, and most places of one problem, that are shown."""
_MOST_PROBLEMS: Final = 10


def draw_result(result: CaseResult, *, is_repeated: bool) -> Text:
    """Draws a result in one line: its status, its name with the number of the run, and the first reason."""
    number = f"[{result.trial + 1}]" if is_repeated else ""
    head = (result.verdict, _COLOURS.get(result.verdict, "red"))
    reason = consoles.one_line(result.reasons[0], 300) if result.reasons else ""
    return Text.assemble(head, f"  {consoles.one_line(result.name)}{number}  {reason}")


def draw_summary(results: Sequence[CaseResult], unread: Sequence[str], ignored: Sequence[str]) -> Text:
    """Draws the counts, the bases of the accepted runs, the rates of repeated ones, and what was not read."""
    lines = [*_list_counts(results), *_list_places("not read", unread), *_list_places("ignored", ignored)]
    return Text("\n".join(lines))


def draw_changes(changes: case_result.Changes) -> Text:
    """Draws the cases that are worse or better than in the baseline."""
    named = [("worse than in the baseline", changes.worse), ("better than in the baseline", changes.better)]
    lines = []
    for words, cases in named:
        lines.append(f"{consoles.count_noun(len(cases), 'case')} {words}")
        lines += [f"  {consoles.one_line(case)}" for case in cases]
    return Text("\n".join(lines))


def _list_counts(results: Sequence[CaseResult]) -> Iterator[str]:
    if not results:
        yield "nothing was evaluated: there is no run that can be read"
        return
    yield from describe_counts(results)
    yield from map(consoles.one_line, case_result.describe_pass_rates(results))
    problems = rank_problems(results, _MOST_SHOWN)
    if problems:
        yield "look at first:"
    for each in problems:
        example = consoles.one_line(each.example, 300)
        yield f"  {each.level} {each.kind}, {consoles.count_noun(each.runs, 'run')}: {example}"


def _list_places(label: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yields the problems with their places; of sentences that differ in their place alone, the first."""
    places: dict[str, list[str]] = defaultdict(list)
    for text in sentences:
        place, _, problem = text.partition(": ")
        places[problem].append(place)
    for problem, each in [*places.items()][:_MOST_PROBLEMS]:
        more = f", {len(each) - _MOST_SHOWN} more" if len(each) > _MOST_SHOWN else ""
        yield consoles.one_line(f"{label}: {', '.join(each[:_MOST_SHOWN])}{more}: {problem}")
    if (left := len(places) - _MOST_PROBLEMS) > 0:
        yield f"{label}: {left} more kinds of things"


_EXAMPLE = "example_cases.yaml"


def evaluate(**typed: Annotated[object, OptionsOf(EvaluateOptions, has_defaults=True)]) -> None:
    """Evaluate recorded runs of any framework, or execute the cases of a file and evaluate their runs.

    Without a contract, it compares what each run says with what it did: claimed actions without a call,
    failures told as done, other values, facts that contradict a result, leaked credentials, replies that were
    cut off. A run in which nothing is found is not verified. With --contract, the runs of a file
    that --out wrote are judged again, without running anything.

    Exit status: 0 if nothing is found against any run (with --baseline: if no case is worse), 1 for a defect
    or, unless --fail-on failed, a suspicion, 2 for bad input, or for a run or a case that cannot be read.
    """
    options = EvaluateOptions.model_validate(typed)
    console = consoles.build_console(stderr=True)
    with consoles.print_logs_on(console), consoles.report_bad_input(), result_source.name_file():
        if options.init:
            console.print(_write_cases(options), markup=False)
            return
        with consoles.take_stdout() as stream:
            status = _evaluate(options, console, consoles.build_console(file=stream))
    if status:
        raise typer.Exit(status)


def _check_options(options: EvaluateOptions) -> None:
    if not options.files:
        raise typer.BadParameter("give the files of recorded runs, or a file of cases")
    _check_files(options.files or ())
    if options.contract is not None and options.contract.exists():
        _check_files([options.contract])
    if {"--target", "--model"} <= {*options.for_cases}:
        raise typer.BadParameter("--target executes the cases without --model; give one of them")
    written = (options.save_baseline, options.junit, options.html, options.out)
    read = [*(options.files or ()), *filter(None, (options.contract, options.baseline))]
    result_source.check_outputs(written, read)
    if options.save_baseline is not None and options.save_baseline.exists():
        case_result.read_baseline(options.save_baseline)  # another file is not replaced


def _check_files(files: Sequence[Path]) -> None:
    names = [consoles.one_line(str(file)) for file in files]
    if missing := [name for name, file in zip(names, files, strict=True) if not file.is_file()]:
        raise ConfigurationError(f"{missing[0]} is no file; give files of recorded runs")
    paths = [file.resolve() for file in files]
    if twice := [name for name, path in zip(names, paths, strict=True) if paths.count(path) > 1]:
        raise ConfigurationError(f"{' and '.join(twice)} are one file; give it once")


def _write_cases(options: EvaluateOptions) -> str:
    """Writes the example; returns a sentence about it."""
    file = (options.files or [Path("cases.yaml")])[0]
    with file.open("x", encoding="utf-8") as opened:
        opened.write((package_files("evaluation.cases") / _EXAMPLE).read_text(encoding="utf-8"))
    return f"written: {file}; `orchestrator evaluate {file}` runs it"


def _evaluate(options: EvaluateOptions, console: Console, printed: Console) -> int:
    """Evaluates the runs, prints and writes their results, and returns the exit status."""
    _check_options(options)
    before = None if options.baseline is None else case_result.read_baseline(options.baseline)
    evaluation = _build_evaluation(options)
    source = result_source.build_source(options, evaluation)
    if before is not None and source.keys:
        # Before anything is executed.
        case_result.check_same_cases(before, {name for name, _, _ in source.keys})
    results = _take_results(source, options, console, printed)
    console.print(draw_summary(results, evaluation.unread, evaluation.ignored))
    if not results:
        return BAD_INPUT
    _write_files(options, results)
    is_worse = _is_worse(before, results, console)
    if evaluation.unread or any(result.status == "invalid" for result in results):
        return BAD_INPUT
    if options.save_baseline is not None:
        case_result.write_baseline(options.save_baseline, case_result.build_baseline(results))
    # A baseline says which cases may fail, unless the gate is asked for, too.
    is_gated = before is None or options.fail_on is not None or options.require is not None
    return FAILED if is_worse or (is_gated and not all(result.accepted for result in results)) else 0


def _build_evaluation(options: EvaluateOptions) -> RecordedEvaluation:
    judge = None if options.judge is None else _load_judge(options.judge)
    contract, cases = read_stated_contracts(options.contract)
    is_kept, gate = bool(options.out or options.html), options.fail_on or "needs_review"
    return RecordedEvaluation(contract, gate, options.require, judge, is_kept, cases=cases)


def _load_judge(spec: str) -> RubricJudge:
    # LangChain is slow to import, and most evaluations need no model.
    from agents import load_model
    from evaluation.judges.model_judge import RubricJudge

    return RubricJudge(load_model(spec))


def _take_results(
    source: Source, options: EvaluateOptions, console: Console, printed: Console
) -> list[CaseResult]:
    results: list[CaseResult] = []
    repeated = {(name, arm) for name, arm, trial in source.keys if trial}
    for result in source.take(options.out, partial(consoles.show_progress, console)):
        # Only the report has the runs; any number of them is summarised in little memory without it.
        results.append(result if options.html else result.without_run())
        is_repeated = result.trial > 0 or (result.name, result.arm) in repeated
        _print_result(result, options, printed, is_repeated=is_repeated)
    return source.sort(results)


def _is_worse(before: case_result.Baseline | None, results: Sequence[CaseResult], console: Console) -> bool:
    """Prints the changes since the baseline, and returns whether a case is worse."""
    if before is None:
        return False
    changes = case_result.compare_baselines(before, case_result.build_baseline(results))
    console.print(draw_changes(changes))
    return bool(changes.worse)


def _print_result(
    result: CaseResult,
    options: EvaluateOptions,
    console: Console,
    *,
    is_repeated: bool,
) -> None:
    if options.as_json:
        named = {
            "run": result.name,
            "accepted": result.accepted,
            "verified": result.verified,
            "basis": result.basis,
        }
        typer.echo(dumps({**named, **result.report}), file=console.file)
    elif not result.accepted or result.status != "passed":
        console.print(draw_result(result, is_repeated=is_repeated))


def _write_files(options: EvaluateOptions, results: Sequence[CaseResult]) -> None:
    names = [file.name for file in options.files or []]
    writers: dict[Callable[[Path, Sequence[CaseResult]], None], Path | None] = {
        partial(write_html, title=", ".join(names)): options.html,
        write_junit: options.junit,
    }
    failed: list[OSError] = []
    for write, path in writers.items():
        try:
            if path is not None:
                write(path, results)
        except OSError as error:  # the other files are written
            failed.append(OSError(error.errno, error.strerror, str(path)))
    if failed:
        raise failed[0]


_NOTHING: Final = "Nothing of the task is checked by a program; a success would rest on the judge alone."
_HINT: Final = """\
Nothing says what the answer has to be: checks of the words of a task cover its form. Write them to a file
(--save FILE), add a line such as
  required_content: [{text: "..."}]
under `contract:`, and run the task with --contract FILE."""


def describe_check(check: BaseCheck) -> str:
    """Returns the requirement of a check as an instruction: "use at most 2 words"."""
    return check.evaluate(CheckContext("")).wanted


def checks(
    task: options.Task = None,
    *,
    save: options.File[str | None] = None,
    json: options.Json = False,
) -> None:
    """Print how a success of TASK is checked, and what stays unchecked.

    Exit status: 0, 2 for bad input.

    Args:
        save: Write the contract to a new file, YAML or JSON, to edit and pass to `run --contract`.
    """
    with consoles.report_bad_input():
        text = read_task(task)
        derived = derive_checks(text)
        if save is not None:
            _save(save, text, derived)
    if json:
        consoles.print_json(_to_plain(text, derived))
    else:
        consoles.build_console().print(Text("\n").join(_draw(derived)), soft_wrap=True)
        typer.echo(_HINT, err=True)


def _save(path: str, task: str, derived: DerivedChecks) -> None:
    contract = EvaluationContract(checks=list(derived.checks))
    case = TaskCase(task=task, contract=contract, unchecked=list(derived.unchecked))
    try:
        write_case_set(path, [case])
    except OSError as error:
        raise ConfigurationError(
            f"--save {path!r} cannot be written ({error.strerror}); give a new file"
        ) from None
    command = f"orchestrator run TASK --contract {quote(path)}"
    typer.echo(consoles.one_line(f"saved in {path}; `{command}` uses it", 5000), err=True)


def _to_plain(task: str, derived: DerivedChecks) -> dict[str, object]:
    checks = [(check.model_dump(mode="json", exclude_defaults=True), check) for check in derived.checks]
    named = [{**plain, "wanted": describe_check(check)} for plain, check in checks]
    return {"task": task, "checks": named, "unchecked": derived.unchecked}


def _draw(derived: DerivedChecks) -> Iterator[Text]:
    if not derived.checks:
        yield Text(_NOTHING, style="yellow")
    for check in derived.checks:
        words = f"{describe_check(check)} (“{check.quote}”)" if check.quote else describe_check(check)
        yield Text.assemble(("checked: ", "green"), consoles.one_line(words), (f" [{check.check}]", "dim"))
    for phrase in derived.unchecked:
        yield Text.assemble(("not checked: ", "yellow"), f"“{consoles.one_line(phrase)}”")
