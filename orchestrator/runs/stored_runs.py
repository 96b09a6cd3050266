"""The methods of an orchestrator that continue stored runs: resume and fork."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

from langchain_core.runnables import RunnableConfig

from agents.sync import run_sync
from orchestrator.runs.launch import Launch, Launcher
from orchestrator.runs.runner import Runner
from orchestrator.runtime.events import Event
from orchestrator.state.graph_state import OrchestratorState


class StoredRuns:
    """Continues the runs that a checkpointer keeps."""

    def __init__(self, launcher: Launcher, runner: Runner) -> None:
        self._launcher = launcher
        self._runner = runner

    def _wait(self, launch: Launch) -> OrchestratorState:
        try:
            return run_sync(lambda: self._runner.wait_for_end(launch))
        except KeyboardInterrupt as interruption:
            if self._launcher.graph.checkpointer is not None:
                # Python prints it below the traceback. A caller who named no thread learns its name here.
                interruption.add_note(f"The run is stored; resume({launch.thread_id!r}) continues it.")
            raise

    def resume(
        self, thread_id: str, answer: object = None, config: RunnableConfig | None = None
    ) -> OrchestratorState:
        """Resume a run that crashed or is waiting for a person, from this process or another.

        Args:
            thread_id: Name of the run in the checkpointer.
            answer: ``{"answer": "approve"}``, ``{"answer": "correct", "text": "..."}`` or
                ``{"answer": "deny", "text": "..."}``, optionally with ``answered_by``. A question that an
                agent or a tool asked by ``interrupt`` takes any value. After a crash: None. Without an
                answer, a run that waits for one is returned unchanged, unless its deadline has passed.
            config: LangChain's config, as in ``run``.

        Returns:
            The state as ``run`` returns it: the final one, or one with the next ``question``.

        Raises:
            ResumeError: There is nothing to resume, or the answer is not accepted; nothing has changed.
            BrokenRunError: The thread holds a state that cannot be read.
            ConfigurationError: There is no checkpointer, or the thread is already running.
        """
        return self._wait(self._launcher.launch_resume(thread_id, answer, config))

    async def aresume(
        self, thread_id: str, answer: object = None, config: RunnableConfig | None = None
    ) -> OrchestratorState:
        """Like ``resume``, without blocking the event loop."""
        return await self._runner.wait_for_end(self._launcher.launch_resume(thread_id, answer, config))

    def stream_resumed(
        self,
        thread_id: str,
        answer: object = None,
        config: RunnableConfig | None = None,
        *,
        tokens: bool = False,
    ) -> Iterator[Event]:
        """Resume a run as ``resume`` does and yield its events, as ``stream`` does."""
        return self._runner.iterate_events(
            self._launcher.launch_resume(thread_id, answer, config), tokens=tokens
        )

    def astream_resumed(
        self,
        thread_id: str,
        answer: object = None,
        config: RunnableConfig | None = None,
        *,
        tokens: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Like ``stream_resumed``, without blocking the event loop."""
        return self._runner.read_events(
            self._launcher.launch_resume(thread_id, answer, config), tokens=tokens
        )

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
            step: Index of the step, from 0 as in the state; the command line counts from 1. Steps that ran in
                parallel with it start again together.
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

    async def afork(
        self,
        thread_id: str,
        step: int,
        new_thread_id: str | None = None,
        config: RunnableConfig | None = None,
    ) -> OrchestratorState:
        """Like ``fork``, without blocking the event loop."""
        return await self._runner.wait_for_end(
            self._launcher.launch_fork(thread_id, step, new_thread_id, config)
        )

    def astream_forked(
        self,
        thread_id: str,
        step: int,
        new_thread_id: str | None = None,
        config: RunnableConfig | None = None,
        *,
        tokens: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Fork a run as ``fork`` does and yield its events, as ``astream`` does."""
        return self._runner.read_events(
            self._launcher.launch_fork(thread_id, step, new_thread_id, config), tokens=tokens
        )
