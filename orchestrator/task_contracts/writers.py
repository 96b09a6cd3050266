"""Writers of contracts: what derives checks from a text. Here without a model."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Protocol

from evaluation import task_checks
from evaluation.checks import Check
from orchestrator.judging.tools.names import ToolNames


class ContractWriter(Protocol):
    """Derives checks from the text of a task or of a step."""

    def write_checks(self, text: str, /) -> task_checks.DerivedChecks | Awaitable[task_checks.DerivedChecks]:
        """Returns the checks that the text states; each quotes the words that it rests on."""
        ...


class RuleWriter:
    """Derives checks by the rules of ``evaluation.task_checks``, without a model."""

    # No coroutine: a run calls it in a thread, because a long text takes a second.
    def write_checks(self, text: str) -> task_checks.DerivedChecks:
        """Returns the checks that the text states."""
        # The first call imports the rules, which takes half a second.
        return task_checks.derive_checks(text)


def drop_unquoted(derived: task_checks.DerivedChecks, text: str) -> task_checks.DerivedChecks:
    """Returns the checks without those whose quote is not literally in the text, each with a warning.

    A check that rests on no words of the task may be an invention of the writer.
    """
    kept = tuple(check for check in derived.checks if _is_quoted(check, text))
    dropped = [check for check in derived.checks if check not in kept]
    warnings = [f"a check {check.check!r} was dropped: it quotes no words of the text" for check in dropped]
    return replace(derived, checks=kept, warnings=(*derived.warnings, *warnings))


def drop_unknown_tools(derived: task_checks.DerivedChecks, tools: ToolNames) -> task_checks.DerivedChecks:
    """Returns the checks without those of calls that the executor cannot make; their words are unchecked."""
    problems = [(check, tools.find_problem({"checks": [check.model_dump()]})) for check in derived.checks]
    dropped = [(check, problem) for check, problem in problems if problem is not None]
    return replace(
        derived,
        checks=tuple(check for check, problem in problems if problem is None),
        unchecked=(*derived.unchecked, *(check.quote for check, _ in dropped if check.quote)),
        warnings=(*derived.warnings, *(f"a check was dropped: {problem}" for _, problem in dropped)),
    )


def _is_quoted(check: Check, text: str) -> bool:
    return check.quote is not None and bool(check.quote.strip()) and check.quote in text
