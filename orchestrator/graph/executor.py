"""executor_node: executes the current step and appends its record as pending validation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langgraph.types import Overwrite, StreamWriter

from agents.errors import AgentError
from agents.loop.effects import use_gate
from agents.loop.langgraph_internals import extend_config
from agents.loop.tool_arguments import IDEMPOTENCY_KEY
from agents.models.model_call import Sampling
from agents.models.server_answers import read_fault
from agents.parsing.thoughts import remove_thoughts
from orchestrator.errors import ContractFunctionError
from orchestrator.events import StepExecuted, StepStarted
from orchestrator.graph.step_gate import RunGate, execute_again
from orchestrator.graph.supervise import wait_for_server
from orchestrator.judging.contract_choice import Contracts, Demand, read_call_rules
from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.planning.plan import describe_task
from orchestrator.retry.verdict_updates import (
    StepRequest,
    build_failure,
    build_request,
    count_calls,
    fail,
    join_refusal,
    stop_if_over_budget,
)
from orchestrator.runtime.agent_methods import AnyGraph
from orchestrator.runtime.bounded_call import AgentMethod, Node, Raised, Returned, RunContext, call_agent
from orchestrator.runtime.call_recorder import CallObserver
from orchestrator.runtime.call_records import CallJournal, open_journal
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    OrchestratorState,
    StateUpdate,
    current_records,
    current_step,
    supervision_mode,
)
from orchestrator.state.plain_values import format_text, read_text
from orchestrator.state.records import Attempt, CallOrigin, SupervisionMode, SupervisionRecord
from orchestrator.supervision import human


@dataclass(frozen=True, slots=True)
class ExecutorMethods:
    """The methods of an executor.

    Attributes:
        execute: Executes a step.
        correct: Executes a step again with the refused output; None if the executor has only one method.
        compress: Shortens the context before an execution; None keeps it as it is.
        models: The models of escalations, by the name in the policy.
        tools: Its tools.
        graph: The graph that carries out the steps, whose state the store of a run keeps; None if the
            executor carries them out by itself.
    """

    execute: AgentMethod[object]
    correct: AgentMethod[object] | None
    compress: AgentMethod[object] | None = None
    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    tools: ExecutorTools = field(default_factory=ExecutorTools)
    graph: AnyGraph | None = None


def executor_node(executor: ExecutorMethods, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that compresses the context, if there is a compressor, and executes the step."""
    policy, default_mode = settings.options["retry_policy"], settings.default_mode
    can_ask = settings.options["supervision_policy"].human

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        (index, step), executions = current_step(state), current_records(state)
        # Once, and before the executor runs: a step that cannot be judged must cost nothing.
        try:
            demands = contracts.list_demands(state, is_gate=True)
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), index, error)
        place = CallOrigin(step_index=index, attempt=len(executions) + 1)
        write(StepStarted(thread_id=run.thread_id, step_index=index, step=step, attempt=place["attempt"]))
        compressed = await _compress_context(executor.compress, state, run)
        if compressed.get("status") == "failed":
            return compressed
        before = cast("OrchestratorState", {**state, **compressed})
        started_at, request = datetime.now(UTC).isoformat(), build_request(before, step, executions, policy)
        complete = executor.tools.complete_call
        journal = await open_journal(complete, is_new=run.is_new) if run.interruptible else None
        gate = _build_gate(executor.tools, before, place, run, demands, journal, can_ask=can_ask)
        # The calls of a graph are in its state.
        own = None if executor.graph else journal
        observer = CallObserver(write, run.thread_id, "executor", index, own)
        known = {"task": describe_task(before, index, step), "schema": contracts.find_schema(state)}
        called = await _call_executor(executor, gate, request, observer, **known)
        if isinstance(called, Raised) and _can_go_on(called, gate, is_stored=bool(executor.graph or journal)):
            wait_for_server(_describe_outage(called))
        record = _build_record(gate, called, request, started_at, supervision_mode(state, default_mode))
        update = _end_execution(gate, record, called)
        for ended in update["results"]:
            write(StepExecuted(thread_id=run.thread_id, record=ended))
        warned = executor.tools.warn_of_calls(state["results"], record)
        update["warnings"] = [*update.get("warnings", []), *warned]
        # The reducer of "context" would add the compressed text to the text that it replaces.
        replaced = {"context": Overwrite(compressed["context"])} if "context" in compressed else {}
        return {**compressed, **replaced, **update}

    return node


