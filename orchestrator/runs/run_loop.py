"""Runs the graph on a thread and yields the run's events: the core of LangGraphOrchestrator's methods."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphRecursionError, NodeCancelledError
from langgraph.types import Durability, Interrupt, StreamMode

from agents.sync import iterate_blocking
from orchestrator.errors import ResumeError, ThreadBusyError
from orchestrator.events import (
    Event,
    Hook,
    RunFinished,
    RunInterrupted,
    RunPaused,
    RunResumed,
    TextStreamed,
)
from orchestrator.retry.verdict_updates import build_failure
from orchestrator.runs.history import History
from orchestrator.runs.launch import GraphInput, Launch, Launcher, Start
from orchestrator.runs.reader import complete_state
from orchestrator.runs.resume import PLANNER, find_open_question
from orchestrator.runs.run_saver import RunSaver
from orchestrator.runtime.bounded_call import RunContext
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    STARTED,
    UNDERWAY,
    OrchestratorState,
    StateUpdate,
    apply_update,
    overwrite_growing,
    read_basis_reason,
)
from orchestrator.state.plain_values import format_traceback, name_thread
from orchestrator.supervision.human import read_outage

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """Carries out the runs of one orchestrator.

    Attributes:
        launcher: Holds the compiled graph and the settings.
        saver: The checkpointer as the caller gave it, because the graph's wrapper cannot lock threads.
        hooks: Called with every event.
    """

    launcher: Launcher
    saver: BaseCheckpointSaver[str] | None
    hooks: tuple[Hook, ...]
    _running: dict[str, RunContext] = field(default_factory=dict)

    async def wait_for_end(self, launch: Launch) -> OrchestratorState:
        """Runs until the run ends or waits for a person, and returns its state."""
        state: OrchestratorState | None = None
        modes = _list_modes(launch, is_read=bool(self.hooks))
        async with aclosing(self._run_launch(launch, modes)) as events:
            async for event in events:
                if isinstance(event, RunFinished | RunPaused | RunInterrupted):
                    state = event.state
        return cast("OrchestratorState", state)

    async def read_events(self, launch: Launch) -> AsyncGenerator[Event, None]:
        """Runs, and yields the events as they happen."""
        async with aclosing(self._run_launch(launch, _list_modes(launch, is_read=True))) as events:
            async for event in events:
                # A copy: the states in it are the graph's own, and the caller may change what it reads.
                yield copy.deepcopy(event)

    def iterate_events(self, launch: Launch) -> Iterator[Event]:
        """Like ``read_events``, for blocking code. Leaving the loop early interrupts the run."""
        return iterate_blocking(lambda: self.read_events(launch), lambda: self.interrupt(launch.thread_id))

    def cancel(self, thread_id: str | None, reason: str) -> str | None:
        """Cancels the run of a thread, or every run if no thread is named.

        Returns:
            The thread, if it may hold a stored run that this runner does not run; else None.
        """
        for run in self._find_running(thread_id):
            run.cancel(reason)
        is_stored = self.launcher.graph.checkpointer is not None and thread_id not in self._running
        return thread_id if is_stored else None

    def interrupt(self, thread_id: str | None) -> None:
        """Interrupts the run of a thread, or every run if no thread is named."""
        for run in self._find_running(thread_id):
            run.interrupt()

    async def cancel_stored(self, thread_id: str, reason: str) -> None:
        """Ends a stored run that waits for a person or was interrupted; does nothing if there is none."""
        async with self._own_thread(thread_id, wait=False):
            await self._mark_thread(thread_id)
            await self._end_run(thread_id, reason)

    async def _end_run(self, thread_id: str, reason: str) -> OrchestratorState | None:
        """Ends a stored run that has not ended as cancelled, and withdraws its questions.

        Returns:
            The last state; None if the thread has no run, or one that has ended.

        Raises:
            BrokenRunError: The thread does not hold the state of a run.
        """
        snapshot = await self.launcher.read_snapshot(thread_id)
        try:
            resumed = self.launcher.decide(thread_id, snapshot)
        except ResumeError:
            return None
        if resumed.rejudging is not None:
            return None
        question = resumed.state["question"]
        failure = build_failure("cancelled", reason, None if question is None else question["step_index"])
        ended: StateUpdate = {"question": None, "underway": NOTHING_UNDERWAY, **failure}
        state = await self._report(apply_update(complete_state(snapshot, resumed.state), ended))
        began = cast("str | None", (snapshot.metadata or {}).get(STARTED))
        # After the planner, a run that has failed goes to its end, which withdraws all questions.
        config = self.launcher.build_config(thread_id, began)
        await self.launcher.graph.aupdate_state(config, overwrite_growing({**state}), as_node=PLANNER)
        return state

    async def _report(self, state: OrchestratorState) -> OrchestratorState:
        """Returns the last state of a run, in which the latest execution has a report."""
        run = self.launcher.settings.new_context("", interruptible=False)
        return await self.launcher.reporter(state, run)

    def _find_running(self, thread_id: str | None) -> list[RunContext]:
        # A copy, because runs in other threads begin and end meanwhile.
        return [run for name, run in dict(self._running).items() if thread_id in (None, name)]

    async def _run_launch(self, launch: Launch, modes: list[StreamMode]) -> AsyncGenerator[Event, None]:
        """Yields the events after the hooks received them."""
        # Without a checkpointer, an agent's own interrupt could never be answered.
        resumable = self.launcher.graph.checkpointer is not None
        run = self.launcher.settings.new_context(launch.thread_id, interruptible=resumable)
        # setdefault is atomic, so two threads cannot both start a run.
        if self._running.setdefault(run.thread_id, run) is not run:
            raise ThreadBusyError(
                f"{name_thread(run.thread_id)} is already running; wait for its end, or give another"
            )
        try:
            async with self._own_thread(run.thread_id, wait=launch.wait_for_lock):
                start = await launch.prepare()
                await self._mark_thread(run.thread_id)
                run.is_new = not isinstance(start.event, RunResumed)
                if isinstance(start.event, RunResumed):
                    run.spent = start.state["usage"]
                run.changed = start.changed
                run.began = start.began or datetime.now(UTC).isoformat()
                async with aclosing(self._follow_graph(start, run, launch, modes)) as events:
                    async for event in events:
                        await self._notify_hooks(event)
                        yield event
        finally:
            self._running.pop(run.thread_id, None)

    @asynccontextmanager
    async def _own_thread(self, thread_id: str, *, wait: bool) -> AsyncIterator[None]:
        """Holds the lock of a thread, whose row in the index is right afterwards.

        Raises:
            ThreadBusyError: Another process or orchestrator holds the lock.
            StoreError: The store cannot be reached.
        """
        if not isinstance(self.saver, RunSaver):  # a saver of LangGraph has neither
            yield
            return
        locks = self.saver.locks
        acquiring = asyncio.create_task(asyncio.to_thread(locks.acquire, thread_id, wait=wait))
        try:
            if not await asyncio.shield(acquiring):
                raise ThreadBusyError(
                    f"{name_thread(thread_id)} is being run elsewhere, by another process or "
                    "orchestrator; wait for its end, or give another"
                )
            yield
        finally:
            # Also if it was cancelled meanwhile: nothing stops the Python thread that acquires the lock.
            if await acquiring:
                await asyncio.to_thread(locks.release, thread_id)
                await asyncio.to_thread(History(self.saver, "").store_summary, thread_id)

    async def _mark_thread(self, thread_id: str) -> None:
        """Marks the row of a thread that is about to be written to as out of date."""
        if isinstance(self.saver, RunSaver):
            await asyncio.to_thread(self.saver.mark_thread, thread_id)

    async def _notify_hooks(self, event: Event) -> None:
        """Calls each hook with a copy of the event, and logs its errors.

        Raises:
            asyncio.CancelledError: The task that calls the hooks was cancelled, or a hook raised it.
        """
        for hook in self.hooks:
            try:
                # A copy, so that a hook cannot change the records of the run.
                result = hook(copy.deepcopy(event))
                if inspect.isawaitable(result):
                    await result
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a hook is user code, and its errors must not end a run
                shown = format_traceback(error)
                _log.error("a hook failed on %s; the run continues\n%s", type(event).__name__, shown)

    async def _follow_graph(
        self, start: Start, run: RunContext, launch: Launch, modes: list[StreamMode]
    ) -> AsyncGenerator[Event, None]:
        yield start.event
        state, outage = start.state, None
        try:
            config = self.launcher.build_config(run.thread_id, run.began, launch.config)
            async with aclosing(self._read_chunks(start.input, run, config, modes)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, TextStreamed) and not launch.tokens:
                        # Some models, such as those of Ollama, stream unasked.
                        continue
                    if isinstance(chunk, Event):
                        yield chunk
                    else:
                        state, outage = _update_state(state, chunk), _find_outage(chunk)
        except GraphRecursionError as error:
            limit = (
                f"the run visited recursion_limit={config['recursion_limit']} nodes; raise it in the config"
            )
            # LangGraph also raises if the last node that it allows has ended the run.
            is_open = state["status"] in UNDERWAY
            failure = build_failure("recursion_limit", limit, error=error) if is_open else {}
            state = await self._report(cast("OrchestratorState", {**state, **failure}))
        except (asyncio.CancelledError, GeneratorExit):
            # A generator that is being closed cannot yield, so the hooks alone learn of this.
            await self._notify_hooks(RunInterrupted(thread_id=run.thread_id, state=state))
            raise
        except NodeCancelledError:
            if not run.interrupted:
                raise
            yield RunInterrupted(thread_id=run.thread_id, state=await self._complete(run.thread_id, state))
            return
        yield await self._build_last_event(run, state, outage)

    async def _complete(self, thread_id: str, state: OrchestratorState) -> OrchestratorState:
        """Returns the state of an interrupted run with the effects that are open in its store, if any."""
        if self.launcher.graph.checkpointer is None:
            return state
        return complete_state(await self.launcher.read_snapshot(thread_id), state)

    async def _build_last_event(self, run: RunContext, state: OrchestratorState, outage: str | None) -> Event:
        thread_id = run.thread_id
        if outage is not None and run.cancelled is None:
            failure = build_failure("executor_error", outage)
            state = await self._complete(thread_id, state)
            waiting: OrchestratorState = {**state, "failure": failure["failure"]}
            return RunInterrupted(thread_id=thread_id, state=waiting)
        if state["status"] in UNDERWAY:
            snapshot = await self.launcher.read_snapshot(thread_id)
            question = find_open_question(snapshot, state)
            if question is not None and run.cancelled is not None:
                state = await self._end_run(thread_id, run.cancelled) or state
            elif question is not None:
                state = complete_state(snapshot, state)
                paused: OrchestratorState = {**state, "question": question}
                return RunPaused(thread_id=thread_id, question=question, state=paused)
        return RunFinished(
            thread_id=thread_id,
            status=state["status"],
            state=state,
            basis=state["basis"],
            basis_reason=read_basis_reason(state),
            evidence=state.get("evidence"),
        )

    async def _read_chunks(
        self, graph_input: GraphInput, run: RunContext, config: RunnableConfig, modes: list[StreamMode]
    ) -> AsyncGenerator[Event | dict[str, object], None]:
        """Yields the stream of the graph: our events, and its values after each step."""
        if graph_input == "wait":
            return
        graph = self.launcher.graph
        # "async" could lose the last checkpoints if the process is killed.
        durability: Durability | None = None if graph.checkpointer is None else "sync"
        stream = graph.astream(graph_input, config, context=run, stream_mode=modes, durability=durability)
        # Closed at once, so that no node runs on after the reader has left.
        async with aclosing(cast("AsyncGenerator[tuple[str, object], None]", stream)) as chunks:
            async for _, chunk in chunks:
                if isinstance(chunk, Event | dict):
                    yield chunk


def _list_modes(launch: Launch, *, is_read: bool) -> list[StreamMode]:
    """Returns what the graph streams; events only if they are read, since they take a task in each node."""
    # LangGraph makes models stream if "messages" are read. The events come from our own recorder.
    tokens: tuple[StreamMode, ...] = ("messages",) if launch.tokens else ()
    return ["values", *(("custom", *tokens) if is_read else ())]


def _update_state(state: OrchestratorState, values: dict[str, object]) -> OrchestratorState:
    """Returns the state with the graph's values, without those that are no field of a run."""
    # Until there is a new plan, the thread holds the values of the run before.
    if values.get("status") == "planning":
        return state
    return cast("OrchestratorState", {name: values.get(name, value) for name, value in state.items()})


def _find_outage(values: dict[str, object]) -> str | None:
    """Returns why a run waits for the server of a model, if it waits for nothing else."""
    interrupts = values.get("__interrupt__", ())
    outages = [read_outage(each.value) for each in cast("Sequence[Interrupt]", interrupts)]
    return outages[0] if outages and all(outages) else None
