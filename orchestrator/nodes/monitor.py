"""monitor_node: hands the latest execution to the evaluation, which judges it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from langgraph.runtime import Runtime

from orchestrator.errors import ContractFunctionError
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.evaluator import Evaluated, Evaluator, refused_by_the_judge_alone
from orchestrator.judging.feedback import feedback_of, warnings_of
from orchestrator.judging.verdict import failed, no_verdict
from orchestrator.nodes.base import Node, announce, bounded, context_of, judged_by
from orchestrator.retry.outcome import add_transport_retries, fail, next_state
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record, mode_of
from orchestrator.state.graph_state import (
    Json,
    JudgeCalls,
    OrchestratorState,
    StateUpdate,
    StepRecord,
    VerdictRecord,
)
from orchestrator.state.usage import add_usage


def monitor_node(evaluator: Evaluator, contracts: Contracts, settings: Settings) -> Node:
    """The node over one evaluator."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        record = latest_record(state)
        try:
            contract = contracts.of(state)
        except ContractFunctionError as error:
            return fail(state, {**record, "status": "failed"}, "contract_error", str(error), error)
        evaluated = await evaluator.evaluate(state, record, contract, run)
        update = _update(state, _with_report(record, evaluated), evaluated, settings, run)
        announce(runtime.stream_writer, run.thread_id, update)
        return update

    return node


def _update(
    state: OrchestratorState, record: StepRecord, evaluated: Evaluated, settings: Settings, run: RunContext
) -> StateUpdate:
    usage = add_usage(state["usage"], evaluated.usage)
    counted: StateUpdate = {
        "usage": usage,
        "judge_calls": _counted(state["judge_calls"], evaluated),
        "retries": add_transport_retries(state["retries"], evaluated.transport_retries),
    }
    before: OrchestratorState = {**state, **counted}
    followed = _ended(before, record, evaluated) or _followed(before, record, settings, run)
    return bounded({**counted, **followed}, run, record["step_index"])


def _ended(state: OrchestratorState, record: StepRecord, evaluated: Evaluated) -> StateUpdate | None:
    """The end of the run, where the judging failed for good or our own record could not be evaluated."""
    error = evaluated.error
    if error is not None:
        unjudged: StepRecord = {**record, "status": "needs_review", "error": error.message}
        return {
            "results": [unjudged],
            **failed(error.kind or "monitor_error", error.message, record["step_index"], error.error),
        }
    if evaluated.report["status"] != "invalid":
        return None
    problems = "; ".join(map(str, cast("list[Json]", evaluated.report["errors"])))
    message = f"the contract, or our record of the step, cannot be evaluated: {problems}"
    return fail(state, {**record, "status": "needs_review"}, "evaluation_error", message)


def _followed(
    state: OrchestratorState, record: StepRecord, settings: Settings, run: RunContext
) -> StateUpdate:
    if mode_of(state, settings.default_mode) != "none":
        return {"results": [record]}
    return next_state(state, record, settings, run.now())


def _with_report(record: StepRecord, evaluated: Evaluated) -> StepRecord:
    return {
        **judged_by(record, evaluated.usage),
        "verdict": _verdict(evaluated),
        "report": dict(evaluated.report),
        "warnings": [] if evaluated.report["status"] == "passed" else warnings_of(evaluated.report),
    }


def _verdict(evaluated: Evaluated) -> VerdictRecord:
    """The monitor's own words where it alone decided; those of the failed checks elsewhere."""
    report, said = evaluated.report, evaluated.verdict
    passed = report["status"] in ("passed", "warning")
    if evaluated.unjudged is not None:
        return no_verdict(evaluated.unjudged)
    if said is not None and said["success"] is passed and (passed or refused_by_the_judge_alone(report)):
        return said
    text = str(report["summary"]) if passed else feedback_of(report)
    return VerdictRecord(success=passed, feedback=text)


def _counted(calls: JudgeCalls, evaluated: Evaluated) -> JudgeCalls:
    judge = cast("Mapping[str, Json]", evaluated.report["judge"])
    asked = evaluated.asked or judge["called"] is True
    return JudgeCalls(made=calls["made"] + asked, saved=calls["saved"] + (not asked))
