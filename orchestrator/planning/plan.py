"""Reads a planner's answer, checks its steps, and replaces them. Describes the plan for the agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from agents.errors import PlanError
from agents.parsing.end_reasons import describe_block, is_blocked
from agents.prompts import fence_text, find_boundary
from evaluation.sensitive.scanner import shorten
from evaluation.validation import describe_errors
from orchestrator.state.graph_state import NOTHING_UNDERWAY, OrchestratorState, StateUpdate, list_accepted
from orchestrator.state.plain_values import format_repr, plain_json
from orchestrator.state.records import SupervisionMode

Modes: TypeAlias = list[SupervisionMode | None] | None
"""The supervision mode of each step, None for the orchestrator's; None if no step has one of its own."""
_VALUE_LENGTH: Final = 80
_PROBLEM_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """A plan that can be run.

    Attributes:
        texts: The text of each step, none of them empty.
        modes: The supervision mode of each step, None for the orchestrator's; None if no step has one.
    """

    texts: list[str]
    modes: Modes


class _Step(BaseModel):
    step: str = Field(pattern=r"\S")
    supervision: SupervisionMode | None = None


def check_complete(cut_off: str | None) -> None:
    """Checks that the reply with the plan was not cut off or blocked: missing steps would never be executed.

    Args:
        cut_off: Why it was cut off; None if it was not.

    Raises:
        PlanError: It was.
    """
    if cut_off is not None and is_blocked(cut_off):
        raise PlanError(f"there is no plan, since {shorten(describe_block(cut_off))}")
    if cut_off is not None:
        raise PlanError(
            f"the plan was cut off ({shorten(cut_off, _VALUE_LENGTH)}), so that steps of it are missing; "
            "allow the planner's model more tokens, or give a smaller task"
        )


def read_steps(plan: object, max_steps: int) -> PlannedSteps:
    """Checks the answer of a planner.

    Args:
        plan: A list whose items are texts, or objects (mappings or pydantic models) with the text as
            ``description`` or ``step``, and optionally ``supervision`` ("none", "llm" or "human").
        max_steps: Maximum number of steps.

    Raises:
        PlanError: It is no list; it has no step or more than ``max_steps``; a step has no text, an unknown
            supervision, or needs.
    """
    if not isinstance(plan, Sequence) or isinstance(plan, str | bytes):
        raise PlanError(f"the planner returned a {type(plan).__name__}; a list of steps is wanted")
    if len(plan) > max_steps:
        raise PlanError(f"the plan has {len(plan)} steps; max_plan_steps is {max_steps}")
    if not plan:
        raise PlanError("the plan is empty; state the task more clearly, or use a more capable model")
    steps = [_read_step(number, item) for number, item in enumerate(plan, 1)]
    modes = [step.supervision for step in steps]
    return PlannedSteps(texts=[step.step for step in steps], modes=modes if any(modes) else None)


def _read_step(number: int, item: object) -> _Step:
    if not isinstance(item, str | Mapping | BaseModel):
        raise PlanError(f"step {number} of the plan is a {type(item).__name__}; give a text or an object")
    plain = plain_json(_read_fields(item))
    if isinstance(plain, dict) and plain.get("needs"):
        raise PlanError(
            f"step {number} of the plan has needs {format_repr(plain['needs'], _VALUE_LENGTH)}, and steps "
            "run one after another; leave out needs, and order the steps"
        )
    try:
        return _Step.model_validate(plain)
    except ValidationError as error:
        problems = "; ".join(describe_errors(error, plain, ()))
        raise PlanError(f"step {number} of the plan: {shorten(problems, _PROBLEM_LENGTH)}") from None


def _read_fields(item: str | Mapping[str, object] | BaseModel) -> Mapping[str, object]:
    if isinstance(item, str):
        return {"step": item}
    fields = dict(item)
    # "description" first: a model that fills both fields may put only the number into "step".
    fields["step"] = fields.get("description") or fields.get("step")
    return fields


MAX_TASK: Final = 1500
"""Maximum characters of the task: small models have a context of a few thousand tokens."""
_MAX_STEP: Final = 100
_STEPS_BEFORE: Final = 3
_STEPS_AFTER: Final = 6


def describe_task(state: OrchestratorState, index: int, step: str) -> str:
    """Returns the task and the numbered steps around the current one, which is marked.

    Returns an empty text if the current step is the whole task: there is nothing to add.
    """
    outline = _build_outline(state, index)
    if not outline and step.strip() == state["task"].strip():
        return ""
    return "\n".join(part for part in (shorten(state["task"], MAX_TASK), outline) if part)


def _build_outline(state: OrchestratorState, index: int) -> str:
    """Returns one line for each step near the one with this index; empty for a plan of a single step.

    Steps that a re-plan removed are left out. Numbers are the ones that the context uses.
    """
    replaced = {*state["replaced"]}
    numbers = range(len(state["plan"]))
    # A range is searched at once, however long the plan.
    steps = [number for number in numbers if number not in replaced] if replaced else numbers
    if len(steps) < 2 or index not in steps:  # noqa: PLR2004 - two steps make a plan
        return ""
    place = steps.index(index)
    shown = steps[max(0, place - _STEPS_BEFORE) : place + _STEPS_AFTER + 1]
    return "\n".join(_list_lines(state["plan"], steps, shown, index))


def _list_lines(plan: list[str], steps: Sequence[int], shown: Sequence[int], index: int) -> Iterator[str]:
    yield f"Plan of {len(steps)} steps:"
    if earlier := steps.index(shown[0]):
        yield f"({earlier} earlier)"
    for number in shown:
        mark = " <- current step" if number == index else ""
        yield f"{number + 1}. {shorten(' '.join(plan[number].split()), _MAX_STEP)}{mark}"
    if later := len(steps) - 1 - steps.index(shown[-1]):
        yield f"({later} later)"


def build_replan_update(state: OrchestratorState, steps: PlannedSteps, modes: Modes) -> StateUpdate:
    """Returns the fields after a re-plan: the new steps come after the old ones, the open ones are given up.

    Args:
        state: The state before the re-plan, with the contracts that were derived for the new steps.
        steps: The new steps.
        modes: The mode of each new step, None for the orchestrator's; None if no step has one of its own.
    """
    count, declared, retries = len(state["plan"]), state["declared"], state["retries"]
    accepted = {record["step_index"] for record in list_accepted(state["results"])}
    joined = [*(declared["modes"] or [None] * count), *(modes or [None] * len(steps.texts))]
    return {
        "retries": {**retries, "replans": retries["replans"] + 1},
        # The old steps keep their indices, by which their records are stored.
        "plan": [*state["plan"], *steps.texts],
        "declared": {**declared, "modes": joined if any(joined) else None},
        "replaced": [step for step in range(count) if step not in accepted],
        "current_step_index": count,
        "attempts": 0,
        "underway": NOTHING_UNDERWAY,
        "status": "executing",
    }


def build_replan_request(state: OrchestratorState) -> str:
    """Returns the planner's input for a re-plan: the task, the accepted results and the failure.

    A step that the retry policy splits is planned as several, before the steps that come after it.
    """
    task, failure = state["task"], state["underway"]["replan"] or ""
    # Results and failure may quote foreign text, so they are fenced as data.
    mark = find_boundary(task, state["context"], failure)
    parts = [
        task,
        fence_text("done already", state["context"], mark) if state["context"] else "",
        fence_text("tried, and failed", failure, mark),
        "Plan only what is left to do, in another way than the one that failed.",
    ]
    return "\n\n".join(part for part in parts if part)
