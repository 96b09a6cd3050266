"""executor_node: runs the current step, and appends what it did as pending validation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from langgraph.runtime import Runtime

from agents.boundary import boundary_for, fenced
from orchestrator.calling import Raised, Returned, call_agent
from orchestrator.config import Settings
from orchestrator.events import StepExecuted, StepStarted
from orchestrator.foreign_values import read_text
from orchestrator.judging import failed
from orchestrator.methods import AgentMethod
from orchestrator.nodes.node import Node, context_of
from orchestrator.run_context import RunContext
from orchestrator.state import OrchestratorState, StateUpdate, StepRecord, last_refusal
from orchestrator.usage import add_usage


@dataclass(frozen=True, slots=True)
class ExecutorMethods:
    """How the executor is called; ``correct`` is None where it has no method for it."""

    execute: AgentMethod[object]
    correct: AgentMethod[object] | None


def executor_node(
    executor: ExecutorMethods, compress: AgentMethod[object] | None, settings: Settings
) -> Node:
    """The node over one executor and an optional compressor."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        index, attempt = state["current_step_index"], state["attempts"] + 1
        step = state["plan"][index]
        run.begin_step(index)
        runtime.stream_writer(
            StepStarted(thread_id=run.thread_id, step_index=index, step=step, attempt=attempt)
        )
        shortened = await _compressed(compress, state, run)
        if shortened.get("status") == "failed":
            return shortened
        update = await _executed(executor, {**state, **shortened}, run, settings)
        runtime.stream_writer(StepExecuted(thread_id=run.thread_id, record=update["results"][0]))
        return {**shortened, **update}

    return node


async def _compressed(
    compress: AgentMethod[object] | None, state: OrchestratorState, run: RunContext
) -> StateUpdate:
    """The shorter context, which replaces what is sent and what is kept."""
    if compress is None or not state["context"]:
        return {}
    index = state["current_step_index"]
    called = await call_agent(
        compress, state["context"], state["task"], run=run, spent_before=state["usage"], step_index=index
    )
    usage = add_usage(state["usage"], called.spent.usage)
    if isinstance(called, Raised):
        kind = called.kind or "compressor_error"
        return {"usage": usage, **failed(kind, called.message, index, called.error)}
    context = read_text(called.value)
    if context is None:
        message = f"the compressor returned a {type(called.value).__name__}; text is wanted"
        return {"usage": usage, **failed("compressor_error", message, index)}
    return {"usage": usage, "context": context}


async def _executed(
    executor: ExecutorMethods, state: OrchestratorState, run: RunContext, settings: Settings
) -> StateUpdate:
    started_at = datetime.now(UTC).isoformat()
    called = await _call(executor, state, run, feedback=settings.retry_policy.feedback)
    usage = add_usage(state["usage"], called.spent.usage)
    record = _record(state, called, started_at)
    if isinstance(called, Raised):
        failure = failed(called.kind or "executor_error", called.message, record["step_index"], called.error)
    elif record["error"] is not None:
        failure = failed("executor_error", record["error"], record["step_index"])
    elif reason := run.budget.exceeded(usage):
        return {
            "results": [record],
            "usage": usage,
            **failed("budget_exceeded", reason, record["step_index"]),
        }
    else:
        return {"results": [record], "usage": usage}
    return {"results": [record], "usage": usage, "attempts": state["attempts"] + 1, **failure}


async def _call(
    executor: ExecutorMethods, state: OrchestratorState, run: RunContext, *, feedback: bool
) -> Returned[object] | Raised:
    index, context = state["current_step_index"], state["context"]
    refused = last_refusal(state) if feedback else None
    args: tuple[str, ...]
    method, args = executor.execute, (state["plan"][index],)
    if refused is not None and executor.correct is not None:
        method, args = executor.correct, (*args, refused["result"], _reason(refused))
    elif refused is not None:
        context = correction_context(context, refused)
    return await call_agent(
        partial(method, context=context), *args, run=run, spent_before=state["usage"], step_index=index
    )


def correction_context(context: str, refused: StepRecord) -> str:
    """The context for an executor that has no other way to be told why its output was refused."""
    feedback = _reason(refused)
    mark = boundary_for(context, refused["result"], feedback)
    parts = [
        context,
        fenced("your last output", refused["result"], mark),
        fenced("why it was refused; mend that", feedback, mark),
    ]
    return "\n\n".join(part for part in parts if part)


def _reason(refused: StepRecord) -> str:
    return refused["verdict"]["feedback"] if refused["verdict"] else ""


def _record(state: OrchestratorState, called: Returned[object] | Raised, started_at: str) -> StepRecord:
    index = state["current_step_index"]
    result, error = _result(called)
    return StepRecord(
        step_index=index,
        step=state["plan"][index],
        attempt=state["attempts"] + 1,
        result=result,
        status="pending_validation" if error is None else "failed",
        verdict=None,
        report=None,
        tool_calls=called.spent.tool_calls,
        usage=called.spent.usage,
        judge_usage=None,
        started_at=started_at,
        error=error,
    )


def _result(called: Returned[object] | Raised) -> tuple[str, str | None]:
    if isinstance(called, Raised):
        return "", called.message
    text = read_text(called.value)
    if text is None:
        return "", f"the executor returned a {type(called.value).__name__}; text is wanted"
    return text, None
