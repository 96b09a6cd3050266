"""What the phases of a supervised step leave behind: plain JSON values, so that any store can hold them."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

SupervisionMode = Literal["none", "llm", "human"]
"""Who decides on a step that is not clean: nobody is asked, a model, or a person on every step."""

CommitKind = Literal["first", "retry", "reorient"]
"""What the commitment was made for: a first execution, one after a refusal, one after a correction."""

Confidence = Literal["high", "medium", "low"]
VerdictWord = Literal["continue", "reorient", "ask_human", "halt"]
AnswerWord = Literal["approve", "correct", "deny"]


class Commitment(TypedDict):
    """What the executor said, before it began, that it would do.

    ``readable`` is False where its reply could not be read; the texts are then empty, and what could
    not be read stands in ``interpretation``. ``time`` is ISO 8601 in UTC.
    """

    step_index: int
    kind: CommitKind
    instruction: str
    interpretation: str
    scope_in: list[str]
    scope_out: list[str]
    approach: str
    predicted_output: str
    confidence: Confidence
    assumptions: list[str]
    readable: bool
    time: str


class SelfAssessment(TypedDict):
    """What the executor said, once it was done, about what it did.

    ``actual_output`` is an excerpt of the output, and ``tools_used`` the names of the tools that were
    called; both come from the record of the execution, never from the model. An assessment that
    could not be read (``readable`` False) counts as a commitment that was not met.
    """

    step_index: int
    actual_output: str
    met_commitment: bool
    deviations: list[str]
    concerns: list[str]
    unexpected: list[str]
    tools_used: list[str]
    readable: bool
    time: str


class Reconciliation(TypedDict):
    """What is not as it was committed to: without triggers the step is clean and nothing escalates."""

    triggers: list[str]
    escalate: bool


class SupervisorVerdict(TypedDict):
    """What the supervisor decided.

    ``correction`` belongs to "reorient", ``question`` to "ask_human"; ``reason`` may stand with each.
    """

    verdict: VerdictWord
    correction: str
    question: str
    reason: str


class HumanAnswer(TypedDict):
    """What a person answered. ``text`` is the correction of "correct" and the reason of "deny"."""

    answer: AnswerWord
    text: str
    answered_by: str
    answered_at: str


class SupervisionRecord(TypedDict):
    """The supervision of one execution, as it stands in the execution's record."""

    mode: SupervisionMode
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    verdict: SupervisorVerdict | None
    answer: HumanAnswer | None


class SuperviseRequest(TypedDict):
    """All that a supervisor sees of a step that is not clean.

    ``output`` is whole; ``findings`` are those of the evaluation, in words.
    """

    objective: str
    output: str
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    findings: list[str]
