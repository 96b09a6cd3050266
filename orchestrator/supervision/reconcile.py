"""RECONCILE: what of a step is not as it was committed to. No model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.state.records import Commitment, Reconciliation, SelfAssessment

TRIGGER_TEXT_LIMIT: Final = 300
"""Characters of a trigger's text that are kept."""

TRIGGER_LIMIT: Final = 50
"""Triggers that are kept; one more counts the rest."""


def reconcile(
    commitment: Commitment,
    assessment: SelfAssessment,
    findings: Sequence[str] = (),
    max_assumptions: int | None = None,
) -> Reconciliation:
    """Compare what was committed to with what was done.

    Args:
        commitment: What the executor said before.
        assessment: What it said after.
        findings: What the evaluation found, in words.
        max_assumptions: How many assumptions a commitment may make; None for any number.

    Returns:
        The triggers, what is certain before what the executor says of itself: ``commitment_unreadable``,
        ``commitment_not_met``, ``excess_assumptions:<number>``, ``evaluation:<finding>``, then
        ``deviation:<text>``, ``concern:<text>``, ``unexpected:<text>``. Texts have at most
        ``TRIGGER_TEXT_LIMIT`` characters; past ``TRIGGER_LIMIT`` triggers, one ``more:<number>`` follows.
        Any trigger escalates.
    """
    triggers = [
        *_flags(commitment, assessment, max_assumptions),
        *_worded("evaluation", findings),
        *_worded("deviation", assessment["deviations"]),
        *_worded("concern", assessment["concerns"]),
        *_worded("unexpected", assessment["unexpected"]),
    ]
    return Reconciliation(triggers=bounded(triggers), escalate=bool(triggers))


def evaluated_only(findings: Sequence[str]) -> Reconciliation:
    """The reconciliation of an execution about which the executor says nothing."""
    triggers = _worded("evaluation", findings)
    return Reconciliation(triggers=bounded(triggers), escalate=bool(triggers))


def bounded(triggers: Sequence[str]) -> list[str]:
    """At most ``TRIGGER_LIMIT`` triggers, and one that counts the rest."""
    rest = len(triggers) - TRIGGER_LIMIT
    return list(triggers) if rest <= 0 else [*triggers[:TRIGGER_LIMIT], f"more:{rest}"]


def _flags(commitment: Commitment, assessment: SelfAssessment, max_assumptions: int | None) -> list[str]:
    assumed = len(commitment["assumptions"])
    raised = {
        "commitment_unreadable": not commitment["readable"],
        "commitment_not_met": not assessment["met_commitment"] or not assessment["readable"],
        f"excess_assumptions:{assumed}": max_assumptions is not None and assumed > max_assumptions,
    }
    return [trigger for trigger, is_raised in raised.items() if is_raised]


def _worded(kind: str, texts: Sequence[str]) -> list[str]:
    return [f"{kind}:{text[:TRIGGER_TEXT_LIMIT]}" for text in texts]
