"""LangGraphOrchestrator: plan, execute, monitor."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.constants import START
from langgraph.types import Command, StateSnapshot

from agents.calls.conversation import Model
from agents.sync import run_sync
from evaluation import AsyncJudge, Judge
from orchestrator.errors import ConfigurationError
from orchestrator.graph.build import Agents, compiled
from orchestrator.graph.call_bound import model_call_bound
from orchestrator.graph.drawing import mermaid, png
from orchestrator.judging.contracts import ContractSource
from orchestrator.judging.verdict import failed
from orchestrator.nodes.base import new_context
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runs.fork import check_step, copy_before
from orchestrator.runs.locks import claimed
from orchestrator.runs.resume import open_question, resumption
from orchestrator.runs.summary import input_in
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.context import RunContext, utc_now
from orchestrator.runtime.events import Event, RunFinished, RunPaused, RunResumed, RunStarted
from orchestrator.runtime.hooks import tell
from orchestrator.runtime.protocols import Compressor, Executor, Hook, Monitor, Planner
from orchestrator.runtime.streaming import blocking
from orchestrator.settings import (
    Settings,
    check_agents,
    check_compressor,
    check_hooks,
    check_judge,
    check_task,
    check_thread_id,
)
from orchestrator.state.graph_state import OrchestratorState, RunInput, blank_state
from orchestrator.state.records import SupervisionMode
from orchestrator.state.stored_form import STARTED, reading, started_in
from orchestrator.supervision.modes import ModeFunction
from orchestrator.supervision.policy import SupervisionPolicy
from orchestrator.supervision.protocols import Supervisor


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
        contract: What every step has to fulfil, or a function of a step's text and index that gives it (None:
            what the planner declared). Without one, the monitor alone says whether the objective is met.
        judge: Scores what no program can, in place of the monitor.
        supervision: "none", "llm" or "human", or a function of a step's text and index that says which.
        supervisor: Decides on steps that are not clean: a chat model, or an object with ``reconcile`` and
            ``supervise``; None for the monitor's model.
        supervision_policy: The bounds of supervision, and of a person's answer.
        max_parallel_steps: How many steps run at once, of a plan that says which do not need each other.
        clock: Gives the time, with its zone.
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
        contract: ContractSource = None,
        judge: Judge | AsyncJudge | None = None,
        supervision: SupervisionMode | ModeFunction = "none",
        supervisor: Supervisor | Model | None = None,
        supervision_policy: SupervisionPolicy | None = None,
        max_parallel_steps: int = 8,
        clock: Callable[[], datetime] = utc_now,
        checkpointer: BaseCheckpointSaver[str] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        check_agents(planner, executor, monitor)
        check_compressor(compressor)
        check_hooks(hooks)
        check_judge(judge)
        policy = SupervisionPolicy() if supervision_policy is None else supervision_policy
        self.settings = Settings(
            max_retries=max_retries,
            max_plan_steps=max_plan_steps,
            call_timeout=call_timeout,
            step_timeout=step_timeout,
            retry_policy=RetryPolicy() if retry_policy is None else retry_policy,
            budget=Budget() if budget is None else budget,
            supervision=supervision,
            supervision_policy=policy,
            max_parallel_steps=max_parallel_steps,
            human=checkpointer is not None and getattr(policy, "human", False),
            clock=clock,
        )
        self._agents = Agents(planner, executor, monitor, compressor, judge, supervisor)
        self.graph = compiled(self._agents, contract, self.settings, checkpointer)
        self._saver = checkpointer
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
        check_thread_id(thread_id)
        return await self._ended(self._beginning(check_task(task), thread_id))

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
        check_thread_id(thread_id)
        begin = self._beginning(check_task(task), thread_id)
        async with aclosing(self._observed(begin, live=True)) as events:
            async for event in events:
                yield copy.deepcopy(event)

    def resume(self, thread_id: str, answer: object = None) -> OrchestratorState:
        """Go on with a run that was cut off, or that waits for a person; also from another process.

        Args:
            thread_id: Names the run in the checkpointer.
            answer: ``{"answer": "approve"}``, ``{"answer": "correct", "text": "..."}`` or
                ``{"answer": "deny", "text": "..."}``, optionally with ``answered_by``; anything for a
                question that an agent or a tool asked by ``interrupt``; None after a crash. Without an
                answer, a run that waits for one comes back as it is, unless its deadline has passed.

        Returns:
            The state as ``run`` returns it: the final one, or one with the next ``question``.

        Raises:
            ResumeError: There is nothing to resume, or the answer is none; nothing has changed.
            ConfigurationError: There is no checkpointer, or the thread is running already.
        """
        check_thread_id(thread_id)
        return run_sync(lambda: self.aresume(thread_id, answer))

    async def aresume(self, thread_id: str, answer: object = None) -> OrchestratorState:
        """Like ``resume``, without blocking the event loop."""
        self._check_resumable(thread_id)
        return await self._ended(self._resuming(thread_id, answer))

    def stream_resumed(self, thread_id: str, answer: object = None) -> Iterator[Event]:
        """Go on as ``resume`` does, and yield the events; ``RunFinished`` or ``RunPaused`` is the last."""
        self._check_resumable(thread_id)
        return blocking(
            lambda: self.astream_resumed(thread_id, answer),
            lambda: self.cancel(thread_id, "the stream was closed"),
        )

    async def astream_resumed(self, thread_id: str, answer: object = None) -> AsyncGenerator[Event, None]:
        """Like ``stream_resumed``, without blocking the event loop."""
        self._check_resumable(thread_id)
        async with aclosing(self._observed(self._resuming(thread_id, answer), live=True)) as events:
            async for event in events:
                yield copy.deepcopy(event)

    def fork(self, thread_id: str, step: int, new_thread_id: str | None = None) -> OrchestratorState:
        """Go on from before a step of a run, in a thread of its own and with these agents and settings.

        Args:
            thread_id: The run, which may have ended or not; it stays as it is.
            step: The index of the step, from 0; what ran side by side begins again together.
            new_thread_id: Names the new run; made up where None, and then known to hooks only.

        Returns:
            The state as ``run`` returns it. What was spent before the step counts.

        Raises:
            ResumeError: There is no such run, it never came to that step, or the new thread is in use.
            ConfigurationError: There is no checkpointer, or an argument is not accepted.
        """
        return run_sync(lambda: self.afork(thread_id, step, new_thread_id))

    async def afork(self, thread_id: str, step: int, new_thread_id: str | None = None) -> OrchestratorState:
        """Like ``fork``, without blocking the event loop."""
        return await self._ended(self._forking(thread_id, step, new_thread_id))

    async def astream_forked(
        self, thread_id: str, step: int, new_thread_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Go on as ``fork`` does, and yield the events; ``RunFinished`` or ``RunPaused`` is the last."""
        begin = self._forking(thread_id, step, new_thread_id)
        async with aclosing(self._observed(begin, live=True)) as events:
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

    def model_call_bound(self, steps: int | None = None) -> int:
        """How many model calls a run can make at most.

        Args:
            steps: Of every plan; None for ``max_plan_steps``.

        Passing faults are counted in. Agents, judges and supervisors of another make are taken to make one
        model call whenever they are called, and tools none. ``Budget(max_model_calls=...)`` sets a bound
        of your own.
        """
        agents = self._agents
        four = (agents.planner, agents.executor, agents.monitor, agents.compressor)
        return model_call_bound(four, self.settings, self.settings.max_plan_steps if steps is None else steps)

    def draw_mermaid(self) -> str:
        """The graph as Mermaid text."""
        return mermaid(self.graph)

    def draw_png(self) -> bytes:
        """The graph as a PNG picture.

        Raises:
            DrawingError: The package pygraphviz is not installed.
        """
        return png(self.graph)

    def _check_resumable(self, thread_id: object) -> None:
        check_thread_id(thread_id)
        if self.graph.checkpointer is None or thread_id is None:
            raise ConfigurationError(
                "resume needs a thread_id and the checkpointer that the run was kept in; "
                "give LangGraphOrchestrator one"
            )

    async def _ended(self, begin: _Begin) -> OrchestratorState:
        """The state in which a run ends or waits."""
        state: OrchestratorState | None = None
        async with aclosing(self._observed(begin, live=bool(self._hooks))) as events:
            async for event in events:
                if isinstance(event, RunFinished | RunPaused):
                    state = event.state
        return cast("OrchestratorState", state)

    async def _observed(self, begin: _Begin, *, live: bool) -> AsyncGenerator[Event, None]:
        """A run's events, after the hooks were told of each; only its ends where nobody looks at it live."""
        resumable = self.graph.checkpointer is not None
        run = new_context(begin.thread_id, self.settings, interruptible=resumable)
        if self._running.setdefault(run.thread_id, run) is not run:
            raise ConfigurationError(
                f"thread {run.thread_id!r:.80} is being run already; wait for its end, or give another"
            )
        try:
            async with claimed(self._saver, run.thread_id, patient=begin.patient):
                start = await begin.start()
                run.go_on_beside(start.branches)
                run.began = start.began or self.settings.now().isoformat()
                async with aclosing(self._events(start, run, live=live)) as events:
                    async for event in events:
                        await tell(self._hooks, event)
                        yield event
        finally:
            self._running.pop(run.thread_id, None)

    async def _events(self, start: _Start, run: RunContext, *, live: bool) -> AsyncGenerator[Event, None]:
        yield start.event
        state = start.state
        try:
            async with aclosing(self._chunks(start.input, run, live=live)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Event):
                        yield chunk
                    else:
                        state = _current(state, chunk)
        except (asyncio.CancelledError, GeneratorExit):
            state = {**state, **failed("cancelled", "whoever ran it stopped waiting for its end")}
            await tell(self._hooks, RunFinished(thread_id=run.thread_id, status="failed", state=state))
            raise
        yield await self._last(run.thread_id, state)

    async def _last(self, thread_id: str, state: OrchestratorState) -> Event:
        """How the run came to its end, or to a question."""
        if state["status"] in ("planning", "executing"):
            snapshot = await self._snapshot(thread_id)
            question = open_question(snapshot, state)
            if question is not None:
                return RunPaused(
                    thread_id=thread_id, question=question, state={**state, "question": question}
                )
        return RunFinished(thread_id=thread_id, status=state["status"], state=state)

    async def _chunks(
        self, given: _Input, run: RunContext, *, live: bool
    ) -> AsyncGenerator[Event | dict[str, object], None]:
        """What the graph streams: our events, and its values after each step."""
        left: _Input = given
        while left != "wait":
            stopped, interrupted = run.stopped, False
            async with aclosing(self._streamed(left, run, live=live)) as chunks:
                async for chunk in chunks:
                    interrupted = interrupted or (isinstance(chunk, dict) and "__interrupt__" in chunk)
                    yield chunk
            # Once more, where a step was halted or denied: questions beside it are withdrawn.
            left = None if interrupted and run.stopped is not stopped else "wait"

    async def _streamed(
        self, given: RunInput | Command[str] | None, run: RunContext, *, live: bool
    ) -> AsyncGenerator[Event | dict[str, object], None]:
        stream = self.graph.astream(
            given,
            self._config(run.thread_id, run.began),
            context=run,
            stream_mode=["custom", "values"] if live else ["values"],
            durability=None if self.graph.checkpointer is None else "sync",
        )
        # Closed here, so that nothing of the run goes on once whoever reads it has left.
        async with aclosing(cast("AsyncGenerator[tuple[str, object], None]", stream)) as chunks:
            async for _, chunk in chunks:
                if isinstance(chunk, Event | dict):
                    yield chunk

    def _beginning(self, task: str, thread_id: str | None) -> _Begin:
        thread = thread_id or _new_thread_id()

        async def start() -> _Start:
            state = blank_state(task, self.settings.max_retries)
            return _Start(
                RunInput(task=task, status="planning"), RunStarted(thread_id=thread, task=task), state
            )

        return _Begin(thread, start)

    def _resuming(self, thread_id: str, answer: object) -> _Begin:
        async def start() -> _Start:
            snapshot = await self._snapshot(thread_id)
            now, retries = self.settings.now(), self.settings.max_retries
            found = resumption(thread_id, snapshot, answer, now, retries)
            event = RunResumed(thread_id=thread_id, state=found.state)
            began = started_in(cast("Mapping[str, object]", snapshot.metadata or {}))
            return _Start(found.input, event, {**found.state, "question": None}, found.branches, began)

        # Whoever has an answer is told at once that another one is taken; the next question is another one.
        return _Begin(thread_id, start, patient=answer is None)

    def _forking(self, thread_id: str, step: int, new_thread_id: str | None) -> _Begin:
        self._check_resumable(thread_id)
        check_thread_id(new_thread_id)
        check_step(step)
        resuming = self._resuming(new_thread_id or _new_thread_id(), None)

        async def start() -> _Start:
            began = self.settings.now().isoformat()
            config = self._config(resuming.thread_id, began)
            await copy_before(self.graph, thread_id, step, config, self.settings.max_retries)
            return await resuming.start()

        return _Begin(resuming.thread_id, start)

    async def _snapshot(self, thread_id: str) -> StateSnapshot:
        with reading(thread_id):
            snapshot = await self.graph.aget_state(self._config(thread_id), subgraphs=True)
        saver = self.graph.checkpointer
        if START not in snapshot.next or not isinstance(saver, BaseCheckpointSaver):
            return snapshot
        # Of a run that was killed as it began, its input alone is kept, and that is not in the snapshot.
        found = await saver.aget_tuple(snapshot.config)
        return snapshot if found is None else snapshot._replace(values={**snapshot.values, **input_in(found)})

    def _config(self, thread_id: str, began: str | None = None) -> RunnableConfig:
        return RunnableConfig(
            configurable={"thread_id": thread_id},
            max_concurrency=self.settings.max_parallel_steps,
            metadata={} if began is None else {STARTED: began},
        )


_Input = RunInput | Command[str] | Literal["wait"] | None


@dataclass(frozen=True, slots=True)
class _Start:
    """What a run starts with: the graph's input, the first event, the state before, that of each branch.

    ``began`` is when a run began that goes on.
    """

    input: _Input
    event: Event
    state: OrchestratorState
    branches: tuple[OrchestratorState, ...] = ()
    began: str | None = None


@dataclass(frozen=True, slots=True)
class _Begin:
    """A run about to begin; ``start`` reads what it begins with, once nothing else runs on the thread.

    ``patient``: to wait for a moment until what ran on it is known to be dead.
    """

    thread_id: str
    start: Callable[[], Awaitable[_Start]]
    patient: bool = True


def _current(state: OrchestratorState, values: dict[str, object]) -> OrchestratorState:
    """The documented fields of what the graph holds; until the plan is made, that is of an earlier run."""
    if values.get("status") == "planning":
        return state
    return cast("OrchestratorState", {name: values.get(name, value) for name, value in state.items()})


def _new_thread_id() -> str:
    return str(uuid.uuid4())
