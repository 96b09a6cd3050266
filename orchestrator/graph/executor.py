"""executor_node: executes the current step and appends its record as pending validation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from langchain_core.language_models import BaseChatModel
from langgraph.types import Overwrite, StreamWriter

from agents.errors import AgentError
from agents.loop.effects import use_gate, utc_now
from agents.loop.langgraph_internals import extend_config
from agents.loop.tool_arguments import IDEMPOTENCY_KEY
from agents.models.server_answers import read_fault
from agents.parsing.thoughts import remove_thoughts
from orchestrator.errors import ContractFunctionError
from orchestrator.events import StepExecuted, StepStarted
from orchestrator.graph.node_types import Node, stop_if_over_budget, with_totals
from orchestrator.graph.step_gate import RunGate
from orchestrator.graph.supervise import wait_for_server
from orchestrator.judging.call_rules import CallBounds, read_call_rules
from orchestrator.judging.contract_choice import Contracts, Demand
from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.retry.step_request import (
    StepRequest,
    build_request,
    build_sampling,
    join_refusal,
)
from orchestrator.retry.verdict_updates import add_decision, build_failure, warn_of_refused_calls
from orchestrator.runtime.agent_methods import AgentMethod, AnyGraph
from orchestrator.runtime.call import Raised, Returned, RunContext, call_agent
from orchestrator.runtime.call_recorder import CallObserver
from orchestrator.settings import Settings
from orchestrator.state.current_step import (
    current_records,
    current_step,
    describe_task,
    supervision_mode,
)
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.plain_values import read_text
from orchestrator.state.records import (
    Attempt,
    CallOrigin,
    SamplingRecord,
    SupervisionMode,
    SupervisionRecord,
)
from orchestrator.supervision.human import blank_supervision


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

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        index, step = current_step(state)
        run.start_step(index)
        # Once, and before the executor runs: a step that cannot be judged must cost nothing.
        try:
            demands = contracts.list_gated(state)
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), index, error)
        attempt = len(current_records(state)) + 1
        write(StepStarted(thread_id=run.thread_id, step_index=index, step=step, attempt=attempt))
        compressed = await _compress_context(executor.compress, state, run)
        if compressed.get("status") == "failed":
            return compressed
        schema, before = contracts.find_schema(state), cast("OrchestratorState", {**state, **compressed})
        execution = _Execution(executor, before, run, settings, index, attempt, demands, schema)
        update = await execution.execute(CallObserver(write, run.thread_id, "executor", index))
        records = contracts.tools.complete_calls(update["results"])
        for record in records:
            write(StepExecuted(thread_id=run.thread_id, record=record))
            repeated = contracts.tools.warn_of_repeats(state["results"], record)
            update = {**update, "warnings": [*update.get("warnings", []), *repeated]}
        return {**_overwrite_context(compressed), **update, "results": records}

    return node


async def _compress_context(
    compress: AgentMethod[object] | None, state: OrchestratorState, run: RunContext
) -> StateUpdate:
    if compress is None or not state["context"]:
        return {}
    index, _ = current_step(state)
    called = await call_agent(compress, state["context"], state["task"], run=run, step_index=index)
    totals = with_totals(state, called.spent)
    if isinstance(called, Raised):
        kind = called.kind or "compressor_error"
        return {**totals, **build_failure(kind, called.message, index, called.error)}
    context = read_text(called.value)
    if context is None:
        message = f"the compressor returned a {type(called.value).__name__}; text is wanted"
        return {**totals, **build_failure("compressor_error", message, index)}
    return {**totals, "context": context}


def _overwrite_context(update: StateUpdate) -> StateUpdate:
    if "context" not in update:
        return update
    # The reducer of "context" would add the compressed text to the text that it replaces.
    return cast("StateUpdate", {**update, "context": Overwrite(update["context"])})


@dataclass(frozen=True, slots=True)
class _Execution:
    """One execution of a step.

    Attributes:
        executor: The executor.
        state: The state before it, with the compressed context.
        run: The run.
        settings: The settings.
        index: Index of the step.
        attempt: Number of the execution.
        demands: The contracts that may forbid a call.
        schema: The JSON Schema of the output; None if it may be any text.
    """

    executor: ExecutorMethods
    state: OrchestratorState
    run: RunContext
    settings: Settings
    index: int
    attempt: int
    demands: Sequence[Demand]
    schema: Mapping[str, object] | None

    async def execute(self, observer: CallObserver) -> StateUpdate:
        """Executes the step; returns the update with its record, which ends the run after an error."""
        state, started_at = self.state, utc_now().isoformat()
        request = build_request(state, self.settings.options["retry_policy"])
        called = await self._call(request, observer)
        if isinstance(called, Raised) and self._can_go_on(called):
            wait_for_server(called.message)
        mode = supervision_mode(state, self.settings.default_mode)
        record = build_record(state, called, request, started_at, mode)
        update: StateUpdate = {
            **with_totals(state, called.spent),
            "results": [record],
            "underway": {**state["underway"], "commitment": None, "committing": None},
        }
        if record["error"] is None:
            return stop_if_over_budget(update, self.run, self.index)
        kind, cause = (called.kind, called.error) if isinstance(called, Raised) else (None, None)
        noted = [f"step {self.index + 1}: {warning}" for warning in record["warnings"]]
        return {
            **update,
            "results": [add_decision(record, "stop", record["error"])],
            "warnings": [*noted, *warn_of_refused_calls(state, record)],
            "attempts": state["attempts"] + 1,
            **build_failure(kind or "executor_error", record["error"], self.index, cause),
        }

    async def _call(self, request: StepRequest, observer: CallObserver) -> Returned[object] | Raised:
        method, args = self.executor.execute, [request.instruction]
        if request.refused is not None and self.executor.correct is not None:
            method = self.executor.correct
            args += [request.refused.output, request.refused.reason]
        elif request.refused is not None:
            request = join_refusal(request)
        run, index, run_id = self.run, self.index, self.state["declared"]["run_id"]
        key = build_execution_key(run.thread_id, run_id, index, self.attempt, request.instruction)
        place = {"step_index": index, "attempt": self.attempt}
        with use_gate(self._build_gate()):
            return await call_agent(
                partial(
                    method,
                    context=request.context,
                    task=describe_task(self.state),
                    schema=self.schema,
                    sampling=build_sampling(request, self.executor.models),
                ),
                *args,
                run=run,
                step_index=index,
                observer=observer,
                config=extend_config({IDEMPOTENCY_KEY: key}, place),
            )

    def _can_go_on(self, called: Raised) -> bool:
        """Returns whether ``resume`` can go on with this execution, so that nothing is done twice."""
        has_called = bool(called.spent.tool_calls) or any(
            each["tool_calls"] for each in self.state["results"]
        )
        # A server that was mended can answer. Before the first call, a new run costs nothing that acted.
        is_mended = has_called and isinstance(called.error, AgentError) and read_fault(called.error).is_away
        is_away = (called.transient or is_mended) and called.kind is None and self.run.interruptible
        return is_away and (self.executor.graph is not None or not called.spent.tool_calls)

    def _build_gate(self) -> RunGate:
        """Returns the gate of the execution: what contracts forbid, who is asked, what ran before."""
        bounds = self._read_bounds() if self.executor.tools.known != () else None
        return RunGate(
            execution=self.run.execution,
            can_ask=self.settings.options["supervision_policy"].human and self.run.interruptible,
            acting=self.executor.tools.acting,
            has_bounds=bounds is not None,
            state=self.state,
            origin=CallOrigin(step_index=self.index, attempt=self.attempt),
            run=self.run,
            tools=self.executor.tools,
            bounds=bounds,
        )

    def _read_bounds(self) -> CallBounds | None:
        demands = self.demands
        of_run, of_step = (
            read_call_rules([each.contract for each in demands if each.is_run is is_run])
            for is_run in (True, False)
        )
        earlier = [call for record in self.state["results"] for call in record["tool_calls"]]
        return None if of_run.is_empty and of_step.is_empty else CallBounds(of_run, of_step, earlier)


def build_execution_key(thread_id: str, run_id: str, step_index: int, attempt: int, content: str) -> str:
    """Builds the key of an execution: the same after a crash, another one on a retry or in another run.

    Args:
        thread_id: Thread of the run.
        run_id: Random id of the run. It distinguishes several runs on one thread.
        step_index: Index of the step.
        attempt: Number of the execution.
        content: Instruction of the step.

    Returns:
        The SHA-256 of all arguments, as 64 hexadecimal digits.
    """
    # JSON keeps the arguments apart: joined texts could be equal for different arguments.
    encoded = json.dumps([thread_id, run_id, step_index, attempt, content], ensure_ascii=True)
    return hashlib.sha256(encoded.encode()).hexdigest()


def build_record(
    state: OrchestratorState,
    called: Returned[object] | Raised,
    request: StepRequest,
    started_at: str,
    mode: SupervisionMode,
) -> Attempt:
    """Returns the record of an execution that is not judged yet.

    Args:
        state: The state before the execution, with the commitment to it.
        called: The executor's result, or its error.
        request: What the executor was asked to do.
        started_at: When the execution began, as ISO 8601.
        mode: How the step is supervised.
    """
    index, step = current_step(state)
    result, error = _read_result(called)
    is_cut = isinstance(called, Raised) and called.kind == "needs_review"
    record = Attempt(
        step_index=index,
        step=step,
        attempt=len(current_records(state)) + 1,
        result=result,
        status="pending_validation" if error is None else "needs_review" if is_cut else "failed",
        verdict=None,
        report=None,
        warnings=[error] if is_cut and error else [],
        supervision=_build_supervision(state, mode),
        tool_calls=called.spent.tool_calls,
        usage=called.spent.usage,
        judge_usage=state["underway"]["committing"],
        model=called.spent.model,
        transport_retries=called.spent.transport_retries,
        replan=state["retries"]["replans"],
        started_at=started_at,
        error=error,
        basis="unverified",
        sampling=SamplingRecord(temperature=request.temperature, seed=request.seed, model=request.model),
    )
    cut_off = called.spent.cut_off
    return record if cut_off is None else {**record, "cut_off": cut_off}


def _build_supervision(state: OrchestratorState, mode: SupervisionMode) -> SupervisionRecord | None:
    """Returns a record with the commitment of this execution."""
    if mode == "none":
        return None
    return {**blank_supervision(mode), "commitment": state["underway"]["commitment"]}


def _read_result(called: Returned[object] | Raised) -> tuple[str, str | None]:
    """Returns the output and no error, or no output and the error."""
    if isinstance(called, Raised):
        return called.output, called.message
    text = read_text(called.value)
    if text is None:
        return "", f"the executor returned a {type(called.value).__name__}; text is wanted"
    answer = remove_thoughts(text)
    return (text if answer == text.strip() else answer), None
