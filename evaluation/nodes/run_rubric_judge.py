"""Node: ask the judge, and keep what it said as it said it."""

from __future__ import annotations

from evaluation.judges.answers import plain_object
from evaluation.judges.call import Answered, acall, call, request_of
from evaluation.judges.failures import JudgeFailure
from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject


def run_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the plugins judge; whatever it raises is a failure of the judge, not of the graph."""
    return _kept(state, plugins, call(plugins.judge, request_of(state)))


async def arun_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the plugins judge without blocking the loop."""
    return _kept(state, plugins, await acall(plugins.judge, request_of(state)))


def _kept(state: EvaluationState, plugins: Plugins, said: Answered | JudgeFailure) -> EvaluationState:
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    result = {"answer": said.answer} if isinstance(said, Answered) else {"failure": _plain(said)}
    return {"judge_decision": decision, "judge_result": result}


def _plain(failure: JudgeFailure) -> JsonObject:
    """Write a failure as JSON; what a judge's error carries may be anything."""
    return {
        "kind": failure.kind,
        "reason": failure.reason,
        "usage": plain_object(failure.usage),
        "details": plain_object(failure.details),
    }
