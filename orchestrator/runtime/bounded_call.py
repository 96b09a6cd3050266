"""Calls an agent within the bounds of a run: timeouts, cancellation, budget, retries. Errors are values."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import StreamWriter

from agents.errors import AgentError, CallHaltedError, PromptTooLongError
from agents.loop.langgraph_internals import build_nested_config, copy_context_with, read_config
from agents.models.server_errors import TransportRetry, is_transient
from agents.prompts import add_schema
from agents.sync import run_in_thread
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import BudgetExceededError, InterruptError, OrchestratorError, StoreLostError
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.call_recorder import CallObserver, UsageRecorder, use_recorder
from orchestrator.runtime.call_records import find_cut_off_reply
from orchestrator.state.graph_state import FailureKind, OrchestratorState, StateUpdate, add_usage
from orchestrator.state.plain_values import format_text, read_text
from orchestrator.state.records import NO_USAGE, ToolCallRecord, Usage


@dataclass(frozen=True, slots=True)
class TimeBound:
    """A time limit of a call; ``seconds`` is infinite if there is none."""

    seconds: float
    kind: FailureKind
    reason: str


_UNBOUNDED: Final = Budget()
_SILENT: Final = CallObserver(lambda _: None, "", "executor")
"""The observer of a call whose events nobody sees."""


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
        began: When the run began, in UTC; stored with the run.
        execution: Id of this start or resume of the run: a call that another one began may have acted.
        changed: Safeguards that are others since the run was resumed; the next node warns of them.
        is_new: Whether no other process can have begun an execution of the run.
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
    began: str = ""
    execution: str = ""
    changed: tuple[str, ...] = ()
    is_new: bool = False
    spent: Usage = field(default_factory=NO_USAGE.copy)
    # Monotonic clocks: a change of the system time must not end a run.
    _started: float = field(default_factory=time.monotonic)
    _step_starts: dict[int, float] = field(default_factory=dict)
    _cancellation: asyncio.Future[None] | None = None

    def find_time_bound(self, step_index: int | None) -> TimeBound:
        """Finds the nearest time limit of a call; the clock of a step starts with its first call."""
        now = time.monotonic()
        seconds = math.inf if self.call_timeout is None else self.call_timeout
        reason = f"call_timeout is {self.call_timeout} s and has passed: raise --call-timeout"
        bounds = [TimeBound(seconds, "timeout", reason)]
        if self.budget.max_seconds is not None:
            left = max(0.0, self.budget.max_seconds - (now - self._started))
            reason = f"max_seconds is {self.budget.max_seconds} and has passed"
            bounds.append(TimeBound(left, "budget_exceeded", reason))
        if self.step_timeout is not None and step_index is not None:
            left = max(0.0, self.step_timeout - (now - self._step_starts.setdefault(step_index, now)))
            bounds.append(TimeBound(left, "timeout", f"step_timeout is {self.step_timeout} s and has passed"))
        return min(bounds, key=lambda bound: bound.seconds)

    def build_recorder(self, observer: CallObserver | None) -> UsageRecorder:
        """Builds the recorder of a call. It refuses a model call that the budget does not allow."""

        def check_budget() -> None:
            if self.budget == _UNBOUNDED:
                return
            ended, running = recorder.sum_ended_calls()
            spent = add_usage(self.spent, ended)
            if (refusal := self.budget.find_call_refusal(spent, running)) is not None:
                raise BudgetExceededError(refusal)

        recorder = UsageRecorder(check_budget, self.budget.prices, observer or _SILENT)
        return recorder

    def find_excess(self, usage: Usage) -> str | None:
        """Returns which bound the usage of the run exceeds; None if none."""
        return None if self.budget == _UNBOUNDED else self.budget.find_excess(usage)

    def cancel(self, reason: str) -> None:
        """Cancels the run at once. Safe to call from any thread and from a signal handler."""
        self.cancelled = reason
        self._wake_calls()

    def interrupt(self) -> None:
        """Stops the run at once without an end. Safe to call as ``cancel`` is."""
        self.interrupted = True
        self._wake_calls()

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


T = TypeVar("T")
AgentMethod = Callable[..., Awaitable[T]]
OPTIONAL: Final = frozenset({"task", "schema", "sampling", "evidence"})
_GRACE_S: Final = 0.2
"""Seconds that a cancelled agent has to clean up."""


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of an agent that can be awaited.

    Attributes:
        method: The method of the agent.
        takes: The names in ``OPTIONAL`` that it takes beside its documented arguments.
    """

    method: Callable[..., object]
    takes: frozenset[str] = frozenset()

    async def __call__(self, *args: object, **named: object) -> object:
        """Calls the method; leaves out optional arguments that are empty or that it does not take.

        The JSON Schema of an output is added to the step if the method does not take it.
        """
        schema = named.get("schema")
        if isinstance(schema, Mapping) and "schema" not in self.takes:
            args = (add_schema(str(args[0]), schema), *args[1:])
        left_out = {name for name in OPTIONAL if name not in self.takes or not named.get(name)}
        passed = {name: value for name, value in named.items() if name not in left_out}
        call = partial(self.method, *args, **passed)
        try:
            value = call() if inspect.iscoroutinefunction(self.method) else await run_in_thread(call)
            return await value if inspect.isawaitable(value) else value
        except SystemExit as error:
            raise RuntimeError(f"the agent raised SystemExit: {format_text(error)}") from error


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage of a call, with or without success.

    Attributes:
        usage: Model calls, tokens, cost and time.
        tool_calls: Tool calls in the order of their starts.
        model: Name of the model; None if no model was called.
        transport_retries: Number of calls that were repeated after a transient error.
        cut_off: Why the reply that became the value was cut off; None if it was not.
    """

    usage: Usage
    tool_calls: list[ToolCallRecord]
    model: str | None = None
    transport_retries: int = 0
    cut_off: str | None = None


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """A call that returned a value."""

    value: T
    spent: Spent


@dataclass(frozen=True, slots=True)
class Raised:
    """A call that failed.

    Attributes:
        error: The error.
        spent: Usage of the call.
        kind: Kind of the failure; None if the agent itself raised the error.
        transient: Whether the error is transient, so that it says nothing about the agent's work.
    """

    error: BaseException
    spent: Spent
    kind: FailureKind | None
    transient: bool

    @property
    def message(self) -> str:
        """Describes the error in one sentence, without credentials."""
        text = shorten(" ".join(format_text(self.error).split()), 500)
        if self.kind or isinstance(self.error, AgentError | OrchestratorError):
            return text
        return f"{type(self.error).__name__}: {text}"


async def call_agent(
    method: AgentMethod[T],
    *args: str,
    run: RunContext,
    step_index: int | None = None,
    observer: CallObserver | None = None,
    config: RunnableConfig | None = None,
) -> Returned[T] | Raised:
    """Calls an agent within the bounds of the run. A cancelled run calls no agent.

    A transient error is retried, unless the agent retries by itself (then it raises an AgentError) or has
    called a tool, whose effect must not happen twice.

    Args:
        method: An awaitable method of ``bind_method``.
        args: Arguments of the method.
        run: Context of the run.
        step_index: Index of the step that the call belongs to, for its timeout.
        observer: Emits the call's pieces of text and tool calls as events.
        config: The config that the agent inherits. Default: the config of the running node.

    Raises:
        asyncio.CancelledError: The run was interrupted.
    """
    bound, recorder = run.find_time_bound(step_index), run.build_recorder(observer)
    with use_recorder(recorder):
        nested = build_nested_config(read_config() if config is None else config, RunContext)
        context = copy_context_with(nested)
    calling = _call_with_retries(method, args, run.transport, recorder)
    task = asyncio.create_task(calling, context=context)
    try:
        in_time = await _finish_in_time(task, run, bound)
    finally:
        # A tool that is left behind may end after the event loop of the stream has closed.
        recorder.observer = replace(_SILENT, journal=recorder.observer.journal)
    error = _find_error(task, run) if in_time else None
    has_value = in_time and error is None
    spent = _sum_spent(run, recorder, read_text(task.result()) if has_value else None)
    halted = error if isinstance(error, CallHaltedError) else recorder.halted
    has_value = has_value and recorder.refused is None and halted is None
    if run.interrupted and not has_value:
        # As if the process had been killed: the node stores nothing, and a resumed run begins it again.
        # LangGraph makes a NodeCancelledError of it.
        raise asyncio.CancelledError("the run was interrupted")
    cancelled = None if run.cancelled is None or has_value else asyncio.CancelledError(run.cancelled)
    late = None if in_time else TimeoutError(bound.reason)
    ends: tuple[tuple[BaseException | None, FailureKind], ...] = (
        (cancelled, "cancelled"), (halted, "denied"), (late, bound.kind),
        (recorder.refused, "budget_exceeded"),
    )  # fmt: skip
    for ended, kind in ends:
        if ended is not None:
            return Raised(ended, spent, kind, transient=False)
    if error is None:
        return Returned(task.result(), spent)
    is_too_long = isinstance(error, PromptTooLongError)
    return Raised(error, spent, "needs_review" if is_too_long else None, is_transient(error))


def _sum_spent(run: RunContext, recorder: UsageRecorder, output: str | None) -> Spent:
    """Sums the usage of a call that ended, and adds it to the run's."""
    usage = recorder.sum_usage()
    run.spent = add_usage(run.spent, usage)
    # An agent that retries by itself shows its retries as failed model calls only.
    repeats = max(recorder.starts - 1, usage["failed_model_calls"])
    calls, asked = recorder.list_tool_calls(), recorder.list_model_calls()
    models = ", ".join(dict.fromkeys(call["model"] for call in asked)) or None
    return Spent(usage, calls, models, repeats, find_cut_off_reply(asked, output or ""))