async def _compress_context(
    compress: AgentMethod[object] | None, state: OrchestratorState, run: RunContext
) -> StateUpdate:
    if compress is None or not state["context"]:
        return {}
    index, _ = current_step(state)
    method = partial(compress, task=state["task"])
    called = await call_agent(method, state["context"], run=run, step_index=index)
    totals = count_calls(state, called.spent)
    if isinstance(called, Raised):
        kind = called.kind or "compressor_error"
        return {**totals, **build_failure(kind, called.message, index, called.error)}
    context = read_text(called.value)
    if context is None:
        message = f"the compressor returned a {type(called.value).__name__}; text is wanted"
        return {**totals, **build_failure("compressor_error", message, index)}
    return {**totals, "context": context}


_Called: TypeAlias = Returned[object] | Raised


async def _call_executor(
    executor: ExecutorMethods, gate: RunGate, request: StepRequest, observer: CallObserver, **known: object
) -> _Called:
    """Calls the method for a first execution, or for another one; ``known`` are further arguments of it."""
    method, args = executor.execute, [request.instruction]
    if request.refused is not None and executor.correct is not None:
        method, args = executor.correct, [request.instruction, *request.refused]
    elif request.refused is not None:
        request = join_refusal(request)
    run_id, run, place = gate.state["declared"]["run_id"], gate.run, gate.origin
    key = build_execution_key(run.thread_id, run_id, place, request.instruction)
    asked = request.sampling
    # A name that no rule has comes from a store; then the executor keeps its own model.
    sampling = Sampling(asked["temperature"], asked["seed"], executor.models.get(asked["model"] or ""))
    chosen = None if sampling == Sampling() else sampling
    method = partial(method, context=request.context, sampling=chosen, **known)
    if observer.journal is not None:
        method = partial(execute_again, observer.journal, gate, method)
    with use_gate(gate):
        return await call_agent(
            method,
            *args,
            run=run,
            step_index=place["step_index"],
            observer=observer,
            config=extend_config({IDEMPOTENCY_KEY: key}, {**place}),
        )


def _build_record(
    gate: RunGate, called: _Called, request: StepRequest, started_at: str, mode: SupervisionMode
) -> Attempt:
    """Returns the record of an execution that is not judged yet.

    Args:
        gate: The gate of the execution, with the state before it.
        called: The executor's result, or its error.
        request: The request to the executor.
        started_at: When the execution began, as ISO 8601.
        mode: How the step is supervised.
    """
    (result, error), state, made = _read_result(called), gate.state, called.spent.tool_calls
    if gate.journal is not None:
        made = gate.journal.join_calls(made)
    is_cut = isinstance(called, Raised) and called.kind == "needs_review"
    supervision: SupervisionRecord | None = None
    if mode != "none":
        supervision = {**human.blank_supervision(mode), "commitment": state["underway"]["commitment"]}
    record = Attempt(
        step_index=gate.origin["step_index"],
        step=current_step(state)[1],
        attempt=gate.origin["attempt"],
        result=result,
        status="pending_validation" if error is None else "needs_review" if is_cut else "failed",
        verdict=None,
        report=None,
        warnings=[error] if is_cut and error else [],
        supervision=supervision,
        tool_calls=[gate.tools.complete_call(each) for each in made],
        usage=called.spent.usage,
        judge_usage=state["underway"]["committing"],
        model=called.spent.model,
        transport_retries=called.spent.transport_retries,
        replan=state["retries"]["replans"],
        started_at=started_at,
        error=error,
        basis="unverified",
        sampling=request.sampling,
    )
    cut_off = called.spent.cut_off
    return record if cut_off is None else {**record, "cut_off": cut_off}


