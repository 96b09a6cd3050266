"""What decides a run of a study, so that a run is never used in place of another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.models.address import find_address
from agents.models.identity import describe_origin, identify_model
from evaluation.evalset.task_case import TaskCase
from orchestrator.tuning.spec import TuneSpec

_SPACE: Final = frozenset({"space", "policies", "models", "planning", "seed"})


def digest_case(case: TaskCase) -> str:
    """Returns a digest of the text of a task and its contract."""
    # Without defaults: a new field of contracts does not change the tasks that have none of it.
    return _digest(case.model_dump(mode="json", include={"task", "contract"}, exclude_defaults=True))


def digest_model(model: BaseChatModel) -> str:
    """Returns a digest of a model with its settings and its origin; equal in every process."""
    settings = {name: value for name, value in model if _is_plain(value)}
    name = identify_model(model) or f"{type(model).__module__}.{type(model).__qualname__}"
    return _digest([name, settings], list_origins([model]))


def list_origins(models: list[BaseChatModel]) -> dict[str, str]:
    """Returns for each address of a server which model answers there: the port of an embedded one changes."""
    addresses = ((find_address(model), model) for model in models)
    return {address: describe_origin(model) for address, model in addresses if address}


def describe_study(spec: TuneSpec, runner: object) -> dict[str, object]:
    """Returns what all runs of a study share, each by the words that a refusal uses.

    Args:
        spec: The specification.
        runner: Its ``identity``, if it has one, says what decides its runs.
    """
    identity: object = getattr(runner, "identity", "")
    named = identity if isinstance(identity, Mapping) else {"another runner": str(identity)}
    return {
        # A larger budget or another objective goes on with the same runs.
        "another space": spec.model_dump(mode="json", include=set(_SPACE)),
        "other prices": spec.model_dump(mode="json", include={"prices"}),
        "another version": version("plan-execute-monitor"),
        **named,
    }


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, str | int | float) for item in value)
    return value is None or isinstance(value, str | int | float)


def _digest(value: object, renamed: Mapping[str, str] | None = None) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    for before, after in (renamed or {}).items():
        text = text.replace(before, after)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
