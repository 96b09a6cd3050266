"""Opens what ``orchestrator evaluate`` is about: recorded runs, a file of cases, or a stored evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from evaluation import ContractError, read_case_set
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import (
    EvaluationHeader,
    append_results,
    is_stored_evaluation,
    read_results,
)
from evaluation.evalset.value_files import MAX_BYTES, read_values
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun
from evaluation.values import as_object
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.session.evaluated_runs import open_runs
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import YAML_SUFFIXES, build_runner, list_jobs, run_jobs
from orchestrator.experiments.parallel_evaluation import ParallelEvaluation
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation


@dataclass(frozen=True, slots=True)
class Source:
    """Where results come from.

    Attributes:
        evaluate: Yields the results that are not among the given ones, which an interrupted command stored.
        header: Describes the cases and the options in a file of results.
        total: The number of results; None if it is unknown.
        order: The place of each case in the file; empty if the results come in order.
    """

    evaluate: Callable[[Sequence[CaseResult]], Iterator[CaseResult]]
    header: EvaluationHeader
    total: int | None = None
    order: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def open_source(options: EvaluateOptions, evaluation: RecordedEvaluation) -> Iterator[Source]:
    """Yields the source of the results of a command.

    Raises:
        ConfigurationError: A file or an option cannot be used.
        StoreError: There is no store, or no such run.
    """
    with open_runs(options) as runs:
        files = options.files or []
        special = [file for file in files if _has_cases(file) or is_stored_evaluation(file)]
        if special and (len(files) > 1 or options.thread or options.runs or options.processes > 1):
            raise ConfigurationError(
                f"{special[0].name} is a file of cases or of results; give it alone, and without --processes"
            )
        try:
            if not special:
                yield _read_recorded(runs, options, evaluation)
            elif _has_cases(special[0]):
                yield _read_cases(special[0], options, evaluation)
            else:
                yield _read_stored(special[0], options, evaluation)
        except ContractError as error:
            raise ConfigurationError(str(error)) from None


def take_results(source: Source, out: Path | None, evaluation: RecordedEvaluation) -> Iterator[CaseResult]:
    """Yields the results that ``out`` has, and then the others, each stored in ``out`` as it comes.

    Raises:
        ContractError: ``out`` has the results of other cases or options.
    """
    with nullcontext() if out is None else append_results(out, source.header) as file:
        stored, append = ([], None) if file is None else file
        yield from map(evaluation.apply_gate, stored)
        for result in source.evaluate(stored):
            if append is not None:
                append(result)
            yield result


def _has_cases(file: Path) -> bool:
    if file.suffix.lower() != ".json" or file.stat().st_size > MAX_BYTES:
        return file.suffix.lower() in YAML_SUFFIXES
    try:
        data = as_object(read_values(file))
    except ValueError:
        return False
    return "version" in data and bool({"cases", "task"} & data.keys())


def _read_recorded(
    runs: Iterator[ReadRun], options: EvaluateOptions, evaluation: RecordedEvaluation
) -> Source:
    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        if options.processes > 1:
            parallel = ParallelEvaluation(evaluation, options.processes)
            return islice(parallel.evaluate(options.files or ()), len(stored), None)
        for result in stored:
            evaluation.number_trial(result)
        evaluation.skipped = len(stored)
        return evaluation.evaluate(runs)

    # By their contents, so that a changed file is not taken for evaluated.
    files = options.files if options.out is not None else None
    digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files or ()}
    return Source(evaluate, _build_header(options, evaluation, files=digests, threads=options.thread))


def _read_stored(file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        before = (result for result in read_results(file) if result.key not in done)
        if options.contract is None:
            return map(evaluation.apply_gate, before)
        return (scored for result in before for scored in _score_again(result, evaluation))

    return Source(evaluate, _build_header(options, evaluation, files=[file.name]))


def _score_again(result: CaseResult, evaluation: RecordedEvaluation) -> Iterator[CaseResult]:
    """Yields the result under the contract of the command; nothing if it has no case of this name or task."""
    run = RecordedRun({"case_id": result.name, "agent_run": result.agent_run}, score=result.score)
    same = {"name": result.name, "arm": result.arm, "trial": result.trial, "correct": result.correct}
    return (each.model_copy(update=same) for each in evaluation.evaluate_unnumbered([run]))


def _read_cases(file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    cases = read_case_set(file)
    jobs = list_jobs(cases, options.repeat)
    target, rate = options.target or cases.target, options.calls_per_second
    runner = build_runner(cases, file, evaluation, target, options.model, rate)

    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        left = [(case, trial) for case, trial in jobs if (case.title, runner.arm, trial) not in done]
        return run_jobs(runner.run, left, options.concurrency)

    digest = hashlib.sha256(cases.model_dump_json(exclude_unset=True).encode()).hexdigest()
    header = _build_header(options, evaluation, target=target, model=None if target else options.model)
    order = {case.title: place for place, case in enumerate(cases.cases)}
    return Source(evaluate, header.model_copy(update={"cases": digest}), len(jobs), order)


def _build_header(
    options: EvaluateOptions, evaluation: RecordedEvaluation, **named: object
) -> EvaluationHeader:
    values = {**named, "contract": evaluation.contract or evaluation.cases, "judge": options.judge}
    return EvaluationHeader(options={name: value for name, value in values.items() if value})
