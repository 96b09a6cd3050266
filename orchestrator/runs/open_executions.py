"""Records the executions that a stored run left open: a question waits in them, or their process died."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, cast

from langgraph.types import StateSnapshot

from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.planning.parallel import apply_update
from orchestrator.retry.attempt_records import build_record, list_effects
from orchestrator.retry.verdict_updates import build_failure, build_request, count_calls
from orchestrator.runs.reader import find_execution, list_graphs
from orchestrator.runs.resume import Resumption
from orchestrator.runtime.bounded_call import Raised, Spent
from orchestrator.runtime.call_recorder import read_stored_reply, sum_calls
from orchestrator.runtime.call_records import list_earlier_replies, read_ended_calls
from orchestrator.runtime.stored_calls import CHANNEL
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    BRANCH,
    NOTHING_UNDERWAY,
    SYNTHESIS,
    OrchestratorState,
    StateUpdate,
    add_usage,
    current_records,
    current_step,
    supervision_mode,
)
from orchestrator.state.records import CallOrigin

_STORED: Final = ("messages", "effects", CHANNEL)


@dataclass(frozen=True, slots=True)
class OpenExecutions:
    """Reads the executions under way in stored runs, as far as anything of them is stored.

    Attributes:
        tools: The tools of the executor.
        settings: The settings of the runs.
    """

    tools: ExecutorTools
    settings: Settings

    def list_states(
        self, snapshot: StateSnapshot, state: OrchestratorState, reason: str = ""
    ) -> list[tuple[str, OrchestratorState]]:
        """Lists the states of a run and of its nested graphs, in which each open execution has a record.

        Args:
            snapshot: The stored run, with the states of nested graphs.
            state: Its state.
            reason: Why an open execution ends.
        """
        return [(name, self._record(own, each, reason)) for name, own, each in list_graphs(snapshot, state)]

    def _record(self, snapshot: StateSnapshot, state: OrchestratorState, reason: str) -> OrchestratorState:
        if not (stored := find_execution(snapshot)) or not any(map(stored.get, _STORED)):
            return state
        (index, step), executions = current_step(state), current_records(state)
        request = build_request(state, step, executions, self.settings.options["retry_policy"])
        place = CallOrigin(step_index=index, attempt=len(executions) + 1)
        ended = Raised(asyncio.CancelledError(reason), self._sum_calls(stored), "cancelled", transient=False)
        mode, began = supervision_mode(state, self.settings.default_mode), snapshot.created_at or ""
        record = build_record(state, step, place, ended, request, began, mode)
        return apply_update(state, {**count_calls(state, ended.spent), "results": [record]})

    def _sum_calls(self, stored: Mapping[str, Any]) -> Spent:
        messages, effects = stored.get("messages", []), stored["effects"]
        replies = list_earlier_replies(messages, "")
        asked = [read_stored_reply(reply, model) for model, reply in replies]
        usage = sum_calls(asked, self.settings.options["budget"].prices, 0.0)
        calls = [*map(self.tools.complete_call, read_ended_calls(messages, effects)), *stored[CHANNEL]]
        return Spent(usage, calls, ", ".join(dict.fromkeys(model for model, _ in replies)) or None)


def find_left_calls(snapshot: StateSnapshot, state: OrchestratorState, tools: ExecutorTools) -> str | None:
    """Returns why an executor cannot go on after calls of another kind of executor."""
    for _, own, each in list_graphs(snapshot, state):
        stored = find_execution(own) or {}
        left = [] if tools.kind == "object" or stored.get("messages") else stored.get(CHANNEL, [])
        if left:
            return (
                f"step {current_step(each)[0] + 1} was interrupted after its executor called "
                f"{left[0]['name']}, and this executor is a graph, which does not find the calls of an "
                "object with execute_step; give that one, or cancel the run"
            )
    return None


def end_states(
    resumed: Resumption, states: Sequence[tuple[str, OrchestratorState]], reason: str
) -> list[tuple[str, OrchestratorState]]:
    """Returns the last states of a stored run that is cancelled: of its graph and its nested graphs."""
    question = resumed.state["question"]
    failure = build_failure("cancelled", reason, None if question is None else question["step_index"])
    ended = cast("OrchestratorState", {"question": None, **failure})
    return [(name, {**state, **ended}) for name, state in states]


def join_states(states: Sequence[tuple[str, OrchestratorState]]) -> OrchestratorState:
    """Returns the state of a run with the executions, effects and usage of its nested graphs."""
    parallel = [each for name, each in states[1:] if name == BRANCH]
    answers = [each for name, each in states if name == SYNTHESIS]
    state = states[0][1]
    # A branch counts its own usage from zero, and the answer goes on from that of the run.
    spent = (each["usage"] for each in parallel)
    update: StateUpdate = {
        "results": [record for each in parallel for record in current_records(each)],
        "synthesis": [record for each in answers for record in current_records(each)],
        "usage": reduce(add_usage, spent, (answers or [state])[0]["usage"]),
        "underway": NOTHING_UNDERWAY,
    }
    joined = apply_update(state, update)
    return {**joined, "effects": list_effects([*joined["results"], *joined["synthesis"]])}
