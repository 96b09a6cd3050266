"""Node: ask the judge, and keep what it said as it said it."""

from __future__ import annotations

from evaluation.judges.answers import copy_json_object
from evaluation.judges.call import acall_judge, build_request, call_judge
from evaluation.judges.failures import JudgeFailure
from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject


def run_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the plugins judge; whatever it raises is a failure of the judge, not of the graph."""
    return _kept(state, plugins, call_judge(plugins.judge, build_request(state)))


async def arun_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the plugins judge without blocking the loop."""
    return _kept(state, plugins, await acall_judge(plugins.judge, build_request(state)))


def _kept(state: EvaluationState, plugins: Plugins, answer: str | JudgeFailure) -> EvaluationState:
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    result = {"failure": _plain(answer)} if isinstance(answer, JudgeFailure) else {"answer": answer}
    return {"judge_decision": decision, "judge_result": result}


def _plain(failure: JudgeFailure) -> JsonObject:
    """Write a failure as JSON; what a judge's error carries may be anything."""
    return {
        "kind": failure.kind,
        "reason": failure.reason,
        "usage": copy_json_object(failure.usage),
        "details": copy_json_object(failure.details),
    }
