"""RECONCILE: compares commitment, self-assessment and evaluation findings without calling a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.sensitive.quoting import shorten
from orchestrator.state.supervision_records import Commitment, Reconciliation, SelfAssessment

TRIGGER_TEXT_LIMIT: Final = 300
"""Maximum number of characters of a trigger's text."""

TRIGGER_LIMIT: Final = 50
"""Maximum number of triggers. One more trigger counts the rest."""


def reconcile(
    commitment: Commitment,
    assessment: SelfAssessment,
    findings: Sequence[str] = (),
    max_assumptions: int | None = None,
) -> Reconciliation:
    """Compares an execution with its commitment.

    Args:
        commitment: The executor's statement before the execution.
        assessment: The executor's statement after the execution.
        findings: Findings of the evaluation, in words.
        max_assumptions: Maximum number of assumptions in a commitment; None for no bound.

    Returns:
        The triggers, facts first: ``commitment_unreadable``, ``commitment_not_met``,
        ``excess_assumptions:<number>``, ``evaluation:<finding>``, then the executor's own words:
        ``deviation:<text>``, ``concern:<text>``, ``unexpected:<text>``. A text has at most
        ``TRIGGER_TEXT_LIMIT`` characters. After ``TRIGGER_LIMIT`` triggers, ``more:<number>`` follows.
        Any trigger escalates.
    """
    # Facts first: a long list of the executor's own words must not push them over the limit.
    triggers = [
        *_list_flags(commitment, assessment, max_assumptions),
        *_label_texts("evaluation", findings),
        *_label_texts("deviation", assessment["deviations"]),
        *_label_texts("concern", assessment["concerns"]),
        *_label_texts("unexpected", assessment["unexpected"]),
    ]
    if (rest := len(triggers) - TRIGGER_LIMIT) > 0:
        triggers = [*triggers[:TRIGGER_LIMIT], f"more:{rest}"]
    return Reconciliation(triggers=triggers, escalate=bool(triggers))


def _list_flags(commitment: Commitment, assessment: SelfAssessment, max_assumptions: int | None) -> list[str]:
    count = len(commitment["assumptions"])
    flags = {
        "commitment_unreadable": not commitment["readable"],
        "commitment_not_met": not assessment["met_commitment"] or not assessment["readable"],
        f"excess_assumptions:{count}": max_assumptions is not None and count > max_assumptions,
    }
    return [trigger for trigger, is_raised in flags.items() if is_raised]


def _label_texts(kind: str, texts: Sequence[str]) -> list[str]:
    return [f"{kind}:{shorten(text, TRIGGER_TEXT_LIMIT)}" for text in texts]
