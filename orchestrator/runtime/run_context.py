"""RunContext: the clock, timeouts, budget and cancellation of one run, which are not part of its state."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import uuid4

from agents.models.transport_retry import TransportRetry
from orchestrator.errors import BudgetExceededError
from orchestrator.runtime.call_recorder import CallObserver, UsageRecorder
from orchestrator.runtime.settings_model import Budget
from orchestrator.state.graph_state import Failure, FailureKind, OrchestratorState
from orchestrator.state.records import NO_USAGE, Usage, add_usage


@dataclass(frozen=True, slots=True)
class TimeBound:
    """A time limit of a call; ``seconds`` is infinite if there is none."""

    seconds: float
    kind: FailureKind
    reason: str


utc_now: Final[Callable[[], datetime]] = partial(datetime.now, UTC)
"""Returns the current time in UTC."""


@dataclass(slots=True)
class RunContext:
    """The context that LangGraph's runtime passes to the nodes.

    Attributes:
        thread_id: Thread of the run.
        budget: Bounds of the run.
        transport: How transient errors of agents are retried.
        call_timeout: Timeout of one call of an agent, in seconds.
        step_timeout: Timeout of one step with all its attempts and their judging, in seconds.
        interruptible: Whether a checkpointer lets LangGraph resume after an agent's interrupt.
        cancelled: Reason of the cancellation; None if the run is not cancelled.
        interrupted: Whether the run is to stop without an end, so that it can be resumed.
        stopped: Failure of a halted or denied step, after which no other step may start.
        now: Returns the current time in UTC.
        began: When the run began, in UTC; stored with the run.
        execution: Id of this start or resume of the run: a call that another one began may have acted.
        changed: Safeguards that are others since the run was resumed; the next node warns of them.
        spent: Usage of the calls that have ended.
    """

    thread_id: str
    budget: Budget
    transport: TransportRetry
    call_timeout: float | None = None
    step_timeout: float | None = None
    interruptible: bool = True
    cancelled: str | None = None
    interrupted: bool = False
    stopped: Failure | None = None
    now: Callable[[], datetime] = utc_now
    began: str = ""
    execution: str = field(default_factory=lambda: uuid4().hex)
    changed: tuple[str, ...] = ()
    spent: Usage = field(default_factory=lambda: NO_USAGE)
    # Monotonic clocks: a change of the system time must not end a run.
    _started: float = field(default_factory=time.monotonic)
    _step_starts: dict[int, float] = field(default_factory=dict)
    _recorders: list[UsageRecorder] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cancellation: asyncio.Future[None] | None = None

    def take_changed(self) -> list[str]:
        """Returns the warnings of a resumed run, once."""
        changed, self.changed = self.changed, ()
        return [*changed]

    def start_step(self, step_index: int) -> None:
        """Starts the clock of a step, unless it runs already."""
        self._step_starts.setdefault(step_index, time.monotonic())

    def restore_usage(self, state: OrchestratorState, branches: Iterable[OrchestratorState]) -> None:
        """Restores the usage of a resumed run, and the usage and failures of its parallel steps."""
        self.spent = state["usage"]
        for branch in branches:
            # A branch counts its own usage from zero.
            self.spent = add_usage(self.spent, branch["usage"])
            self.note_failure(branch["failure"])

    def count_usage(self, usage: Usage) -> None:
        """Counts the usage in a state, if the run does not know of it: another context has begun the run."""
        if usage["model_calls"] > self.spent["model_calls"]:
            self.spent = usage

    def note_failure(self, failure: Failure | None) -> None:
        """Stops new steps after a halt or a denial. After another failure, parallel steps may finish."""
        if failure is not None and failure["kind"] in ("halted", "denied"):
            self.stopped = failure

    def find_time_bound(self, step_index: int | None) -> TimeBound:
        """Finds the nearest time limit of a call that starts now."""
        return min(self._list_time_bounds(step_index), key=lambda bound: bound.seconds)

    def build_recorder(self, observer: CallObserver | None = None) -> UsageRecorder:
        """Builds the recorder of a call. It refuses a model call that the budget does not allow."""

        def check_budget() -> None:
            spent, running = self.spent, 0
            for other in self._recorders:
                ended, number = other.sum_ended_calls()
                spent, running = add_usage(spent, ended), running + number
            if (refusal := self.budget.find_call_refusal(spent, running)) is not None:
                raise BudgetExceededError(refusal)

        # One lock for all recorders of the run: parallel calls must not pass the same gate at once.
        recorder = UsageRecorder(check_budget, self.budget.prices, self._lock, observer)
        with self._lock:
            self._recorders.append(recorder)
        return recorder

    def end_recorder(self, recorder: UsageRecorder) -> Usage:
        """Counts a call that has ended, and returns its usage."""
        usage = recorder.sum_usage()
        with self._lock:
            self._recorders.remove(recorder)
            self.spent = add_usage(self.spent, usage)
        return usage

    def cancel(self, reason: str) -> None:
        """Cancels the run at once. Safe to call from any thread and from a signal handler."""
        self.cancelled = reason
        self._wake_calls()

    def interrupt(self) -> None:
        """Stops the run at once without an end. Safe to call as ``cancel`` is."""
        self.interrupted = True
        self._wake_calls()

    @property
    def is_stopping(self) -> bool:
        """Whether no agent may be called any more."""
        return self.interrupted or self.cancelled is not None

    def _wake_calls(self) -> None:
        if (future := self._cancellation) is not None:
            # A closed loop raises RuntimeError: the run is over.
            with suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(future.cancel)

    def watch_cancellation(self) -> asyncio.Future[None]:
        """Returns a future that ends if the run is cancelled from now on."""
        if self._cancellation is None:
            self._cancellation = asyncio.get_running_loop().create_future()
        return self._cancellation

    def _list_time_bounds(self, step_index: int | None) -> Iterator[TimeBound]:
        now = time.monotonic()
        seconds = math.inf if self.call_timeout is None else self.call_timeout
        yield TimeBound(
            seconds, "timeout", f"call_timeout is {self.call_timeout} s and has passed: raise --call-timeout"
        )
        if self.budget.max_seconds is not None:
            left = max(0.0, self.budget.max_seconds - (now - self._started))
            reason = f"max_seconds is {self.budget.max_seconds} and has passed"
            yield TimeBound(left, "budget_exceeded", reason)
        if self.step_timeout is not None and step_index in self._step_starts:
            left = max(0.0, self.step_timeout - (now - self._step_starts[step_index]))
            yield TimeBound(left, "timeout", f"step_timeout is {self.step_timeout} s and has passed")
