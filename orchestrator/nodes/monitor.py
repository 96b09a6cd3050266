"""monitor_node: judges the latest execution, and settles its record."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.runtime import Runtime

from orchestrator.calling import Raised, call_agent
from orchestrator.config import Settings
from orchestrator.events import StepJudged, StepRetried
from orchestrator.foreign_values import shown
from orchestrator.judging import failed, no_verdict, outcome_of, read_verdict, settle
from orchestrator.methods import AgentMethod
from orchestrator.nodes.node import Node, context_of
from orchestrator.run_context import RunContext
from orchestrator.state import NO_USAGE, OrchestratorState, StateUpdate, StepRecord, Usage, VerdictRecord
from orchestrator.usage import add_usage


@dataclass(frozen=True, slots=True)
class _Judged:
    """The monitor's answer; ``error`` is set where it gave none for a reason that does not pass."""

    verdict: VerdictRecord | None
    reason: str
    usage: Usage
    error: Raised | None = None


def monitor_node(evaluate: AgentMethod[object], settings: Settings) -> Node:
    """The node over one monitor."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        judged = await _judge(evaluate, state, run, settings.retry_policy.judge_attempts)
        record = _with_verdict(state["results"][-1], judged)
        update = _settled(state, record, judged, settings, run)
        for event in _events(run.thread_id, update):
            runtime.stream_writer(event)
        return {**update, "usage": add_usage(state["usage"], judged.usage)}

    return node


async def _judge(
    evaluate: AgentMethod[object], state: OrchestratorState, run: RunContext, attempts: int
) -> _Judged:
    record, usage = state["results"][-1], NO_USAGE
    answer: object = None
    for _ in range(attempts):
        spent = add_usage(state["usage"], usage)
        called = await call_agent(
            evaluate,
            record["step"],
            record["result"],
            run=run,
            spent_before=spent,
            step_index=record["step_index"],
        )
        usage = add_usage(usage, called.spent.usage)
        if isinstance(called, Raised):
            return _Judged(None, called.message, usage, None if called.passing else called)
        answer = called.value
        if verdict := read_verdict(answer):
            return _Judged(verdict, "", usage)
    return _Judged(None, f"{attempts} answers could not be read, the last: {shown(answer, 300)}", usage)


def _with_verdict(record: StepRecord, judged: _Judged) -> StepRecord:
    verdict = judged.verdict or no_verdict(judged.reason)
    return {**record, "verdict": verdict, "judge_usage": judged.usage}


def _settled(
    state: OrchestratorState, record: StepRecord, judged: _Judged, settings: Settings, run: RunContext
) -> StateUpdate:
    index = record["step_index"]
    if judged.error is not None:
        kind = judged.error.kind or "monitor_error"
        unjudged: StepRecord = {**record, "status": "needs_review", "error": judged.reason}
        return {"results": [unjudged], **failed(kind, judged.reason, index, judged.error.error)}
    update = settle(state, record, outcome_of(judged.verdict), settings.retry_policy)
    reason = run.budget.exceeded(add_usage(state["usage"], judged.usage))
    if reason is not None and update.get("status", "executing") == "executing":
        return {**update, **failed("budget_exceeded", reason, index)}
    return update


def _events(thread_id: str, update: StateUpdate) -> list[StepJudged | StepRetried]:
    record = update["results"][0]
    verdict = record["verdict"] or no_verdict("none was recorded")
    judged = StepJudged(thread_id=thread_id, record=record, verdict=verdict)
    if update.get("status") is not None:
        return [judged]
    return [
        judged,
        StepRetried(
            thread_id=thread_id,
            step_index=record["step_index"],
            attempt=record["attempt"] + 1,
            feedback=verdict["feedback"],
        ),
    ]
