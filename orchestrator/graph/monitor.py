"""monitor_node: has the latest execution evaluated, and updates the state with the verdict."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

from langgraph.types import StreamWriter

from evaluation.contract.requirements import Contract
from orchestrator.errors import ContractFunctionError
from orchestrator.graph import node_types
from orchestrator.judging.call_rules import find_lasting_effect
from orchestrator.judging.contract_choice import Contracts, Demand
from orchestrator.judging.evaluator import Evaluator
from orchestrator.judging.evidence import add_basis, add_trust, read_evidence
from orchestrator.judging.feedback import Expectations, feedback_of, problems_of, warnings_of
from orchestrator.judging.judging_calls import Evaluated
from orchestrator.planning.parallel import apply_update
from orchestrator.retry.verdict_updates import add_decision, build_failure, fail, read_outcome
from orchestrator.runtime.call import Raised, RunContext, Spent
from orchestrator.settings import Settings
from orchestrator.state.current_step import lacks_report, latest_record, supervision_mode
from orchestrator.state.evaluation_report import is_refused_by_judge_alone
from orchestrator.state.graph_state import Failure, JudgeCalls, OrchestratorState, StateUpdate
from orchestrator.state.records import NO_USAGE, Attempt, Json, VerdictRecord


def monitor_node(evaluator: Evaluator, contracts: Contracts, settings: Settings) -> node_types.Node:
    """Returns the node that runs the evaluation."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        record = latest_record(state)
        demand, evaluated = await _evaluate(evaluator, contracts, state, run)
        contract = demand.contract
        unchecked = contracts.find_unchecked(state)
        evidence = read_evidence(evaluated.report, contract, unchecked)
        if evaluated.probes:
            record = {**record, "probes": [*evaluated.probes]}
        is_ended = state["status"] == "failed"
        reported = _add_report(record, evaluated)
        record = add_basis(reported, await asyncio.to_thread(add_trust, evidence, evaluator.agent))
        record = _add_feedback(record, evaluated, node_types.find_hidden_answer(state, contract))
        update = _build_update(state, record, evaluated, demand, settings, run)
        if not is_ended:
            node_types.emit_verdicts(write, run.thread_id, update)
        return update

    return node


async def report_ended(
    monitor: node_types.Node, state: OrchestratorState, run: RunContext
) -> OrchestratorState:
    """Returns the state of a run that has ended, with a report of the latest execution of its current step.

    Args:
        monitor: The node that evaluates the execution.
        state: The last state, with the failure.
        run: The run.
    """
    update = await monitor(state, run, lambda _: None) if lacks_report(state) else StateUpdate()
    return apply_update(state, update)


async def _evaluate(
    evaluator: Evaluator, contracts: Contracts, state: OrchestratorState, run: RunContext
) -> tuple[Demand, Evaluated]:
    """Evaluates the latest execution; without a contract if the function of the caller fails."""
    record = latest_record(state)
    try:
        demands = contracts.list_executed(state, record["result"])
        formatted = contracts.format_record(state, record)
    except ContractFunctionError as error:
        failed = cast("OrchestratorState", {**state, **build_failure("contract_error", str(error))})
        demand, evaluated = await evaluator.evaluate_all(failed, record, [Demand(Contract())], run)
        raised = Raised(error, Spent(NO_USAGE, []), "contract_error", transient=False)
        return demand, replace(evaluated, unjudged=raised.message, error=raised)
    return await evaluator.evaluate_all(state, formatted, demands, run)


def _build_update(  # noqa: PLR0917
    state: OrchestratorState,
    record: Attempt,
    evaluated: Evaluated,
    demand: Demand,
    settings: Settings,
    run: RunContext,
) -> StateUpdate:
    calls, asked = state["judge_calls"], evaluated.asked
    totals: StateUpdate = {
        **node_types.with_totals(state, evaluated),
        "judge_calls": JudgeCalls(made=calls["made"] + asked, saved=calls["saved"] + (not asked)),
    }
    before: OrchestratorState = {**state, **totals}
    if state["failure"] is not None:
        # The report says what could be measured, and the failure stays.
        return {**totals, "results": [_refuse_ended(record, state["failure"])]}
    update = _find_failure(before, record, evaluated, demand)
    if update is None:
        # RECONCILE compares the report with the commitment, so a supervised step is not decided here.
        is_supervised = supervision_mode(state, settings.default_mode) != "none"
        update = {"results": [record]} if is_supervised else node_types.next_state(before, record, settings)
    return node_types.stop_if_over_budget({**totals, **update}, run, record["step_index"])


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
    state: OrchestratorState, record: Attempt, evaluated: Evaluated, demand: Demand
) -> StateUpdate | None:
    """Returns the end of the run if no further attempt can mend it; else None.

    The judge failed, the evaluation refused its input, or a call has had an effect that must not be.
    """
    error = evaluated.error
    if error is not None:
        unjudged: Attempt = {**record, "status": "needs_review"}
        return fail(state, unjudged, error.kind or "monitor_error", error.message, error.error)
    if demand.is_run and (effect := find_lasting_effect(state, evaluated.report, demand.contract)):
        return fail(state, {**record, "status": "failed"}, "unwanted_effect", effect)
    if evaluated.report["status"] != "invalid":
        return None
    problems = "; ".join(map(str, cast("list[Json]", evaluated.report["errors"])))
    message = f"the contract, or our record of the step, cannot be evaluated: {problems}"
    return fail(state, {**record, "status": "needs_review"}, "evaluation_error", message)


def _add_report(record: Attempt, evaluated: Evaluated) -> Attempt:
    passed = evaluated.report["status"] == "passed"
    # An execution that raised has warnings of its own.
    noted = [] if record["error"] is None else record["warnings"]
    return {
        **node_types.with_judge_usage(record, evaluated.usage),
        "verdict": _build_verdict(evaluated),
        "report": dict(evaluated.report),
        "warnings": [*noted, *([] if passed else warnings_of(evaluated.report))],
    }


def _add_feedback(record: Attempt, evaluated: Evaluated, hidden: Expectations) -> Attempt:
    """Returns the record with the feedback and the problems for the executor, which mask the answer."""
    verdict = record["verdict"]
    if verdict is not None and not verdict["success"]:
        masked = hidden.mask(verdict["feedback"])
        record = record if masked == verdict["feedback"] else {**record, "feedback": masked}
    problems = [] if read_outcome(record) == "validated" else problems_of(evaluated.report, hidden)
    return {**record, "problems": problems} if problems else record


def _build_verdict(evaluated: Evaluated) -> VerdictRecord:
    """Returns the monitor's own words if it alone decided, else the words of the failed checks."""
    report, verdict = evaluated.report, evaluated.verdict
    passed = report["status"] in ("passed", "warning")
    if evaluated.unjudged is not None:
        return node_types.no_verdict(evaluated.unjudged)
    if verdict is not None and verdict["success"] is passed and (passed or is_refused_by_judge_alone(report)):
        return verdict
    text = str(report["summary"]) if passed else feedback_of(report)
    return VerdictRecord(success=passed, feedback=text)
