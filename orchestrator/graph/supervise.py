"""The nodes of supervision: commit_node, post_node, reconcile_node and supervise_node.

approval_node waits for a person's answer; answer_node applies it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NoReturn, TypeVar, cast

from langgraph.types import StreamWriter, interrupt

from agents.reply_types import HumanAnswer, Unreadable
from orchestrator.errors import ContractFunctionError
from orchestrator.graph.monitor import decide_next, emit_verdicts, find_hidden_answer
from orchestrator.judging.contract_choice import Contracts
from orchestrator.judging.evidence import Evidence
from orchestrator.judging.feedback import Expectations, findings_of
from orchestrator.planning.plan import describe_task
from orchestrator.retry.verdict_updates import (
    accept,
    add_decision,
    ask_person,
    build_failure,
    build_request,
    count_calls,
    fail,
    join_refusal,
    read_outcome,
    retry,
    stop_if_over_budget,
)
from orchestrator.runtime.bounded_call import AgentMethod, Node, Raised, Returned, RunContext, call_agent
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    OrchestratorState,
    StateUpdate,
    add_usage,
    current_records,
    current_step,
    read_correction,
    supervision_mode,
)
from orchestrator.state.records import (
    NO_USAGE,
    Attempt,
    CommitKind,
    Question,
    Reconciliation,
    SuperviseRequest,
    SupervisionMode,
    SupervisorVerdict,
)
from orchestrator.supervision import human
from orchestrator.supervision.phases import Assess, Commit, Reconcile, Supervise, list_facts
from orchestrator.supervision.replies import (
    AssessmentReply,
    build_assessment,
    build_commitment,
    build_verdict,
)

T = TypeVar("T")


async def _call_supervision(
    method: AgentMethod[T],
    state: OrchestratorState,
    run: RunContext,
    apply: Callable[[Attempt, T], StateUpdate],
    recover: Callable[[Raised], T] | None = None,
) -> StateUpdate:
    """Calls an agent that supervises the latest execution, and returns the update.

    Args:
        method: The call.
        state: The state before the call.
        run: The run.
        apply: Returns the update for the execution and the answer.
        recover: Returns the answer that replaces an error of the agent. Without it, an error ends the run.
            A bound of the run ends it in any case.
    """
    record = current_records(state)[-1]
    called = await call_agent(method, run=run, step_index=record["step_index"])
    record = {**record, "judge_usage": add_usage(record["judge_usage"] or NO_USAGE, called.spent.usage)}
    if isinstance(called, Returned):
        update = apply(record, called.value)
    elif recover is not None and called.kind is None:
        update = apply(record, recover(called))
    else:
        unjudged: Attempt = {**record, "status": "needs_review"}
        update = fail(state, unjudged, called.kind or "supervisor_error", called.message, called.error)
    return stop_if_over_budget({**count_calls(state, called.spent), **update}, run, record["step_index"])


def _supervise(record: Attempt, mode: SupervisionMode = "llm", **changes: object) -> Attempt:
    """Returns an execution with changes of its supervision, which begins in a mode if there is none."""
    supervision = record["supervision"] or human.blank_supervision(mode)
    return cast("Attempt", {**record, "supervision": {**supervision, **changes}})


def reconcile_node(reconcile: Reconcile, settings: Settings) -> Node:
    """Returns the node that lets a clean step go on and hands any other to its supervisor or a person."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        mode = supervision_mode(state, settings.default_mode)
        record, escalate = _find_triggers(reconcile, current_records(state)[-1])
        update: StateUpdate = {"results": [record]}
        if mode == "human":
            text = f"Do you accept the output of step {record['step_index'] + 1}?"
            update = ask_person(record, "supervision", text)
        elif not escalate:
            update = decide_next(state, record, settings)
        emit_verdicts(write, run.thread_id, update)
        return update

    return node


def _find_triggers(reconcile: Reconcile, record: Attempt) -> tuple[Attempt, bool]:
    supervision = record["supervision"] or human.blank_supervision("llm")
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
    return _supervise(record, triggers=triggers), bool(triggers) or result["escalate"]


