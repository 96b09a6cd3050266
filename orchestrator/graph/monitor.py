"""monitor_node: has the latest execution evaluated, and updates the state with the verdict."""

from __future__ import annotations

import asyncio
from typing import cast

from langgraph.types import StreamWriter

from agents.parsing.loose_json import BESIDE
from evaluation.contract.requirements import Contract
from orchestrator.errors import ContractFunctionError
from orchestrator.events import StepJudged, StepRetried
from orchestrator.judging.contract_choice import Contracts, Demand, find_lasting_effect
from orchestrator.judging.contract_options import format_output
from orchestrator.judging.evaluator import Evaluator
from orchestrator.judging.evidence import ACCEPTING, read_evidence
from orchestrator.judging.feedback import (
    Expectations,
    feedback_of,
    problems_of,
    read_expectations,
    warnings_of,
)
from orchestrator.judging.judging_calls import Judging
from orchestrator.retry.verdict_updates import (
    add_decision,
    build_failure,
    build_instruction,
    count_calls,
    fail,
    next_state,
    stop_if_over_budget,
)
from orchestrator.runtime.bounded_call import Node, Raised, RunContext, Spent
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    Failure,
    JudgeCalls,
    OrchestratorState,
    StateUpdate,
    add_usage,
    apply_update,
    current_records,
    lacks_report,
    read_correction,
    supervision_mode,
)
from orchestrator.state.records import NO_USAGE, Attempt, Report, VerdictRecord


