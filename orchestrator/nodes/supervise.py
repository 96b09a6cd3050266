"""supervise_node (SUPERVISE): the supervisor decides on a step that is not clean."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.judging.feedback import findings_of
from orchestrator.nodes.base import Node, announce, bounded, context_of, counted, judged_by
from orchestrator.retry.outcome import ask_person, fail, next_state, retry
from orchestrator.runtime.call import Raised, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_records, latest_record
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, StepRecord
from orchestrator.state.records import SuperviseRequest, SupervisorVerdict
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Supervise


def supervise_node(supervise: Supervise, settings: Settings) -> Node:
    """The node over one supervisor."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        record = latest_record(state)
        request = _request(record)
        called = await call_agent(
            lambda: supervise(request),
            run=run,
            spent_before=state["usage"],
            step_index=record["step_index"],
        )
        spent = judged_by(record, called.spent.usage)
        if isinstance(called, Raised):
            lost: StepRecord = {**spent, "status": "needs_review", "error": called.message}
            update = fail(state, lost, called.kind or "supervisor_error", called.message, called.error)
        else:
            update = _decided(state, _with_verdict(spent, called.value), called.value, settings, run)
        update = bounded({**counted(state, called.spent), **update}, run, record["step_index"])
        announce(runtime.stream_writer, run.thread_id, update)
        return update

    return node


def _request(record: StepRecord) -> SuperviseRequest:
    supervision = record["supervision"] or blank_supervision("llm")
    return SuperviseRequest(
        objective=record["step"],
        output=record["result"],
        commitment=supervision["commitment"],
        assessment=supervision["assessment"],
        triggers=supervision["triggers"],
        findings=findings_of(record["report"]) if record["report"] else [],
    )


def _with_verdict(record: StepRecord, verdict: SupervisorVerdict) -> StepRecord:
    supervision = record["supervision"] or blank_supervision("llm")
    return {**record, "supervision": {**supervision, "verdict": verdict}}


def _decided(
    state: OrchestratorState,
    record: StepRecord,
    verdict: SupervisorVerdict,
    settings: Settings,
    run: RunContext,
) -> StateUpdate:
    refused: StepRecord = {**record, "status": "failed"}
    word = verdict["verdict"]
    if word == "continue":
        return next_state(state, record, settings, run.now())
    if word == "halt":
        return fail(state, refused, "halted", f"the supervisor halted the run: {verdict['reason']}")
    if word == "ask_human":
        return _asked(state, record, verdict["question"], settings, run)
    if _reoriented(state) < settings.supervision_policy.max_reorient_attempts:
        return retry(state, refused, semantic=False)
    bound = settings.supervision_policy.max_reorient_attempts
    wanted = f"all {bound} of max_reorient_attempts were made; it still wants: {verdict['correction']}"
    return _asked(state, record, wanted, settings, run)


def _asked(
    state: OrchestratorState, record: StepRecord, question: str, settings: Settings, run: RunContext
) -> StateUpdate:
    if settings.can_ask_human:
        return ask_person(state, record, "supervision", question, settings, run.now())
    unanswered: StepRecord = {**record, "status": "needs_review"}
    return fail(state, unanswered, "needs_review", f"nobody is there to be asked: {question}")


def _reoriented(state: OrchestratorState) -> int:
    """How often the step was given back with a correction of the supervisor already."""
    supervisions = [record["supervision"] for record in current_records(state)[:-1]]
    verdicts = [one["verdict"] for one in supervisions if one is not None and one["answer"] is None]
    return sum(verdict is not None and verdict["verdict"] == "reorient" for verdict in verdicts)
