"""The methods of an orchestrator that start, continue, follow and stop runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from functools import partial
from typing import TypedDict, Unpack

from langchain_core.runnables import RunnableConfig

from agents.sync import run_sync
from orchestrator.events import Event
from orchestrator.runs.launch import Launch, Launcher
from orchestrator.runs.run_loop import Runner
from orchestrator.state.graph_state import OrchestratorState


class StartOptions(TypedDict, total=False):
    """The keyword arguments of a new run."""

    config: RunnableConfig | None
    """LangChain's config: callbacks, tags, metadata, run name, limits, and values in ``configurable`` for
    tools. It reaches every node, agent, model and tool of the run."""
    replace: bool
    """Whether the run may start, clean, on a thread whose run was interrupted or waits for an answer, and is
    lost. By default, only the thread of a run that has ended may be used again."""
    tokens: bool
    """Whether the models of the planner and the executor stream their text: each piece is a ``TextStreamed``
    for the stream and the hooks."""


class ResumeOptions(TypedDict, total=False):
    """The keyword arguments of a resumed run."""

    config: RunnableConfig | None
    """LangChain's config, as for a new run."""
    accept_changes: bool
    """Whether the run may go on although this orchestrator lacks or changes a setting that the run began
    with: its tools that run once or need an approval, contracts, checks, ``require``, ``judge``,
    ``supervision`` or a bound. A warning of the run then names each."""
    tokens: bool
    """Whether models stream their text, as for a new run."""


