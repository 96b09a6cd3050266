"""The one description of a run, from the three places in which it may be given."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.inputs.run import MEASURES
from evaluation.values import JsonObject, as_object


def places(plain: JsonObject) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield what describes the run, with the path of its place."""
    run = as_object(plain.get("agent_run"))
    yield "agent_run", {name: value for name, value in run.items() if name in MEASURES and value is not None}
    yield "agent_run.metadata", as_object(run.get("metadata"))
    yield "run_metadata", as_object(plain.get("run_metadata"))


def merged(plain: JsonObject) -> dict[str, object]:
    """Join the places; what is null counts as absent."""
    found: dict[str, object] = {}
    for _, values in places(plain):
        found.update({name: value for name, value in values.items() if value is not None})
    return found


def conflicts(plain: JsonObject) -> list[str]:
    """Name each quantity that two places state differently."""
    seen: dict[str, tuple[str, object]] = {}
    problems = []
    for place, values in places(plain):
        for name, value in values.items():
            first, known = seen.setdefault(name, (place, value))
            if known != value and value is not None:
                problems.append(f"{place}.{name}: differs from {first}.{name}; give it once")
    return problems
