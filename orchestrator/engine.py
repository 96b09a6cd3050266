"""LangGraphOrchestrator: plan, execute, monitor."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents.sync import run_sync
from orchestrator.budget import Budget
from orchestrator.config import (
    Settings,
    check_agents,
    check_compressor,
    check_hooks,
    check_task,
    check_thread_id,
)
from orchestrator.drawing import mermaid, png
from orchestrator.errors import ConfigurationError
from orchestrator.events import Event, RunFinished, RunStarted
from orchestrator.graph import Graph, build_graph
from orchestrator.hooks import tell
from orchestrator.judging import failed
from orchestrator.methods import agent_method, compressor_method, correction_method
from orchestrator.nodes.executor import ExecutorMethods, executor_node
from orchestrator.nodes.monitor import monitor_node
from orchestrator.nodes.node import new_context
from orchestrator.nodes.planner import planner_node
from orchestrator.ports import Compressor, Executor, Hook, Monitor, Planner
from orchestrator.retry import RetryPolicy
from orchestrator.run_context import RunContext
from orchestrator.state import OrchestratorState, RunInput, blank_state
from orchestrator.streaming import blocking


class LangGraphOrchestrator:
    """Plans a task, executes it step by step and has every step judged.

    Args:
        planner: Breaks the task into steps.
        executor: Carries out one step.
        monitor: Judges one result.
        compressor: Shortens the context before a step, where there is one.
        max_retries: Executions of a step after its first, before the run fails.
        retry_policy: What follows from a judged execution.
        budget: What a run may spend.
        call_timeout: Seconds that one call of an agent may take; None is no bound.
        step_timeout: Seconds for a step with all its attempts and their judging; None is no bound.
        max_plan_steps: A longer plan is refused.
        checkpointer: Any LangGraph saver.
        hooks: Are told of every event; what they raise is logged.

    Attributes:
        graph: The compiled LangGraph, for studios, drawings and streams of its own.

    Raises:
        ConfigurationError: An argument that is not accepted, named with what is.
    """

    def __init__(
        self,
        planner: Planner,
        executor: Executor,
        monitor: Monitor,
        compressor: Compressor | None = None,
        max_retries: int = 2,
        *,
        retry_policy: RetryPolicy | None = None,
        budget: Budget | None = None,
        call_timeout: float | None = None,
        step_timeout: float | None = None,
        max_plan_steps: int = 1000,
        checkpointer: BaseCheckpointSaver[str] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        check_agents(planner, executor, monitor)
        check_compressor(compressor)
        check_hooks(hooks)
        self.settings = Settings(
            max_retries=max_retries,
            max_plan_steps=max_plan_steps,
            call_timeout=call_timeout,
            step_timeout=step_timeout,
            retry_policy=RetryPolicy() if retry_policy is None else retry_policy,
            budget=Budget() if budget is None else budget,
        )
        self.graph = _compile(
            planner, executor, monitor, compressor, self.settings, checkpointer=checkpointer
        )
        self._hooks = tuple(hooks)
        self._running: dict[str, RunContext] = {}

    def run(self, task: str, thread_id: str | None = None) -> OrchestratorState:
        """Run a task to its end; also from within a running event loop, as in a notebook.

        Args:
            task: What to do.
            thread_id: Names the run in the checkpointer and for ``cancel``; made up where None. A
                thread that was used before starts clean.

        Returns:
            The final state. ``status`` is "success", or "failed" with the cause in ``failure`` and
            everything that was done in ``results``.

        Raises:
            ConfigurationError: The task is empty or no text, or the thread is running already.

        What the checkpointer raises comes out as it is, since what was to be kept was not.
        """
        check_task(task)
        check_thread_id(thread_id)
        return run_sync(lambda: self.arun(task, thread_id))

    async def arun(self, task: str, thread_id: str | None = None) -> OrchestratorState:
        """Like ``run``, without blocking the event loop."""
        state = blank_state(check_task(task), self.settings.max_retries)
        async with aclosing(self._observed(task, thread_id, live=bool(self._hooks))) as events:
            async for event in events:
                if isinstance(event, RunFinished):
                    state = event.state
        return state

    def stream(self, task: str, thread_id: str | None = None) -> Iterator[Event]:
        """Run a task and yield its events as they happen, ``RunFinished`` last.

        Leaving the loop early cancels the run. Raises as ``run`` does, before the first event.
        """
        check_task(task)
        check_thread_id(thread_id)
        thread = thread_id or _new_thread_id()
        return blocking(
            lambda: self.astream(task, thread), lambda: self.cancel(thread, "the stream was closed")
        )

    async def astream(self, task: str, thread_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Like ``stream``, without blocking the event loop."""
        async with aclosing(self._observed(task, thread_id, live=True)) as events:
            async for event in events:
                yield copy.deepcopy(event)

    def cancel(self, thread_id: str | None = None, reason: str = "cancelled by the caller") -> None:
        """End a run (every run where no thread is named) at once, as failed, with what it has done.

        May be called from any thread and from a signal handler. A plain method that blocks in a
        thread cannot be stopped; the run ends without waiting for its result.
        """
        running = dict(self._running)
        for run in running.values() if thread_id is None else filter(None, [running.get(thread_id)]):
            run.cancel(reason)

    def draw_mermaid(self) -> str:
        """The graph as Mermaid text."""
        return mermaid(self.graph)

    def draw_png(self) -> bytes:
        """The graph as a PNG picture.

        Raises:
            DrawingError: The package pygraphviz is not installed.
        """
        return png(self.graph)

    async def _observed(self, task: str, thread_id: str | None, *, live: bool) -> AsyncGenerator[Event, None]:
        """A run's events, after the hooks were told of each; only its ends where nobody looks at it live."""
        task = check_task(task)
        check_thread_id(thread_id)
        resumable = self.graph.checkpointer is not None
        run = new_context(thread_id or _new_thread_id(), self.settings, interruptible=resumable)
        if self._running.setdefault(run.thread_id, run) is not run:
            raise ConfigurationError(
                f"thread_id is {run.thread_id!r:.80}, which is running; wait for its end, or give another"
            )
        try:
            async with aclosing(self._events(task, run, live=live)) as events:
                async for event in events:
                    await tell(self._hooks, event)
                    yield event
        finally:
            self._running.pop(run.thread_id, None)

    async def _events(self, task: str, run: RunContext, *, live: bool) -> AsyncGenerator[Event, None]:
        yield RunStarted(thread_id=run.thread_id, task=task)
        state = blank_state(task, self.settings.max_retries)
        try:
            async with aclosing(self._chunks(task, run, live=live)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Event):
                        yield chunk
                    else:
                        state = _current(state, chunk)
        except (asyncio.CancelledError, GeneratorExit):
            state = {**state, **failed("cancelled", "whoever ran it stopped waiting for its end")}
            await tell(self._hooks, RunFinished(thread_id=run.thread_id, status="failed", state=state))
            raise
        yield RunFinished(thread_id=run.thread_id, status=state["status"], state=state)

    async def _chunks(
        self, task: str, run: RunContext, *, live: bool
    ) -> AsyncGenerator[Event | dict[str, object], None]:
        """What the graph streams: our events, and its values after each step."""
        stream = self.graph.astream(
            RunInput(task=task, status="planning"),
            RunnableConfig(configurable={"thread_id": run.thread_id}),
            context=run,
            stream_mode=["custom", "values"] if live else ["values"],
        )
        # Closed here, so that nothing of the run goes on once whoever reads it has left.
        async with aclosing(cast("AsyncGenerator[tuple[str, object], None]", stream)) as chunks:
            async for _, chunk in chunks:
                if isinstance(chunk, Event | dict):
                    yield chunk


def _current(state: OrchestratorState, values: dict[str, object]) -> OrchestratorState:
    """The documented fields of what the graph holds; until the plan is made, that is of an earlier run."""
    if values.get("status") == "planning":
        return state
    return cast("OrchestratorState", {name: values.get(name, value) for name, value in state.items()})


def _compile(
    planner: Planner,
    executor: Executor,
    monitor: Monitor,
    compressor: Compressor | None,
    settings: Settings,
    *,
    checkpointer: BaseCheckpointSaver[str] | None,
) -> Graph:
    methods = ExecutorMethods(agent_method(executor, "execute_step"), correction_method(executor))
    graph = build_graph(
        planner_node(agent_method(planner, "generate_plan"), settings),
        executor_node(methods, compressor_method(compressor), settings),
        monitor_node(agent_method(monitor, "evaluate"), settings),
        checkpointer,
    )
    return graph.with_config(recursion_limit=settings.recursion_limit)


def _new_thread_id() -> str:
    return str(uuid.uuid4())