def _read_result(called: _Called) -> tuple[str, str | None]:
    """Returns the output and no error, or no output and the error."""
    if isinstance(called, Raised):
        return "", called.message
    text = read_text(called.value)
    if text is None:
        return "", f"the executor returned a {type(called.value).__name__}; text is wanted"
    answer = remove_thoughts(text)
    return (text if answer == text.strip() else answer), None


def _end_execution(gate: RunGate, record: Attempt, called: _Called) -> StateUpdate:
    """Returns the update with the record of an execution; an error ends the run."""
    state = gate.state
    underway = {**state["underway"], "commitment": None, "committing": None}
    update = {**count_calls(state, called.spent), "results": [record], "underway": underway}
    index = record["step_index"]
    if record["error"] is None:
        return stop_if_over_budget(update, gate.run, index)
    kind, cause = (called.kind, called.error) if isinstance(called, Raised) else (None, None)
    noted = [f"step {index + 1}: {warning}" for warning in record["warnings"]]
    ended = fail(state, record, kind or "executor_error", record["error"], cause)
    return {**update, **ended, "warnings": [*noted, *ended["warnings"]]}


def _can_go_on(called: Raised, gate: RunGate, *, is_stored: bool) -> bool:
    """Returns whether ``resume`` can go on with an execution, so that nothing is done twice unasked.

    Args:
        called: The error of the executor.
        gate: The gate of the execution.
        is_stored: Whether the store of the run keeps the calls of the executor.
    """
    made = called.spent.tool_calls
    has_called = bool(made) or any(each["tool_calls"] for each in gate.state["results"])
    # A server that was mended can answer. Before the first call, a new run costs nothing that acted.
    is_mended = has_called and isinstance(called.error, AgentError) and read_fault(called.error).is_away
    is_away = (called.transient or is_mended) and called.kind is None and gate.run.interruptible
    return is_away and (is_stored or not made)


def _describe_outage(called: Raised) -> str:
    """Describes an error that ``resume`` goes on after: of a tool, or of the server of a model."""
    error = f"{type(called.error).__name__}: {format_text(called.error)}"
    raised = [call["name"] for call in called.spent.tool_calls if call["error"] == error]
    if raised:
        return f"tool {raised[-1]!r} raised {called.message}; `resume` goes on with the step"
    return f"{called.message}; `resume` goes on when the server is back"


def _build_gate(  # noqa: PLR0917
    tools: ExecutorTools,
    state: OrchestratorState,
    place: CallOrigin,
    run: RunContext,
    demands: Sequence[Demand],
    journal: CallJournal | None,
    *,
    can_ask: bool,
) -> RunGate:
    """Returns the gate of an execution: what contracts forbid, who is asked, what ran before."""
    of_run, of_step = (
        read_call_rules([each.contract for each in demands if each.is_run is is_run and tools.known != ()])
        for is_run in (True, False)
    )
    return RunGate(
        execution=run.execution,
        can_ask=can_ask and run.interruptible,
        acting=tools.acting,
        state=state,
        origin=place,
        run=run,
        tools=tools,
        journal=journal,
        of_run=of_run,
        of_step=of_step,
    )


def build_execution_key(thread_id: str, run_id: str, place: CallOrigin, content: str) -> str:
    """Builds the key of an execution: the same after a crash, another one on a retry or in another run.

    Args:
        thread_id: Thread of the run.
        run_id: Random id of the run. It distinguishes several runs on one thread.
        place: Index of the step, and number of the execution.
        content: Instruction of the step.

    Returns:
        The SHA-256 of all arguments, as 64 hexadecimal digits.
    """
    # JSON keeps the arguments apart: joined texts could be equal for different arguments.
    parts = [thread_id, run_id, place["step_index"], place["attempt"], content]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
