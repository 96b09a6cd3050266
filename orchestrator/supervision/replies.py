"""From what a model, or foreign code, answers to the records of the first phases. Nothing here raises.

What cannot be read fails closed: a commitment that is not readable, a commitment that was not met,
a reconciliation that escalates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from agents.contracts import Unreadable
from agents.parsing.loose_json import read_boolean
from agents.parsing.surrogates import replace_surrogates
from orchestrator.state.records import (
    CommitKind,
    Commitment,
    Confidence,
    Reconciliation,
    SelfAssessment,
)
from orchestrator.supervision.reconcile import TRIGGER_TEXT_LIMIT, bounded
from orchestrator.supervision.statements import (
    ENTRY_LIMIT,
    Statement,
    entries_at,
    excerpt,
    read_all,
    read_foreign,
    text_at,
)

RAW_LIMIT: Final = 300
"""Characters of an unreadable reply that are kept."""

OUTPUT_LIMIT: Final = 500
"""Characters of an output that are kept in its assessment."""

T = TypeVar("T")

_COMMITMENT_SIGN: Final = re.compile(
    r"""(?:interpretation|approach|predicted_output|confidence|assumptions)["']?+\s*+: | \\u""",
    re.IGNORECASE | re.VERBOSE,
)
_ASSESSMENT_SIGN: Final = re.compile(
    r"""(?:met|met_commitment|deviations|concerns|unexpected)["']?+\s*+: | \\u""", re.IGNORECASE | re.VERBOSE
)
_CONFIDENCES: Final[dict[str, Confidence]] = {"high": "high", "medium": "medium", "low": "low"}


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a commitment is made for: the caller's facts, not the model's word. ``time`` is UTC, ISO 8601."""

    step_index: int
    instruction: str
    time: str
    kind: CommitKind = "first"


@dataclass(frozen=True, slots=True)
class Execution:
    """What an assessment is about: the caller's facts, not the model's word. ``time`` is UTC, ISO 8601."""

    step_index: int
    output: str
    time: str
    tools_used: Sequence[str] = ()


def read_commitment(text: str, occasion: Occasion) -> Commitment:
    """Read a commitment from a model's reply.

    Args:
        text: The reply.
        occasion: What it commits to.

    Returns:
        The commitment. It has to state an interpretation; a confidence other than high, medium or low
        counts as low. Where none can be read, more than ``ENTRY_LIMIT`` assumptions included,
        ``readable`` is False and ``interpretation`` an excerpt of the reply.
    """
    found = _agreed(text, read_all(text, _COMMITMENT_SIGN, partial(_commitment, occasion), _never, ()))
    return _no_commitment(occasion, found) if isinstance(found, Unreadable) else found


def commitment_from(value: object, occasion: Occasion) -> Commitment:
    """Like ``read_commitment``, from the mapping that an executor's own method returned."""
    found = read_foreign(value, partial(_commitment, occasion))
    return _no_commitment(occasion, found) if isinstance(found, Unreadable) else found


def read_assessment(text: str, execution: Execution) -> SelfAssessment:
    """Read a self-assessment from a model's reply.

    Args:
        text: The reply. Under ``met`` (or ``met_commitment``) it has a boolean, or "true" or "false".
        execution: What it assesses.

    Returns:
        The assessment; one that cannot be read counts as not met, with a concern that says so.
    """
    read = partial(_assessment, execution)
    found = _agreed(text, read_all(text, _ASSESSMENT_SIGN, read, _approves, [execution.output]))
    return _no_assessment(execution, found) if isinstance(found, Unreadable) else found


def assessment_from(value: object, execution: Execution) -> SelfAssessment:
    """Like ``read_assessment``, from the mapping that an executor's own method returned."""
    found = read_foreign(value, partial(_assessment, execution))
    return _no_assessment(execution, found) if isinstance(found, Unreadable) else found