async def _finish_in_time(task: asyncio.Future[T], run: RunContext, bound: TimeBound) -> bool:
    """Waits for the task. Cancels it after the timeout, or if the run is cancelled."""
    started = time.monotonic()
    task.add_done_callback(_read_error)
    try:
        # Before the check: another thread may cancel the run between the two.
        cancellation = run.watch_cancellation()
        if not run.interrupted and run.cancelled is None:
            timeout = None if math.isinf(bound.seconds) else bound.seconds
            await asyncio.wait((task, cancellation), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        # Check the clock too: a blocked event loop never fires the timeout.
        return task.done() and time.monotonic() - started <= bound.seconds
    finally:
        if not task.done():
            # An agent that ignores the cancellation is left behind: waiting would block the run.
            task.cancel()
            await asyncio.wait((task,), timeout=_GRACE_S)


def _find_error(task: asyncio.Future[T], run: RunContext) -> BaseException | None:
    """Returns the error of the agent.

    Raises:
        GraphInterrupt: The agent called interrupt(), and a checkpointer lets LangGraph resume it.
        StoreLostError: The store that counts the calls of models has failed; the run stays as it is.
    """
    error = _read_error(task)
    if isinstance(error, StoreLostError):
        raise error
    if not isinstance(error, GraphInterrupt):
        return error
    if run.interruptible:
        raise error
    return InterruptError(
        "an agent or a tool called interrupt(), which needs a checkpointer; "
        "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
    )


def _read_error(task: asyncio.Future[T]) -> BaseException | None:
    # Reading the exception also keeps asyncio from logging it as never retrieved.
    return asyncio.CancelledError("the agent cancelled itself") if task.cancelled() else task.exception()


async def _call_with_retries(
    method: AgentMethod[T], args: tuple[str, ...], transport: TransportRetry, recorder: UsageRecorder
) -> T:
    def can_retry(error: BaseException) -> bool:
        return is_transient(error) and not isinstance(error, AgentError) and not recorder.list_tool_calls()

    async def call_once() -> T:
        recorder.starts += 1
        return await method(*args)

    return await transport.asynchronous(can_retry)(call_once)


Reporter: TypeAlias = Callable[[OrchestratorState, RunContext], Awaitable[OrchestratorState]]
"""Takes the last state of a run that has ended; returns it with a report of its latest execution."""
Node: TypeAlias = Callable[[OrchestratorState, RunContext, StreamWriter], Awaitable[StateUpdate]]
"""A node of the graph: takes the state, the run and what emits an event; returns the fields that change."""
