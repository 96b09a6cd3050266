"""reconcile_node (RECONCILE) finds the triggers in a step; supervise_node (SUPERVISE) decides on it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.errors import ContractFunctionError
from orchestrator.judging.contract_choice import Contracts
from orchestrator.judging.disclosure import Expectations
from orchestrator.judging.feedback import findings_of
from orchestrator.nodes.node_types import (
    Node,
    call_supervision,
    emit_verdicts,
    find_hidden_answer,
    get_context,
    next_state,
)
from orchestrator.retry.verdict_updates import add_decision, ask_person, fail, read_outcome, retry
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_records, describe_task, latest_record, supervision_mode
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import StepRecord
from orchestrator.state.supervision_records import Reconciliation, SupervisorVerdict
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Reconcile, Supervise
from orchestrator.supervision.reconcile import SuperviseRequest, list_facts


def reconcile_node(reconcile: Reconcile, settings: Settings) -> Node:
    """Returns the node that lets a clean step go on and hands any other to its supervisor or a person."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        mode = supervision_mode(state, settings.default_mode)
        record, escalate = _find_triggers(reconcile, latest_record(state))
        update: StateUpdate = {"results": [record]}
        if mode == "human" and (escalate or settings.supervision_policy.ask == "always"):
            text = f"Do you accept the output of step {record['step_index'] + 1}?"
            update = ask_person(state, record, "supervision", text, settings.supervision_policy, run.now())
        elif not escalate:
            update = next_state(state, record, settings, run)
        emit_verdicts(runtime.stream_writer, run.thread_id, update)
        return update

    return node


def _find_triggers(reconcile: Reconcile, record: StepRecord) -> tuple[StepRecord, bool]:
    supervision = record["supervision"] or blank_supervision("llm")
    findings = findings_of(record["report"]) if record["report"] else ["the step was not evaluated"]
    if not findings and read_outcome(record) != "validated":
        findings = ["the evaluation did not pass the step"]
    commitment, assessment = supervision["commitment"], supervision["assessment"]
    result = Reconciliation(triggers=[], escalate=False)
    if commitment is not None and assessment is not None:
        result = reconcile(commitment, assessment, findings)
    # A caller's own supervisor may ignore facts: they escalate nevertheless.
    facts = list_facts(commitment, assessment, findings)
    triggers = [*dict.fromkeys([*facts, *result["triggers"]])]
    updated: StepRecord = {**record, "supervision": {**supervision, "triggers": triggers}}
    return updated, bool(triggers) or result["escalate"]


def supervise_node(supervise: Supervise, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks the supervisor."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        record = latest_record(state)
        try:
            hidden = find_hidden_answer(state, contracts.list_demands(state)[-1].contract)
        except ContractFunctionError as error:
            return fail(state, {**record, "status": "failed"}, "contract_error", str(error), error)
        request = _build_request(record, describe_task(state), hidden)
        return await call_supervision(
            lambda: supervise(request),
            record,
            state,
            run,
            runtime.stream_writer,
            lambda judged, verdict: _apply_verdict(state, judged, verdict, settings, run),
        )

    return node


def _build_request(record: StepRecord, task: str, hidden: Expectations) -> SuperviseRequest:
    """Returns the request. A supervisor that is told the expected answer would tell it to the executor."""
    supervision = record["supervision"] or blank_supervision("llm")
    findings = findings_of(record["report"], hidden) if record["report"] else []
    return SuperviseRequest(
        objective=record["step"],
        task=task,
        output=record["result"],
        commitment=supervision["commitment"],
        assessment=supervision["assessment"],
        triggers=[hidden.mask(trigger) for trigger in supervision["triggers"]],
        findings=findings,
    )


def _apply_verdict(
    state: OrchestratorState,
    record: StepRecord,
    verdict: SupervisorVerdict,
    settings: Settings,
    run: RunContext,
) -> StateUpdate:
    supervision = record["supervision"] or blank_supervision("llm")
    record = {**record, "supervision": {**supervision, "verdict": verdict}}
    refused: StepRecord = {**record, "status": "failed"}
    word = verdict["verdict"]
    if word == "continue":
        # A supervisor cannot overrule a failed check; only a person's approval can.
        return next_state(state, record, settings, run)
    if word == "halt":
        return fail(state, refused, "halted", f"the supervisor halted the run: {verdict['reason']}")
    if word == "ask_human":
        return _ask_or_fail(state, record, verdict["question"], settings, run)
    bound = settings.supervision_policy.max_reorient_attempts
    if _count_reorients(state) < bound:
        return retry(state, add_decision(refused, "correct", "the supervisor's correction"), semantic=False)
    question = f"all {bound} of max_reorient_attempts were made; it still wants: {verdict['correction']}"
    return _ask_or_fail(state, record, question, settings, run)


def _ask_or_fail(
    state: OrchestratorState, record: StepRecord, question: str, settings: Settings, run: RunContext
) -> StateUpdate:
    if settings.can_ask_human:
        return ask_person(state, record, "supervision", question, settings.supervision_policy, run.now())
    unanswered: StepRecord = {**record, "status": "needs_review"}
    return fail(state, unanswered, "needs_review", f"nobody is there to be asked: {question}")


def _count_reorients(state: OrchestratorState) -> int:
    """Returns how often the supervisor returned the step with a correction."""
    supervisions = [each["supervision"] for each in current_records(state)[:-1] if each["supervision"]]
    # A verdict that a person answered counts for the person.
    verdicts = [each["verdict"] for each in supervisions if each["verdict"] and each["answer"] is None]
    return sum(verdict["verdict"] == "reorient" for verdict in verdicts)
