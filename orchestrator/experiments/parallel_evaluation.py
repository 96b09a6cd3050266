"""Evaluates the lines of a JSON Lines file in several processes, in their order."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeAlias

from evaluation.evalset.case_result import CaseResult
from evaluation.recordings.line_ranges import LineRange, read_range, split_lines
from evaluation.recordings.run_files import read_runs
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation

_WAITING: Final = 2
"""Ranges for each process that are sent and not finished, so that none waits for work."""
_Evaluated: TypeAlias = tuple[list[CaseResult], RecordedEvaluation]


@dataclass(slots=True)
class ParallelEvaluation:
    """Evaluates files in several processes: each gets a range of lines, and sends its results back.

    Attributes:
        evaluation: The evaluation, without a judge; it counts what could not be read.
        processes: Number of processes.
        keeps_reports: Whether the results have their reports, which cost more to send than to make.
        pool: The processes; replaced if one of them ends.
    """

    evaluation: RecordedEvaluation
    processes: int
    keeps_reports: bool = True
    pool: ProcessPoolExecutor = field(init=False)

    def evaluate(self, files: Iterable[Path]) -> Iterator[CaseResult]:
        """Yields the result of each run, in their order.

        A file that is not JSON Lines is evaluated here. If a process ends, its lines are evaluated once more;
        if they end a process again, they are reported as unread.

        Raises:
            OSError: A file cannot be read.
        """
        self.pool = _open_pool(self.processes)
        try:
            for file in files:
                ranges = split_lines(file)
                yield from self.evaluation.evaluate(read_runs(file)) if ranges is None else self._run(ranges)
        finally:
            self.pool.shutdown(cancel_futures=True)

    def _run(self, ranges: Iterator[LineRange]) -> Iterator[CaseResult]:
        waiting: deque[tuple[LineRange, Future[_Evaluated]]] = deque()
        for lines in ranges:
            waiting.append((lines, self._submit(lines)))
            if len(waiting) >= _WAITING * self.processes:
                yield from self._finish(*waiting.popleft())
        while waiting:
            yield from self._finish(*waiting.popleft())

    def _submit(self, lines: LineRange) -> Future[_Evaluated]:
        blank = replace(self.evaluation, unread=[], ignored=[], next_trials={}, used=set())
        try:
            return self.pool.submit(_evaluate_range, blank, lines, self.keeps_reports)
        except BrokenProcessPool:
            self.pool.shutdown()
            self.pool = _open_pool(self.processes)
            return self.pool.submit(_evaluate_range, blank, lines, self.keeps_reports)

    def _finish(self, lines: LineRange, future: Future[_Evaluated]) -> Iterator[CaseResult]:
        try:
            results, evaluated = future.result()
        except BrokenProcessPool:
            results, evaluated = self._evaluate_again(lines)
        self.evaluation.unread.extend(evaluated.unread)
        self.evaluation.ignored.extend(evaluated.ignored)
        self.evaluation.used |= evaluated.used
        return map(self.evaluation.number_trial, results)

    def _evaluate_again(self, lines: LineRange) -> _Evaluated:
        """Evaluates lines in a process of their own, because others may have ended the first one."""
        blank = replace(self.evaluation, unread=[], ignored=[], next_trials={}, used=set())
        with _open_pool(1) as alone:
            try:
                return alone.submit(_evaluate_range, blank, lines, self.keeps_reports).result()
            except BrokenProcessPool:
                problem = "their process ended twice; evaluate them in a file of their own"
                return [], replace(blank, unread=[f"{lines.name}: {problem}"])


def _open_pool(processes: int) -> ProcessPoolExecutor:
    # Spawned, because a fork would copy the threads and locks of this process in any state.
    return ProcessPoolExecutor(processes, get_context("spawn"), _ignore_interrupt)


def _ignore_interrupt() -> None:
    """The first process alone ends by Ctrl-C, and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _evaluate_range(evaluation: RecordedEvaluation, lines: LineRange, keeps_reports: bool) -> _Evaluated:
    results = evaluation.evaluate_unnumbered(read_range(lines))
    return [result if keeps_reports else result.without_run() for result in results], evaluation
