"""Checks that every execution has to pass, with any contract."""

from __future__ import annotations

from typing import Final

from agents.prompts import find_marks
from orchestrator.judging.plain_contracts import add_rules
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Json, PlainContract, StepRecord

REPEATED_PROMPT: Final = "repeated_prompt"
"""Id of the audit rule that an output breaks if it repeats our request."""
_ADVICE: Final = "Reply with the result alone, without the marked lines of the request"


def add_own_checks(contract: PlainContract, state: OrchestratorState, record: StepRecord) -> PlainContract:
    """Returns the contract with a rule for each of our checks that the execution does not pass."""
    rules = [_forbid_mark(mark) for mark in find_repeated_marks(state, record)]
    return add_rules(contract, rules) if rules else contract


def find_repeated_marks(state: OrchestratorState, record: StepRecord) -> list[str]:
    """Finds the marks of our prompts in an output. A mark is in no text that it fences.

    So one that the task, the step, the context or a tool holds is no mark of this request, and may be quoted.
    """
    marks = find_marks(record["result"])
    if not marks:
        return []
    tools = [f"{call['args']}{call['result']}{call['error']}" for call in record["tool_calls"]]
    texts = (state["task"], record["step"], state["context"], *tools)
    return [mark for mark in marks if not any(mark in text for text in texts)]


def _forbid_mark(mark: str) -> dict[str, Json]:
    return {
        "id": REPEATED_PROMPT,
        "category": "contract",
        "forbidden": {"text": mark, "where": "final_output"},
        "recommended_action": _ADVICE,
    }
