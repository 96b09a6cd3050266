"""executor_node: executes the current step and appends its record as pending validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agents.calls.journal import CALL_JOURNAL
from agents.calls.planned_call import IDEMPOTENCY_KEY
from agents.calls.tool_gate import TOOL_GATE, ToolGate
from orchestrator.errors import ContractFunctionError, RetryStrategyError
from orchestrator.judging.contracts import Contracts, Demand
from orchestrator.judging.tools.call_rules import CallBounds, read_call_rules
from orchestrator.judging.tools.effects import complete_calls
from orchestrator.judging.verdict import build_failure
from orchestrator.nodes.base import Node, get_context, stop_if_over_budget, with_totals
from orchestrator.nodes.human import ToolApproval
from orchestrator.nodes.step_record import build_record
from orchestrator.planning.outline import describe_task
from orchestrator.retry.step_request import StepRequest, build_request, build_sampling, join_refusal
from orchestrator.retry.verdict_updates import add_decision, warn_of_refused_calls
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import StepExecuted, StepStarted
from orchestrator.runtime.langgraph_internals import describe_execution, extend_config, idempotency_key
from orchestrator.runtime.recording.call_observer import CallObserver
from orchestrator.runtime.recording.earlier_calls import EarlierCalls, read_starts
from orchestrator.runtime.recording.task_journal import open_journal
from orchestrator.settings import Settings
from orchestrator.state.current_step import (
    current_index,
    current_records,
    current_step,
    supervision_mode,
)
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.plain_values import read_text
from orchestrator.state.records import CallOrigin
from orchestrator.supervision.modes import SupervisionPolicy


@dataclass(frozen=True, slots=True)
class ExecutorMethods:
    """The executor's two methods.

    Attributes:
        execute: Executes a step.
        correct: Executes a step again with the refused output; None if the executor has only one method.
        models: The models of escalations, by the name in the policy.
        once_in_retries: Names of tools that do not repeat the calls of a refused execution.
        writing: Names of tools that are known to write.
    """

    execute: AgentMethod[object]
    correct: AgentMethod[object] | None
    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    once_in_retries: frozenset[str] = frozenset()
    writing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepRules:
    """The requirements of a contract on the execution of a step.

    Attributes:
        schema: The JSON Schema of the output; None if it may be any text.
        gate: Decides before each tool call whether the tool may run.
        policy: Sets the deadline of a person's answer about a call.
    """

    schema: Mapping[str, object] | None
    gate: ToolGate
    policy: SupervisionPolicy


def executor_node(
    executor: ExecutorMethods, compress: AgentMethod[object] | None, contracts: Contracts, settings: Settings
) -> Node:
    """Returns the node that compresses the context, if there is a compressor, and executes the step."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        index, step = current_step(state)
        run.start_step(index)
        # Once, and before the executor runs: a step that cannot be judged must cost nothing.
        try:
            demands = contracts.list_gated(state)
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), index, error)
        attempt = len(current_records(state)) + 1
        runtime.stream_writer(
            StepStarted(thread_id=run.thread_id, step_index=index, step=step, attempt=attempt)
        )
        compressed = await _compress_context(compress, state, run)
        if compressed.get("status") == "failed":
            return compressed
        observer = CallObserver(runtime.stream_writer, run.thread_id, "executor", index)
        gate = _build_gate(executor, state, demands, settings)
        rules = StepRules(contracts.find_schema(state), gate, settings.supervision_policy)
        update = await _execute_step(executor, {**state, **compressed}, run, settings, observer, rules)
        update = {
            **update,
            "results": complete_calls(update["results"], contracts.tools.readers, executor.writing),
        }
        for record in update["results"]:
            runtime.stream_writer(StepExecuted(thread_id=run.thread_id, record=record))
        return {**_overwrite_context(compressed), **update}

    return node


