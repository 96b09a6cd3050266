"""Node: asks the judge and stores its answer unchanged."""

from __future__ import annotations

from evaluation.judges.answers import JudgeFailure, copy_json_object
from evaluation.judges.judge_call import acall_judge, build_request, call_judge, choose_judge
from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject


def run_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the judge; an exception is stored as a failure of the judge."""
    return _store_answer(state, plugins, call_judge(choose_judge(state, plugins.judge), build_request(state)))


async def arun_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the judge without blocking the event loop."""
    judge = choose_judge(state, plugins.judge)
    return _store_answer(state, plugins, await acall_judge(judge, build_request(state)))


def _store_answer(state: EvaluationState, plugins: Plugins, answer: str | JudgeFailure) -> EvaluationState:
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    if plugins.judge is None and state["fake_judge_response"] is not None:
        decision["reason"] = f"{decision['reason']}; the answer is the fake_judge_response of the case"
    result = {"failure": _plain_failure(answer)} if isinstance(answer, JudgeFailure) else {"answer": answer}
    return {"judge_decision": decision, "judge_result": result}


def _plain_failure(failure: JudgeFailure) -> JsonObject:
    """Convert a failure to JSON; an error of a judge may carry any object."""
    return {
        "kind": failure.kind,
        "reason": failure.reason,
        "usage": copy_json_object(failure.usage),
        "details": copy_json_object(failure.details),
    }
