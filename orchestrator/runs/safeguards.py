"""The settings that make a run safe: stored with the run, and compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from evaluation import EvaluationContract
from orchestrator.judging.output import OUTPUT_TYPE
from orchestrator.judging.plain_contracts import plain_contract
from orchestrator.settings import Settings
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import Json
from orchestrator.task_contracts.contract_options import StatedContracts

SAFEGUARDS: Final = "orchestrator_safeguards"
"""The key of a checkpoint's metadata that has them, as JSON."""
_ORDERS: Final[Mapping[str, Sequence[Json]]] = {
    "require": (None, "judged", "checked"),
    "grounding": ("off", "facts", "strict"),
    "supervision": ("none", "llm", "human"),
    "supervision_policy.ask": ("on_triggers", "always"),
}
"""The values of a setting, from the weakest."""
_DEFAULTS: Final[Mapping[str, Json]] = {
    "grounding": "facts",
    "supervision": "none",
    "supervision_policy.ask": "always",
}
_ALL: Final = "all"


def describe_safeguards(
    given: Mapping[str, object], stated: StatedContracts, settings: Settings
) -> dict[str, Json]:
    """Describes the safeguards of an orchestrator: plain values as they are, the rest by a name or a digest.

    Args:
        given: The keyword arguments of the orchestrator.
        stated: Its contracts.
        settings: Its settings.

    The contract of a task that is derived or a case is stored in the state of the run.
    """
    run = stated.run if isinstance(stated.run, EvaluationContract) else None
    contracts = {
        "contract": run,
        "output_contract": given.get("output_contract"),
        "step_contract": stated.step,
    }
    bounds = settings.budget.model_dump(mode="json", exclude={"prices"})
    checks = [check["name"] for check in map(mapping, stated.output.checks)]
    values: dict[str, Json] = {
        "once_tools": [*settings.once_tools],
        "approve_tools": _ALL if settings.approve_tools == _ALL else [*settings.approve_tools],
        "require": settings.require,
        "grounding": settings.grounding,
        "supervision": settings.supervision
        if isinstance(settings.supervision, str)
        else _name(settings.supervision),
        "supervision_policy.ask": settings.supervision_policy.ask,
        "budget": {name: bound for name, bound in bounds.items() if bound is not None},
        "checks": [name for name in checks if name != OUTPUT_TYPE],
        "output_type": _name(given.get("output_type")),
        "judge": _name(given.get("judge")),
        "verifier": settings.verifier,
        **{name: _name(contract) for name, contract in contracts.items()},
    }
    # Each checkpoint has them, so those that nobody has set are left out.
    return {name: value for name, value in values.items() if value and value != _DEFAULTS.get(name)}


def list_weakened(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the safeguards of a run that an orchestrator lacks or weakens, a sentence each.

    Args:
        stored: The JSON text in the metadata of the run; a run of an earlier version has none.
        current: The safeguards of the orchestrator.
    """
    if not isinstance(stored, str):
        return []
    before, now = {**_DEFAULTS, **json.loads(stored)}, {**_DEFAULTS, **current}
    return [
        f"{name} is {format_repr(now.get(name), 80)}, and the run began with {format_repr(value, 80)}"
        for name, value in before.items()
        if not _compare(name)(value, now.get(name))
    ]


def describe_weakened(thread_id: str, weakened: Sequence[str]) -> str:
    """Describes why a run cannot be resumed with weaker safeguards."""
    return (
        f"thread {format_repr(thread_id, 80)} cannot go on with weaker settings: {'; '.join(weakened)}; "
        "give them as before, or resume with accept_changes=True"
    )


def _compare(name: str) -> Callable[[Json, Json], bool]:
    if name in _ORDERS:
        return lambda before, now: _is_as_strict(_ORDERS[name], before, now)
    return _COMPARED.get(name, lambda before, now: before == now)


def _is_as_strict(order: Sequence[Json], before: Json, now: Json) -> bool:
    # A function decides for each step, so that only the same one is as strict.
    if before not in order or now not in order:
        return before == now or before == order[0]
    return order.index(now) >= order.index(before)


def _has_all(before: Json, now: Json) -> bool:
    return now == _ALL or (isinstance(before, list) and isinstance(now, list) and {*before} <= {*now})


def _has_bounds(before: Json, now: Json) -> bool:
    return isinstance(before, dict) and isinstance(now, dict) and all(_iterate_kept(before, now))


def _iterate_kept(before: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[bool]:
    for name, bound in before.items():
        own = now.get(name)
        yield isinstance(own, int | float) and isinstance(bound, int | float) and own <= bound


_COMPARED: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "once_tools": _has_all,
    "approve_tools": _has_all,
    "checks": _has_all,
    "budget": _has_bounds,
}


def _name(value: object) -> str | None:
    """Names a contract by a digest, and other objects by their class or function; None for None."""
    if value is None:
        return None
    if isinstance(value, EvaluationContract):
        text = json.dumps(plain_contract(value), sort_keys=True, default=format_text)
        return f"contract {hashlib.md5(text.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()}"
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"
