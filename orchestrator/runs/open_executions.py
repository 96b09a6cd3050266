"""Records the executions that a stored run left open: a question waits in them, or their process died."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langgraph.types import StateSnapshot

from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.retry.attempt_records import build_record, list_effects
from orchestrator.retry.verdict_updates import build_failure, build_request, count_calls
from orchestrator.runs.reader import find_execution
from orchestrator.runs.resume import Resumption
from orchestrator.runtime.bounded_call import Raised, Spent
from orchestrator.runtime.call_recorder import read_stored_reply, sum_calls
from orchestrator.runtime.call_records import list_earlier_replies, read_ended_calls
from orchestrator.runtime.stored_calls import CHANNEL
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    OrchestratorState,
    apply_update,
    current_records,
    current_step,
    list_records,
    records_field,
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

    def end_run(self, snapshot: StateSnapshot, resumed: Resumption, reason: str) -> OrchestratorState:
        """Returns the last state of a stored run that is cancelled, in which an open execution has a record.

        Args:
            snapshot: The stored run.
            resumed: How it would go on.
            reason: Why it is cancelled.
        """
        state, question = self._record(snapshot, resumed.state, reason), resumed.state["question"]
        failure = build_failure("cancelled", reason, None if question is None else question["step_index"])
        ended = apply_update(state, {"question": None, "underway": NOTHING_UNDERWAY, **failure})
        return {**ended, "effects": list_effects(list_records(ended))}

    def _record(self, snapshot: StateSnapshot, state: OrchestratorState, reason: str) -> OrchestratorState:
        if not (stored := find_execution(snapshot)) or not any(map(stored.get, _STORED)):
            return state
        (index, step), executions = current_step(state), current_records(state)
        request = build_request(state, step, executions, self.settings.options["retry_policy"])
        place = CallOrigin(step_index=index, attempt=len(executions) + 1)
        ended = Raised(asyncio.CancelledError(reason), self._sum_calls(stored), "cancelled", transient=False)
        mode, began = supervision_mode(state, self.settings.default_mode), snapshot.created_at or ""
        record = build_record(state, step, place, ended, request, began, mode)
        return apply_update(state, {**count_calls(state, ended.spent), records_field(state): [record]})

    def _sum_calls(self, stored: Mapping[str, Any]) -> Spent:
        messages, effects = stored.get("messages", []), stored["effects"]
        replies = list_earlier_replies(messages, "")
        asked = [read_stored_reply(reply, model) for model, reply in replies]
        usage = sum_calls(asked, self.settings.options["budget"].prices, 0.0)
        calls = [*map(self.tools.complete_call, read_ended_calls(messages, effects)), *stored[CHANNEL]]
        return Spent(usage, calls, ", ".join(dict.fromkeys(model for model, _ in replies)) or None)


def find_left_calls(snapshot: StateSnapshot, state: OrchestratorState, tools: ExecutorTools) -> str | None:
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
