"""TuneSpec: the tasks, the space and the budget of a search; and the policies of the space."""

from __future__ import annotations

import json
import logging
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from evaluation.cases.case_files import TaskCase, read_case_set
from evaluation.task_checks import derive_checks
from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.budget import Count, Flag, PositiveCount, SettingsModel, read_object
from orchestrator.state.plain_values import format_repr
from orchestrator.study.replay import describe_rule

DEFAULT: Final = "default"
"""The name of the default policy."""
FEWEST_HELD_OUT: Final = 10
"""With fewer held-out tasks, no difference is told apart."""
_FEWEST_TASKS: Final = 2
_LOGGER: Final = logging.getLogger(__name__)


def read_tasks(spec: TuneSpec) -> dict[str, TaskCase]:
    """Reads the tasks of a specification by their names.

    Raises:
        ContractError: The file has no cases, or two have the same name.
        ConfigurationError: There are too few tasks, or one has no check; the message names it.
        OSError: The file cannot be read.
    """
    cases = read_case_set(spec.tasks).cases
    if unchecked := [case.title for case in cases if not _has_checks(case)]:
        names = ", ".join(format_repr(name, 80) for name in unchecked)
        raise ConfigurationError(
            f"tasks: {len(unchecked)} of {len(cases)} tasks have nothing to check, and so nothing to tune "
            f"by: {names}; give them a contract, or leave them out"
        )
    if len(cases) < _FEWEST_TASKS:
        raise ConfigurationError(f"tasks: {spec.tasks!r} has {len(cases)} task; give at least two")
    return {case.title: case for case in cases}


def _has_checks(case: TaskCase) -> bool:
    if case.contract == "from_task":
        return bool(derive_checks(case.task).checks)
    return bool(case.contract.model_dump(exclude_defaults=True))


def split_tasks(tasks: Sequence[str], spec: TuneSpec) -> tuple[list[str], list[str]]:
    """Splits tasks into search tasks and held-out tasks, at random by the seed.

    Logs a warning if no policy can be recommended on so few tasks.
    """
    shuffled = random.Random(spec.seed).sample(list(tasks), len(tasks))  # noqa: S311 - no secret
    held_out = min(max(1, round(len(tasks) * spec.hold_out)), len(tasks) - 1)
    if held_out < FEWEST_HELD_OUT:
        words = "%d of %d tasks are held out, and no policy is recommended with fewer than %d; give more"
        _LOGGER.warning(words, held_out, len(tasks), FEWEST_HELD_OUT)
    return shuffled[held_out:], shuffled[:held_out]


class TuneSpec(SettingsModel):
    """A search for a retry policy.

    Attributes:
        name: Name of the study; its folder has the same name.
        tasks: Path of a file of cases, whose tasks are run.
        model: The specification of the model.
        space: For fields of RetryPolicy, the values to choose from.
        trials: Policies to try, besides the default one.
        planning: Whether the planner splits the tasks; if False, each task is a single step.
        hold_out: Share of the tasks that only the recommended policy and the default are run on, at the end.
        seed: Of the split of the tasks and the search.

    Raises:
        ConfigurationError: A value is not accepted; the message names the accepted ones.
    """

    name: Annotated[
        str,
        Field(
            pattern=r"^[\w.-]{0,59}\w$",
            description="a name of at most 60 letters, digits, '.', '-' and '_'",
        ),
    ] = "tuning"
    tasks: Annotated[str, Field(description="the path of a file of cases, as a text")]
    model: Annotated[str, Field(description="a model specification")] = "local"
    space: Annotated[
        Mapping[str, Annotated[Sequence[object], Field(min_length=1)]],
        Field(
            min_length=1,
            description="an object such as {max_retries: [1, 2, 3]}, with values for each field",
        ),
    ]
    trials: PositiveCount = 20
    planning: Flag = True
    hold_out: Annotated[float, Field(gt=0, lt=1, description="a number between 0 and 1, such as 0.4")] = 0.4
    seed: Count = 0


def read_spec(path: str | Path) -> TuneSpec:
    """Reads a specification from a YAML file. Paths in it are relative to its folder.

    Raises:
        ConfigurationError: The file cannot be read, or a value in it is not accepted.
    """
    if not path:
        raise ConfigurationError("the path of the specification is empty; give that of a YAML file")
    file = Path(path)
    values: dict[str, Any] = read_object(file, "the specification", "{tasks: tasks.yaml, space: ...}")
    if isinstance(tasks := values.get("tasks"), str):
        values["tasks"] = str(file.parent / tasks)
    return TuneSpec(**{"name": file.stem, **values})


_MOST: Final = 10_000


def build_space(spec: TuneSpec) -> dict[str, RetryPolicy]:
    """Builds all policies of a specification but the default, each once, called after their fields.

    Raises:
        ConfigurationError: A policy is not accepted or asks a person, or the space is too large.
    """
    if math.prod(map(len, spec.space.values())) > _MOST:
        raise ConfigurationError(f"the space has more than {_MOST} combinations; narrow it")
    fields: Iterator[dict[str, Any]] = (
        dict(zip(spec.space, each, strict=True)) for each in product(*spec.space.values())
    )
    try:
        policies = [RetryPolicy(**each) for each in fields]
    except ConfigurationError as error:
        raise ConfigurationError(f"space: {error}") from None
    space = {
        ", ".join(f"{name}={_describe_field(each, name)}" for name in spec.space): each
        for each in policies
        if each != RetryPolicy()
    }
    if asking := [name for name, policy in space.items() if policy.asks_human]:
        raise ConfigurationError(f"{asking[0]} asks a person, and a search asks nobody; leave out ask_human")
    return space


def _describe_field(policy: RetryPolicy, name: str) -> str:
    if name == "strategies":
        rules = (describe_rule(rule.model_dump(mode="json")) for rule in policy.strategies)
        return f"[{' then '.join(rules)}]"
    value = policy.model_dump(mode="json", include={name})[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
