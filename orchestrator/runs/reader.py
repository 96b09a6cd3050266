"""Reads a stored run: its summary, or its whole state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph import START, StateGraph
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from orchestrator.runs.index import checkpoint_config
from orchestrator.runs.resume import question_of, state_from_values
from orchestrator.runs.summary import (
    RunSummary,
    build_summary,
    current_values,
    is_run,
    list_answered,
    open_interrupts,
    pending_input,
    read_tool_question_id,
    small_values,
    unreadable_summary,
    version_problem,
)
from orchestrator.runtime.langgraph_internals import INTERRUPT_CHANNEL
from orchestrator.state.current_step import is_answer_due
from orchestrator.state.graph_state import BRANCH, SYNTHESIS, OrchestratorState, StateUpdate
from orchestrator.state.records import Question, StepRecord
from orchestrator.state.reducers import merge_record_lists, merge_records
from orchestrator.state.stored_form import convert_read_errors, validate_state

_RESULTS: Final = "results"


def _list_nested(
    saver: BaseCheckpointSaver[str], checkpoint: CheckpointTuple, node: str
) -> Iterator[CheckpointTuple]:
    """Yields the latest checkpoint of each graph under way in a node of parallel steps or of the answer."""
    place, seen = checkpoint.config["configurable"], set[str]()
    for branch in saver.list(RunnableConfig(configurable={"thread_id": place["thread_id"]})):
        namespace = branch.config["configurable"]["checkpoint_ns"]
        parent_id = branch.metadata.get("parents", {}).get("")
        name, _, task = namespace.partition(":")
        # "|" separates the namespaces of nested graphs: an agent in the branch may have checkpoints, too.
        is_branch = name == node and "|" not in task
        if is_branch and parent_id == place["checkpoint_id"] and namespace not in seen:
            seen.add(namespace)
            yield branch


def _read_records(saver: BaseCheckpointSaver[str], branch: CheckpointTuple) -> list[StepRecord]:
    history = saver.get_delta_channel_history(config=branch.config, channels=[_RESULTS])[_RESULTS]
    seed = cast("list[StepRecord]", history.get("seed", []))
    return merge_record_lists(seed, [cast("list[StepRecord]", value) for _, _, value in history["writes"]])


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads runs from their latest checkpoints. Malformed values raise errors of many types.

    Attributes:
        saver: The saver that stores the runs.
    """

    saver: BaseCheckpointSaver[str]

    def read_summary(self, thread_id: str, checkpoint: CheckpointTuple) -> RunSummary | None:
        """Reads the summary of a thread, or None if the thread belongs to another program."""
        if not is_run(checkpoint):
            return None
        if version_problem(thread_id, checkpoint):
            return unreadable_summary(thread_id, checkpoint)
        return self.summarize(thread_id, checkpoint)

    def read_state(self, thread_id: str, checkpoint: CheckpointTuple) -> OrchestratorState:
        """Reads the whole state, with the results of parallel steps and the attempts of the answer so far."""
        state = state_from_values(thread_id, self._read_values(checkpoint), 0)
        if state["status"] != "executing":
            return state
        if is_answer_due(state):
            records = self._read_nested(checkpoint, SYNTHESIS)
            return validate_state(
                thread_id, {**state, "synthesis": merge_records(state["synthesis"], records)}
            )
        if state["declared"]["needs"] is None:
            return state
        records = self._read_nested(checkpoint, BRANCH)
        return validate_state(thread_id, {**state, "results": merge_records(state["results"], records)})

    def _read_nested(self, checkpoint: CheckpointTuple, node: str) -> list[StepRecord]:
        # All before the first is read: a saver that is listing may hold its lock.
        nested = list(_list_nested(self.saver, checkpoint, node))
        return [record for each in nested for record in _read_records(self.saver, each)]

    def summarize(self, thread_id: str, checkpoint: CheckpointTuple) -> RunSummary:
        """Summarises a readable run."""
        values = small_values(checkpoint)
        plan = [] if values["status"] == "planning" else self._read_plan(checkpoint)
        state = state_from_values(thread_id, {**values, "plan": plan}, 0)
        questions = (
            self._read_question(thread_id, state, task_id, interrupt)
            for task_id, interrupt in open_interrupts(checkpoint, self._list_answered(checkpoint))
        )
        return build_summary(thread_id, checkpoint, state, next(questions, None))

    def _list_answered(self, checkpoint: CheckpointTuple) -> frozenset[str]:
        """Lists the questions about tool calls that were answered, also those of the graphs under way."""
        nested = (each for node in (BRANCH, SYNTHESIS) for each in _list_nested(self.saver, checkpoint, node))
        is_asking = any(channel == INTERRUPT_CHANNEL for _, channel, _ in checkpoint.pending_writes or [])
        places = [checkpoint, *nested] if is_asking else []
        return frozenset[str]().union(*map(list_answered, places))

    def _read_plan(self, checkpoint: CheckpointTuple) -> object:
        """Reads the latest plan before a checkpoint, without the rest of the state."""
        history = self.saver.get_delta_channel_history(config=checkpoint.config, channels=["plan"])["plan"]
        plans: list[object] = [value for *_, value in history["writes"]]
        # A fork has its plan from update_state, which is in none of these writes.
        return plans[-1] if plans else self._read_values(checkpoint).get("plan", [])

    def _read_question(
        self, thread_id: str, state: OrchestratorState, task_id: str, interrupt: Interrupt
    ) -> Question:
        """Reads the question of an interrupt; in a parallel step, with the state of that step."""
        places = (checkpoint_config(thread_id, namespace=f"{node}:{task_id}") for node in (BRANCH, SYNTHESIS))
        branch = next((nested for place in places if (nested := self.saver.get_tuple(place))), None)
        if branch is None:
            return question_of(interrupt, state)
        branch_state = state_from_values(thread_id, {**small_values(branch), "task": state["task"]}, 0)
        step = [*state["plan"], state["task"]][branch_state["underway"]["branch"] or 0]
        return question_of(interrupt, {**branch_state, "plan": [step]})

    def _read_values(self, checkpoint: CheckpointTuple) -> Mapping[str, object]:
        """Reads all values, including the fields that are stored as additions."""
        graph = StateGraph(OrchestratorState)
        graph.add_node("read", _do_nothing)
        graph.add_edge(START, "read")
        for node in (BRANCH, SYNTHESIS):  # LangGraph warns about stored tasks of a node that is missing
            graph.add_node(node, _do_nothing)
        snapshot = graph.compile(checkpointer=self.saver).get_state(checkpoint.config)
        return current_values(checkpoint, cast("Mapping[str, object]", snapshot.values))


