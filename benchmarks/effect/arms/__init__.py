"""The arms by name. To add one, write a class with ``answer`` in a module of its own, and list it here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from benchmarks.effect.arms.base import Arm
from benchmarks.effect.arms.crewai import CrewAI
from benchmarks.effect.arms.orchestrated import Orchestrated, leave_open, write_from_task, write_official
from benchmarks.effect.arms.pydantic_ai import PydanticAI
from benchmarks.effect.arms.reflection import Reflection
from benchmarks.effect.arms.unjudged import BlindRetries, OneShot

_planned = partial(Orchestrated, is_planned=True)

ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        OneShot(),
        BlindRetries(),
        Orchestrated("no-contract", leave_open),
        _planned("no-contract-planned", leave_open),
        Orchestrated("from-task", write_from_task),
        _planned("from-task-planned", write_from_task),
        Orchestrated("official-contract", write_official),
        _planned("official-contract-planned", write_official),
        PydanticAI(),
        CrewAI(),
        Reflection(),
    )
}
