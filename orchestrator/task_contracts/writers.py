"""Writers of contracts: what derives checks from a text. Here without a model."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from evaluation import task_checks
from evaluation.checks import Check
from evaluation.checks.vocabulary import CHECKS
from orchestrator.errors import ConfigurationError
from orchestrator.judging.tools.executor_tools import ExecutorTools


class ContractWriter(Protocol):
    """Derives checks from the text of a task or of a step."""

    def write_checks(self, text: str, /) -> task_checks.DerivedChecks | Awaitable[task_checks.DerivedChecks]:
        """Returns the checks that the text states; each quotes the words that it rests on."""
        ...


@dataclass(frozen=True, slots=True)
class RuleWriter:
    """Derives checks by the rules of ``evaluation.task_checks``, without a model.

    Attributes:
        without: The names of the checks to leave out, such as "word_count"; their words are unchecked.

    Raises:
        ConfigurationError: A name is no check.
    """

    without: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.without:
            if name not in CHECKS:
                raise ConfigurationError(
                    f"--without-check {name!r} names no check; `orchestrator checks TASK` prints their names"
                )

    # No coroutine: a run calls it in a thread, because a long text takes a second.
    def write_checks(self, text: str) -> task_checks.DerivedChecks:
        """Returns the checks that the text states."""
        # The first call imports the rules, which takes half a second.
        derived = task_checks.derive_checks(text)
        dropped = [check for check in derived.checks if check.check in self.without]
        return replace(
            derived,
            checks=tuple(check for check in derived.checks if check not in dropped),
            unchecked=(*derived.unchecked, *(check.quote for check in dropped if check.quote)),
        )


def select_usable(
    derived: task_checks.DerivedChecks, text: str, tools: ExecutorTools
) -> task_checks.DerivedChecks:
    """Returns the checks without those that rest on no words of the text, or ask for calls of unknown tools.

    Each of them has a warning, and its words are unchecked.
    """
    problems = [(check, _find_problem(check, text, tools)) for check in derived.checks]
    dropped = [(check, problem) for check, problem in problems if problem is not None]
    quotes = (check.quote for check, _ in dropped if check.quote and check.quote in text)
    return replace(
        derived,
        checks=tuple(check for check, problem in problems if problem is None),
        unchecked=(*derived.unchecked, *quotes),
        warnings=(*derived.warnings, *(f"a check was dropped: {problem}" for _, problem in dropped)),
    )


def _find_problem(check: Check, text: str, tools: ExecutorTools) -> str | None:
    # A check that quotes nothing may be an invention of the writer.
    if not (check.quote and check.quote.strip() and check.quote in text):
        return f"{check.check!r} quotes no words of the text"
    return tools.find_problem({"checks": [check.model_dump()]})
