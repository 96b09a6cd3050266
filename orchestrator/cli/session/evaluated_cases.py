"""Opens what ``orchestrator evaluate`` is about: recorded runs, a file of cases, or a stored evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from evaluation import read_case_set
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import EvaluationHeader, is_stored_evaluation, read_results
from evaluation.evalset.value_files import MAX_BYTES, read_values
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun
from evaluation.values import as_object
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.session.evaluated_runs import open_runs
from orchestrator.cli.session.result_source import Source, build_job_source, digest_cases
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import YAML_SUFFIXES, build_runner, list_jobs
from orchestrator.experiments.parallel_evaluation import ParallelEvaluation
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation


@contextmanager
def open_source(options: EvaluateOptions, evaluation: RecordedEvaluation) -> Iterator[Source]:
    """Yields the source of the results of a command.

    Raises:
        ConfigurationError: A file or an option cannot be used.
        ContractError: A file of cases or results cannot be used.
        StoreError: There is no store, or no such run.
    """
    with open_runs(options) as runs:
        files = options.files or []
        special = [file for file in files if _has_cases(file) or is_stored_evaluation(file)]
        if special and (len(files) > 1 or options.thread or options.runs or options.processes > 1):
            raise ConfigurationError(
                f"{special[0].name} is a file of cases or of results; give it alone, and without --processes"
            )
        if not special:
            yield _read_recorded(runs, options, evaluation)
        elif _has_cases(special[0]):
            yield _read_cases(special[0], options, evaluation)
        else:
            yield _read_stored(special[0], options, evaluation)


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

    header = _build_header(options, evaluation, files=_digest_files(options), threads=options.thread)
    return Source(evaluation, evaluate, header)


def _digest_files(options: EvaluateOptions) -> dict[str, str]:
    """Returns what tells that a file has changed since its results were stored."""
    digests = {}
    for file in (options.files or ()) if options.out is not None else ():
        with file.open("rb") as opened:
            digests[str(file)] = hashlib.file_digest(opened, "sha256").hexdigest()
    return digests


def _read_stored(file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        before = (result for result in read_results(file) if result.key not in done)
        if options.contract is not None:
            return (scored for result in before for scored in _score_again(result, evaluation))
        # Whoever wrote the file may have written any verdict.
        evaluation.unread.append(
            f"{file.name}: its verdicts are shown as they are; --contract FILE evaluates its runs again"
        )
        return map(evaluation.apply_gate, before)

    return Source(evaluation, evaluate, _build_header(options, evaluation, files=_digest_files(options)))


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
    header = _build_header(options, evaluation, target=target, model=None if target else options.model)
    header = header.model_copy(update={"cases": digest_cases(cases)})
    keyed = {(case.title, runner.arm, trial): (case, trial) for case, trial in jobs}
    return build_job_source(evaluation, keyed, runner.run, header, options.concurrency)


def _build_header(
    options: EvaluateOptions, evaluation: RecordedEvaluation, **named: object
) -> EvaluationHeader:
    values = {**named, "contract": evaluation.contract or evaluation.cases, "judge": options.judge}
    return EvaluationHeader(options={name: value for name, value in values.items() if value})