def supervise_node(supervise: Supervise, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks the supervisor."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        record = current_records(state)[-1]
        try:
            hidden = find_hidden_answer(state, contracts.list_demands(state)[-1].contract)
        except ContractFunctionError as error:
            return fail(state, {**record, "status": "needs_review"}, "contract_error", str(error), error)
        request = _build_request(record, describe_task(state, record["step_index"], record["step"]), hidden)
        update = await _call_supervision(
            partial(supervise, request),
            state,
            run,
            lambda judged, reply: _apply_verdict(state, judged, build_verdict(reply), settings),
        )
        emit_verdicts(write, run.thread_id, update)
        return update

    return node


def _build_request(record: Attempt, task: str, hidden: Expectations) -> SuperviseRequest:
    """Returns the request. A supervisor that is told the expected answer would tell it to the executor."""
    supervision = record["supervision"] or human.blank_supervision("llm")
    return SuperviseRequest(
        objective=record["step"],
        task=task,
        output=record["result"],
        commitment=supervision["commitment"],
        assessment=supervision["assessment"],
        triggers=[hidden.mask(trigger) for trigger in supervision["triggers"]],
        findings=findings_of(record["report"], hidden),
    )


def _apply_verdict(
    state: OrchestratorState, record: Attempt, verdict: SupervisorVerdict, settings: Settings
) -> StateUpdate:
    record = _supervise(record, verdict=verdict)
    refused: Attempt = {**record, "status": "failed"}
    match verdict["verdict"]:
        case "continue":
            # A supervisor cannot overrule a failed check; only a person's approval can.
            return decide_next(state, record, settings)
        case "halt":
            return fail(state, refused, "halted", f"the supervisor halted the run: {verdict['reason']}")
        case "ask_human":
            return _ask_or_fail(state, record, verdict["question"], settings)
    bound = settings.options["supervision_policy"].max_reorient_attempts
    if _count_reorients(state) < bound:
        return retry(state, add_decision(refused, "correct", "the supervisor's correction"), semantic=False)
    question = f"all {bound} of max_reorient_attempts were made; it still wants: {verdict['correction']}"
    return _ask_or_fail(state, record, question, settings)


def _ask_or_fail(state: OrchestratorState, record: Attempt, question: str, settings: Settings) -> StateUpdate:
    if settings.can_ask_human:
        return ask_person(record, "supervision", question)
    reason = f"nobody is there to be asked: {question}"
    return fail(state, {**record, "status": "needs_review"}, "needs_review", reason)


def _count_reorients(state: OrchestratorState) -> int:
    """Returns how often the supervisor returned the step with a correction."""
    supervisions = [each["supervision"] for each in current_records(state)[:-1] if each["supervision"]]
    # A verdict that a person answered counts for the person.
    verdicts = [each["verdict"] for each in supervisions if each["verdict"] and each["answer"] is None]
    return sum(verdict["verdict"] == "reorient" for verdict in verdicts)


def commit_node(commit: Commit | None, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks for a commitment; it does nothing if the executor makes none."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:  # noqa: ARG001 - as every node
        if commit is None:
            return {}
        index, step = current_step(state)
        # Checked before the executor runs: a step that cannot be judged must cost nothing.
        try:
            contracts.list_demands(state)
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), index, error)
        # With the reason if the step was refused.
        executions, policy = current_records(state), settings.options["retry_policy"]
        request = join_refusal(build_request(state, step, executions, policy))
        task = describe_task(state, index, step)
        called = await call_agent(
            commit, request.instruction, request.context, task, run=run, step_index=index
        )
        totals = count_calls(state, called.spent)
        if isinstance(called, Returned):
            reply = called.value
        elif called.kind is None:
            # An error of the executor escalates the step after its execution; a bound of the run ends it.
            reply = Unreadable(f"the commitment could not be made: {called.message}", called.message)
        else:
            return {**totals, **build_failure(called.kind, called.message, index, called.error)}
        kind = _find_kind(state)
        commitment = build_commitment(reply, index, request.instruction, datetime.now(UTC), kind)
        underway = {**state["underway"], "commitment": commitment, "committing": called.spent.usage}
        return stop_if_over_budget({**totals, "underway": underway}, run, index)

    return node


def _find_kind(state: OrchestratorState) -> CommitKind:
    """Returns which execution the commitment is for."""
    executions = current_records(state)
    if not state["attempts"] or not executions:
        return "first"
    return "reorient" if read_correction(executions[-1]) else "retry"


def post_node(assess: Assess | None) -> Node:
    """Returns the node that asks for the self-assessment; without a commitment, or after an end, nothing.

    After an error of the executor, the commitment counts as not met.
    """

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        record = current_records(state)[-1]
        commitment = record["supervision"] and record["supervision"]["commitment"]
        if assess is None or commitment is None or state["status"] != "executing":
            return {}
        index, output = record["step_index"], record["result"]
        tools = list(dict.fromkeys(call["name"] for call in record["tool_calls"]))

        def apply(assessed: Attempt, reply: AssessmentReply | Unreadable) -> StateUpdate:
            assessment = build_assessment(reply, index, output, tools, datetime.now(UTC))
            return {"results": [_supervise(assessed, assessment=assessment)]}

        task = describe_task(state, index, record["step"])
        method = partial(assess, record["step"], commitment, output, tools, task)
        update = await _call_supervision(
            method, state, run, apply, lambda called: Unreadable("", called.message)
        )
        emit_verdicts(write, run.thread_id, update)
        return update

    return node


async def approval_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:  # noqa: ARG001 - as every node
    """Waits for an answer."""
    # Nothing else belongs here: LangGraph runs an interrupted node again from its first line.
    return {"underway": {**state["underway"], "answer": interrupt(state["question"])}}


def wait_for_server(message: str) -> NoReturn:
    """Stops the run, so that ``resume`` goes on with this execution when the server is back.

    Raises:
        GraphInterrupt: Always.
    """
    while True:  # an interrupt that was resumed returns, and the server is away again
        interrupt({human.OUTAGE: message})


async def answer_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
    """Applies an answer; if it cannot be read, asks again."""
    question = cast("Question", state["question"])
    answer = human.read_answer(state["underway"]["answer"], question, datetime.now(UTC))
    taken: StateUpdate = {"underway": {**state["underway"], "answer": None}}
    if isinstance(answer, str):
        return {**taken, "question": {**question, "problem": answer}}
    record = _supervise(current_records(state)[-1], "human", answer=answer)
    update = _apply_answer(state, record, answer)
    emit_verdicts(write, run.thread_id, update)
    return {**taken, **update}


def _apply_answer(state: OrchestratorState, record: Attempt, answer: HumanAnswer) -> StateUpdate:
    person = answer["answered_by"]
    if answer["answer"] == "approve":
        approved = Evidence(person=person).complete_attempt(record)
        return accept(state, add_decision(approved, "accept", f"approved by {person}"))
    refused: Attempt = {**record, "status": "failed"}
    if answer["answer"] == "correct":
        asked = record.get("decision")
        rule = None if asked is None else asked["rule"]
        return retry(state, add_decision(refused, "correct", f"corrected by {person}", rule), semantic=False)
    reason = f"denied by {person}: {answer['text']}"
    return fail(state, add_decision(refused, "stop", reason), "denied", reason)