def _do_nothing(state: OrchestratorState) -> StateUpdate:  # noqa: ARG001 - as every node
    return {}


async def has_run(saver: object, thread_id: str) -> bool:
    """Checks whether a thread has a run of this program; False without a saver.

    Raises:
        BrokenRunError: The thread cannot be read.
    """
    if not isinstance(saver, BaseCheckpointSaver):
        return False
    with convert_read_errors(thread_id):
        stored = await saver.aget_tuple(checkpoint_config(thread_id))
        return stored is not None and is_run(stored)


async def complete_snapshot(snapshot: StateSnapshot, saver: BaseCheckpointSaver[str]) -> StateSnapshot:
    """Adds the input that LangGraph leaves out, and removes questions about tool calls that were answered."""
    if START in snapshot.next:
        return await _add_input(snapshot, saver)
    return await _without_answered(snapshot, saver)


async def _add_input(snapshot: StateSnapshot, saver: BaseCheckpointSaver[str]) -> StateSnapshot:
    # A run that was killed as it began has stored its input alone, which LangGraph leaves out.
    stored = await saver.aget_tuple(snapshot.config)
    if stored is None:
        return snapshot
    return snapshot._replace(values={**snapshot.values, **pending_input(stored)})


async def _without_answered(snapshot: StateSnapshot, saver: BaseCheckpointSaver[str]) -> StateSnapshot:
    """Returns the snapshot without the questions about tool calls that were answered before a crash."""
    if not any(task.interrupts for task in snapshot.tasks):
        return snapshot
    nested = [task.state.config for task in snapshot.tasks if isinstance(task.state, StateSnapshot)]
    stored = [await saver.aget_tuple(config) for config in (snapshot.config, *nested)]
    answered = frozenset[str]().union(*(list_answered(each) for each in stored if each is not None))
    return snapshot._replace(tasks=tuple(_keep_open(task, answered) for task in snapshot.tasks))


def _keep_open(task: PregelTask, answered: Collection[str]) -> PregelTask:
    interrupts = tuple(each for each in task.interrupts if read_tool_question_id(each) not in answered)
    return task._replace(interrupts=interrupts)
