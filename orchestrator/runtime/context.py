"""What belongs to one run and is not state: its clock, its bounds, the way to cancel it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from agents.models.transport_retry import TransportRetry
from orchestrator.errors import BudgetExceededError
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.usage_recorder import UsageRecorder
from orchestrator.state.graph_state import NO_USAGE, Failure, FailureKind, OrchestratorState, Usage
from orchestrator.state.usage import add_usage


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The nearest bound on a call; ``seconds`` is None where there is none."""

    seconds: float | None
    kind: FailureKind
    reason: str


_STOPPING: Final[tuple[FailureKind, ...]] = ("halted", "denied")
UNBOUNDED: Final = TimeBound(None, "timeout", "there is no bound")


def utc_now() -> datetime:
    """Give the time, with its zone."""
    return datetime.now(UTC)


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
        stopped: Why nothing more is begun beside a step that was halted or denied.
        now: Gives the time, in UTC.
        began: When the run began, in UTC; kept with it.
    """

    thread_id: str
    budget: Budget
    transport: TransportRetry
    call_timeout: float | None = None
    step_timeout: float | None = None
    interruptible: bool = True
    cancelled: str | None = None
    stopped: Failure | None = None
    now: Callable[[], datetime] = utc_now
    began: str = ""
    _started: float = field(default_factory=time.monotonic)
    _steps: dict[int, float] = field(default_factory=dict)
    _parallel: dict[int, list[UsageRecorder]] = field(default_factory=dict)
    _earlier: dict[int, Usage] = field(default_factory=dict)
    _before: Usage = field(default_factory=lambda: NO_USAGE)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None

    def begin_step(self, step_index: int) -> None:
        """Start the step's clock, unless it runs already."""
        self._steps.setdefault(step_index, time.monotonic())

    def begin_parallel(self, step_index: int, spent_before: Usage) -> None:
        """Let what the step spends count at once for those that run beside it.

        Args:
            step_index: The step, whose own state counts from nothing.
            spent_before: By the run, before any of them began.
        """
        self._before = spent_before
        self._parallel.setdefault(step_index, [])

    def go_on_beside(self, branches: Iterable[OrchestratorState]) -> None:
        """Take up steps that run side by side, with what each had come to before the run was resumed."""
        for branch in branches:
            self._earlier[branch["underway"]["branch"] or 0] = branch["usage"]
            self.note(branch["failure"])

    def note(self, failure: Failure | None) -> None:
        """Begin nothing more after a halt or a denial; other failures let the steps beside finish."""
        if failure is not None and failure["kind"] in _STOPPING:
            self.stopped = failure

    def end_parallel(self) -> None:
        """What the parallel steps spent is in the state from now on."""
        self._before = NO_USAGE
        self._parallel.clear()
        self._earlier.clear()

    def time_left(self, step_index: int | None) -> TimeBound:
        """The nearest bound for a call that begins now."""
        if self.call_timeout is None and self.step_timeout is None and self.budget.max_seconds is None:
            return UNBOUNDED
        return min(
            self._bounds(step_index),
            key=lambda bound: float("inf") if bound.seconds is None else bound.seconds,
        )

    def recorder(self, spent_before: Usage, step_index: int | None) -> UsageRecorder:
        """What records a call, and refuses a model call within it which the budget does not allow."""

        def check(spent: Usage, running: int) -> None:
            for step, earlier in self._earlier.items():
                spent = spent if step == step_index else add_usage(spent, earlier)
            for beside in self._beside(step_index):
                other, under_way = beside.under_way()
                spent, running = add_usage(spent, other), running + under_way
            before = add_usage(self._before, spent_before)
            refused = self.budget.find_call_refusal(add_usage(before, spent), running)
            if refused is not None:
                raise BudgetExceededError(refused)

        recorder = UsageRecorder(check, self.budget.prices, self._lock)
        if step_index in self._parallel:
            self._parallel[step_index].append(recorder)
        return recorder

    def _beside(self, step_index: int | None) -> Iterator[UsageRecorder]:
        """The calls of other steps that run in parallel, which the state of this one knows nothing of."""
        for other, recorders in list(self._parallel.items()):
            if other != step_index:
                yield from list(recorders)

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
        if self.step_timeout is not None and step_index in self._steps:
            left = max(0.0, self.step_timeout - (now - self._steps[step_index]))
            yield TimeBound(left, "timeout", f"step_timeout is {self.step_timeout} s and has passed")
