"""The records of supervision in the state: statements of the executor, verdicts, and answers of people."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from agents.reply_types import HumanAnswer as HumanAnswer  # noqa: PLC0414 - a public name of this package

SupervisionMode = Literal["none", "llm", "human"]
"""Who decides on a step: only the evaluation, a model if the step is not clean, or a person on each step."""

CommitKind = Literal["first", "retry", "reorient"]
"""The execution that a commitment is for: the first, one after a refusal, or one after a correction."""

Confidence = Literal["high", "medium", "low"]

VerdictWord = Literal["continue", "reorient", "ask_human", "halt"]


class Commitment(TypedDict):
    """The executor's statement before an execution: what it is going to do. ``step_index`` counts from 0.

    ``readable`` is False if the reply could not be parsed. Then ``interpretation`` holds the reply, and the
    other texts are empty. ``time`` is ISO 8601 in UTC.
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
    """The executor's statement after an execution: what it did. ``step_index`` counts from 0.

    ``actual_output`` is an excerpt of the output, and ``tools_used`` names the tools that were called; both
    come from the record of the execution, never from the model. If the reply could not be parsed
    (``readable`` is False), the commitment counts as not met.
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
    """The differences between commitment and execution. A step without triggers is clean."""

    triggers: list[str]
    escalate: bool


class SupervisorVerdict(TypedDict):
    """The decision of the supervisor.

    ``correction`` belongs to "reorient", ``question`` to "ask_human", and ``reason`` to any verdict.
    """

    verdict: VerdictWord
    correction: str
    question: str
    reason: str


class SupervisionRecord(TypedDict):
    """The supervision of one execution, as a part of its record."""

    mode: SupervisionMode
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    verdict: SupervisorVerdict | None
    answer: HumanAnswer | None
