"""Reads the contract of a task: ``run --contract``."""

from __future__ import annotations

from evaluation import ContractError, TaskCase, read_case_set
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError


def read_contract(path: str, task: str, *, derives: bool) -> TaskCase:
    """Reads the case of a task from a file that ``checks --save`` wrote.

    Args:
        path: The file.
        task: The task.
        derives: Whether the run has checks; ``--no-checks`` contradicts a contract.

    Raises:
        ConfigurationError: The file cannot be used, it has no case for this task, or several.
    """
    if not derives:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    try:
        cases = read_case_set(path).cases
    except (ContractError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise ConfigurationError(
            f"--contract {path!r} cannot be used ({reason}); give a file that `checks --save` wrote"
        ) from None
    matches = [case for case in cases if case.task.split() == task.split()]
    if len(matches) != 1:
        tasks = "; ".join(f"{one_line(case.task, 80)!r}" for case in cases[:3])
        raise ConfigurationError(
            f"--contract {path!r} has {len(matches) or 'no'} cases for this task; "
            f"give a file with one (its tasks: {tasks})"
        )
    return matches[0]
