"""``orchestrator evaluate``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from typing import Any

import typer

from agents import load_model
from evaluation.evalset.case_result import CaseResult
from evaluation.judges.model_judge import RubricJudge
from evaluation.reporting.result_files import write_csv, write_junit, write_markdown
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.cli.session.evaluated_runs import open_runs
from orchestrator.cli.session.task_files import read_case_contracts, read_evaluation_contract
from orchestrator.cli.view.consoles import build_console, print_logs_on, report_bad_input
from orchestrator.cli.view.evaluation_summary import draw_result, draw_summary
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.parallel_evaluation import ParallelEvaluation
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation


def evaluate(**typed: Any) -> None:  # noqa: ANN401 - the fields of EvaluateOptions
    """Evaluate recorded runs of any framework against a contract.

    Without --contract, it looks for facts and actions without a source, failed calls, leaked credentials,
    replies that were cut off, repeated calls, and calls without an answer.

    Exit status: 0 if every run is accepted, 1 if not, 2 for bad input or a run that cannot be read.
    """
    options = EvaluateOptions(**typed)
    if not (options.files or options.thread or options.runs):
        raise typer.BadParameter("give FILE..., --thread ID or --runs since=AGE")
    if options.processes > 1 and (options.thread or options.runs or options.judge):
        raise typer.BadParameter(
            "--processes reads files without a judge; leave out --thread, --runs and --judge"
        )
    console = build_console(stderr=True)
    with print_logs_on(console), report_bad_input():
        evaluation = _build_evaluation(options)
        results: list[CaseResult] = []
        with _open_results(evaluation, options) as found:
            for result in found:
                results.append(result.without_run())
                _print_result(result, options)
        _write_files(options, results)
    console.print(draw_summary(results, evaluation.unread))
    if evaluation.problems or not results:
        raise typer.Exit(BAD_INPUT)
    if not all(result.accepted for result in results):
        raise typer.Exit(FAILED)


# Typer reads the signature of a command.
vars(evaluate)["__signature__"] = inspect.signature(EvaluateOptions, eval_str=True)


def _build_evaluation(options: EvaluateOptions) -> RecordedEvaluation:
    judge = None if options.judge is None else RubricJudge(load_model(options.judge))
    cases = read_case_contracts(options.contract)
    contract = read_evaluation_contract(options.contract) if cases is None else None
    return RecordedEvaluation(contract, options.fail_on, options.require, judge, cases=cases)


@contextmanager
def _open_results(evaluation: RecordedEvaluation, options: EvaluateOptions) -> Iterator[Iterator[CaseResult]]:
    with open_runs(options) as runs:
        parallel = ParallelEvaluation(evaluation, options.processes)
        yield evaluation.evaluate(runs) if options.processes == 1 else parallel.evaluate(options.files or ())


def _print_result(result: CaseResult, options: EvaluateOptions) -> None:
    if options.json:
        named = {"run": result.name, "accepted": result.accepted, "basis": result.basis}
        typer.echo(dumps({**named, **result.report}))
    elif not result.accepted or result.status != "passed":
        build_console().print(draw_result(result))


def _write_files(options: EvaluateOptions, results: Sequence[CaseResult]) -> None:
    writers: dict[Callable[[str, Sequence[CaseResult]], None], str | None] = {
        write_csv: options.csv,
        write_junit: options.junit,
        write_markdown: options.markdown,
    }
    for write, path in writers.items():
        try:
            if path is not None:
                write(path, results)
        except OSError as error:
            raise ConfigurationError(
                f"{path!r} cannot be written ({error.strerror}); give another file"
            ) from None
