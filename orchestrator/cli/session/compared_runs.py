"""Executes cases with the models and policies of a comparison, or reads stored evaluations as its sides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

import typer

from evaluation import read_case_set
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import EvaluationHeader, read_end, read_results
from evaluation.evalset.task_case import TaskCase
from orchestrator.cli.session.queue_session import queue_cases
from orchestrator.cli.session.result_source import Source, build_job_source, digest_cases
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import build_runner, list_jobs
from orchestrator.experiments.model_arms import ModelArm, build_arms
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation
from orchestrator.persistence import Store
from orchestrator.queue import JobQueue

_ArmJob: TypeAlias = tuple[ModelArm, TaskCase, int]
_OPTION: Final = re.compile(r"\w+=")


def build_comparison(  # noqa: PLR0917
    file: Path,
    models: Sequence[str],
    policies: Sequence[Path],
    seed: int,
    repeat: int | None,
    store: Store,
    concurrency: int = 1,
    calls_per_second: float | None = None,
) -> Source:
    """Builds the source of the results of all sides.

    Args:
        file: The file of cases.
        models: Specifications of the models.
        policies: Files of retry policies; none for the default policy.
        seed: The seed of the first run of each case.
        repeat: Runs of each case; None for as many as the case says.
        store: Keeps the runs.
        concurrency: Executions at once.
        calls_per_second: The greatest rate of calls of each model; None for any.

    Raises:
        ConfigurationError: An option cannot be used.
        ContractError: The file of cases cannot be used.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
        OSError: A file cannot be read.
    """
    cases = read_case_set(file)
    if cases.target is not None:
        line = f"{file.name}: its target {cases.target} is not used, because --models execute the cases"
        typer.echo(one_line(line), err=True)
    arms = build_arms(models, policies, store, seed, calls_per_second)
    evaluation = RecordedEvaluation(None, keeps_runs=True)
    # A target that is never called: each side has its own.
    runner = build_runner(cases, file, evaluation, "builtins:str", "")

    def run(job: _ArmJob) -> CaseResult:
        arm, case, trial = job
        return replace(runner, target=arm.build_target(trial), arm=arm.name).run((case, trial))

    jobs = [(arm, case, trial) for case, trial in list_jobs(cases, repeat) for arm in arms]
    keyed = {(case.title, arm.name, trial): (arm, case, trial) for arm, case, trial in jobs}
    options = {"seed": seed, "policies": {path.stem: path.read_text("utf-8") for path in policies}}
    header = EvaluationHeader(cases=digest_cases(cases), options=options)
    return build_job_source(evaluation, keyed, run, header, concurrency)


def build_queued_comparison(
    file: Path, targets: str, repeat: int | None, queue: JobQueue, evaluation: str | None
) -> Source:
    """Builds the source of the results of apps, whose runs the workers of a queue execute.

    Args:
        file: The file of cases.
        targets: The sides, by the ``MODULE:FUNCTION`` of the workers, with commas.
        repeat: Runs of each case; None for as many as the case says.
        queue: The queue.
        evaluation: Its name, by which it is continued; None for a new one.

    Raises:
        ConfigurationError: Fewer than two sides are given, or one twice.
        ContractError: The file of cases cannot be used.
        OSError: The file cannot be read.
    """
    apps = split_models(targets)
    if len({*apps}) < max(2, len(apps)):
        raise ConfigurationError(
            f"{targets} is not a comparison; give at least two different --targets, with commas"
        )
    cases, scoring = read_case_set(file), RecordedEvaluation(None, keeps_runs=True)
    runner = build_runner(cases, file, scoring, "builtins:str", "")

    jobs = [(app, case, trial) for case, trial in list_jobs(cases, repeat) for app in apps]
    keyed = {(case.title, app, trial): (app, case, trial) for app, case, trial in jobs}
    header = EvaluationHeader(cases=digest_cases(cases), options={"queue": True})
    prepare = queue_cases(queue, evaluation).execute
    return build_job_source(
        scoring, keyed, lambda job: replace(runner, arm=job[0]).run(job[1:]), header, 1, prepare=prepare
    )


def split_models(names: str) -> list[str]:
    """Splits specifications with commas; ``NAME=VALUE`` is an option of the model before it."""
    models: list[str] = []
    for part in filter(None, map(str.strip, names.split(","))):
        models = [*models[:-1], f"{models[-1]},{part}"] if models and _OPTION.match(part) else [*models, part]
    return models


def list_unread(files: Sequence[Path]) -> list[str]:
    """Lists what stored evaluations could not read; raises ContractError if one has not ended, or OSError."""
    return [f"{file.name}: {sentence}" for file in files for sentence in read_end(file).unread]


def read_stored_arms(files: Sequence[Path]) -> list[CaseResult]:
    """Reads stored evaluations; the name of a file is the name of its side, before the names that it has.

    Raises:
        ConfigurationError: There are fewer than two sides, or two have one name.
        ContractError: A file is no evaluation.
        OSError: A file cannot be read.
    """
    results = [
        result.model_copy(update={"arm": f"{file.stem}: {result.arm}" if result.arm else file.stem})
        for file in files
        for result in read_results(file)
    ]
    if len({result.key for result in results}) < len(results):
        raise ConfigurationError(f"{', '.join(map(str, files))}: two files have one name; rename one of them")
    arms = {result.arm for result in results}
    cases = [{result.name for result in results if result.arm == arm} for arm in arms]
    if len(cases) < 2 or not set.intersection(*cases):  # noqa: PLR2004 - a comparison has two sides
        names = ", ".join(map(str, files))
        raise ConfigurationError(f"{names}: no case is in all of two or more evaluations; give such files")
    return results
