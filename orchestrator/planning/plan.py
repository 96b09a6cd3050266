"""A contract that a planner gave with a step, checked."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from agents.errors import PlanError
from evaluation.inputs.contract import EvaluationContract
from orchestrator.state.graph_state import Json
from orchestrator.state.plain_values import plain_json, read_text, shown, text_of

_SHOWN_PROBLEM: Final = 300
_VALUE_ERROR: Final = "Value error, "


def read_contract(number: int, given: object) -> dict[str, Json]:
    """Check the contract of a step.

    Args:
        number: The step's, from 1.
        given: An ``EvaluationContract``, or its fields as a mapping.

    Returns:
        Its fields that are not at their default, as plain JSON.

    Raises:
        PlanError: It is invalid; says the path of the first problem and how many more there are.
    """
    if not isinstance(given, EvaluationContract | Mapping):
        raise _invalid(number, f"{shown(given, _SHOWN)} is no object of a contract's fields")
    held = given.model_dump(exclude_defaults=True) if isinstance(given, BaseModel) else dict(given)
    plain = plain_json(held)
    try:
        contract = EvaluationContract.model_validate_json(json.dumps(plain))
    except ValidationError as error:
        raise _invalid(number, _problem(error, plain)) from error
    return cast("dict[str, Json]", contract.model_dump(mode="json", exclude_defaults=True))


def _invalid(number: int, problem: str) -> PlanError:
    return PlanError(f"the contract of step {number} is invalid: {problem}")


def _problem(error: ValidationError, plain: Json) -> str:
    """The first problem in words; what is said of one value from several sides is one problem."""
    problems: dict[str, list[str]] = {}
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        message = one["msg"].removeprefix(_VALUE_ERROR)
        problems.setdefault(_path(one["loc"], plain, missing=one["type"] == "missing"), []).append(message)
    path, messages = next(iter(problems.items()))
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    return f"{path}: {', or: '.join(dict.fromkeys(messages))[:_SHOWN_PROBLEM]}{more}"


def _path(places: Sequence[int | str], plain: Json, *, missing: bool) -> str:
    """The path in what was given; the names that pydantic gives to alternatives are no part of it."""
    path, value = "", plain
    for place in places:
        if isinstance(value, list) and isinstance(place, int):
            path, value = f"{path}[{place}]", value[place]
        elif isinstance(value, dict) and place in value:
            path, value = f"{path}.{place}", value[str(place)]
    return f"{path}.{places[-1]}".removeprefix(".") if missing else path.removeprefix(".") or "contract"


_TEXT_NAMES: Final = ("description", "step")
"""Where an object holds its text; a model that fills both may put a mere number into ``step``."""
_SHOWN: Final = 80
_SHOWN_CIRCLE: Final = 8


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """A plan that can be run.

    Attributes:
        texts: One text a step, none of them empty.
        contracts: One a step: the fields of an ``EvaluationContract`` that are not at their default, as
            plain JSON; None where the planner gave none.
        needs: By step, the 0-based indices of the steps that it needs, ascending; None for a sequential plan.
    """

    texts: tuple[str, ...]
    contracts: tuple[dict[str, Json] | None, ...]
    needs: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True, slots=True)
class _Step:
    """One item of a plan; ``needs`` is as it was given, None where it was not."""

    text: str
    id: str
    contract: dict[str, Json] | None
    needs: tuple[object, ...] | None


def read_steps(plan: object, max_steps: int) -> PlannedSteps:
    """Check what a planner returned.

    Args:
        plan: A list whose items are texts, or objects (mappings, dataclasses, pydantic models) with the text
            as ``description`` or ``step``, and optionally ``id`` (by default the step's number from 1, as
            text), ``contract`` (an ``EvaluationContract`` or its fields) and ``needs`` (a list of ids, or of
            numbers from 1). Where any step has ``needs``, one without them needs the step before it.
        max_steps: How many steps are accepted.

    Raises:
        PlanError: No list; no step, or more than ``max_steps``; a step without a text or with an invalid
            contract; an id that two steps have; needs that name no step, or form a circle.
    """
    try:
        steps = _steps(plan, max_steps)
    except PlanError:
        raise
    except Exception as error:
        # A foreign sequence's own code, or an item's.
        raise PlanError(f"the plan cannot be read: {type(error).__name__}: {text_of(error)}") from error
    return PlannedSteps(
        texts=tuple(step.text for step in steps),
        contracts=tuple(step.contract for step in steps),
        needs=_needs(steps),
    )


def ready(needs: Sequence[Sequence[int]], done: Collection[int]) -> list[int]:
    """The steps that are not done and whose needs all are, ascending."""
    return [
        step for step, needed in enumerate(needs) if step not in done and all(one in done for one in needed)
    ]


def _steps(plan: object, max_steps: int) -> list[_Step]:
    if not isinstance(plan, Sequence) or isinstance(plan, str | bytes):
        raise PlanError(f"the planner returned a {type(plan).__name__}; a list of steps is wanted")
    if len(plan) > max_steps:
        raise PlanError(f"the plan has {len(plan)} steps; max_plan_steps is {max_steps}")
    # A foreign sequence may hold more than its length says, or less.
    steps = [_step(number, item) for number, item in enumerate(islice(plan, max_steps), 1)]
    if not steps:
        raise PlanError("the plan is empty; state the task more clearly, or use a more capable model")
    return steps


def _step(number: int, item: object) -> _Step:
    given = _fields(item)
    return _Step(
        text=_text(number, item, given),
        id=_id(number, given.get("id")),
        contract=None if given.get("contract") is None else read_contract(number, given["contract"]),
        needs=_given_needs(number, given.get("needs")),
    )


def _fields(item: object) -> Mapping[object, object]:
    """What an item holds by name; nothing where it is no object."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, BaseModel):
        return dict(item)
    if is_dataclass(item) and not isinstance(item, type):
        return {one.name: getattr(item, one.name) for one in fields(item)}
    return {}


