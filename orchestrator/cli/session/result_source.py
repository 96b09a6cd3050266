"""Takes the results of an evaluation from where they come from, and stores them so that it can go on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from rich.console import Console

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import EvaluationEnd, EvaluationHeader, append_results
from evaluation.evalset.task_case import CaseSet
from orchestrator.cli.view.evaluation_progress import show_progress
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation

J = TypeVar("J")
Key: TypeAlias = tuple[str, str, int]
"""The name of a case, its arm, and the number of its run."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where results come from.

    Attributes:
        evaluation: Has the gate, which holds for results that were stored, too.
        evaluate: Yields the results that are not among the given ones, which an interrupted command stored.
        header: Describes the cases and the options in a file of results.
        keys: The keys of the results in their order; empty if they are unknown, and come in order.
    """

    evaluation: RecordedEvaluation
    evaluate: Callable[[Sequence[CaseResult]], Iterator[CaseResult]]
    header: EvaluationHeader
    keys: Sequence[Key] = ()

    def take(self, out: Path | None, console: Console) -> Iterator[CaseResult]:
        """Yields the results that ``out`` has, and then the others, each stored in ``out`` as it comes.

        Args:
            out: The file; None to store nothing.
            console: Gets lines about the progress.

        Raises:
            ContractError: ``out`` has results of other cases or options, or another command writes to it.
            OSError: ``out`` cannot be used.
        """
        with nullcontext() if out is None else append_results(out, self.header) as file:
            read, append = ([], None) if file is None else file
            # An earlier command may have repeated the cases more often.
            asked = {*self.keys}
            stored = [result for result in read if not asked or result.key in asked]
            yield from map(self.evaluation.take_stored, stored)
            for result in show_progress(self.evaluate(stored), len(stored), len(self.keys), console):
                if append is not None:
                    append(result)
                yield result
            self.evaluation.report_unused_cases()
            if append is not None:
                append(EvaluationEnd(unread=tuple(self.evaluation.unread)))

    def sort(self, results: Sequence[CaseResult]) -> list[CaseResult]:
        """Returns the results in the order of the keys, because cases end in any order."""
        by_key = {result.key: result for result in results}
        return [by_key[key] for key in self.keys if key in by_key] if self.keys else [*results]


def build_job_source(
    evaluation: RecordedEvaluation,
    jobs: Mapping[Key, J],
    run: Callable[[J], CaseResult],
    header: EvaluationHeader,
    concurrency: int,
    *,
    prepare: Callable[[Sequence[J]], Iterable[J]] = iter,
) -> Source:
    """Builds the source of the results of executions, at most ``concurrency`` of them at once.

    ``prepare`` yields the jobs that are left, each when it may run.
    """
    from orchestrator.experiments.case_runs import run_jobs  # LangGraph is slow to import

    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        left = [job for key, job in jobs.items() if key not in done]
        return run_jobs(run, prepare(left), concurrency)

    return Source(evaluation, evaluate, header, [*jobs])


def digest_cases(cases: CaseSet) -> str:
    """Returns a digest of cases, by which a file of results is known to be theirs."""
    return hashlib.sha256(cases.model_dump_json(exclude_unset=True).encode()).hexdigest()
