"""executor_node: executes the current step and appends its record as pending validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from langchain_core.language_models import BaseChatModel
from langgraph.types import Overwrite, StreamWriter

from agents.calls.journal import CALL_JOURNAL
from agents.calls.planned_call import IDEMPOTENCY_KEY
from agents.calls.tool_gate import TOOL_GATE, ToolGate
from orchestrator.errors import ContractFunctionError, RetryStrategyError
from orchestrator.judging.contract_choice import Contracts, Demand
from orchestrator.judging.tools.call_rules import CallBounds, read_call_rules
from orchestrator.judging.tools.executor_tools import ExecutorTools
from orchestrator.nodes.approval import ToolApproval
from orchestrator.nodes.node_types import Node, stop_if_over_budget, with_totals
from orchestrator.nodes.step_record import build_record
from orchestrator.retry.step_request import StepRequest, build_request, build_sampling, join_refusal
from orchestrator.retry.verdict_updates import add_decision, build_failure, warn_of_refused_calls
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.events import StepExecuted, StepStarted
from orchestrator.runtime.langgraph_internals import extend_config, idempotency_key
from orchestrator.runtime.recording.call_records import CallObserver
from orchestrator.runtime.recording.once_calls import EarlierCalls, read_starts
from orchestrator.runtime.recording.task_journal import open_journal
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import (
    current_records,
    current_step,
    describe_task,
    supervision_mode,
)
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.plain_values import read_text
from orchestrator.state.records import CallOrigin


@dataclass(frozen=True, slots=True)
class ExecutorMethods:
    """The methods of an executor.

    Attributes:
        execute: Executes a step.
        correct: Executes a step again with the refused output; None if the executor has only one method.
        compress: Shortens the context before an execution; None keeps it as it is.
        models: The models of escalations, by the name in the policy.
        tools: Its tools.
    """

    execute: AgentMethod[object]
    correct: AgentMethod[object] | None
    compress: AgentMethod[object] | None = None
    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    tools: ExecutorTools = field(default_factory=ExecutorTools)


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
        state, started_at = self.state, self.run.now().isoformat()
        try:
            request = build_request(state, self.settings.retry_policy)
        except RetryStrategyError as error:
            return {"results": [], **build_failure("executor_error", str(error), self.index, error)}
        called = await self._call(request, observer)
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
        key = idempotency_key(run.thread_id, run_id, index, self.attempt, request.instruction)
        place = {"step_index": index, "attempt": self.attempt}
        starts = await read_starts() if run.interruptible else None
        with open_journal(run.now, is_kept=run.interruptible) as journal:
            policy = self.settings.supervision_policy
            read_time = run.now().isoformat if journal is None else journal.read_time
            can_ask = policy.human and run.interruptible
            ask = ToolApproval(self.state, policy, run.now, read_time) if can_ask else None
            gate = replace(self._build_gate(), ask=ask, starts=starts)
            return await call_agent(
                partial(
                    method,
                    context=request.context,
                    task=describe_task(self.state),
                    schema=None if request.draft is not None else self.schema,
                    sampling=build_sampling(request, self.executor.models),
                ),
                *args,
                run=run,
                step_index=index,
                observer=observer,
                config=extend_config({IDEMPOTENCY_KEY: key, TOOL_GATE: gate, CALL_JOURNAL: journal}, place),
            )

    def _build_gate(self) -> ToolGate:
        """Returns the gate of the execution: what contracts forbid, who is asked, what ran before."""
        writing, results = self.executor.tools.writing, self.state["results"]
        calls = CallBounds(
            read_call_rules([each.contract for each in self.demands if each.is_run], writing),
            read_call_rules([each.contract for each in self.demands if not each.is_run], writing),
            [call for record in results for call in record["tool_calls"]],
        )
        earlier = EarlierCalls(
            [*results, *self.state["synthesis"]],
            CallOrigin(step_index=self.index, attempt=self.attempt),
            self.settings.once_tools,
            self.executor.tools.once,
        )
        return ToolGate(
            find_breach=calls.find_breach,
            counted=calls.counted,
            ask_before=self.settings.approve_tools,
            once=frozenset(self.settings.once_tools),
            find_earlier=earlier,
        )
