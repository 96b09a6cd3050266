"""Opens what ``orchestrator evaluate`` is about: recorded runs, a file of cases, or a stored evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation import ContractError, read_case_set, run_from_state
from evaluation.evalset.appended_case import append_case
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import (
    EvaluationHeader,
    is_stored_evaluation,
    read_end,
    read_results,
)
from evaluation.evalset.value_files import MAX_BYTES, YAML_SUFFIXES, read_values
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, read_runs
from evaluation.values import as_object
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.session.result_source import Source, build_job_source, digest_cases
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.parallel_evaluation import ParallelEvaluation
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation

if TYPE_CHECKING:
    from orchestrator.persistence.store import Store  # LangGraph is slow to import
    from orchestrator.queue import JobQueue


@contextmanager
def open_source(options: EvaluateOptions, evaluation: RecordedEvaluation) -> Iterator[Source]:
    """Yields the source of the results of a command.

    Raises:
        ConfigurationError: A file or an option cannot be used.
        ContractError: A file of cases or results cannot be used.
        StoreError: There is no store, or no such run.
    """
    files = options.files or []
    special = [file for file in files if _has_cases(file) or is_stored_evaluation(file)]
    if special and (len(files) > 1 or options.thread or options.runs or options.processes > 1):
        raise ConfigurationError(
            f"{special[0].name} is a file of cases or of results; give it alone, and without --processes"
        )
    has_cases = bool(special) and _has_cases(special[0])
    if options.for_cases and not has_cases:
        raise _refuse_options(options, "these runs are recorded")
    if has_cases:
        with nullcontext() if options.queue is None else _open_queue(options, options.queue) as queue:
            yield _read_cases(special[0], options, evaluation, queue)
    elif special:
        yield _read_stored(special[0], options, evaluation)
    else:
        with _open_runs(options) if options.thread or options.runs else nullcontext() as store:
            yield _read_recorded(store, options, evaluation)


def _refuse_options(options: EvaluateOptions, reason: str) -> ConfigurationError:
    names = ", ".join(options.for_cases)
    return ConfigurationError(f"nothing is executed, because {reason}; leave out {names}")


# LangGraph is slow to import, and recorded runs in files need none of it.
def _open_queue(options: EvaluateOptions, name: str) -> AbstractContextManager[JobQueue]:
    from orchestrator.cli.session.queue_session import open_cases_queue

    return open_cases_queue(options.db, name, options.calls_per_second, options.concurrency)


def _open_runs(options: EvaluateOptions) -> AbstractContextManager[Store]:
    from orchestrator.cli.session.stored_options import open_store

    return open_store(options.db)


def _has_cases(file: Path) -> bool:
    if file.suffix.lower() != ".json" or file.stat().st_size > MAX_BYTES:
        return file.suffix.lower() in YAML_SUFFIXES
    try:
        data = as_object(read_values(file))
    except ValueError:
        return False
    return "version" in data and bool({"cases", "task"} & data.keys())


def _read_recorded(store: Store | None, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    files = chain.from_iterable(map(read_runs, options.files or ()))
    runs = files if store is None else chain(files, _read_threads(store, _list_threads(store, options)))

    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        if options.processes > 1:
            keeps_reports = bool(options.out or options.html or options.json)
            parallel = ParallelEvaluation(evaluation, options.processes, keeps_reports)
            return islice(parallel.evaluate(options.files or ()), len(stored), None)
        for result in stored:
            evaluation.number_trial(result)
        evaluation.skipped = len(stored)
        return evaluation.evaluate(runs)

    header = _build_header(options, evaluation, files=_digest_files(options), threads=options.thread)
    return Source(evaluation, evaluate, header)


def _list_threads(store: Store, options: EvaluateOptions) -> list[str]:
    from orchestrator.runs.run_selection import ENDED

    for thread in options.thread or []:
        store.history.show(thread)  # a wrong name is found before the first evaluation
    since = None if options.runs is None else datetime.now(UTC) - options.runs
    recent = [] if since is None else store.history.runs(since=since)
    ended = [run.thread_id for run in recent if run.status in ENDED]
    return [*dict.fromkeys([*(options.thread or []), *ended])]


def _read_threads(store: Store, threads: Sequence[str]) -> Iterator[ReadRun]:
    for thread in threads:
        try:
            state = store.history.show(thread).state
            run = run_from_state(state)
        except ContractError as error:
            yield UnreadableCase(thread, str(error))
        else:
            approved_by = "a person" if state.get("basis") == "approved" else None
            yield RecordedRun({"case_id": thread, "agent_run": run}, approved_by=approved_by)


def _digest_files(options: EvaluateOptions) -> dict[str, str]:
    """Returns what tells that a file has changed since its results were stored."""
    digests = {}
    for file in (options.files or ()) if options.out is not None else ():
        with file.open("rb") as opened:
            digests[str(file)] = hashlib.file_digest(opened, "sha256").hexdigest()
    return digests


def _read_stored(file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    if options.judge is not None and options.contract is None:
        raise ConfigurationError(
            f"--judge has no effect, because the verdicts of {file.name} are shown as they are; "
            "give --contract, too, or leave it out"
        )

    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        try:
            evaluation.unread += read_end(file).unread
        except ContractError as error:
            evaluation.unread.append(str(error))
        done = {result.key for result in stored}
        before = (result for result in read_results(file) if result.key not in done)
        if options.contract is not None:
            return (scored for result in before for scored in _score_again(result, evaluation))
        # Whoever wrote the file may have written any verdict.
        evaluation.ignored.append(
            f"{file.name}: its verdicts are shown as they are; --contract FILE evaluates its runs again"
        )
        return map(evaluation.apply_gate, before)

    return Source(evaluation, evaluate, _build_header(options, evaluation, files=_digest_files(options)))


def _score_again(result: CaseResult, evaluation: RecordedEvaluation) -> Iterator[CaseResult]:
    """Yields the result under the contract of the command; nothing if it has no case of this name or task."""
    run = RecordedRun({"case_id": result.name, "agent_run": result.agent_run}, score=result.score)
    same = {"name": result.name, "arm": result.arm, "trial": result.trial, "correct": result.correct}
    return (each.model_copy(update=same) for each in evaluation.evaluate_unnumbered([run]))


def _read_cases(
    file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation, queue: JobQueue | None = None
) -> Source:
    from orchestrator.cli.session.queue_session import queue_cases
    from orchestrator.experiments.case_runs import build_runner, list_jobs

    cases = read_case_set(file)
    jobs = list_jobs(cases, options.repeat)
    if options.for_cases and all(case.agent_run is not None for case in cases.cases):
        raise _refuse_options(options, f"each case of {file.name} has an agent_run")
    if cases.target is not None and "--model" in options.for_cases:
        raise ConfigurationError(
            f"--model has no effect, because {file.name} has the target {cases.target}; leave out one of them"
        )
    target, rate = options.target or cases.target, options.calls_per_second
    # The workers of a queue call the target.
    called = target if queue is None else "builtins:str"
    runner = build_runner(cases, file, evaluation, called, options.model or "local", rate)
    if queue is not None and target is None:
        raise ConfigurationError("--queue needs what the workers execute; give --target MODULE:FUNCTION")
    prepare = iter if queue is None else queue_cases(queue, options.evaluation).execute
    header = _build_header(
        options, evaluation, target=target, model=None if target else options.model or "local"
    )
    header = header.model_copy(update={"cases": digest_cases(cases)})
    keyed = {(case.title, runner.arm, trial): (target or "", case, trial) for case, trial in jobs}
    return build_job_source(
        evaluation, keyed, lambda job: runner.run(job[1:]), header, options.concurrency, prepare=prepare
    )


def _build_header(
    options: EvaluateOptions, evaluation: RecordedEvaluation, **named: object
) -> EvaluationHeader:
    values = {**named, "contract": evaluation.contract or evaluation.cases, "judge": options.judge}
    return EvaluationHeader(options={name: value for name, value in values.items() if value})


def add_runs(options: EvaluateOptions, path: Path) -> int:
    """Appends a case for each run of ``--thread`` to a file of cases, and returns their number.

    Raises:
        ConfigurationError: There is no such option.
        ContractError: A run has not ended, or the file cannot be changed.
        OSError: The file cannot be read or written.
        StoreError: There is no store, or no such run.
    """
    from orchestrator.experiments.case_of_run import build_case

    if not options.thread or options.files or options.runs:
        raise ConfigurationError("--add-to needs the runs to add; give --thread ID, and no files")
    with _open_runs(options) as store:
        cases = [build_case(thread, store.history.show(thread).state) for thread in options.thread]
    for case in cases:
        append_case(path, case)
    return len(cases)
