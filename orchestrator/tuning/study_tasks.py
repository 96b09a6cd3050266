"""The tasks of a study: reads them, names those that cannot be used, and holds some out."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from evaluation.errors import ContractError
from evaluation.evalset.files import read_case_set
from evaluation.evalset.task_case import TaskCase
from evaluation.task_checks import derive_checks
from orchestrator.errors import ConfigurationError
from orchestrator.settings import check_task
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.tune_spec import TuneSpec

FEWEST_HELD_OUT: Final = 10
"""With fewer held-out tasks, no difference is told apart."""
_FEWEST_TASKS: Final = 2
_NAME_LENGTH: Final = 80
_LOGGER: Final = logging.getLogger(__name__)


def read_tasks(spec: TuneSpec, check: Callable[[str], object] = check_task) -> dict[str, TaskCase]:
    """Reads the tasks of a specification by their names.

    Args:
        spec: The specification.
        check: Raises a ConfigurationError if a task cannot be run.

    Raises:
        ConfigurationError: The file cannot be read, there are too few tasks, a task cannot be run or has no
            check, or two have the same name; the message names such a task.
    """
    cases = read_cases(spec.tasks)
    for case in cases:
        try:
            check(case.task)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"tasks: {list_names([case.title])} in {spec.tasks!r}: {error}"
            ) from None
    if unchecked := [case.title for case in cases if not _has_checks(case)]:
        raise ConfigurationError(
            f"tasks: {len(unchecked)} of {len(cases)} tasks have nothing to check, and so nothing to tune "
            f"by: {list_names(unchecked)}; give them a contract, or leave them out"
        )
    if len(cases) < _FEWEST_TASKS:
        needed = f"give at least {_FEWEST_TASKS}, and {count_needed(spec.hold_out)} for a recommendation"
        raise ConfigurationError(f"tasks: {spec.tasks!r} has {len(cases)} task; {needed}")
    return {case.title: case for case in cases}


def read_cases(path: str) -> list[TaskCase]:
    """Reads a file of cases.

    Raises:
        ConfigurationError: It cannot be read.
    """
    try:
        return read_case_set(path).cases
    except ContractError as error:
        raise ConfigurationError(f"tasks: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"tasks: {path!r} cannot be read ({error.strerror})") from None


def list_names(names: Sequence[str]) -> str:
    """Lists names of tasks, each quoted and shortened."""
    return ", ".join(format_repr(name, _NAME_LENGTH) for name in names)


def _has_checks(case: TaskCase) -> bool:
    if case.contract == "from_task":
        return bool(derive_checks(case.task).checks)
    return bool(case.contract.model_dump(exclude_defaults=True))


def split_tasks(tasks: Sequence[str], spec: TuneSpec) -> tuple[list[str], list[str]]:
    """Splits tasks into search tasks and held-out tasks, at random by the seed.

    Logs a warning if no policy can be recommended on so few tasks.
    """
    shuffled = random.Random(spec.seed).sample(list(tasks), len(tasks))  # noqa: S311 - no secret
    held_out = _count_held_out(len(tasks), spec.hold_out)
    if held_out < FEWEST_HELD_OUT:
        _LOGGER.warning(
            "%d of %d tasks are held out, and no policy is recommended with fewer than %d; give %d tasks",
            *(held_out, len(tasks), FEWEST_HELD_OUT, count_needed(spec.hold_out)),
        )
    return shuffled[held_out:], shuffled[:held_out]


def count_needed(hold_out: float) -> int:
    """Returns how many tasks a recommendation needs if this share of them is held out."""
    return next(size for size in count(FEWEST_HELD_OUT) if _count_held_out(size, hold_out) >= FEWEST_HELD_OUT)


def _count_held_out(tasks: int, share: float) -> int:
    return min(max(1, round(tasks * share)), tasks - 1)
