"""Calling an agent: off the event loop if it blocks, recorded, bounded in time, its failure a value."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from langgraph.errors import GraphInterrupt

from agents.errors import AgentError
from agents.redaction import redacted
from agents.transport import TransportRetry, is_transient
from orchestrator.foreign_values import text_of
from orchestrator.methods import AgentMethod
from orchestrator.recorder import UsageRecorder, recording
from orchestrator.run_context import RunContext, TimeBound
from orchestrator.state import FailureKind, ToolCallRecord, Usage

T = TypeVar("T")

_GRACE_S: Final = 0.2
"""Seconds that an agent has to tidy up after it was cancelled."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a call used, whether it succeeded or not."""

    usage: Usage
    tool_calls: list[ToolCallRecord]


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
        text = " ".join(redacted(text_of(self.error)).split())[:500]
        return (
            text
            if self.kind or isinstance(self.error, AgentError)
            else f"{type(self.error).__name__}: {text}"
        )


async def call_agent(
    method: AgentMethod[T], *args: str, run: RunContext, spent_before: Usage, step_index: int | None = None
) -> Returned[T] | Raised:
    """Call an agent under the run's bounds.

    Passing faults are tried again unless the agent retries by itself (then it raises an
    AgentError) or has already called a tool, which must not happen twice.

    Args:
        method: What ``agent_method`` gave.
        args: Its arguments.
        run: The run's bounds.
        spent_before: What the run has spent so far.
        step_index: Of the step that the call belongs to, for the bound on a step's time.
    """
    recorder = UsageRecorder(run.gate(spent_before), run.budget.prices)
    bound = run.time_left(step_index)
    with recording(recorder):
        task = asyncio.ensure_future(_retried(method, args, run.transport, recorder))
    by_itself = await _ended_by_itself(task, run, bound)
    error = _error_of(task) if by_itself else None
    if isinstance(error, GraphInterrupt):
        raise error
    spent = Spent(recorder.usage(), recorder.tool_calls())
    if run.cancelled is not None:
        return Raised(asyncio.CancelledError(run.cancelled), spent, "cancelled", passing=False)
    if not by_itself:
        return Raised(TimeoutError(bound.reason), spent, bound.kind, passing=False)
    if recorder.refused is not None:
        return Raised(recorder.refused, spent, "budget_exceeded", passing=False)
    if error is not None:
        return Raised(error, spent, None, passing=is_transient(error))
    return Returned(task.result(), spent)


async def _ended_by_itself(task: asyncio.Future[T], run: RunContext, bound: TimeBound) -> bool:
    """Wait for the task, the bound, or the run's cancellation; in the latter cases the task is cancelled.

    A task that goes on all the same is left behind.
    """
    task.add_done_callback(_error_of)
    try:
        with run.cancellation() as cancelled:
            await asyncio.wait((task, cancelled), timeout=bound.seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return True
    finally:
        task.cancel()
    await asyncio.wait((task,), timeout=_GRACE_S)
    return False


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
        return await method(*args)

    # Only now, since a controller costs more than an instant call: it begins with the fault just seen.
    return await transport.asynchronous(again)(call)
