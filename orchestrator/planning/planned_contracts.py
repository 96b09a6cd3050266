"""A contract that a planner gave with a step, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from agents.errors import PlanError
from evaluation.inputs.contract import EvaluationContract
from orchestrator.state.graph_state import Json
from orchestrator.state.plain_values import plain_json, shown

_SHOWN: Final = 80
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
