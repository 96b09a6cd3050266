"""Reads a planner's answer: checks the steps, their contracts and their needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from agents.errors import PlanError
from evaluation.inputs.contract import EvaluationContract
from orchestrator.state.plain_values import format_repr, plain_json, read_text
from orchestrator.state.records import Json

# "description" first: a model that fills both fields may put only the number into "step".
_TEXT_FIELDS: Final = ("description", "step")
_VALUE_LENGTH: Final = 80
_PROBLEM_LENGTH: Final = 300
_CYCLE_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """A plan that can be run.

    Attributes:
        texts: The text of each step, none of them empty.
        contracts: The contract of each step, as plain JSON without the fields at their default; None if
            the planner declared none.
        needs: By step, the 0-based indices of the steps that it needs, ascending; None for a sequential plan.
    """

    texts: tuple[str, ...]
    contracts: tuple[dict[str, Json] | None, ...]
    needs: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True, slots=True)
class _Step:
    """One item of a plan; ``needs`` as the planner wrote them, None if it wrote none."""

    text: str
    id: str
    contract: dict[str, Json] | None
    needs: tuple[object, ...] | None


def read_steps(plan: object, max_steps: int) -> PlannedSteps:
    """Checks the answer of a planner.

    Args:
        plan: A list whose items are texts, or objects (mappings, dataclasses, pydantic models) with the text
            as ``description`` or ``step``, and optionally ``id`` (default: the step's number from 1, as
            text), ``contract`` (an ``EvaluationContract`` or its fields) and ``needs`` (a list of ids, or of
            numbers from 1). If any step has ``needs``, a step without them needs the step before it.
        max_steps: Maximum number of steps.

    Raises:
        PlanError: It is no list; it has no step or more than ``max_steps``; a step has no text or an invalid
            contract; two steps have the same id; needs name no step or form a circle.
    """
    if not isinstance(plan, Sequence) or isinstance(plan, str | bytes):
        raise PlanError(f"the planner returned a {type(plan).__name__}; a list of steps is wanted")
    if len(plan) > max_steps:
        raise PlanError(f"the plan has {len(plan)} steps; max_plan_steps is {max_steps}")
    steps = [_read_step(number, item) for number, item in enumerate(plan, 1)]
    if not steps:
        raise PlanError("the plan is empty; state the task more clearly, or use a more capable model")
    return PlannedSteps(
        texts=tuple(step.text for step in steps),
        contracts=tuple(step.contract for step in steps),
        needs=_resolve_needs(steps),
    )


def find_ready_steps(needs: Sequence[Sequence[int]], done: Set[int]) -> list[int]:
    """Returns the open steps whose needs are all done, ascending."""
    return [step for step, needed in enumerate(needs) if step not in done and done >= {*needed}]


def _read_step(number: int, item: object) -> _Step:
    values = _read_fields(item)
    contract = values.get("contract")
    return _Step(
        text=_read_step_text(number, item, values),
        id=_read_id(number, values.get("id")),
        contract=None if contract is None else read_contract(number, contract),
        needs=_read_needs(number, values.get("needs")),
    )


def _read_fields(item: object) -> Mapping[object, object]:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, BaseModel):
        return dict(item)
    if is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in fields(item)}
    return {}


def _read_step_text(number: int, item: object, values: Mapping[object, object]) -> str:
    texts = (read_text(value) for value in (item, *(values.get(name) for name in _TEXT_FIELDS)))
    text = next((text for text in texts if text is not None and text.strip()), None)
    if text is None:
        raise PlanError(
            f"step {number} of the plan is {format_repr(item, _VALUE_LENGTH)}; "
            "a text is wanted, or an object with its text as 'description' or 'step'"
        )
    return text


def _read_id(number: int, value: object) -> str:
    if value is None:
        return str(number)
    text = read_text(value)
    if text is None or not text.strip():
        raise PlanError(f"the id of step {number} is {format_repr(value, _VALUE_LENGTH)}; a text is wanted")
    return text


def _read_needs(number: int, value: object) -> tuple[object, ...] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        needs = format_repr(value, _VALUE_LENGTH)
        raise PlanError(f"the needs of step {number} are {needs}; a list of ids or step numbers is wanted")
    return tuple(value)


def read_contract(number: int, value: object) -> dict[str, Json]:
    """Checks the contract of a step.

    Args:
        number: Number of the step, from 1.
        value: An ``EvaluationContract``, or its fields as a mapping.

    Returns:
        The fields that are not at their default, as plain JSON.

    Raises:
        PlanError: It is invalid. The message has the path of the first problem and the number of the others.
    """
    if not isinstance(value, EvaluationContract | Mapping):
        raise _invalid_contract(
            number, f"{format_repr(value, _VALUE_LENGTH)} is no object of a contract's fields"
        )
    values = value.model_dump(exclude_defaults=True) if isinstance(value, BaseModel) else dict(value)
    plain = plain_json(values)
    try:
        contract = EvaluationContract.model_validate_json(json.dumps(plain))
    except ValidationError as error:
        raise _invalid_contract(number, _describe_problem(error, plain)) from error
    return cast("dict[str, Json]", contract.model_dump(mode="json", exclude_defaults=True))


def _invalid_contract(number: int, problem: str) -> PlanError:
    return PlanError(f"the contract of step {number} is invalid: {problem}")


def _describe_problem(error: ValidationError, plain: Json) -> str:
    # pydantic reports one error for each alternative of a type; errors with one path are one problem.
    problems: dict[str, list[str]] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        message = item["msg"].removeprefix("Value error, ")
        path = _build_path(item["loc"], plain, missing=item["type"] == "missing")
        problems.setdefault(path, []).append(message)
    path, messages = next(iter(problems.items()))
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    return f"{path}: {', or: '.join(dict.fromkeys(messages))[:_PROBLEM_LENGTH]}{more}"


def _build_path(location: Sequence[int | str], plain: Json, *, missing: bool) -> str:
    # pydantic's location also has the names of a type's alternatives, which are no part of the value.
    path, value = "", plain
    for place in location:
        if isinstance(value, list) and isinstance(place, int):
            path, value = f"{path}[{place}]", value[place]
        elif isinstance(value, dict) and place in value:
            path, value = f"{path}.{place}", value[str(place)]
    return f"{path}.{location[-1]}".removeprefix(".") if missing else path.removeprefix(".") or "contract"


def _resolve_needs(steps: Sequence[_Step]) -> tuple[tuple[int, ...], ...] | None:
    indices = _index_ids(steps)
    if all(step.needs is None for step in steps):
        return None
    needs = tuple(_resolve_step(index, step, indices) for index, step in enumerate(steps))
    _refuse_circle(steps, needs)
    return needs


def _index_ids(steps: Sequence[_Step]) -> dict[str, int]:
    indices: dict[str, int] = {}
    for index, step in enumerate(steps):
        first = indices.setdefault(step.id, index)
        if first != index:
            name = format_repr(step.id, _VALUE_LENGTH)
            raise PlanError(f"steps {first + 1} and {index + 1} have the same id {name}")
    return indices


def _resolve_step(index: int, step: _Step, indices: Mapping[str, int]) -> tuple[int, ...]:
    if step.needs is None:
        return (index - 1,) if index else ()
    needed = {_find_step(index, need, indices) for need in step.needs}
    if index in needed:
        raise PlanError(f"step {index + 1} needs itself")
    return tuple(sorted(needed))


def _find_step(index: int, need: object, indices: Mapping[str, int]) -> int:
    """Returns the index of the step that a need names: by its id, or by its number from 1."""
    text = read_text(need)
    number = need if isinstance(need, int) and not isinstance(need, bool) else 0
    by_number = number - 1 if 1 <= number <= len(indices) else None
    match = by_number if text is None else indices.get(text)
    if match is None:
        raise PlanError(
            f"step {index + 1} needs {format_repr(need, _VALUE_LENGTH)}, which names no step of the plan"
        )
    return match


def _refuse_circle(steps: Sequence[_Step], needs: Sequence[Sequence[int]]) -> None:
    try:
        TopologicalSorter(dict(enumerate(needs))).prepare()
    except CycleError as error:
        # graphlib's cycle leads from a needed step to the one that needs it; the message goes the other way.
        raise PlanError(_describe_circle(steps, error.args[1][::-1])) from error


def _describe_circle(steps: Sequence[_Step], circle: Sequence[int]) -> str:
    names = [_name_step(index, steps[index]) for index in circle]
    if len(names) > _CYCLE_LENGTH:
        names = [*names[: _CYCLE_LENGTH - 1], "... and so on", names[-1]]
    by_default = any(steps[index].needs is None for index in circle)
    note = " (a step without needs needs the one before it)" if by_default else ""
    return f"the needs form a circle: {names[0]} needs {', which needs '.join(names[1:])}{note}"


def _name_step(index: int, step: _Step) -> str:
    number = str(index + 1)
    return f"step {number}" if step.id == number else f"step {number} ({format_repr(step.id, _VALUE_LENGTH)})"
