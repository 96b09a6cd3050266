"""Calling an agent: off the event loop if it blocks, recorded, bounded in time, its failure a value."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Generic, TypeVar

from langgraph.errors import GraphBubbleUp

from agents.errors import AgentError
from agents.transport import TransportRetry, is_transient
from orchestrator.methods import AgentMethod
from orchestrator.run_context import RunContext, TimeBound
from orchestrator.state import FailureKind, ToolCallRecord, Usage
from orchestrator.usage import UsageRecorder, recording

T = TypeVar("T")


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
        text = " ".join(str(self.error).split())[:500]
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
    try:
        with run.cancels(task):
            value = await asyncio.wait_for(task, bound.seconds)
    except GraphBubbleUp:
        raise
    except asyncio.CancelledError as error:
        if _is_being_cancelled():
            raise
        return _ended(error, recorder, run, bound, timed_out=False)
    except Exception as error:  # noqa: BLE001 - an agent is foreign code: what it raises ends the run as data
        timed_out = isinstance(error, TimeoutError) and task.cancelled()
        return _ended(error, recorder, run, bound, timed_out=timed_out)
    if recorder.refused is not None:
        return _ended(recorder.refused, recorder, run, bound, timed_out=False)
    return Returned(value, _spent(recorder))


def _is_being_cancelled() -> bool:
    """Whether the cancellation comes from outside, rather than from the agent or from the run's own end."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def _ended(
    error: BaseException, recorder: UsageRecorder, run: RunContext, bound: TimeBound, *, timed_out: bool
) -> Raised:
    """Why a call did not return: the run's own reasons come before what the agent made of them."""
    spent = _spent(recorder)
    if run.cancelled is not None:
        return Raised(asyncio.CancelledError(run.cancelled), spent, "cancelled", passing=False)
    if recorder.refused is not None:
        return Raised(recorder.refused, spent, "budget_exceeded", passing=False)
    if timed_out:
        return Raised(TimeoutError(bound.reason), spent, bound.kind, passing=False)
    return Raised(error, spent, None, passing=is_transient(error))


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


def _spent(recorder: UsageRecorder) -> Spent:
    return Spent(recorder.usage(), recorder.tool_calls())
