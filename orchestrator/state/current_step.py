"""Reads the current step, its place in the plan, its contract and its executions from the state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.state.graph_state import Declared, DerivedContracts, OrchestratorState
from orchestrator.state.records import (
    Attempt,
    DerivedContract,
    EffectRecord,
    EvidenceSummary,
    SupervisionMode,
    ToolCallRecord,
)

ACCEPTED: Final = ("validated", "warning")
"""The statuses of an execution that the run goes on with."""
MAX_TASK: Final = 1500
"""Maximum characters of the task: small models have a context of a few thousand tokens."""
_MAX_STEP: Final = 100
_STEPS_BEFORE: Final = 3
_STEPS_AFTER: Final = 6


def current_step(state: OrchestratorState) -> tuple[int, str]:
    """Returns the index of the current step in the whole plan, and its text."""
    return current_index(state), state["plan"][_position(state)]


def current_index(state: OrchestratorState) -> int:
    """Returns the index of the current step in the whole plan."""
    branch = state["underway"]["branch"]
    return state["current_step_index"] if branch is None else branch


def current_records(state: OrchestratorState) -> list[Attempt]:
    """Returns the executions of the current step, in their order."""
    index = current_index(state)
    return [record for record in state["results"] if record["step_index"] == index]


def select_earlier(records: Sequence[Attempt]) -> list[Attempt]:
    """Returns the executions before the final output without their reports: for the calls of the run."""
    return [{**record, "report": None} for record in records]


def list_effects(records: Sequence[Attempt]) -> list[EffectRecord]:
    """Returns the calls of tools that act."""
    made = [(record, call) for record in records for call in record["tool_calls"]]
    return [_read_effect(record, call) for record, call in made if "outcome" in call]


def _read_effect(record: Attempt, call: ToolCallRecord) -> EffectRecord:
    effect = EffectRecord(
        step_index=record["step_index"],
        attempt=record["attempt"],
        name=call["name"],
        args=call["args"],
        outcome=call["outcome"],
        answer=call["result"] if call["error"] is None else call["error"],
        is_guessed="writes" not in call,
    )
    if "answer" in call:
        effect["approval"] = call["answer"]
    if "read_back" in call:
        effect["read_back"] = call["read_back"]
    return effect


def list_accepted(records: Sequence[Attempt]) -> list[Attempt]:
    """Returns the accepted execution of each step, in the order of the plan."""
    return [record for record in records if record["status"] in ACCEPTED]


def read_basis_reason(state: OrchestratorState) -> str:
    """Returns the basis of the output of a run in words; empty without an output."""
    accepted = list_accepted([*state["results"], *state["synthesis"]])
    has_output = state["status"] == "success" or state["basis"] is not None
    return accepted[-1].get("basis_reason", "") if accepted and has_output else ""


def read_evidence(record: Attempt) -> EvidenceSummary | None:
    """Returns how the parts of an output are known; None before it is judged."""
    evidence = record.get("evidence")
    if evidence is None:
        return None
    return EvidenceSummary(
        form=evidence["form"]["by"], content=evidence["content"]["by"], actions=evidence["actions"]["by"]
    )


def is_answer_due(state: OrchestratorState) -> bool:
    """Returns whether all steps are done, and only the final answer is missing."""
    return state["underway"]["branch"] is None and state["current_step_index"] >= len(state["plan"])


def latest_record(state: OrchestratorState) -> Attempt:
    """Returns the latest execution of the current step."""
    return current_records(state)[-1]


def lacks_report(state: OrchestratorState) -> bool:
    """Returns whether the latest execution of the current step has no report yet."""
    records = current_records(state)
    return bool(records) and records[-1]["report"] is None


def last_refused_record(state: OrchestratorState) -> Attempt | None:
    """Returns the latest execution of the current step if it was refused."""
    if not state["attempts"]:
        return None
    records = current_records(state)
    return records[-1] if records else None


def supervision_mode(state: OrchestratorState, default: SupervisionMode) -> SupervisionMode:
    """Returns the supervision mode of the current step."""
    modes = state["declared"]["modes"]
    return (modes[_position(state)] if modes is not None else None) or default


def _position(state: OrchestratorState) -> int:
    # The plan of a parallel branch holds its own step alone.
    return 0 if state["underway"]["branch"] is not None else state["current_step_index"]


def list_corrections(records: Sequence[Attempt]) -> list[str]:
    """Returns the corrections by supervisors and people, over all executions of a step."""
    return [text for record in records if (text := read_correction(record))]


def read_correction(record: Attempt) -> str | None:
    """Returns the correction that an execution was sent back with, or None if it was not sent back."""
    supervision = record["supervision"]
    if supervision is None:
        return None
    answer, verdict = supervision["answer"], supervision["verdict"]
    # A person decides after the supervisor, so the answer replaces the verdict.
    if answer is not None:
        return answer["text"] if answer["answer"] == "correct" else None
    return verdict["correction"] if verdict is not None and verdict["verdict"] == "reorient" else None


def format_entry(record: Attempt) -> str:
    """Formats an accepted step for the context of the next ones."""
    return f"Step {record['step_index'] + 1}: {record['step']}\nResult: {record['result']}"


def find_derived_output(state: OrchestratorState) -> DerivedContract | None:
    """Returns the contract that was derived from the task for the final output; None if nothing was."""
    derived = state["declared"].get("derived")
    return None if derived is None else derived["output"]


def list_derived(state: OrchestratorState, *, is_output: bool) -> list[DerivedContract]:
    """Returns the derived contracts of the current output: of the task if it is final, and of its step."""
    derived = state["declared"].get("derived")
    if derived is None:
        return []
    position = _position(state)  # the synthesis has no step
    stated = [derived["output"] if is_output else None, *derived["steps"][position : position + 1]]
    return [contract for contract in stated if contract is not None]


def extend_derived(declared: Declared, steps: Sequence[DerivedContract | None]) -> Declared:
    """Returns the declarations after a re-plan, if contracts were derived for the first plan."""
    derived = declared.get("derived")
    if derived is None:
        return declared
    return {**declared, "derived": {**derived, "steps": [*derived["steps"], *steps]}}


def select_derived(declared: Declared, steps: Sequence[int]) -> Declared:
    """Returns the declarations of a state whose plan has only these steps, with their contracts alone."""
    own = Declared(run_id=declared["run_id"], needs=None, modes=None)
    derived = declared.get("derived")
    if derived is None:
        return own
    contracts = [derived["steps"][step] for step in steps]
    return {**own, "derived": DerivedContracts(output=derived["output"], steps=contracts)}


def has_derived_output(state: OrchestratorState) -> bool:
    """Returns whether a contract of the final output was derived that asks for something."""
    output = find_derived_output(state)
    return output is not None and bool(output["contract"])


def is_only_step(state: OrchestratorState) -> bool:
    """Returns whether the plan has one step."""
    return _count_steps(state) == 1


def is_last_step(state: OrchestratorState) -> bool:
    """Returns whether the current step is the last one of the plan."""
    return current_index(state) + 1 == _count_steps(state)


def _count_steps(state: OrchestratorState) -> int:
    return state["declared"].get("count", len(state["plan"]))


def describe_task(state: OrchestratorState) -> str:
    """Returns the task and the numbered steps around the current one, which is marked.

    Returns an empty text if the current step is the whole task: there is nothing to add.
    """
    _, step = current_step(state)
    outline = state["declared"].get("outline")
    if outline is None:
        outline = build_outline(state, current_index(state))
    if not outline and step.strip() == state["task"].strip():
        return ""
    return "\n".join(part for part in (_cut_text(state["task"], MAX_TASK), outline) if part)


def build_outline(state: OrchestratorState, index: int) -> str:
    """Returns one line for each step near the one with this index; empty for a plan of a single step.

    Steps that a re-plan removed are left out. Numbers are the ones that the context uses.
    """
    replaced = {*state["replaced"]}
    steps = [number for number in range(len(state["plan"])) if number not in replaced]
    if len(steps) < 2 or index not in steps:  # noqa: PLR2004 - two steps make a plan
        return ""
    place = steps.index(index)
    shown = steps[max(0, place - _STEPS_BEFORE) : place + _STEPS_AFTER + 1]
    return "\n".join(_list_lines(state["plan"], steps, shown, index))


def _list_lines(plan: list[str], steps: list[int], shown: list[int], index: int) -> Iterator[str]:
    yield f"Plan of {len(steps)} steps:"
    if earlier := steps.index(shown[0]):
        yield f"({earlier} earlier)"
    for number in shown:
        mark = " <- current step" if number == index else ""
        yield f"{number + 1}. {_cut_text(' '.join(plan[number].split()), _MAX_STEP)}{mark}"
    if later := len(steps) - 1 - steps.index(shown[-1]):
        yield f"({later} later)"


def _cut_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
