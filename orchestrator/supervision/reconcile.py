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
        ``evaluation:<finding>``, ``excess_assumptions:<number>``, then the executor's own words:
        ``deviation:<text>``, ``concern:<text>``, ``unexpected:<text>``. A text has at most
        ``TRIGGER_TEXT_LIMIT`` characters. After ``TRIGGER_LIMIT`` triggers, ``more:<number>`` follows.
        Any trigger escalates.
    """
    count = len(commitment["assumptions"])
    is_excess = max_assumptions is not None and count > max_assumptions
    # Facts first: a long list of the executor's own words must not push them over the limit.
    triggers = [
        *list_facts(commitment, assessment, findings),
        *([] if assessment["met_commitment"] or not assessment["readable"] else ["commitment_not_met"]),
        *([f"excess_assumptions:{count}"] if is_excess else []),
        *_label_texts("deviation", assessment["deviations"]),
        *_label_texts("concern", assessment["concerns"]),
        *_label_texts("unexpected", assessment["unexpected"]),
    ]
    if (rest := len(triggers) - TRIGGER_LIMIT) > 0:
        triggers = [*triggers[:TRIGGER_LIMIT], f"more:{rest}"]
    return Reconciliation(triggers=triggers, escalate=bool(triggers))


def list_facts(
    commitment: Commitment | None, assessment: SelfAssessment | None, findings: Sequence[str]
) -> list[str]:
    """Lists the triggers that hold whatever a supervisor compares: unreadable statements, and findings."""
    flags = {
        "commitment_unreadable": commitment is not None and not commitment["readable"],
        "commitment_not_met": assessment is not None and not assessment["readable"],
    }
    raised = [trigger for trigger, is_raised in flags.items() if is_raised]
    return [*raised, *_label_texts("evaluation", findings)]


def _label_texts(kind: str, texts: Sequence[str]) -> list[str]:
    return [f"{kind}:{shorten(text, TRIGGER_TEXT_LIMIT)}" for text in texts]


def describe_trigger(trigger: str) -> str:
    """Describes a trigger in words: "deviation:a title" is "deviation: a title"; a finding says it all."""
    name, colon, text = trigger.partition(":")
    return text if name == "evaluation" else f"{name.replace('_', ' ')}{colon} {text.strip()}".rstrip()
