"""Evaluate: one case, or many as a stream, by the graph's own nodes without its engine."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar, Unpack

from evaluation.errors import ContractError
from evaluation.inputs.intake import CaseWithBaseline, UnreadableCase
from evaluation.pipeline import arun_pipeline, run_pipeline
from evaluation.plugins import AsyncJudge, Judge, PluginOptions, Plugins
from evaluation.results.report import EvaluationReport

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], window: int
) -> Iterator[Result]:
    """Yield ``function`` of each item, at most ``window`` of them begun and not yet yielded.

    Raises:
        Exception: What ``items`` raises, after the results of all items before it.
    """
    waiting: deque[Future[Result]] = deque()
    source = _Source(items)
    try:
        for item in source:
            waiting.append(executor.submit(function, item))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
    source.raise_if_broken()


def chunked(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one shorter; an error of ``items`` comes after what it gave."""
    source = _Source(items)
    while chunk := list(islice(source, size)):
        yield chunk
    source.raise_if_broken()


class _Source(Iterator[Item]):
    """An iterator that ends where its items raise, and keeps the error for later."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._error: Exception | None = None

    def __next__(self) -> Item:
        if self._error is not None:
            raise StopIteration
        try:
            return next(self._items)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised once the items before it are done
            self._error = error
            raise StopIteration from None

    def raise_if_broken(self) -> None:
        if self._error is not None:
            raise self._error


_CHUNK = 64
"""Cases that a process is handed at once."""


def evaluate(
    case: object,
    *,
    judge: Judge | AsyncJudge | None = None,
    baseline: Mapping[str, object] | EvaluationReport | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationReport:
    """Evaluate one recorded run.

    Args:
        case: The run and its contract, as an object in the document's shape or an ``EvaluationCase``.
        judge: Who scores what no program can.
        baseline: Metrics to compare with, or an earlier report; goes before the case's own
            ``baseline_metrics``.
        options: What else is plugged in; see ``plugins.Plugins``.

    Returns:
        The report. Whatever is wrong with the case is told in it, with status ``invalid``; nothing is raised.
    """
    plugins = Plugins(judge, **options)
    return _reported(_against(case, baseline), plugins)


async def aevaluate(
    case: object,
    *,
    judge: Judge | AsyncJudge | None = None,
    baseline: Mapping[str, object] | EvaluationReport | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationReport:
    """Evaluate one recorded run, as ``evaluate`` does, without blocking the loop while a judge answers."""
    plugins = Plugins(judge, **options)
    state = await arun_pipeline(_against(case, baseline), plugins)
    return EvaluationReport.model_validate(state["evaluation_report"])


def evaluate_many(
    cases: Iterable[object],
    *,
    judge: Judge | AsyncJudge | None = None,
    concurrency: int = 8,
    processes: int = 1,
    **options: Unpack[PluginOptions],
) -> Iterator[EvaluationReport]:
    """Evaluate many runs; yields one report a case, in the order of the cases, as they are done.

    Memory does not grow with the number of cases. A case that is wrong gives a report with status
    ``invalid`` and the others are evaluated; what ``cases`` itself raises is raised after the reports of
    the cases before it.

    Args:
        cases: As for ``evaluate``; read as the reports are taken.
        judge: Who scores what no program can.
        concurrency: How many cases are with the judge at once; without a judge, nothing runs at once.
        processes: How many processes share the work; more than one pays from some thousand cases on. What is
            plugins has to be picklable then, and a script needs its ``if __name__ == "__main__"``.
        options: What else is plugged in; see ``plugins.Plugins``.

    Raises:
        ContractError: ``concurrency`` or ``processes`` is less than 1.
    """
    if concurrency < 1 or processes < 1:
        raise ContractError(f"concurrency={concurrency}, processes={processes}: give at least 1, or neither")
    plugins = Plugins(judge, **options)
    if processes > 1:
        return _by_processes(cases, plugins, processes)
    if judge is not None and concurrency > 1:
        return _by_threads(cases, plugins, concurrency)
    return (_reported(case, plugins) for case in cases)


def _against(case: object, baseline: Mapping[str, object] | EvaluationReport | None) -> object:
    return case if baseline is None else CaseWithBaseline(case, baseline)


def _reported(case: object, plugins: Plugins) -> EvaluationReport:
    return EvaluationReport.model_validate(run_pipeline(case, plugins)["evaluation_report"])


def _by_threads(cases: Iterable[object], plugins: Plugins, concurrency: int) -> Iterator[EvaluationReport]:
    with ThreadPoolExecutor(concurrency, thread_name_prefix="evaluation-judge") as pool:
        yield from in_order(pool, partial(_reported, plugins=plugins), cases, 2 * concurrency)


def _by_processes(cases: Iterable[object], plugins: Plugins, processes: int) -> Iterator[EvaluationReport]:
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        work = partial(_all_reported, plugins=plugins)
        sent = (_sent(case, plugins) for case in cases)
        for reports in in_order(pool, work, chunked(sent, _CHUNK), 2 * processes):
            yield from reports


def _sent(case: object, plugins: Plugins) -> bytes | EvaluationReport:
    """Write a case for another process; what cannot be sent is evaluated in this one."""
    try:
        return pickle.dumps(case)
    except Exception:  # noqa: BLE001 - an object of the caller's own class may raise anything
        return _reported(case, plugins)


def _all_reported(cases: list[bytes | EvaluationReport], plugins: Plugins) -> list[EvaluationReport]:
    return [_reported(_received(case), plugins) if isinstance(case, bytes) else case for case in cases]


def _received(case: bytes) -> object:
    try:
        return pickle.loads(case)  # noqa: S301 - written by the process that started this one
    except Exception as error:  # noqa: BLE001 - an object of the caller's own class may raise anything
        return UnreadableCase("case", f"another process cannot read it ({type(error).__name__})")
