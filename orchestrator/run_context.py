"""What belongs to one run and is not state: its clock, its bounds, the way to cancel it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from agents.transport import TransportRetry
from orchestrator.budget import Budget
from orchestrator.errors import BudgetExceededError
from orchestrator.recorder import Gate
from orchestrator.state import FailureKind, Usage
from orchestrator.usage import add_usage


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The nearest bound on a call; ``seconds`` is None where there is none."""

    seconds: float | None
    kind: FailureKind
    reason: str


UNBOUNDED: Final = TimeBound(None, "timeout", "there is no bound")


@dataclass(slots=True)
class RunContext:
    """Handed to the nodes by LangGraph's runtime.

    Attributes:
        thread_id: Of the run.
        budget: What the run may spend.
        transport: How passing faults of foreign agents are met.
        call_timeout: Seconds that one call of an agent may take.
        step_timeout: Seconds that one step may take, with all its attempts and their judging.
        interruptible: Whether an agent's interrupt can be answered later, so that it passes to the graph.
        cancelled: The reason, once the run is cancelled.
    """

    thread_id: str
    budget: Budget
    transport: TransportRetry
    call_timeout: float | None = None
    step_timeout: float | None = None
    interruptible: bool = True
    cancelled: str | None = None
    _started: float = field(default_factory=time.monotonic)
    _step: tuple[int, float] | None = None
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None

    def begin_step(self, step_index: int) -> None:
        """Start the step's clock, unless it runs already."""
        if self._step is None or self._step[0] != step_index:
            self._step = (step_index, time.monotonic())

    def time_left(self, step_index: int | None) -> TimeBound:
        """The nearest bound for a call that begins now."""
        if self.call_timeout is None and self.step_timeout is None and self.budget.max_seconds is None:
            return UNBOUNDED
        return min(
            self._bounds(step_index),
            key=lambda bound: float("inf") if bound.seconds is None else bound.seconds,
        )

    def gate(self, spent_before: Usage) -> Gate:
        """A check that refuses a model call which the budget does not allow."""

        def check(spent: Usage, running: int) -> None:
            refused = self.budget.next_call_refused(add_usage(spent_before, spent), running)
            if refused is not None:
                raise BudgetExceededError(refused)

        return check

    def cancel(self, reason: str) -> None:
        """End the run at once; may be called from any thread and from a signal handler."""
        self.cancelled = reason
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has closed: the run is over
                self._loop.call_soon_threadsafe(self._tell_waiting)

    @contextmanager
    def cancellation(self) -> Iterator[asyncio.Future[None]]:
        """A future that is done once the run is cancelled."""
        self._loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = self._loop.create_future()
        self._waiting.add(waiting)
        if self.cancelled is not None:
            waiting.set_result(None)
        try:
            yield waiting
        finally:
            self._waiting.discard(waiting)

    def _tell_waiting(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def _bounds(self, step_index: int | None) -> Iterator[TimeBound]:
        now = time.monotonic()
        yield TimeBound(self.call_timeout, "timeout", f"call_timeout is {self.call_timeout} s and has passed")
        if self.budget.max_seconds is not None:
            left = max(0.0, self.budget.max_seconds - (now - self._started))
            reason = f"max_seconds is {self.budget.max_seconds} and has passed"
            yield TimeBound(left, "budget_exceeded", reason)
        if self.step_timeout is not None and self._step is not None and self._step[0] == step_index:
            left = max(0.0, self.step_timeout - (now - self._step[1]))
            yield TimeBound(left, "timeout", f"step_timeout is {self.step_timeout} s and has passed")
