"""reconcile_node (RECONCILE): compares commitment, self-assessment and evaluation, without a model call."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.judging.feedback import findings_of
from orchestrator.nodes.base import Node, emit_verdicts, get_context, next_state
from orchestrator.retry.verdict_updates import ask_person, read_outcome
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record, supervision_mode
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import StepRecord
from orchestrator.state.supervision_records import Reconciliation
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Reconcile
from orchestrator.supervision.reconcile import list_facts


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