def _text(number: int, item: object, given: Mapping[object, object]) -> str:
    texts = (read_text(one) for one in (item, *(given.get(name) for name in _TEXT_NAMES)))
    text = next((one for one in texts if one is not None and one.strip()), None)
    if text is None:
        raise PlanError(
            f"step {number} of the plan is {shown(item, _SHOWN)}; "
            "a text is wanted, or an object with its text as 'description' or 'step'"
        )
    return text


def _id(number: int, given: object) -> str:
    if given is None:
        return str(number)
    text = read_text(given)
    if text is None or not text.strip():
        raise PlanError(f"the id of step {number} is {shown(given, _SHOWN)}; a text is wanted")
    return text


def _given_needs(number: int, given: object) -> tuple[object, ...] | None:
    if given is None:
        return None
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise PlanError(
            f"the needs of step {number} are {shown(given, _SHOWN)}; a list of ids or step numbers is wanted"
        )
    return tuple(given)


def _needs(steps: Sequence[_Step]) -> tuple[tuple[int, ...], ...] | None:
    places = _places(steps)
    if all(step.needs is None for step in steps):
        return None
    needs = tuple(_needed(index, step, places) for index, step in enumerate(steps))
    _refuse_circle(steps, needs)
    return needs


def _places(steps: Sequence[_Step]) -> dict[str, int]:
    places: dict[str, int] = {}
    for index, step in enumerate(steps):
        first = places.setdefault(step.id, index)
        if first != index:
            raise PlanError(f"steps {first + 1} and {index + 1} have the same id {shown(step.id, _SHOWN)}")
    return places


def _needed(index: int, step: _Step, places: Mapping[str, int]) -> tuple[int, ...]:
    if step.needs is None:
        return (index - 1,) if index else ()
    found = {_place(index, one, places) for one in step.needs}
    if index in found:
        raise PlanError(f"step {index + 1} needs itself")
    return tuple(sorted(found))


def _place(index: int, needed: object, places: Mapping[str, int]) -> int:
    """The index of the step that a need names: by its id, or by its number from 1."""
    text = read_text(needed)
    if text is not None:
        found = places.get(text)
    else:
        number = needed if isinstance(needed, int) and not isinstance(needed, bool) else 0
        found = number - 1 if 1 <= number <= len(places) else None
    if found is None:
        raise PlanError(f"step {index + 1} needs {shown(needed, _SHOWN)}, which names no step of the plan")
    return found


def _refuse_circle(steps: Sequence[_Step], needs: Sequence[Sequence[int]]) -> None:
    try:
        TopologicalSorter(dict(enumerate(needs))).prepare()
    except CycleError as error:
        # Its cycle goes from what is needed to what needs it.
        raise PlanError(_circle(steps, error.args[1][::-1])) from error


def _circle(steps: Sequence[_Step], circle: Sequence[int]) -> str:
    names = [_name(index, steps[index]) for index in circle]
    if len(names) > _SHOWN_CIRCLE:
        names = [*names[: _SHOWN_CIRCLE - 1], "... and so on", names[-1]]
    by_default = any(steps[index].needs is None for index in circle)
    note = " (a step without needs needs the one before it)" if by_default else ""
    return f"the needs form a circle: {names[0]} needs {', which needs '.join(names[1:])}{note}"


def _name(index: int, step: _Step) -> str:
    number = str(index + 1)
    return f"step {number}" if step.id == number else f"step {number} ({shown(step.id, _SHOWN)})"
