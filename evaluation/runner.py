"""The table of the nodes and routes, and the evaluation of one case or a stream without a graph engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Unpack

from agents.sync import Call, Conversation, awaited, blocking
from evaluation.contract.intake import with_baseline, with_contract
from evaluation.errors import ContractError
from evaluation.nodes.audit_requirements import audit_requirements
from evaluation.nodes.evaluate_trajectory import evaluate_trajectory
from evaluation.nodes.prepare_evaluation import after_preparation, prepare_evaluation
from evaluation.nodes.rubric_judging import run_rubric_judge, validate_judge_result
from evaluation.nodes.score_operational_metrics import score_operational_metrics
from evaluation.nodes.score_response_quality import score_response_quality
from evaluation.nodes.verdict import (
    after_decision,
    decide_evaluation_status,
    decide_judge_need,
    detect_regressions_and_anomalies,
    finalize_report,
)
from evaluation.plugins import AnyJudge, JudgeFunction, PluginOptions, Plugins
from evaluation.report.report_model import EvaluationReport, EvaluationState, PreparedState
from evaluation.values import as_object


@dataclass(frozen=True, slots=True)
class Node:
    """One row of the table."""

    run: Callable[[PreparedState, Plugins], EvaluationState]
    """Reads the state and returns its update."""
    then: str | Callable[[PreparedState], str]
    """The next node, or a function from the state to the next node."""
    arun: Callable[[PreparedState, Plugins], Awaitable[EvaluationState]] | None = None
    """The same as ``run`` for a node that may wait for a service; None if the node only computes."""


def _converse(node: Callable[[PreparedState, Plugins], Conversation[EvaluationState]], then: str) -> Node:
    return Node(blocking(node), then, awaited(node))


_BATCH: Final = 8
"""Cases for each thread that are read at once."""
FIRST: Final = "prepare_evaluation"
END: Final = "__end__"
"""LangGraph's name for the end. LangGraph is not imported here: that takes half a second."""

NODES: Final[Mapping[str, Node]] = {
    "prepare_evaluation": Node(prepare_evaluation, after_preparation),
    "score_response_quality": _converse(score_response_quality, "score_operational_metrics"),
    "score_operational_metrics": Node(score_operational_metrics, "evaluate_trajectory"),
    "evaluate_trajectory": Node(evaluate_trajectory, "audit_requirements"),
    "audit_requirements": Node(audit_requirements, "decide_judge_need"),
    "decide_judge_need": Node(decide_judge_need, after_decision),
    "run_rubric_judge": _converse(run_rubric_judge, "validate_judge_result"),
    "validate_judge_result": Node(validate_judge_result, "detect_regressions_and_anomalies"),
    "detect_regressions_and_anomalies": Node(detect_regressions_and_anomalies, "decide_evaluation_status"),
    "decide_evaluation_status": Node(decide_evaluation_status, "finalize_report"),
    "finalize_report": Node(finalize_report, END),
}


def _run_nodes(case: object, plugins: Plugins) -> Conversation[EvaluationReport]:
    """Evaluate a case by the table, as the graph does."""
    # The first node takes any object, and the others a state, so it runs before the loop.
    state, then = prepare_evaluation(case, plugins), NODES[FIRST].then
    while (name := then if isinstance(then, str) else then(state)) != END:
        node = NODES[name]
        asked = partial(node.run, state, plugins)
        update = asked() if node.arun is None else (yield Call(asked, partial(node.arun, state, plugins)))
        state, then = {**state, **update}, node.then
    return EvaluationReport.of(as_object(state["evaluation_report"]))


_evaluate_case: Final = blocking(_run_nodes)


if TYPE_CHECKING:
    from evaluation.contract.contract import EvaluationCase, EvaluationContract

    AnyCase: TypeAlias = EvaluationCase | Mapping[str, object] | list[Any] | tuple[object, ...]


def _evaluate(
    case: AnyCase,
    *,
    contract: EvaluationContract | Mapping[str, object] | None = None,
    judge: AnyJudge | JudgeFunction | None = None,
    baseline: Mapping[str, object] | EvaluationReport | None = None,
    **options: Unpack[PluginOptions],
) -> Conversation[EvaluationReport]:
    """Evaluate one recorded run.

    Args:
        case: The run and its contract, as an object in the document's shape or an ``EvaluationCase``; or
            the messages of a run, in any format that ``run_from_messages`` reads, or an agent's state with
            ``messages``.
        contract: The demands on the run, in place of the contract of the case. A run without a contract
            is searched for contradictions between its words and its calls, and judged if a judge is given.
        judge: Scores what no program can score; an object with ``judge`` or ``ajudge``, or a function.
        baseline: Metrics to compare with, or an earlier report; replaces ``baseline_metrics`` of the case.
        options: The other plug-ins; see ``plugins.Plugins``.

    Returns:
        The report. A wrong case gives a report with status ``invalid`` that lists its problems.

    Raises:
        ContractError: ``contract`` is no object, or has a field of the run.
    """
    demanded = case if contract is None else with_contract(case, contract)
    complete = demanded if baseline is None else with_baseline(demanded, baseline)
    return _run_nodes(complete, Plugins.of(judge, options))


evaluate, aevaluate = blocking(_evaluate), awaited(_evaluate)
"""``aevaluate`` does not block the event loop while a judge answers."""


def evaluate_many(
    cases: Iterable[AnyCase],
    *,
    judge: AnyJudge | JudgeFunction | None = None,
    concurrency: int = 8,
    **options: Unpack[PluginOptions],
) -> Iterator[EvaluationReport]:
    """Evaluate many runs; yields one report for each case, in the order of the cases.

    Memory does not grow with the number of cases. A wrong case gives a report with status ``invalid``, and
    the others are evaluated. An error of ``cases`` itself is raised after the reports of the cases before it.

    Args:
        cases: As for ``evaluate``; read while the reports are taken.
        judge: Scores what no program can score; an object with ``judge`` or ``ajudge``, or a function.
        concurrency: Number of cases that are with the judge at the same time. Without a judge, cases are
            evaluated one after the other.
        options: The other plug-ins; see ``plugins.Plugins``.

    Raises:
        ContractError: ``concurrency`` is less than 1, or ``cases`` is one case or a path.
    """
    if isinstance(cases, str | Mapping):
        raise ContractError(
            f"cases is a {type(cases).__name__}; give a list of cases, or read a file with read_cases(path)"
        )
    if concurrency < 1:
        raise ContractError(f"concurrency={concurrency}; give a whole number of at least 1")
    plugins = Plugins.of(judge, options)
    if judge is not None and concurrency > 1:
        return _run_in_threads(cases, plugins, concurrency)
    return (_evaluate_case(case, plugins) for case in cases)


def _run_in_threads(
    cases: Iterable[object], plugins: Plugins, concurrency: int
) -> Iterator[EvaluationReport]:
    remaining, build = iter(cases), partial(_evaluate_case, plugins=plugins)
    with ThreadPoolExecutor(concurrency, thread_name_prefix="evaluation-judge") as pool:
        # In batches: all cases at once may not fit into memory.
        while batch := list(islice(remaining, _BATCH * concurrency)):
            yield from pool.map(build, batch)