def _build_gate(
    executor: ExecutorMethods,
    state: OrchestratorState,
    demands: Sequence[Demand],
    settings: Settings,
) -> ToolGate:
    """Returns the gate of the next execution: what contracts forbid, who is asked, what ran before."""
    index, attempt = current_index(state), len(current_records(state)) + 1
    of_run = [demand.contract for demand in demands if demand.is_run]
    of_step = [demand.contract for demand in demands if not demand.is_run]
    calls = CallBounds(
        read_call_rules(of_run, executor.writing),
        read_call_rules(of_step, executor.writing),
        [call for record in state["results"] for call in record["tool_calls"]],
    )
    earlier = EarlierCalls(
        [*state["results"], *state["synthesis"]],
        CallOrigin(step_index=index, attempt=attempt),
        settings.once_tools,
        executor.once_in_retries,
    )
    return ToolGate(
        find_breach=calls.find_breach,
        counted=calls.counted,
        ask_before=settings.approve_tools,
        once=frozenset(settings.once_tools),
        find_earlier=earlier,
    )


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


async def _execute_step(  # noqa: PLR0917
    executor: ExecutorMethods,
    state: OrchestratorState,
    run: RunContext,
    settings: Settings,
    observer: CallObserver,
    rules: StepRules,
) -> StateUpdate:
    started_at = run.now().isoformat()
    try:
        request = build_request(state, settings.retry_policy)
    except RetryStrategyError as error:
        index = current_index(state)
        return {"results": [], **build_failure("executor_error", str(error), index, error)}
    called = await _call_executor(executor, state, run, request, observer, rules)
    mode = supervision_mode(state, settings.default_mode)
    record = build_record(state, called, request, started_at, mode)
    update: StateUpdate = {
        **with_totals(state, called.spent),
        "results": [record],
        "underway": {**state["underway"], "commitment": None, "committing": None},
    }
    if isinstance(called, Raised):
        kind = called.kind or "executor_error"
        failure = build_failure(kind, called.message, record["step_index"], called.error)
    elif record["error"] is not None:
        failure = build_failure("executor_error", record["error"], record["step_index"])
    else:
        return stop_if_over_budget(update, run, record["step_index"])
    stopped = add_decision(record, "stop", record["error"] or "")
    noted = [f"step {record['step_index'] + 1}: {warning}" for warning in record["warnings"]]
    warnings = [*noted, *warn_of_refused_calls(state, record)]
    return {
        **update,
        "results": [stopped],
        "warnings": warnings,
        "attempts": state["attempts"] + 1,
        **failure,
    }


async def _call_executor(  # noqa: PLR0917
    executor: ExecutorMethods,
    state: OrchestratorState,
    run: RunContext,
    request: StepRequest,
    observer: CallObserver,
    rules: StepRules,
) -> Returned[object] | Raised:
    args: tuple[str, ...]
    method, args = executor.execute, (request.instruction,)
    if request.refused is not None and executor.correct is not None:
        method, args = executor.correct, (*args, request.refused.output, request.refused.reason)
    elif request.refused is not None:
        request = join_refusal(request)
    key = _build_key(state, run, request.instruction)
    place = describe_execution(current_index(state), len(current_records(state)) + 1)
    starts = await read_starts() if run.interruptible else None
    with open_journal(run.now, is_kept=run.interruptible) as journal:
        read_time = run.now().isoformat if journal is None else journal.read_time
        can_ask = rules.policy.human and run.interruptible
        ask = ToolApproval(state, rules.policy, run.now, read_time) if can_ask else None
        gate = replace(rules.gate, ask=ask, starts=starts)
        return await call_agent(
            partial(
                method,
                context=request.context,
                task=describe_task(state),
                schema=None if request.draft is not None else rules.schema,
                sampling=build_sampling(request, executor.models),
            ),
            *args,
            run=run,
            step_index=current_index(state),
            observer=observer,
            config=extend_config({IDEMPOTENCY_KEY: key, TOOL_GATE: gate, CALL_JOURNAL: journal}, place),
        )


def _build_key(state: OrchestratorState, run: RunContext, instruction: str) -> str:
    attempt = len(current_records(state)) + 1
    run_id = state["declared"]["run_id"]
    return idempotency_key(run.thread_id, run_id, current_index(state), attempt, instruction)
