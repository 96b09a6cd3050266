"""Executes cases with the models and policies of a comparison, or reads stored evaluations as its sides."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from evaluation import ContractError, read_case_set
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import EvaluationHeader, append_results, read_results
from evaluation.evalset.task_case import CaseSet, TaskCase
from orchestrator import persistence
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import CaseRunner, build_runner, list_jobs, run_jobs
from orchestrator.experiments.model_arms import ModelArm, build_arms
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation

ArmJob: TypeAlias = tuple[ModelArm, TaskCase, int]
_OPTION: Final = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The cases and sides of a comparison.

    Attributes:
        file: The file of cases.
        models: Specifications of the models.
        policies: Files of retry policies; none for the default policy.
        seed: The seed of the first run of each case.
        repeat: Runs of each case; None for as many as the case says.
    """

    file: Path
    models: Sequence[str]
    policies: Sequence[Path]
    seed: int
    repeat: int | None

    @contextmanager
    def open(
        self, db: str | None, out: Path | None, concurrency: int, calls_per_second: float | None
    ) -> Iterator[tuple[Iterator[CaseResult], Sequence[tuple[str, str, int]]]]:
        """Yields the results as they come, those that ``out`` has first, and the keys of all in order.

        Raises:
            ConfigurationError: A file or an option cannot be used.
            ModelSpecError: A specification names no model.
            ModelSetupError: A model cannot be loaded.
            StoreError: The store of the runs cannot be used.
        """
        try:
            cases = read_case_set(self.file)
            with persistence.open_store(db) as store:
                arms = build_arms(self.models, self.policies, store, self.seed, calls_per_second)
                runner = _build_runner(cases, self.file)
                jobs = [(arm, case, trial) for case, trial in list_jobs(cases, self.repeat) for arm in arms]
                keys = [(case.title, arm.name, trial) for arm, case, trial in jobs]
                yield self._run(cases, jobs, runner, out, concurrency), keys
        except (ContractError, OSError) as error:
            raise ConfigurationError(str(error)) from None

    def _run(
        self, cases: CaseSet, jobs: Sequence[ArmJob], runner: CaseRunner, out: Path | None, concurrency: int
    ) -> Iterator[CaseResult]:
        def run(job: ArmJob) -> CaseResult:
            arm, case, trial = job
            return replace(runner, target=arm.build_target(trial), arm=arm.name).run((case, trial))

        with nullcontext() if out is None else append_results(out, self._build_header(cases)) as opened:
            stored, append = ([], None) if opened is None else opened
            done = {result.key for result in stored}
            left = [job for job in jobs if (job[1].title, job[0].name, job[2]) not in done]
            yield from stored
            for result in run_jobs(run, left, concurrency):
                if append is not None:
                    append(result)
                yield result

    def _build_header(self, cases: CaseSet) -> EvaluationHeader:
        digest = hashlib.sha256(cases.model_dump_json(exclude_unset=True).encode()).hexdigest()
        policies = {path.stem: path.read_text(encoding="utf-8") for path in self.policies}
        return EvaluationHeader(cases=digest, options={"seed": self.seed, "policies": policies})


def split_models(names: str) -> list[str]:
    """Splits specifications with commas; ``NAME=VALUE`` is an option of the model before it."""
    models: list[str] = []
    for part in filter(None, map(str.strip, names.split(","))):
        models = [*models[:-1], f"{models[-1]},{part}"] if models and _OPTION.match(part) else [*models, part]
    return models


def read_stored_arms(files: Sequence[Path]) -> list[CaseResult]:
    """Reads stored evaluations; the name of a file is the name of its side, before the names that it has.

    Raises:
        ConfigurationError: Fewer than two sides, a file is no evaluation, or two have one name.
    """
    try:
        results = [
            result.model_copy(update={"arm": f"{file.stem}: {result.arm}" if result.arm else file.stem})
            for file in files
            for result in read_results(file)
        ]
    except (ContractError, OSError) as error:
        raise ConfigurationError(str(error)) from None
    if len({result.key for result in results}) < len(results):
        raise ConfigurationError(f"{', '.join(map(str, files))}: two files have one name; rename one of them")
    arms = {result.arm for result in results}
    cases = [{result.name for result in results if result.arm == arm} for arm in arms]
    if len(cases) < 2 or not set.intersection(*cases):  # noqa: PLR2004 - a comparison has two sides
        names = ", ".join(map(str, files))
        raise ConfigurationError(f"{names}: no case is in all of two or more evaluations; give such files")
    return results


def _build_runner(cases: CaseSet, file: Path) -> CaseRunner:
    # A target that is never called: each side has its own.
    evaluation = RecordedEvaluation(None, keeps_runs=True)
    return build_runner(cases, file, evaluation, "builtins:str", "")
