"""Requirement: one check of a contract with its name in reports, whatever short form the user wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from evaluation.checks.check_context import CheckContext
from evaluation.checks.check_model import BaseCheck, CheckOutcome
from evaluation.checks.registry import NamedCheck
from evaluation.values import Severity

Place: TypeAlias = Literal["final_output", "assistant_messages"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One check of a contract.

    Attributes:
        check: What decides: a check of the vocabulary, or the name of the user's own.
        name: Its name in reports: the kind of the check, or the field of the contract that stands for it.
        metric: The metric of its alert.
        severity: Severity of a failure; None for the severity of the user's own check.
        place: The texts that it reads; a check that forbids reads also the joined parts of messages.
        forbids: Whether it has to hold for every text, and not for one of them.
    """

    check: BaseCheck | NamedCheck
    name: str
    metric: str
    severity: Severity | None
    place: Place = "final_output"
    forbids: bool = False


def evaluate_requirement(requirement: Requirement, context: CheckContext) -> CheckOutcome:
    """Evaluate a check of the vocabulary on all texts that it reads; the one that decides is reported."""
    check = requirement.check
    if isinstance(check, NamedCheck):
        raise TypeError("a check of the user's code is called by its caller")
    texts = list(dict.fromkeys(_list_texts(requirement, context)))
    if len(texts) < 2:  # noqa: PLR2004
        only = replace(context, output=texts[0], has_output=True) if texts else context
        return check.evaluate(only)
    parts = (replace(context, output=text, has_output=True) for text in texts)
    return _choose(list(map(check.evaluate, parts)), forbids=requirement.forbids)


def _choose(outcomes: Sequence[CheckOutcome], *, forbids: bool) -> CheckOutcome:
    order = (False, None, True) if forbids else (True, None, False)
    return min(outcomes, key=lambda outcome: order.index(outcome.passed))


def _list_texts(requirement: Requirement, context: CheckContext) -> Iterator[str]:
    if context.has_output:
        yield context.output
    for parts in context.messages:
        is_read = requirement.place == "assistant_messages" or "".join(parts) == context.output
        if requirement.place == "assistant_messages":
            yield from parts
        # A reader may see several parts of a message joined, and a forbidden text across them.
        if requirement.forbids and is_read and len(parts) > 1:
            yield from ("".join(parts), " ".join(parts))