def monitor_node(evaluator: Evaluator, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that runs the evaluation."""
    default_mode, judge = settings.default_mode, evaluator.judges.agent

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        demand, judging = await _evaluate(evaluator, contracts, state, run)
        evidence = read_evidence(judging.report, demand.contract, contracts.find_unchecked(state))
        if evidence.needs_trust:
            evidence = await asyncio.to_thread(evidence.add_trust, judge)
        record = evidence.complete_attempt(_add_report(current_records(state)[-1], judging))
        if judging.report["status"] != "passed":
            record = _add_feedback(record, judging.report, find_hidden_answer(state, demand.contract))
        update = count_calls(state, judging)
        # RECONCILE compares the report with the commitment, so a supervised step is not decided here.
        is_supervised = supervision_mode(state, default_mode) != "none"
        made, saved = state["judge_calls"]["made"], state["judge_calls"]["saved"]
        update["judge_calls"] = JudgeCalls(made=made + judging.asked, saved=saved + (not judging.asked))
        before = cast("OrchestratorState", {**state, **update})
        if state["failure"] is not None:
            # The report says what could be measured, and the failure stays.
            return {**update, "results": [_refuse_ended(record, state["failure"])]}
        update |= _find_failure(before, record, judging, demand) or (
            {"results": [record]} if is_supervised else decide_next(before, record, settings)
        )
        update = stop_if_over_budget(update, run, record["step_index"])
        emit_verdicts(write, run.thread_id, update)
        return update

    return node


async def report_ended(monitor: Node, state: OrchestratorState, run: RunContext) -> OrchestratorState:
    """Returns the state of a run that has ended, with a report of the latest execution of its current step.

    Args:
        monitor: The node that evaluates the execution.
        state: The last state, with the failure.
        run: The run.
    """
    return apply_update(state, await monitor(state, run, lambda _: None) if lacks_report(state) else {})


def decide_next(state: OrchestratorState, record: Attempt, settings: Settings) -> StateUpdate:
    """Returns the update after the evaluation of an execution, as the retry policy decides."""
    options = settings.options
    return next_state(state, record, options["retry_policy"], is_auto=options["planning"] == "auto")


def find_hidden_answer(state: OrchestratorState, contract: Contract) -> Expectations:
    """Returns the expected answer that no agent of the run is told; task and instruction are no secret."""
    records = current_records(state)
    return read_expectations(contract, f"{state['task']}\n{build_instruction(records[-1]['step'], records)}")


def emit_verdicts(write: StreamWriter, thread_id: str, update: StateUpdate) -> None:
    """Emits an event for each verdict in an update, and one if the step is repeated."""
    records: list[Attempt] = update.get("results", [])
    judged = [record for record in records if record["status"] != "pending_validation"]
    for record in judged:
        verdict = record["verdict"] or _refuse("none was recorded")
        write(StepJudged(thread_id=thread_id, record=record, verdict=verdict))
    # Without a status the run goes on with this step; "underway" then announces a replan.
    if judged and update.get("status") is None and "underway" not in update:
        record = judged[-1]
        feedback = record["verdict"]["feedback"] if record["verdict"] else ""
        write(
            StepRetried(
                thread_id=thread_id,
                step_index=record["step_index"],
                attempt=record["attempt"] + 1,
                feedback=read_correction(record) or feedback,
                decision=record.get("decision"),
            )
        )


async def _evaluate(
    evaluator: Evaluator, contracts: Contracts, state: OrchestratorState, run: RunContext
) -> tuple[Demand, Judging]:
    """Evaluates the latest execution; without a contract if the function of the caller fails."""
    executions = current_records(state)
    record = executions[-1]
    try:
        demands = contracts.list_executed(state, record["result"])
    except ContractFunctionError as error:
        failed = cast("OrchestratorState", {**state, **build_failure("contract_error", str(error))})
        demand, judging = await evaluator.evaluate(failed, record, [Demand(Contract())], run)
        judging.error = Raised(error, Spent(NO_USAGE, []), "contract_error", transient=False)
        judging.unjudged = judging.error.message
        return demand, judging
    if contracts.output_type is not None and contracts.is_output(state):
        # The checks have to hold for the text that the run would return.
        verdicts = [each["verdict"] for each in executions]
        is_told = any(verdict and BESIDE in verdict["feedback"] for verdict in verdicts)
        text = format_output(contracts.output_type, record["result"], is_repeated=is_told)
        record = {**record, "result": text}
    return await evaluator.evaluate(state, record, demands, run)


def _refuse_ended(record: Attempt, failure: Failure) -> Attempt:
    """Returns an execution that was evaluated after the run had ended: never a success."""
    if record["error"] is not None:
        feedback = f"The execution ended in an error: {record['error']}"
    else:
        feedback = f"The run ended before the output was judged: {failure['message']}"
        record = {**record, "status": "needs_review"}
    record = {**record, "verdict": VerdictRecord(success=False, feedback=feedback)}
    return record if "decision" in record else add_decision(record, "stop", failure["message"])


def _find_failure(
    state: OrchestratorState, record: Attempt, judging: Judging, demand: Demand
) -> StateUpdate | None:
    """Returns the end of the run if no further attempt can mend it; else None.

    The judge failed, the evaluation refused its input, or a call has had an effect that must not be.
    """
    error, report = judging.error, judging.report
    unjudged: Attempt = {**record, "status": "needs_review"}
    if error is not None:
        return fail(state, unjudged, error.kind or "monitor_error", error.message, error.error)
    is_refused = report["status"] not in ACCEPTING
    if demand.is_run and is_refused and (effect := find_lasting_effect(state, report, demand.contract)):
        return fail(state, {**record, "status": "failed"}, "unwanted_effect", effect)
    if report["status"] != "invalid":
        return None
    problems = "; ".join(map(str, report["errors"]))
    message = f"the contract, or our record of the step, cannot be evaluated: {problems}"
    return fail(state, unjudged, "evaluation_error", message)


def _add_report(record: Attempt, judging: Judging) -> Attempt:
    return {
        **record,
        "judge_usage": add_usage(record["judge_usage"] or NO_USAGE, judging.usage),
        "verdict": _build_verdict(judging),
        "report": judging.report,
    }


def _add_feedback(record: Attempt, report: Report, hidden: Expectations) -> Attempt:
    """Returns the record with its warnings, and with the feedback and the problems, which mask the answer."""
    # An execution that raised has warnings of its own.
    noted = [] if record["error"] is None else record["warnings"]
    record = {**record, "warnings": [*noted, *warnings_of(report)]}
    verdict = record["verdict"]
    if verdict is not None and not verdict["success"]:
        masked = hidden.mask(verdict["feedback"])
        record = record if masked == verdict["feedback"] else {**record, "feedback": masked}
    problems = [] if report["status"] in ACCEPTING else problems_of(report, hidden)
    return {**record, "problems": problems} if problems else record


def _build_verdict(judging: Judging) -> VerdictRecord:
    """Returns the monitor's own words if it alone decided, else the words of the failed checks."""
    report, verdict = judging.report, judging.verdict
    passed = report["status"] in ACCEPTING
    if judging.unjudged is not None:
        return _refuse(judging.unjudged)
    critical = [alert["kind"] for alert in report["alerts"] if alert["severity"] == "critical"]
    if verdict is not None and verdict["success"] is passed and (passed or {*critical} <= {"judge"}):
        return verdict
    return VerdictRecord(success=passed, feedback=str(report["summary"]) if passed else feedback_of(report))


def _refuse(reason: str) -> VerdictRecord:
    """Build the verdict of a monitor that gave none: never a success."""
    return VerdictRecord(success=False, feedback=f"The monitor gave no verdict: {reason}")
