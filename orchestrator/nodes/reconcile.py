"""reconcile_node (RECONCILE): what is not as it was committed to, or not as it should be; asks no model."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.judging.feedback import findings_of
from orchestrator.nodes.base import Node, announce, context_of
from orchestrator.retry.outcome import ask_person, next_state, read_outcome
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record, mode_of
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, StepRecord
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Reconcile


def reconcile_node(reconcile: Reconcile, settings: Settings) -> Node:
    """The node over the comparison: a clean step goes on, any other to whoever supervises it."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        mode = mode_of(state, settings.default_mode)
        record, escalate = _reconciled(reconcile, latest_record(state))
        update: StateUpdate = {"results": [record]}
        if mode == "human":
            text = f"Does the output of step {record['step_index'] + 1} stand?"
            update = ask_person(state, record, "supervision", text, settings, run.now())
        elif not escalate:
            update = next_state(state, record, settings, run.now())
        announce(runtime.stream_writer, run.thread_id, update)
        return update

    return node


def _reconciled(reconcile: Reconcile, record: StepRecord) -> tuple[StepRecord, bool]:
    supervision = record["supervision"] or blank_supervision("llm")
    findings = findings_of(record["report"]) if record["report"] else ["the step was not evaluated"]
    if not findings and read_outcome(record) != "validated":
        findings = ["the evaluation did not pass the step"]
    found = reconcile(supervision["commitment"], supervision["assessment"], findings)
    triggers = [*found["triggers"], *_missed(found["triggers"], findings)]
    return {**record, "supervision": {**supervision, "triggers": triggers}}, bool(triggers) or found[
        "escalate"
    ]


def _missed(triggers: list[str], findings: list[str]) -> list[str]:
    """What the evaluation found and a supervisor's own comparison says nothing of."""
    spoken_of = any(trigger.startswith("evaluation:") for trigger in triggers)
    return [] if spoken_of else [f"evaluation:{finding[:300]}" for finding in findings]
