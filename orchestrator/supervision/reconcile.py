"""RECONCILE without a model call, the protocol of a supervisor, and the methods of an executor.

Any object with the methods works. If it also has an async method with the prefix ``a`` (``asupervise``), that
method is called. A return value is read like a model's reply: one that cannot be read never lets a step
continue.

An executor may have ``commit_step(step, context="")``, which returns ``{"interpretation": str}``, optionally
with further keys of ``Commitment``, and ``assess_step(step, commitment, output)``, which returns
``{"met_commitment": bool}``, optionally with further keys of ``SelfAssessment``. Both may take
``task=""``: the task and the outline of the plan, empty if the step is the whole task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, Protocol, runtime_checkable

from typing_extensions import TypedDict

from evaluation.sensitive.scanner import shorten
from orchestrator.state.supervision_records import Commitment, Reconciliation, SelfAssessment

TRIGGER_TEXT_LIMIT: Final = 300
"""Maximum number of characters of a trigger's text."""

TRIGGER_LIMIT: Final = 50
"""Maximum number of triggers. One more trigger counts the rest."""


class SuperviseRequest(TypedDict):
    """Everything that a supervisor sees of a step that is not clean.

    ``output`` is complete; ``findings`` are the findings of the evaluation, in words. ``task`` holds the task
    and the outline of the plan; it is empty if the step is the whole task.
    """

    objective: str
    task: NotRequired[str]
    output: str
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    findings: list[str]


@runtime_checkable
class Supervisor(Protocol):
    """Compares an execution with its commitment, and decides how to continue."""

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str], /
    ) -> Mapping[str, object]:
        """Returns ``{"triggers": [str, ...], "escalate": bool}``, without calling a model."""
        ...

    def supervise(self, request: SuperviseRequest, /) -> Mapping[str, object]:
        """Returns ``{"verdict": "continue" | "reorient" | "ask_human" | "halt", ...}``.

        "reorient" also needs a ``correction``, "ask_human" a ``question``; "halt" should have a ``reason``.
        """
        ...


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
    """Lists the triggers that a supervisor cannot dismiss: unreadable statements, and findings."""
    return [
        *(["commitment_unreadable"] if commitment and not commitment["readable"] else []),
        *(["commitment_not_met"] if assessment and not assessment["readable"] else []),
        *_label_texts("evaluation", findings),
    ]


def _label_texts(kind: str, texts: Sequence[str]) -> list[str]:
    return [f"{kind}:{shorten(text, TRIGGER_TEXT_LIMIT)}" for text in texts]


def describe_trigger(trigger: str) -> str:
    """Describes a trigger in words: "deviation:a title" is "deviation: a title"; a finding says it all."""
    name, colon, text = trigger.partition(":")
    return text if name == "evaluation" else f"{name.replace('_', ' ')}{colon} {text.strip()}".rstrip()
