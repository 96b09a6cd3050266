"""Calling an agent: off the event loop if it blocks, recorded, bounded in time, its failure a value."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from langgraph.errors import GraphInterrupt

from agents.calls.redaction import mask_keys
from agents.errors import AgentError
from agents.models.transport_retry import TransportRetry, is_transient
from orchestrator.errors import InterruptError, OrchestratorError
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.context import RunContext, TimeBound
from orchestrator.runtime.nested_graphs import without_inherited_durability
from orchestrator.runtime.usage_recorder import UsageRecorder, recording
from orchestrator.state.graph_state import FailureKind, ToolCallRecord, Usage
from orchestrator.state.plain_values import text_of

T = TypeVar("T")

_GRACE_S: Final = 0.2
"""Seconds that an agent has to tidy up after it was cancelled."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a call used, whether it succeeded or not.

    Attributes:
        usage: Model calls, tokens, cost and time.
        tool_calls: In the order of their starts.
        model: The model that was called, if any.
        transport_retries: Calls that were made again after a passing fault.
    """

    usage: Usage
    tool_calls: list[ToolCallRecord]
    model: str | None = None
    transport_retries: int = 0


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """A call that ended well."""

    value: T
    spent: Spent


@dataclass(frozen=True, slots=True)
class Raised:
    """A call that did not, and why.

    Attributes:
        kind: None where the agent itself raised ``error``.
        passing: Whether it was a fault that may pass, so that nothing is known of the agent's work.
    """

    error: BaseException
    spent: Spent
    kind: FailureKind | None
    passing: bool

    @property
    def message(self) -> str:
        """One sentence for people."""
        text = " ".join(mask_keys(text_of(self.error)).split())[:500]
        return (
            text
            if self.kind or isinstance(self.error, AgentError | OrchestratorError)
            else f"{type(self.error).__name__}: {text}"
        )


async def call_agent(
    method: AgentMethod[T], *args: str, run: RunContext, spent_before: Usage, step_index: int | None = None
) -> Returned[T] | Raised:
    """Call an agent under the run's bounds; not at all once the run is cancelled.

    Passing faults are tried again unless the agent retries by itself (then it raises an
    AgentError) or has already called a tool, which must not happen twice.

    Args:
        method: What ``agent_method`` gave.
        args: Its arguments.
        run: The run's bounds.
        spent_before: What the run has spent so far.
        step_index: Of the step that the call belongs to, for the bound on a step's time.
    """
    recorder = run.recorder(spent_before, step_index)
    bound = run.time_left(step_index)
    with recording(recorder), without_inherited_durability():
        task = asyncio.ensure_future(_retried(method, args, run.transport, recorder))
    in_time = await _ended_in_time(task, run, bound)
    error = _own_error(task, run) if in_time else None
    usage = recorder.usage()
    repeated = max(recorder.repeats, usage["failed_model_calls"])
    spent = Spent(usage, recorder.tool_calls(), recorder.model(), repeated)
    ended_well = in_time and error is None and recorder.refused is None
    if run.cancelled is not None and not ended_well:
        return Raised(asyncio.CancelledError(run.cancelled), spent, "cancelled", passing=False)
    if not in_time:
        return Raised(TimeoutError(bound.reason), spent, bound.kind, passing=False)
    if recorder.refused is not None:
        return Raised(recorder.refused, spent, "budget_exceeded", passing=False)
    if error is not None:
        return Raised(error, spent, None, passing=is_transient(error))
    return Returned(task.result(), spent)


async def _ended_in_time(task: asyncio.Future[T], run: RunContext, bound: TimeBound) -> bool:
    """Wait for the task, the bound, or the run's cancellation; in the latter cases the task is stopped."""
    started = time.monotonic()
    task.add_done_callback(_error_of)
    try:
        if run.cancelled is None:
            with run.cancellation() as cancelled:
                ends = (task, cancelled)
                await asyncio.wait(ends, timeout=bound.seconds, return_when=asyncio.FIRST_COMPLETED)
        # Not left to the wait alone: an agent that blocks the event loop keeps its timer from firing.
        return task.done() and (bound.seconds is None or time.monotonic() - started <= bound.seconds)
    finally:
        if not task.done():
            await _stop(task)


async def _stop(task: asyncio.Future[T]) -> None:
    """Cancel a task and give it a moment to tidy up; one that goes on all the same is left behind."""
    task.cancel()
    await asyncio.wait((task,), timeout=_GRACE_S)


def _own_error(task: asyncio.Future[T], run: RunContext) -> BaseException | None:
    """What the agent raised; where its interrupt can be answered later, that passes to the graph."""
    error = _error_of(task)
    if not isinstance(error, GraphInterrupt):
        return error
    if run.interruptible:
        raise error
    return InterruptError(
        "an agent or a tool called interrupt(), which needs a checkpointer; "
        "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
    )


def _error_of(task: asyncio.Future[T]) -> BaseException | None:
    """What a task raised; asking also tells asyncio that somebody has."""
    return asyncio.CancelledError("the agent cancelled itself") if task.cancelled() else task.exception()


async def _retried(
    method: AgentMethod[T], args: tuple[str, ...], transport: TransportRetry, recorder: UsageRecorder
) -> T:
    def again(error: BaseException) -> bool:
        return is_transient(error) and not isinstance(error, AgentError) and not recorder.called_tools

    try:
        return await method(*args)
    except Exception as error:
        if not again(error):
            raise
        first = [error]

    async def call() -> T:
        if first:
            raise first.pop()
        recorder.repeats += 1
        return await method(*args)

    # Only now, since a controller costs more than an instant call: it begins with the fault just seen.
    return await transport.asynchronous(again)(call)