def reconciliation_from(value: object) -> Reconciliation:
    """What a supervisor's own ``reconcile`` returned; it escalates unless it is clean and says so."""
    found = read_foreign(value, _reconciliation)
    if isinstance(found, Unreadable):
        return Reconciliation(triggers=[f"reconciliation_unreadable:{found.reason}"], escalate=True)
    return found


def _agreed(text: str, answers: list[T] | Unreadable) -> T | Unreadable:
    if isinstance(answers, Unreadable):
        return answers
    if any(answer != answers[0] for answer in answers):
        return Unreadable(text, "it holds two answers that differ")
    return answers[0]


def _approves(assessment: SelfAssessment) -> bool:
    return assessment["met_commitment"]


def _never(_: Commitment) -> bool:
    """A commitment approves of nothing."""
    return False


def _commitment(occasion: Occasion, said: Statement) -> Commitment | Unreadable:
    interpreted = isinstance(said.get("interpretation"), str) and text_at(said, "interpretation")
    assumptions = entries_at(said, "assumptions")
    if not interpreted:
        return Unreadable("", "it states no interpretation")
    if assumptions is None or len(assumptions) > ENTRY_LIMIT:
        return Unreadable("", "its assumptions cannot be read")
    return _committed(occasion, said, assumptions, readable=True)


def _no_commitment(occasion: Occasion, found: Unreadable) -> Commitment:
    raw = excerpt(replace_surrogates(found.raw), RAW_LIMIT)
    return _committed(occasion, {"interpretation": raw}, [], readable=False)


def _committed(occasion: Occasion, said: Statement, assumptions: list[str], *, readable: bool) -> Commitment:
    return Commitment(
        step_index=occasion.step_index,
        kind=occasion.kind,
        instruction=occasion.instruction,
        interpretation=text_at(said, "interpretation"),
        scope_in=entries_at(said, "scope_in") or [],
        scope_out=entries_at(said, "scope_out") or [],
        approach=text_at(said, "approach"),
        predicted_output=text_at(said, "predicted_output"),
        confidence=_CONFIDENCES.get(text_at(said, "confidence").lower(), "low"),
        assumptions=assumptions,
        readable=readable,
        time=occasion.time,
    )


def _assessment(execution: Execution, said: Statement) -> SelfAssessment | Unreadable:
    words = [read_boolean(said[name]) for name in ("met", "met_commitment") if name in said]
    met = words[0] if words and len(set(words)) == 1 else None
    if met is None:
        return Unreadable("", "no single boolean says whether the commitment was met")
    named = {name: entries_at(said, name) for name in ("deviations", "concerns", "unexpected")}
    lists = {name: texts for name, texts in named.items() if texts is not None}
    if len(lists) < len(named):
        return Unreadable("", "one of its lists has no value")
    return _assessed(execution, lists, met=met, readable=True)


def _no_assessment(execution: Execution, found: Unreadable) -> SelfAssessment:
    raw = excerpt(replace_surrogates(found.raw), RAW_LIMIT)
    concern = f"the self-assessment cannot be read ({found.reason}): {raw}"
    return _assessed(execution, {"concerns": [concern]}, met=False, readable=False)


def _assessed(
    execution: Execution, lists: Mapping[str, list[str]], *, met: bool, readable: bool
) -> SelfAssessment:
    return SelfAssessment(
        step_index=execution.step_index,
        actual_output=excerpt(execution.output, OUTPUT_LIMIT),
        met_commitment=met,
        deviations=lists.get("deviations", []),
        concerns=lists.get("concerns", []),
        unexpected=lists.get("unexpected", []),
        tools_used=list(execution.tools_used),
        readable=readable,
        time=execution.time,
    )


def _reconciliation(said: Statement) -> Reconciliation | Unreadable:
    triggers = entries_at(said, "triggers")
    escalate = read_boolean(said.get("escalate"))
    if triggers is None or escalate is None:
        return Unreadable("", "it has no triggers or no boolean that says whether to escalate")
    shown = [excerpt(trigger, TRIGGER_TEXT_LIMIT) for trigger in triggers]
    return Reconciliation(triggers=bounded(shown), escalate=escalate or bool(triggers))
