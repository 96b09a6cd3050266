"""What a run has to fulfil, and one case: a run with its contract."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, JsonValue

from evaluation.rules import (
    AuditRules,
    ContentRule,
    DriftRules,
    ExpectedAction,
    JudgePolicy,
    LengthBounds,
    Rubric,
    Threshold,
    TrajectoryRules,
    named,
)
from evaluation.runs import AgentRun, RunMetadata
from evaluation.values import Given


class EvaluationContract(Given):
    """What a run has to fulfil; what is absent is not judged, and the report says so."""

    reference_output: str | None = None
    keywords: list[str] = []
    required_content: list[ContentRule] = []
    forbidden_content: list[ContentRule] = []
    output_length: LengthBounds | None = None
    expected_trajectory: list[Annotated[ExpectedAction, BeforeValidator(named)]] | None = None
    trajectory_match_mode: str = "in_order"
    trajectory: TrajectoryRules = TrajectoryRules()
    thresholds: dict[str, Threshold | float | bool] = {}
    rubric: Rubric | None = None
    subjective_criteria: list[str] = []
    """Such as helpfulness, neutrality, clarity: a judge is asked about each."""
    judge: JudgePolicy = JudgePolicy()
    audit: AuditRules = AuditRules()
    drift: DriftRules = DriftRules()
    owner: str | None = None
    """Whom alerts name where nothing closer does."""


class EvaluationCase(EvaluationContract):
    """One recorded run with its contract: what ``evaluate`` takes."""

    case_id: str | None = None
    input: str = ""
    """Name or description of the evaluation."""
    agent_run: AgentRun
    run_metadata: RunMetadata | None = None
    baseline_metrics: dict[str, JsonValue] | None = None
