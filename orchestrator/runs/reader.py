"""Reads stored runs: their snapshots, with the executions under way, and their summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple, PendingWrite
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt, PregelTask, StateSnapshot
from pydantic import AwareDatetime

from agents.loop.call_marks import count_starts, is_under_way
from agents.loop.decisions import name_start
from agents.loop.effects import Effect
from agents.loop.langgraph_internals import INTERRUPT_CHANNEL
from orchestrator.runs import resume
from orchestrator.runs.run_saver import (
    checkpoint_config,
    parse_time,
    schema_problem,
)
from orchestrator.runtime.call_records import CHANNEL, list_open_effects, read_calls
from orchestrator.state.graph_state import (
    ENDED,
    EXECUTOR,
    MONITOR,
    SCHEMA,
    STARTED,
    STATUSES,
    OrchestratorState,
    StoredStatus,
    current_records,
)
from orchestrator.state.records import Basis, CallOrigin, Question, Usage
from orchestrator.supervision.human import read_outage, read_tool_question


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line about a stored run.

    Attributes:
        thread_id: The thread.
        status: "waiting" if a question waits for a person; "planning" or "executing" if the run is under way;
            "interrupted" if no process runs it any more, so that ``resume`` continues it; "unreadable" if
            another version of this program stored it or it is broken.
        task: The task; empty if the run is unreadable.
        steps_done: Number of steps that were validated or passed over.
        steps_planned: Number of steps in the plan; 0 before there is a plan.
        started: Start time in UTC; None if it was not stored.
        updated: Time of the latest checkpoint in UTC; the year 1 if it cannot be read.
        question: The question for a person.
        usage: The usage of the run; None before there is a plan.
        basis: The basis of the success; None if the run did not succeed.
        judged_again: Whether the run failed because it could not be judged: ``resume`` judges it again.
    """

    thread_id: str
    status: StoredStatus
    task: str
    steps_done: int
    steps_planned: int
    started: AwareDatetime | None
    updated: AwareDatetime
    question: Question | None
    usage: Usage | None
    basis: Basis | None = None
    judged_again: bool = False

    @property
    def can_resume(self) -> bool:
        """Whether ``resume`` continues the run."""
        return self.judged_again or self.status in ("interrupted", "waiting")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run with its state.

    Attributes:
        summary: The run in one line.
        state: As ``run`` returns it.
    """

    summary: RunSummary
    state: OrchestratorState


def build_summary(
    thread_id: str, checkpoint: CheckpointTuple, state: OrchestratorState, question: Question | None
) -> RunSummary:
    """Builds the summary of a readable run."""
    status = state["status"]
    return RunSummary(
        thread_id=thread_id,
        status="waiting" if question is not None and status not in ENDED else status,
        task=state["task"],
        steps_done=state["current_step_index"],
        steps_planned=len(state["plan"]),
        started=parse_time(checkpoint.metadata.get(STARTED)),
        updated=_update_time(checkpoint),
        question=question if status not in ENDED else None,
        usage=None if status == "planning" else state["usage"],
        basis=state["basis"] if status == "success" else None,
        judged_again=resume.find_rejudging(state) is not None,
    )


def unreadable_summary(thread_id: str, checkpoint: CheckpointTuple | None) -> RunSummary:
    """Builds the summary of a run that another version stored, or of a broken one (None)."""
    started = None if checkpoint is None else parse_time(checkpoint.metadata.get(STARTED))
    updated = datetime.min.replace(tzinfo=UTC) if checkpoint is None else _update_time(checkpoint)
    return RunSummary(thread_id, "unreadable", "", 0, 0, started, updated, None, None)


def _update_time(checkpoint: CheckpointTuple) -> datetime:
    return parse_time(checkpoint.checkpoint["ts"]) or datetime.min.replace(tzinfo=UTC)


_NODES: Final = (
    resume.PLANNER,
    EXECUTOR, MONITOR, "commit_node", "post_node", "reconcile_node", "supervise_node", "approval_node",
    "answer_node",
)  # fmt: skip


def read_summary(saver: BaseCheckpointSaver[str], thread_id: str, checkpoint: CheckpointTuple) -> RunSummary:
    """Reads the summary of a run from its latest checkpoint. Malformed values raise errors of many types."""
    if schema_problem(thread_id, checkpoint.metadata):
        return unreadable_summary(thread_id, checkpoint)
    return read_run(saver, thread_id, checkpoint)[0]


def read_run(
    saver: BaseCheckpointSaver[str], thread_id: str, checkpoint: CheckpointTuple
) -> tuple[RunSummary, OrchestratorState]:
    """Reads a run with its state."""
    # Without the id of the checkpoint: LangGraph then leaves out the questions that were answered.
    snapshot = _build_graph().copy({"checkpointer": saver}).get_state(checkpoint_config(thread_id))
    snapshot = _complete(snapshot, [saver.get_tuple(config) for config in _list_places(snapshot)])
    state = resume.state_from_values(resume.read_values(snapshot), 0)
    summary = build_summary(thread_id, checkpoint, state, resume.find_open_question(snapshot, state))
    return summary, complete_state(snapshot, state)


@cache
def _build_graph() -> CompiledStateGraph[OrchestratorState, None, OrchestratorState, OrchestratorState]:
    """Builds a graph with the nodes of every run, by which LangGraph reads a checkpoint.

    A run may lack some of the nodes.
    """
    graph = StateGraph(OrchestratorState)
    for node in _NODES:
        graph.add_node(node, lambda _: {})
    graph.add_edge(START, resume.PLANNER)
    return graph.compile()


def complete_state(snapshot: StateSnapshot, state: OrchestratorState) -> OrchestratorState:
    """Returns the state of a stored run with the effects of an open execution.

    Args:
        snapshot: The complete snapshot of the run.
        state: Its state.
    """
    if state["status"] != "executing" or (stored := find_execution(snapshot)) is None:
        return state
    place = CallOrigin(step_index=state["current_step_index"], attempt=len(current_records(state)) + 1)
    effects = list_open_effects(place, stored["effects"], stored[CHANNEL])
    return {**state, "effects": [*state["effects"], *effects]}


def find_execution(snapshot: StateSnapshot) -> Mapping[str, Any] | None:
    """Finds the stored values of the execution under way in a run; None if there is none.

    It has the values of the graph of the executor, its effects, and the calls of an executor without one.
    """
    tasks = (task for task in snapshot.tasks if task.name == EXECUTOR and task.result is None)
    return next((task.state.values for task in tasks if isinstance(task.state, StateSnapshot)), None)


def _read_effects(agent: CheckpointTuple | None) -> dict[str, Effect]:
    """Reads the effects of an agent, also of starts that were lost, and of calls that ended beside others."""
    if agent is None:
        return {}
    writes, effects = agent.pending_writes or (), dict[str, Effect]()
    for key, effect in (agent.checkpoint["channel_values"].get("effects") or {}).items():
        lost = range(1, count_starts(writes, key))
        effects |= {**{name_start(key, number): effect for number in lost}, key: effect}
    ended = [value for _, channel, value in writes if channel == "effects"]
    return {key: effect for each in (effects, *ended) for key, effect in each.items()}


def is_run(checkpoint: CheckpointTuple) -> bool:
    """Checks whether a checkpoint belongs to a run of this program."""
    values = {**checkpoint.checkpoint["channel_values"], **_pending_input(checkpoint)}
    # A user may start the graph with nothing but a task.
    status = values.get("status", "planning" if SCHEMA in checkpoint.metadata else None)
    return isinstance(values.get("task"), str) and status in STATUSES


async def complete_snapshot(snapshot: StateSnapshot, saver: object) -> StateSnapshot:
    """Adds what LangGraph leaves out, and removes questions about tool calls that were answered.

    It leaves out the input of a run that has just begun, and what executions under way have stored.
    """
    if not isinstance(saver, BaseCheckpointSaver):  # the mark of a nested graph
        return snapshot
    return _complete(snapshot, [await saver.aget_tuple(config) for config in _list_places(snapshot)])


def _list_places(snapshot: StateSnapshot) -> list[RunnableConfig]:
    """Lists the configs of the checkpoints that ``_complete`` needs: of the run, and of agents under way."""
    agents = [_find_agent(snapshot, task) for task in _list_open(snapshot)]
    return [snapshot.config, *agents] if agents or START in snapshot.next else []


def _list_open(snapshot: StateSnapshot) -> list[PregelTask]:
    """Lists the tasks that ask or execute."""
    return [
        task for task in snapshot.tasks if task.interrupts or (task.name == EXECUTOR and task.result is None)
    ]


def _find_agent(snapshot: StateSnapshot, task: PregelTask) -> RunnableConfig:
    """Returns the config of the latest checkpoint of the agent that runs in a task."""
    thread_id = snapshot.config["configurable"]["thread_id"]
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": f"{task.name}:{task.id}"})


def _complete(snapshot: StateSnapshot, stored: Sequence[CheckpointTuple | None]) -> StateSnapshot:
    if not stored:
        return snapshot
    run, *agents = stored
    if START in snapshot.next:
        # A run that was killed as it began has stored its input alone, which LangGraph leaves out.
        return snapshot._replace(values={**snapshot.values, **(_pending_input(run) if run else {})})
    waiting, executions = set[str](), dict[str, Mapping[str, object]]()
    writes = (run and run.pending_writes) or []
    for task, agent in zip(_list_open(snapshot), agents, strict=True):
        waiting |= {*_list_waiting(task, agent, writes)}
        if task.name == EXECUTOR:
            executions[task.id] = {"effects": _read_effects(agent), CHANNEL: read_calls(writes, task.id)}
    return _add_executions(snapshot, waiting, executions)


def _add_executions(
    snapshot: StateSnapshot, waiting: Collection[str], executions: Mapping[str, Mapping[str, object]]
) -> StateSnapshot:
    tasks = list[PregelTask]()
    for task in snapshot.tasks:
        state = task.state
        if task.id in executions:
            graph = state if isinstance(state, StateSnapshot) else snapshot._replace(values={}, tasks=())
            state = graph._replace(values={**graph.values, **executions[task.id]})
        kept = tuple(each for each in task.interrupts if each.id in waiting)
        tasks.append(task._replace(state=state, interrupts=kept))
    return snapshot._replace(tasks=tuple(tasks))


def _pending_input(checkpoint: CheckpointTuple) -> Mapping[str, object]:
    """Returns the input of a run of which only the input was stored, or nothing."""
    values: object = checkpoint.checkpoint["channel_values"].get(START)
    return values if isinstance(values, Mapping) else {}


def _list_waiting(
    task: PregelTask, agent: CheckpointTuple | None, own: Sequence[PendingWrite]
) -> Iterator[str]:
    """Yields the ids of the questions of a task that wait for an answer.

    The interrupt of a task stays until the task has ended, although the agent in it has gone on after the
    answer, its tool has ended or begun again, or it waits for the server of its model.
    """
    if is_under_way(own, task.id):
        return
    yield from (each.id for each in task.interrupts if _is_open(each, task, agent))
    writes = (agent and agent.pending_writes) or []
    ended = {writer for writer, channel, _ in writes if channel not in WRITES_IDX_MAP}
    for writer, channel, value in writes:
        if channel == INTERRUPT_CHANNEL and writer not in ended and not is_under_way(writes, writer):
            yield from (each.id for each in value if isinstance(each, Interrupt))


def _is_open(asked: Interrupt, task: PregelTask, agent: CheckpointTuple | None) -> bool:
    """Returns whether an interrupt is of the task itself, and not of the agent in it."""
    question = read_tool_question(asked.value)
    is_own = question is not None and f".{task.id[:8]}-" in question["id"]
    return is_own or (agent is None and read_outage(asked.value) is None)
