"""Builds the stored records from replies. A reply that cannot be read never becomes an approval.

It becomes a commitment that is not readable, a commitment that was not met, a reconciliation that escalates,
or a verdict that asks a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agents.contracts import Unreadable
from agents.parsing.surrogates import replace_surrogates
from orchestrator.state.records import (
    CommitKind,
    Commitment,
    Reconciliation,
    SelfAssessment,
    SupervisorVerdict,
)
from orchestrator.supervision.reconcile import TRIGGER_TEXT_LIMIT, limit_triggers
from orchestrator.supervision.reply_fields import format_value, shorten_text
from orchestrator.supervision.reply_models import (
    AssessmentReply,
    CommitmentReply,
    ReconciliationReply,
    VerdictReply,
)

UNREADABLE_REPLY: Final = "the supervisor's reply cannot be read"
"""Start of the reason of a verdict whose reply cannot be read."""

RAW_LIMIT: Final = 300
"""Maximum number of characters that are kept of an unreadable reply."""

OUTPUT_LIMIT: Final = 500
"""Maximum number of characters of the output in a self-assessment."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """The step that a commitment is made for. ``time`` is UTC, ISO 8601."""

    step_index: int
    instruction: str
    time: str
    kind: CommitKind = "first"


@dataclass(frozen=True, slots=True)
class Execution:
    """The execution that a self-assessment is about. ``time`` is UTC, ISO 8601."""

    step_index: int
    output: str
    time: str
    tools_used: Sequence[str] = ()


def build_commitment(reply: CommitmentReply | Unreadable, occasion: Occasion) -> Commitment:
    """Builds a commitment. If the reply cannot be read, ``interpretation`` is an excerpt of it."""
    readable = isinstance(reply, CommitmentReply)
    fields = _quote_commitment(reply.raw) if isinstance(reply, Unreadable) else reply
    return Commitment(
        step_index=occasion.step_index,
        kind=occasion.kind,
        instruction=occasion.instruction,
        interpretation=fields.interpretation,
        scope_in=fields.scope_in,
        scope_out=fields.scope_out,
        approach=fields.approach,
        predicted_output=fields.predicted_output,
        confidence=fields.confidence,
        assumptions=fields.assumptions,
        readable=readable,
        time=occasion.time,
    )


def build_assessment(reply: AssessmentReply | Unreadable, execution: Execution) -> SelfAssessment:
    """Builds a self-assessment. One that cannot be read counts as not met, with a concern that says so."""
    readable = isinstance(reply, AssessmentReply)
    fields = _doubt_assessment(reply) if isinstance(reply, Unreadable) else reply
    return SelfAssessment(
        step_index=execution.step_index,
        actual_output=shorten_text(execution.output, OUTPUT_LIMIT),
        met_commitment=fields.met,
        deviations=fields.deviations,
        concerns=fields.concerns,
        unexpected=fields.unexpected,
        # From the record, never from the reply: a model may claim tools that it did not call.
        tools_used=list(execution.tools_used),
        readable=readable,
        time=execution.time,
    )


def build_reconciliation(reply: ReconciliationReply | Unreadable) -> Reconciliation:
    """Builds a reconciliation. It escalates unless the reply is readable, says no, and has no trigger."""
    if isinstance(reply, Unreadable):
        return Reconciliation(triggers=[f"reconciliation_unreadable:{reply.reason}"], escalate=True)
    triggers = [shorten_text(trigger, TRIGGER_TEXT_LIMIT) for trigger in reply.triggers]
    return Reconciliation(triggers=limit_triggers(triggers), escalate=reply.escalate or bool(triggers))


def build_verdict(reply: VerdictReply | Unreadable) -> SupervisorVerdict:
    """Builds a verdict. If the reply cannot be read, it asks a person, with a reason that says so."""
    if isinstance(reply, Unreadable):
        return _ask_about_reply(reply)
    detail = reply.detail()
    return SupervisorVerdict(
        verdict=reply.verdict,
        correction=detail if reply.verdict == "reorient" else "",
        question=detail if reply.verdict == "ask_human" else "",
        reason=reply.reason if reply.verdict in ("reorient", "ask_human") else detail,
    )


def _quote_commitment(raw: str) -> CommitmentReply:
    # model_construct skips the checks: an excerpt may be empty, which the checks refuse.
    return CommitmentReply.model_construct(
        interpretation=format_value(shorten_text(replace_surrogates(raw), RAW_LIMIT)),
        scope_in=[],
        scope_out=[],
        approach="",
        predicted_output="",
        confidence="low",
        assumptions=[],
    )


def _doubt_assessment(reply: Unreadable) -> AssessmentReply:
    raw = shorten_text(replace_surrogates(reply.raw), RAW_LIMIT)
    concern = f"the self-assessment cannot be read ({reply.reason}): {raw}"
    return AssessmentReply.model_construct(met=False, deviations=[], concerns=[concern], unexpected=[])


def _ask_about_reply(reply: Unreadable) -> SupervisorVerdict:
    raw = shorten_text(" ".join(replace_surrogates(reply.raw).split()), RAW_LIMIT)
    reason = f"{UNREADABLE_REPLY}: {reply.reason}"
    question = f"How should this step continue? Please decide, because {reason}. The reply: {raw}".rstrip()
    return SupervisorVerdict(verdict="ask_human", correction="", question=question, reason=reason)
