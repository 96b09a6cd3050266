"""Reads a stored run: what is known of it in a line, and its state as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph import START, StateGraph
from langgraph.types import Interrupt

from orchestrator.runs.index import place
from orchestrator.runs.resume import question_of, state_in
from orchestrator.runs.summary import (
    RunSummary,
    begun_in,
    input_in,
    is_run,
    open_interrupts,
    problem_in,
    summary,
    unreadable,
    values_in,
)
from orchestrator.state.graph_state import (
    BRANCH,
    OrchestratorState,
    Question,
    StateUpdate,
    StepRecord,
    settle_all,
    settle_records,
)
from orchestrator.state.stored_form import checked_state, reading

_RESULTS: Final = "results"


def records_beside(saver: BaseCheckpointSaver[str], found: CheckpointTuple) -> list[StepRecord]:
    """The executions of steps that run side by side, after the checkpoint of the run as a whole."""
    branches = [*_branches(saver, found)]  # a saver that is still listing may not be asked for anything else
    return [record for branch in branches for record in _records(saver, branch)]


def _branches(saver: BaseCheckpointSaver[str], found: CheckpointTuple) -> Iterator[CheckpointTuple]:
    """The latest checkpoint of each."""
    at, seen = found.config["configurable"], set[str]()
    for one in saver.list(RunnableConfig(configurable={"thread_id": at["thread_id"]})):
        namespace = one.config["configurable"]["checkpoint_ns"]
        begun_at = one.metadata.get("parents", {}).get("")
        name, _, task = namespace.partition(":")
        # An agent within it may have checkpoints of its own.
        if name == BRANCH and "|" not in task and begun_at == at["checkpoint_id"] and namespace not in seen:
            seen.add(namespace)
            yield one


def _records(saver: BaseCheckpointSaver[str], branch: CheckpointTuple) -> list[StepRecord]:
    history = saver.get_delta_channel_history(config=branch.config, channels=[_RESULTS])[_RESULTS]
    seed = cast("list[StepRecord]", history.get("seed", []))
    return settle_all(seed, [cast("list[StepRecord]", value) for _, _, value in history["writes"]])


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads runs from their latest checkpoints; raises BrokenRunError for those that have another form.

    Attributes:
        saver: Keeps them.
    """

    saver: BaseCheckpointSaver[str]

    def line(self, thread_id: str, found: CheckpointTuple) -> RunSummary | None:
        """What is known of a thread; None where it is another program's."""
        if not is_run(found):
            return None
        if problem_in(thread_id, found):
            return unreadable(thread_id, found)
        return self.summary(thread_id, found)

    def state(self, thread_id: str, found: CheckpointTuple) -> OrchestratorState:
        """The whole state, with what was done by steps that run side by side."""
        state = state_in(thread_id, self._values(thread_id, found), 0)
        if state["status"] != "executing" or state["declared"]["needs"] is None:
            return state
        with reading(thread_id):
            beside = records_beside(self.saver, found)
        return checked_state(thread_id, {**state, "results": settle_records(state["results"], beside)})

    def summary(self, thread_id: str, found: CheckpointTuple) -> RunSummary:
        """What is known of a readable run of this program."""
        values = values_in(found)
        planned = [] if values["status"] == "planning" else self._planned(thread_id, found)
        state = state_in(thread_id, {**values, "plan": planned}, 0)
        asked = (self._question(thread_id, state, *one) for one in open_interrupts(found))
        return summary(thread_id, found, state, next(asked, None))

    def _planned(self, thread_id: str, found: CheckpointTuple) -> list[str]:
        """The plan that was written last before a checkpoint; a thread may have others beside it."""
        history = self.saver.get_delta_channel_history(config=found.config, channels=["plan"])["plan"]
        plan: object = next((value for *_, value in reversed(history["writes"])), None)
        if not isinstance(plan, list):  # it was not planned on this thread, as a fork
            plan = self._values(thread_id, found).get("plan")
        return plan if isinstance(plan, list) else []

    def _question(
        self, thread_id: str, state: OrchestratorState, task_id: str, interrupt: Interrupt
    ) -> Question:
        """What is asked; where steps run side by side, by the one that asks."""
        branch = self.saver.get_tuple(place(thread_id, namespace=f"{BRANCH}:{task_id}"))
        if branch is None:
            return question_of(interrupt, state)
        beside = state_in(thread_id, {**values_in(branch), "task": state["task"]}, 0)
        with reading(thread_id):
            alone = state["plan"][beside["underway"]["branch"] or 0]
        return question_of(interrupt, {**beside, "plan": [alone]})

    def _values(self, thread_id: str, found: CheckpointTuple) -> Mapping[str, object]:
        """The whole state, with what was added to it checkpoint by checkpoint."""
        graph = StateGraph(OrchestratorState)
        graph.add_node("read", _read)
        graph.add_edge(START, "read")
        graph.add_node(BRANCH, _read)  # or LangGraph warns of what waits for it
        with reading(thread_id):
            held = graph.compile(checkpointer=self.saver).get_state(found.config).values
        return begun_in(found, {**cast("Mapping[str, object]", held), **input_in(found)})


def _read(state: OrchestratorState) -> StateUpdate:  # noqa: ARG001 - as every node
    return {}
