"""Evaluates the run of a case against the contract of the case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation import TaskCase, evaluate
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.task_case import FROM_TASK
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.values import JsonObject
from orchestrator.experiments.recorded_evaluation import NO_CASE, RecordedEvaluation
from orchestrator.task_contracts.source import derive_contract, read_case


def score_case(
    evaluation: RecordedEvaluation, run: RecordedRun, case: TaskCase, problem: str | None = None
) -> CaseResult:
    """Returns the result of a run of a case.

    Args:
        evaluation: The gate, the judge, and the contract that holds for every run.
        run: The run, with ``case_id`` and ``agent_run`` alone.
        case: The case, whose contract is stated, or follows from the words of its task.
        problem: Why the run cannot be judged, which makes it invalid; None if it can.
    """
    contract = read_case(case, case.task) or derive_contract(case.task)
    own = replace(run, case={**run.case, **contract["contract"]})
    # A stated contract that is empty demands nothing, and has no default in its place.
    is_own = case.contract != FROM_TASK and not evaluation.has_contract
    judged = own if is_own else evaluation.add_contract(own)
    problem = problem or (NO_CASE if judged is None else None)
    judged = judged or own
    given: Any = judged.case if problem is None else UnreadableCase(case.title, problem)
    report = evaluate(given, judge=evaluation.judge)
    is_derived = case.contract == FROM_TASK and not evaluation.has_contract
    result = evaluation.build_result(report, judged, contract["unchecked"], is_derived=is_derived)
    correct = None if problem else find_correct(run.case, case)
    # The name of a case is the user's own, and tells the results apart.
    return result.model_copy(update={"name": case.title, "correct": correct})


def find_correct(run: JsonObject, case: TaskCase) -> bool | None:
    """Returns whether the output of a run is the known right answer; None if the case states none."""
    if case.answer is None:
        return None
    rule = case.answer.model_dump(exclude_unset=True)
    report = evaluate({"agent_run": run["agent_run"], "required_content": [rule]})
    return report.metrics.response.get("required_content") == 1.0
