"""Checks the arguments of a new, resumed or forked run, and reads from its thread how it starts."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from agents.loop.effects import LASTING
from evaluation import TaskCase
from orchestrator.errors import ConfigurationError, ResumeError
from orchestrator.events import Event, RunResumed, RunStarted
from orchestrator.judging.contract_options import find_case_problem, with_contract
from orchestrator.judging.executor_tools import ExecutorTools, find_unasked
from orchestrator.runs.reader import complete_snapshot, complete_state, find_execution
from orchestrator.runs.resume import (
    PLANNER,
    SAFEGUARDS,
    Resumption,
    decide_resumption,
    list_changed,
    read_values,
    state_from_values,
)
from orchestrator.runs.run_saver import (
    checkpoint_config,
    convert_read_errors,
    describe_unknown_thread,
    schema_problem,
)
from orchestrator.runtime.bounded_call import Reporter, RunContext
from orchestrator.runtime.call_records import CHANNEL
from orchestrator.settings import Settings, check_config, check_task, check_thread_id
from orchestrator.state.graph_state import (
    COPIED_CALL,
    ENDED,
    EXECUTOR,
    NOTHING_UNDERWAY,
    STARTED,
    OrchestratorState,
    RunInput,
    blank_state,
    current_step,
    is_answer_due,
)
from orchestrator.state.plain_values import format_repr, name_thread
from orchestrator.state.records import EffectRecord, Json

GraphInput: TypeAlias = RunInput | Command[str] | Literal["wait"] | None
"""The input of a new run; an answer; nothing to do before there is an answer; or None to go on."""


Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]


@dataclass(frozen=True, slots=True)
class Start:
    """Everything a run starts from.

    Attributes:
        input: Input of the graph.
        event: The first event.
        state: The state before the graph runs.
        began: When a resumed run began; None for a new run.
        changed: Warnings of a resumed run: safeguards that are others now, which the caller accepts.
    """

    input: GraphInput
    event: Event
    state: OrchestratorState
    began: str | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """A run whose arguments are checked and that has not begun.

    Attributes:
        thread_id: The thread it runs on.
        prepare: Reads the start from the store. Called only after the thread is locked, because another
            process may have changed the thread before.
        config: LangChain's config, as the caller gave it: callbacks, tags, metadata and limits.
        wait_for_lock: Wait for a moment if a process that died still holds the lock.
        tokens: Whether models stream, and each piece of text is an event.
    """

    thread_id: str
    prepare: Callable[[], Awaitable[Start]]
    config: RunnableConfig
    wait_for_lock: bool = True
    tokens: bool = False


@dataclass(frozen=True, slots=True)
class Launcher:
    """Launches the runs of one orchestrator.

    Attributes:
        graph: The compiled graph, with the store of every thread.
        settings: The settings of every run.
        tools: The executor's tools.
        case: The contract of the task that the caller states, if it is a case.
        safeguards: The settings that make the runs of this orchestrator safe.
        reporter: The reporter of an execution at which a run ended.
        answers: Whether a final answer may be written after the steps.
    """

    graph: Graph
    settings: Settings
    tools: ExecutorTools
    case: TaskCase | None
    safeguards: Mapping[str, Json]
    reporter: Reporter
    answers: bool

    def launch_task(
        self,
        task: str,
        thread_id: str | None,
        *,
        config: RunnableConfig | None = None,
        replace: bool = False,
        tokens: bool = False,
    ) -> Launch:
        """Checks the arguments of a new run. With ``replace``, the thread may have a run already.

        Raises:
            ConfigurationError: The task, the thread or the config is not accepted.
        """
        text, passed = check_task(task), check_config(config, thread_id)
        named: str | None = passed["configurable"].get("thread_id")
        thread = named or str(uuid.uuid4())

        async def prepare() -> Start:
            if named is not None and not replace:
                await self._refuse_used_thread(named)
            state = blank_state(text, self.settings.max_retries)
            event = RunStarted(thread_id=thread, task=text)
            return Start(RunInput(task=text, status="planning"), event, state)

        return Launch(thread, prepare, passed, tokens=tokens)

    def launch_resume(
        self,
        thread_id: str,
        answer: object = None,
        *,
        config: RunnableConfig | None = None,
        accept_changes: bool = False,
        tokens: bool = False,
    ) -> Launch:
        """Checks the arguments of a resumed run. With ``accept_changes``, its safeguards may be others.

        Raises:
            ConfigurationError: There is no checkpointer, or the thread or the config is not accepted.
        """
        if self.graph.checkpointer is None or thread_id is None:
            raise ConfigurationError(
                "resume and fork need a thread_id and the checkpointer that the run is kept in; "
                "give LangGraphOrchestrator one"
            )
        passed = check_config(config, thread_id)

        async def prepare() -> Start:
            snapshot = await self.read_snapshot(thread_id)
            resumed = self.decide(thread_id, snapshot, answer)
            self._check_tools(thread_id, snapshot, resumed)
            metadata = cast("Mapping[str, object]", snapshot.metadata or {})
            changed = list_changed(metadata.get(SAFEGUARDS), self.safeguards)
            if changed and not accept_changes:
                raise ResumeError(
                    f"{name_thread(thread_id)} cannot go on with other settings: "
                    f"{'; '.join(changed)}; give them as before, or resume with accept_changes=True"
                )
            warnings = [f"resumed with accept_changes: {each}" for each in changed]
            event = RunResumed(thread_id=thread_id, state=resumed.state)
            state: OrchestratorState = {**resumed.state, "question": None}
            began = cast("str | None", metadata.get(STARTED))
            if (again := resumed.rejudging) is not None:
                await self.graph.aupdate_state(self.build_config(thread_id, began), again, as_node=EXECUTOR)
            return Start(resumed.input, event, state, began, tuple(warnings))

        # An answer does not wait: if another answer is being applied, this one would meet the next question.
        return Launch(thread_id, prepare, passed, wait_for_lock=answer is None, tokens=tokens)

    def launch_fork(
        self, thread_id: str, step: int, new_thread_id: str | None, config: RunnableConfig | None
    ) -> Launch:
        """Checks the arguments of a forked run.

        Raises:
            ConfigurationError: There is no checkpointer, or an argument is not accepted.
        """
        check_thread_id(thread_id)
        if not isinstance(step, int) or step < 0:
            raise ConfigurationError(f"step is {format_repr(step, 40)}; give the index of a step, from 0")
        passed = check_config(config, new_thread_id)
        thread = passed["configurable"].get("thread_id") or str(uuid.uuid4())
        resume = self.launch_resume(thread, config=passed)

        async def prepare() -> Start:
            await self._copy_before(thread_id, step, resume.thread_id)
            return await resume.prepare()

        return dataclasses.replace(resume, prepare=prepare)

    async def _copy_before(self, thread_id: str, step: int, new_thread_id: str) -> None:
        """Copies the state before a step to a new thread, from which the graph continues with that step.

        Args:
            thread_id: The run to copy; it is not changed.
            step: The index of the step; ``len(plan)`` is the final answer.
            new_thread_id: The new thread.

        Raises:
            ResumeError: There is no such run, it never reached that step, or the new thread is in use.
        """
        new = self.build_config(new_thread_id, datetime.now(UTC).isoformat())
        if (await self.graph.aget_state(new)).config["configurable"].get("checkpoint_id"):
            raise ResumeError(f"{name_thread(new_thread_id)} is in use; give another name for the new run")
        latest = await self.read_snapshot(thread_id)
        if not latest.config["configurable"].get("checkpoint_id"):
            raise ResumeError(describe_unknown_thread(thread_id))
        if problem := schema_problem(thread_id, latest.metadata):
            raise ResumeError(problem)
        with convert_read_errors(thread_id):
            state = await _read_before(self.graph, latest, thread_id, step)
            stored = state_from_values(read_values(latest), self.settings.max_retries)
            effects = complete_state(latest, stored)["effects"]
            warnings = [*state["warnings"], *_warn_of_effects(effects, step)]
        own = {"max_retries": self.settings.max_retries, "underway": NOTHING_UNDERWAY, "warnings": warnings}
        forked = cast("OrchestratorState", {**with_contract(state, self.case), **own})
        await self.graph.aupdate_state(new, cast("dict[str, object]", forked), as_node=PLANNER)

    def launch_once(self, task: str, thread_id: str) -> Launch:
        """Checks the arguments of a run that starts if its thread has none, and else is resumed.

        A run that has ended, or that waits for an answer, stays as it is.

        Raises:
            ConfigurationError: There is no checkpointer, or the task or the thread is not accepted.
        """
        begun = self.launch_task(task, thread_id)
        resumed = self.launch_resume(thread_id)

        async def prepare() -> Start:
            snapshot = await self.read_snapshot(thread_id)
            if not snapshot.config["configurable"].get("checkpoint_id"):
                return await begun.prepare()
            if snapshot.tasks or snapshot.values.get("status") not in ENDED:
                return await resumed.prepare()
            state = state_from_values(snapshot.values, self.settings.max_retries)
            return Start("wait", RunResumed(thread_id=thread_id, state=state), state)

        return dataclasses.replace(resumed, prepare=prepare)

    async def read_snapshot(self, thread_id: str) -> StateSnapshot:
        """Reads the latest state of a thread, with the state of an agent under way.

        Raises:
            BrokenRunError: LangGraph cannot put the stored values together.
        """
        with convert_read_errors(thread_id):
            snapshot = await self.graph.aget_state(self.build_config(thread_id), subgraphs=True)
            return await complete_snapshot(snapshot, self.graph.checkpointer)

    def build_config(
        self, thread_id: str, began: str | None = None, passed: RunnableConfig | None = None
    ) -> RunnableConfig:
        """Returns LangGraph's config for a thread.

        Args:
            thread_id: The thread.
            began: When the run began; it is stored with each checkpoint.
            passed: The config of the caller; its values stay unless they name the thread or the beginning.
        """
        config = passed or RunnableConfig()
        own = RunnableConfig(
            configurable={**config.get("configurable", {}), "thread_id": thread_id},
            metadata={**config.get("metadata", {}), **({} if began is None else {STARTED: began})},
        )
        return RunnableConfig(**{**config, **own})

    async def _refuse_used_thread(self, thread_id: str) -> None:
        """Refuses to start a run on a thread whose run has not ended, because that run would be lost.

        Raises:
            ConfigurationError: The run has not ended; the message says how to go on.
            BrokenRunError: The thread does not hold the state of a run.
        """
        if self.graph.checkpointer is None:
            return
        snapshot = await self.read_snapshot(thread_id)
        if not snapshot.config["configurable"].get("checkpoint_id"):
            return
        if not snapshot.tasks and snapshot.values.get("status") in ENDED:
            with convert_read_errors(thread_id):
                _refuse_lost_effects(thread_id, snapshot.values.get("effects", []))
            return
        raise ConfigurationError(
            f"{name_thread(thread_id)} has a run that has not ended; continue it with "
            f"resume({thread_id!r}), give another thread_id, or replace=True to run in its place"
        )

    def decide(self, thread_id: str, snapshot: StateSnapshot, answer: object = None) -> Resumption:
        """Decides how a thread continues; see ``decide_resumption``."""
        return decide_resumption(thread_id, snapshot, answer, datetime.now(UTC), self.settings.max_retries)

    def _check_tools(self, thread_id: str, snapshot: StateSnapshot, resumed: Resumption) -> None:
        """Refuses a stored run before anything is stored, so that another executor can go on with it."""
        problem = (
            find_unasked(resumed.questions, self.tools)
            or _find_left_calls(snapshot, resumed.state, self.tools)
            or find_case_problem(resumed.state, self.case)
            or self._find_missing_answer(resumed.state)
        )
        if problem is not None:
            raise ResumeError(f"{name_thread(thread_id)} cannot go on here: {problem}")

    def _find_missing_answer(self, state: OrchestratorState) -> str | None:
        if self.answers or not is_answer_due(state):
            return None
        return "this orchestrator writes no final answer; use the synthesis that it was begun with"


def _refuse_lost_effects(thread_id: str, effects: Sequence[EffectRecord]) -> None:
    """Refuses to replace a run whose effects are known from its record alone.

    Raises:
        ConfigurationError: A tool that the caller named as acting, or that says so itself, may have acted.
    """
    made = [each for each in effects if each["outcome"] in LASTING and not each["is_guessed"]]
    if made:
        what = "may have acted" if made[0]["outcome"] == "unknown" else "acted"
        raise ConfigurationError(
            f"{name_thread(thread_id)} has a run whose tool {made[0]['name']!r} {what}, and a "
            "new run would replace its record and may act again; give another thread_id, or replace=True"
        )


def _warn_of_effects(effects: Sequence[EffectRecord], step: int) -> list[str]:
    """Returns a warning for each call of the copied run that the new run may make again."""
    return [
        f"{COPIED_CALL}{each['name']} in step {each['step_index'] + 1} "
        f"({each['outcome']}); this run may call it again"
        for each in effects
        if each["outcome"] in LASTING and each["step_index"] >= step
    ]


async def _read_before(graph: Graph, latest: StateSnapshot, thread_id: str, step: int) -> OrchestratorState:
    """Reads the latest state that has no record of the step."""
    expected: RunnableConfig | None = latest.config
    is_reached = False
    async for snapshot in graph.aget_state_history(checkpoint_config(thread_id)):
        if expected is None or (snapshot.metadata or {}).get("source") == "input":
            break
        # Checkpoints that are no ancestors: a user may have continued the graph from an earlier one.
        if snapshot.config["configurable"]["checkpoint_id"] != expected["configurable"]["checkpoint_id"]:
            continue
        expected, state = snapshot.parent_config, state_from_values(snapshot.values, 0)
        has_record = any(record["step_index"] == step for record in state["results"])
        is_reached = is_reached or has_record or state["current_step_index"] == step
        if state["status"] == "executing" and state["current_step_index"] <= step and not has_record:
            if is_reached:
                return state
            break
    raise ResumeError(
        f"{name_thread(thread_id)} never reached step {step + 1} (index {step} in Python); "
        "`orchestrator show` and history.show() list its steps"
    )


def _find_left_calls(snapshot: StateSnapshot, state: OrchestratorState, tools: ExecutorTools) -> str | None:
    """Returns why an executor cannot go on after calls of another kind of executor."""
    stored = find_execution(snapshot) or {}
    left = [] if tools.kind == "object" or stored.get("messages") else stored.get(CHANNEL, [])
    if left:
        return (
            f"step {current_step(state)[0] + 1} was interrupted after its executor called "
            f"{left[0]['name']}, and this executor is a graph, which does not find the calls of an "
            "object with execute_step; give that one, or cancel the run"
        )
    return None
