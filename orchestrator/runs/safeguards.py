"""The settings that make a run safe: stored with the run, and compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from agents.loop.acting_tools import read_acting_tools
from evaluation import EvaluationContract
from evaluation.checks.custom import CustomCheck
from orchestrator.judging.plain_contracts import plain_contract
from orchestrator.replaced_options import REPLACED, describe_argument
from orchestrator.settings import Settings
from orchestrator.state.plain_values import format_repr, format_text, plain_json
from orchestrator.state.records import Json

SAFEGUARDS: Final = "orchestrator_safeguards"
"""The key of a checkpoint's metadata that has them, as JSON."""
_DEFAULTS: Final[Mapping[str, Json]] = {
    "grounding": "facts",
    "supervision_policy.ask": "always",
    "retry_policy.exhausted": "fail",
}


def describe_safeguards(given: Mapping[str, object], settings: Settings) -> dict[str, Json]:
    """Describes the safeguards of an orchestrator: plain values as they are, the rest by a name or a digest.

    Args:
        given: The arguments of the orchestrator, which are valid.
        settings: Its settings.

    The contract of a task that is derived or a case is stored in the state of the run.
    """
    contract, checks = given.get("contract"), cast("Sequence[CustomCheck]", given.get("checks", ()))
    bounds = settings.budget.model_dump(mode="json", exclude={"prices"}, exclude_none=True)
    supervision = settings.supervision
    values: dict[str, Json] = {
        "acting_tools": describe_acting_tools(given.get("acting_tools")),
        "require": settings.require,
        "grounding": settings.grounding,
        "supervision": None if supervision == "none" else _name(supervision),
        "supervision_policy.ask": settings.supervision_policy.ask,
        "retry_policy.exhausted": settings.retry_policy.exhausted,
        "budget": bounds,
        "checks": [check.name for check in checks],
        "output_type": _name(given.get("output_type")),
        "judge": _name(given.get("judge")),
        "verifier": settings.verifier,
        "contract": _name(contract) if isinstance(contract, EvaluationContract | Mapping) else None,
        "output_contract": _name(given.get("output_contract")),
        "step_contract": _name(given.get("step_contract")),
    }
    # Each checkpoint has them, so those that nobody has set are left out.
    return {name: value for name, value in values.items() if value and value != _DEFAULTS.get(name)}


def describe_acting_tools(given: object) -> Json:
    """Describes the option ``acting_tools``: the treatment of each tool, with functions by their names."""
    if given is None:
        return None
    stated = read_acting_tools(given).stated
    return {
        name: {
            "approve": tool.approve,
            "repeat": tool.repeat,
            "succeeded": _name(tool.succeeded) if callable(tool.succeeded) else plain_json(tool.succeeded),
            "read_back": _name(tool.read_back),
        }
        for name, tool in stated.items()
    }


def list_changed(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the safeguards of a run that an orchestrator lacks or changes, a sentence each.

    Args:
        stored: The JSON text in the metadata of the run; a run of an earlier version has none.
        current: The safeguards of the orchestrator.
    """
    if not isinstance(stored, str):
        return []
    before, now = {**_DEFAULTS, **json.loads(stored)}, {**_DEFAULTS, **current}
    return [
        f"{name} is {_describe_now(name, value, now)}, and the run began with {format_repr(value, 80)}"
        for name, value in before.items()
        if now.get(name) != value
    ]


def _describe_now(name: str, before: Json, now: Mapping[str, Json]) -> str:
    if name in REPLACED:  # a run of an earlier version
        return f"no argument any more (write {describe_argument(name, before)})"
    return format_repr(now.get(name), 80)


def _name(value: object) -> str | None:
    """Names a contract by a digest, and other objects by their class or function; a text and None stay."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = EvaluationContract.model_validate(dict(value))
    if isinstance(value, EvaluationContract):
        text = json.dumps(plain_contract(value), sort_keys=True, default=format_text)
        return f"contract {hashlib.md5(text.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()}"
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"
