"""LangGraphOrchestrator: plans a task, executes it step by step and judges every step."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from datetime import datetime

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from agents.calls.conversation import Model
from agents.sync import run_sync
from evaluation import EvaluationContract
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import AnyJudge, JudgeFunction
from orchestrator.graph.build import Agents, compile_graph
from orchestrator.graph.drawing import draw_mermaid, draw_png
from orchestrator.judging.contracts import ContractSource
from orchestrator.judging.options import EvaluationOptions, check_evaluation
from orchestrator.judging.output import read_output_rules
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runs.launch import Launcher
from orchestrator.runs.runner import Runner
from orchestrator.runs.stored_runs import StoredRuns
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.context import utc_now
from orchestrator.runtime.events import Event, Hook
from orchestrator.runtime.protocols import Compressor, Executor, Monitor, Planner
from orchestrator.settings import Settings, check_agents, check_compressor, check_hooks, read_judge
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Requirement, SupervisionMode
from orchestrator.supervision.limits import SupervisionPolicy
from orchestrator.supervision.modes import ModeFunction
from orchestrator.supervision.protocols import Supervisor
from orchestrator.task_contracts.writers import ContractWriter


class LangGraphOrchestrator(StoredRuns):
    """Plans a task, executes it step by step and judges every step.

    Args:
        planner: Breaks the task into steps.
        executor: Executes one step.
        monitor: Judges one result.
        compressor: Shortens the context before a step; None keeps it as it is.
        max_retries: Executions of a step after its first, before the run fails. Default:
            ``retry_policy.max_retries``, which is 2.
        retry_policy: What happens after a step was not accepted.
        budget: Upper bounds of time, tokens, model calls and cost of a run.
        call_timeout: Maximum seconds of one call of an agent; None is no bound.
        step_timeout: Maximum seconds of a step with all its attempts and their judging; None is no bound.
        max_plan_steps: Maximum number of steps of a plan; a longer plan is refused.
        contract: Contract of every step, or a function of a step's text and index that returns it.
            Default: the contracts that the planner declared. Without any, the monitor alone judges whether
            the objective is met. "from_task" derives checks: of the final output from the task, and of
            each step from its text; the monitor judges the objective besides. A ``TaskCase`` states the
            contract of the final output of its task.
        contract_writer: Derives the checks for "from_task". Default: rules, without a model.
        require: "checked" or "judged": a run whose output rests on less fails with the kind "unverified".
            A person's approval satisfies both. Default: any success is accepted.
        judge: Scores what no program can, in place of the monitor: an object with ``judge`` or ``ajudge``,
            or a function, which may be asynchronous.
        evaluation: What the evaluation of each step uses besides: a baseline, an embedder, prices, functions.
        checks: Functions with ``@check`` and ``CommandCheck`` objects that the final output has to pass,
            besides its contract. Contracts of steps can name them, too.
        supervision: "none", "llm" or "human", or a function of a step's text and index that returns one.
        supervisor: Decides on steps that are not clean: a chat model, or an object with ``reconcile`` and
            ``supervise``. Default: the monitor's model.
        supervision_policy: The bounds of supervision, and of a person's answer.
        max_parallel_steps: Maximum number of steps that run at once, if the plan says which are independent.
        synthesis: Whether the executor writes one answer from the results of several steps; if False, the
            last result is the answer. Default: True if the executor has a method ``synthesize``.
        output_contract: Contract of the final output. Default: the objective is the task.
        output_type: A pydantic model. The final output is its JSON text: the executor is told the schema, the
            output is validated, and the validation error is the reason of a retry.
        clock: Returns the time.
        checkpointer: Any LangGraph saver. It keeps every run, for ``resume`` and ``fork``.
        hooks: Functions that are called with every event. An error that one raises is logged.

    Attributes:
        graph: The compiled LangGraph, for LangGraph Studio, drawings and your own streams.

    Raises:
        ConfigurationError: An argument is not accepted; the message says what is.
    """

    def __init__(
        self,
        planner: Planner,
        executor: Executor,
        monitor: Monitor,
        compressor: Compressor | None = None,
        max_retries: int | None = None,
        *,
        retry_policy: RetryPolicy | None = None,
        budget: Budget | None = None,
        call_timeout: float | None = None,
        step_timeout: float | None = None,
        max_plan_steps: int = 1000,
        contract: ContractSource = None,
        contract_writer: ContractWriter | None = None,
        require: Requirement | None = None,
        judge: AnyJudge | JudgeFunction | None = None,
        evaluation: EvaluationOptions | None = None,
        checks: Sequence[CustomCheck] = (),
        supervision: SupervisionMode | ModeFunction = "none",
        supervisor: Supervisor | Model | None = None,
        supervision_policy: SupervisionPolicy | None = None,
        max_parallel_steps: int = 8,
        synthesis: bool | None = None,
        output_contract: EvaluationContract | None = None,
        output_type: type[BaseModel] | None = None,
        clock: Callable[[], datetime] = utc_now,
        checkpointer: BaseCheckpointSaver[str] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        check_agents(planner, executor, monitor)
        check_compressor(compressor)
        check_hooks(hooks)
        check_evaluation(evaluation)
        self.settings = Settings(
            retry_policy=merge_max_retries(retry_policy, max_retries),
            max_plan_steps=max_plan_steps,
            call_timeout=call_timeout,
            step_timeout=step_timeout,
            budget=Budget() if budget is None else budget,
            supervision=supervision,
            supervision_policy=SupervisionPolicy() if supervision_policy is None else supervision_policy,
            max_parallel_steps=max_parallel_steps,
            require=require,
            synthesis=synthesis,
            # Only a checkpointer keeps the question while a person thinks about it.
            human=checkpointer is not None,
            clock=clock,
        )
        options = (EvaluationOptions() if evaluation is None else evaluation).with_checks(checks)
        judging = read_judge(judge)
        agents = Agents(planner, executor, monitor, compressor, judging, supervisor, options, contract_writer)
        output = read_output_rules(output_contract, output_type, synthesis=synthesis, checks=checks)
        self.graph = compile_graph(agents, contract, self.settings, checkpointer, output)
        launcher = Launcher(self.graph, self.settings)
        super().__init__(launcher, Runner(launcher, checkpointer, tuple(hooks)))

    def run(
        self, task: str, thread_id: str | None = None, config: RunnableConfig | None = None
    ) -> OrchestratorState:
        """Run a task to its end, also from within a running event loop such as a notebook's.

        Args:
            task: What to do.
            thread_id: Name of the run in the checkpointer and for ``cancel``. Default: a new name. On a
                thread that was used before, the run starts clean.
            config: LangChain's config: callbacks, tags, metadata, run name, limits, and values in
                ``configurable`` for tools. It reaches every node, agent, model and tool of the run.

        Returns:
            The final state. ``status`` is "success", or "failed" with the cause in ``failure`` and
            everything that was done in ``results``. If the run waits for a person, the state holds the
            ``question``, which ``resume`` answers.

        Raises:
            ConfigurationError: The task is empty or not text, or the thread is already running.

        Errors of the checkpointer are raised as they are, because the run could not be kept.
        """
        launch = self._launcher.launch_task(task, thread_id, config)
        return run_sync(lambda: self._runner.wait_for_end(launch))

    async def arun(
        self, task: str, thread_id: str | None = None, config: RunnableConfig | None = None
    ) -> OrchestratorState:
        """Like ``run``, without blocking the event loop."""
        return await self._runner.wait_for_end(self._launcher.launch_task(task, thread_id, config))

    def stream(
        self,
        task: str,
        thread_id: str | None = None,
        config: RunnableConfig | None = None,
        *,
        tokens: bool = False,
    ) -> Iterator[Event]:
        """Run a task and yield its events as they happen.

        The last one is ``RunFinished``, ``RunPaused`` or ``RunInterrupted``. With ``tokens``, the models of
        the planner and the executor stream their text, as ``TextStreamed``. Leaving the loop early interrupts
        the run. Raises the errors of ``run`` before the first event.
        """
        return self._runner.iterate_events(self._launcher.launch_task(task, thread_id, config), tokens=tokens)

    def astream(
        self,
        task: str,
        thread_id: str | None = None,
        config: RunnableConfig | None = None,
        *,
        tokens: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Like ``stream``, without blocking the event loop."""
        return self._runner.read_events(self._launcher.launch_task(task, thread_id, config), tokens=tokens)

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
        self._runner.cancel(thread_id, reason)
        if thread_id is not None and self._is_stored_alone(thread_id):
            run_sync(lambda: self._runner.cancel_stored(thread_id, reason))

    async def acancel(self, thread_id: str | None = None, reason: str = "cancelled by the caller") -> None:
        """Like ``cancel``, without blocking the event loop."""
        self._runner.cancel(thread_id, reason)
        if thread_id is not None and self._is_stored_alone(thread_id):
            await self._runner.cancel_stored(thread_id, reason)

    def interrupt(self, thread_id: str | None = None) -> None:
        """Stop a run at once as a kill would: ``resume`` continues it. Without ``thread_id``, stop every run.

        The last event is ``RunInterrupted``, and ``run`` returns the state with its status "planning" or
        "executing". Leaving a stream early, Ctrl-C and cancelling the asyncio task interrupt a run, too.
        May be called from any thread and from a signal handler.
        """
        self._runner.interrupt(thread_id)

    def _is_stored_alone(self, thread_id: str) -> bool:
        return self.graph.checkpointer is not None and not self._runner.is_running(thread_id)

    def draw_mermaid(self) -> str:
        """Return the graph as Mermaid text."""
        return draw_mermaid(self.graph)

    def draw_png(self) -> bytes:
        """Return the graph as a PNG picture.

        Raises:
            DrawingError: The package pygraphviz is not installed.
        """
        return draw_png(self.graph)
