"""The result of one evaluated run: what files, reports and comparisons of evaluations are made of."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from evaluation.results.findings import EvaluationStatus
from evaluation.results.redaction import Redactor
from evaluation.validation.problems import InputModel
from evaluation.values import Count, JsonObject, as_object

ResultBasis = Literal["checked", "judged", "approved", "unverified"]


class CaseResult(InputModel):
    """The result of one run of a case, as plain JSON. Nothing in it is sensitive: it is redacted."""

    name: str
    """Name of the case."""
    arm: str = ""
    """The model or the policy under comparison; empty if nothing is compared."""
    trial: Count = 0
    """Number of this run of the case, from 0."""
    status: EvaluationStatus
    basis: ResultBasis
    """What a passing status rests on."""
    accepted: bool
    """Whether the run passes the gate."""
    reasons: tuple[str, ...] = ()
    """What to look at, the most severe first."""
    task: str = ""
    agent_run: dict[str, object] = Field(default_factory=dict)
    """The recorded run: output, tool calls, and measured quantities such as ``latency_ms``."""
    expected: dict[str, object] = Field(default_factory=dict)
    """The fields of the contract that the case was evaluated against."""
    report: dict[str, object] = Field(default_factory=dict)
    """The fields of the ``EvaluationReport``; empty if only the verdict is kept."""
    score: float | None = None
    """A score that the source recorded, such as a reward."""
    correct: bool | None = None
    """Whether the output is the known right answer of the case; None if the case states none."""

    @property
    def key(self) -> tuple[str, str, int]:
        """The name, the arm and the trial, which no other result of an evaluation has."""
        return self.name, self.arm, self.trial

    def without_run(self) -> CaseResult:
        """Return the verdict alone, which is all that a summary of many runs has to keep in memory."""
        return self.model_copy(update={"agent_run": {}, "expected": {}, "report": {}})


_OF_CASE: Final = frozenset({"agent_run", "case_id", "input"})


def describe_run(case: JsonObject) -> dict[str, Any]:
    """Return ``task``, ``agent_run`` and ``expected`` of a result: the parts of a case, redacted.

    Args:
        case: The fields of an ``EvaluationCase``.
    """
    run = as_object(case.get("agent_run"))
    expected = {name: value for name, value in case.items() if name not in _OF_CASE}
    task = run.get("input") or run.get("user_input") or case.get("input") or ""
    return Redactor.of([run, expected, task]).clean(
        {"task": str(task), "agent_run": run, "expected": expected}
    )