class RunMethods:
    """Starts, follows and stops runs, and continues the runs that a checkpointer keeps."""

    def __init__(self, launcher: Launcher, runner: Runner) -> None:
        self._launcher = launcher
        self._runner = runner

    def _wait(self, launch: Launch) -> OrchestratorState:
        try:
            return run_sync(partial(self._runner.wait_for_end, launch))
        except KeyboardInterrupt as interruption:
            if self._launcher.graph.checkpointer is not None:
                # Python prints it below the traceback. A caller who named no thread learns its name here.
                interruption.add_note(f"The run is stored; resume({launch.thread_id!r}) continues it.")
            raise

    def run(
        self, task: str, thread_id: str | None = None, **options: Unpack[StartOptions]
    ) -> OrchestratorState:
        """Run a task to its end, also from within a running event loop such as a notebook's.

        Args:
            task: What to do.
            thread_id: Name of the run in the checkpointer and for ``cancel``. Default: a new name.
            options: See ``StartOptions``.

        Returns:
            The final state. ``status`` is "success", or "failed" with the cause in ``failure`` and
            everything that was done in ``results``. If the run waits for a person, the state holds the
            ``question``, which ``resume`` answers.

        Raises:
            ConfigurationError: The task is empty or not text, or the thread is already running or has a run
                that has not ended; the message says how to go on. Nothing has run.
            BrokenRunError: The thread holds a state that cannot be read.
            KeyboardInterrupt: Ctrl-C was pressed. With a checkpointer, the run is stored, and ``resume``
                continues it with the execution that was under way; a note of the error names the thread.

        Errors of the checkpointer are raised as they are, because the run could not be kept.
        """
        return self._wait(self._launcher.launch_task(task, thread_id, **options))

    async def arun(
        self, task: str, thread_id: str | None = None, **options: Unpack[StartOptions]
    ) -> OrchestratorState:
        """Like ``run``, without blocking the event loop."""
        return await self._runner.wait_for_end(self._launcher.launch_task(task, thread_id, **options))

    def stream(
        self, task: str, thread_id: str | None = None, **options: Unpack[StartOptions]
    ) -> Iterator[Event]:
        """Run a task and yield its events as they happen.

        The last one is ``RunFinished``, ``RunPaused`` or ``RunInterrupted``. Leaving the loop early
        interrupts the run. Raises the errors of ``run`` before the first event.
        """
        return self._runner.iterate_events(self._launcher.launch_task(task, thread_id, **options))

    def astream(
        self, task: str, thread_id: str | None = None, **options: Unpack[StartOptions]
    ) -> AsyncGenerator[Event, None]:
        """Like ``stream``, without blocking the event loop."""
        return self._runner.read_events(self._launcher.launch_task(task, thread_id, **options))

    def cancel(self, thread_id: str | None = None, reason: str = "cancelled by the caller") -> None:
        """End a run for good, as failed, and keep what it has done. Without ``thread_id``, end every run.

        A run that this orchestrator runs ends at once; for that, ``cancel`` may be called from any thread and
        from a signal handler. A plain method of an agent that blocks in a thread cannot be stopped; the run
        ends without waiting for its result. With ``thread_id``, a stored run that waits for a person or was
        interrupted ends, too: a later answer is refused. An unknown or ended run stays as it is.

        Raises:
            ConfigurationError: Another process or orchestrator runs the thread.
            BrokenRunError: The thread holds a state that cannot be read.
        """
        if (stored := self._runner.cancel(thread_id, reason)) is not None:
            run_sync(partial(self._runner.cancel_stored, stored, reason))

    async def acancel(self, thread_id: str | None = None, reason: str = "cancelled by the caller") -> None:
        """Like ``cancel``, without blocking the event loop."""
        if (stored := self._runner.cancel(thread_id, reason)) is not None:
            await self._runner.cancel_stored(stored, reason)

    def interrupt(self, thread_id: str | None = None) -> None:
        """Stop a run at once as a kill would: ``resume`` continues it. Without ``thread_id``, stop every run.

        The last event is ``RunInterrupted``, and ``run`` returns the state with its status "planning" or
        "executing". Leaving a stream early, Ctrl-C and cancelling the asyncio task interrupt a run, too.
        May be called from any thread and from a signal handler.
        """
        self._runner.interrupt(thread_id)

    def resume(
        self, thread_id: str, answer: object = None, **options: Unpack[ResumeOptions]
    ) -> OrchestratorState:
        """Resume a run that crashed or is waiting for a person, from this process or another.

        Args:
            thread_id: Name of the run in the checkpointer.
            answer: ``{"answer": "approve"}``, ``{"answer": "correct", "text": "..."}`` or
                ``{"answer": "deny", "text": "..."}`` (or "halt"), optionally with ``answered_by``. If a tool
                call may have had its effect, "correct" states its result. The text of "approve" is only
                recorded. An ``interrupt`` of an agent or a tool takes any value. After a crash: None. Without
                an answer, a run that waits for one is returned unchanged.
            options: See ``ResumeOptions``.

        Returns:
            The state as ``run`` returns it: the final one, or one with the next ``question``.

        Raises:
            ResumeError: There is nothing to resume, the answer is not accepted, or a setting is another than
                the run began with; nothing has changed.
            BrokenRunError: The thread holds a state that cannot be read.
            ConfigurationError: There is no checkpointer, or the thread is already running.
        """
        return self._wait(self._launcher.launch_resume(thread_id, answer, **options))

    async def aresume(
        self, thread_id: str, answer: object = None, **options: Unpack[ResumeOptions]
    ) -> OrchestratorState:
        """Like ``resume``, without blocking the event loop."""
        return await self._runner.wait_for_end(self._launcher.launch_resume(thread_id, answer, **options))

    def stream_resumed(
        self, thread_id: str, answer: object = None, **options: Unpack[ResumeOptions]
    ) -> Iterator[Event]:
        """Resume a run as ``resume`` does and yield its events, as ``stream`` does."""
        return self._runner.iterate_events(self._launcher.launch_resume(thread_id, answer, **options))

    def astream_resumed(
        self, thread_id: str, answer: object = None, **options: Unpack[ResumeOptions]
    ) -> AsyncGenerator[Event, None]:
        """Like ``stream_resumed``, without blocking the event loop."""
        return self._runner.read_events(self._launcher.launch_resume(thread_id, answer, **options))

    async def arun_once(self, task: str, thread_id: str) -> OrchestratorState:
        """Run a task once, however often this is called with the same thread, and from any process.

        Starts the run if the thread has none, and resumes it if it was interrupted. A run that has ended, or
        that waits for an answer, is returned as it is.

        Raises:
            ThreadBusyError: Another process or orchestrator runs the thread at this moment.
            ResumeError: The run cannot go on with the settings of this orchestrator.
            BrokenRunError: The thread holds a state that cannot be read.
            ConfigurationError: There is no checkpointer, or an argument is not accepted.
        """
        return await self._runner.wait_for_end(self._launcher.launch_once(task, thread_id))

    def fork(
        self,
        thread_id: str,
        step: int,
        new_thread_id: str | None = None,
        config: RunnableConfig | None = None,
    ) -> OrchestratorState:
        """Fork a run: copy its state from before ``step`` to a new thread and continue there.

        The new run uses the agents and settings of this orchestrator.

        Args:
            thread_id: The run to fork, ended or not; it does not change.
            step: Index of the step, from 0 as in the state; the command line counts from 1.
            new_thread_id: Name of the new run. Default: a new name, which only hooks receive.
            config: LangChain's config, as in ``run``.

        Returns:
            The state as ``run`` returns it. Its usage includes the steps before ``step``.

        Raises:
            ResumeError: There is no such run, it never reached that step, or the new thread is in use.
            BrokenRunError: The thread holds a state that cannot be read.
            ConfigurationError: There is no checkpointer, or an argument is not accepted.
        """
        return self._wait(self._launcher.launch_fork(thread_id, step, new_thread_id, config))

    def astream_forked(
        self,
        thread_id: str,
        step: int,
        new_thread_id: str | None = None,
        config: RunnableConfig | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Fork a run as ``fork`` does and yield its events, as ``astream`` does."""
        return self._runner.read_events(self._launcher.launch_fork(thread_id, step, new_thread_id, config))
