"""The input models: the contract of a run, and a case, which is a run with its contract."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluation.checks.check_model import Text
from evaluation.checks.registry import ContractChecks
from evaluation.inputs.content_rules import AuditRules, ContentRule, DriftRules, LengthBounds, Threshold
from evaluation.inputs.rubric import JudgePolicy, Rubric
from evaluation.inputs.run import AgentRun, RunMetadata
from evaluation.inputs.trajectory_rules import MATCH_MODES, NamedAction, TrajectoryRules
from evaluation.validation.input_model import InputModel

# Shared instances, because pydantic would deep-copy a default for each contract.
_TRAJECTORY, _JUDGE, _AUDIT, _DRIFT = TrajectoryRules(), JudgePolicy(), AuditRules(), DriftRules()


class EvaluationContract(InputModel):
    """The requirements on a run; absent requirements are not checked, and the report says so."""

    checks: ContractChecks = Field(default_factory=list)
    """Requirements that code decides, on the final output and on the tools that were called."""
    reference_output: str | None = None
    keywords: list[Text] = Field(default_factory=list)
    required_content: list[ContentRule] = Field(default_factory=list)
    forbidden_content: list[ContentRule] = Field(default_factory=list)
    output_length: LengthBounds | None = None
    expected_trajectory: list[NamedAction] | None = None
    # Not a literal: a mode that is not supported is a finding, and the other checks of the run still count.
    trajectory_match_mode: Annotated[str, Field(json_schema_extra={"enum": [*MATCH_MODES]})] = "in_order"
    must_call: list[Annotated[str, Field(pattern=r"\S")]] = Field(default_factory=list)
    """Tools of which each has to be called at least once without an error."""
    trajectory: TrajectoryRules = Field(default_factory=lambda: _TRAJECTORY)
    thresholds: dict[str, Threshold | float | bool] = Field(default_factory=dict)
    rubric: Rubric | None = None
    subjective_criteria: list[str] = Field(default_factory=list)
    """Criteria such as helpfulness, neutrality or clarity; a judge scores each."""
    judge: JudgePolicy = Field(default_factory=lambda: _JUDGE)
    audit: AuditRules = Field(default_factory=lambda: _AUDIT)
    drift: DriftRules = Field(default_factory=lambda: _DRIFT)
    complete: bool = False
    """Whether these requirements are all that matters, so that checks of the form alone prove a success of
    the orchestrator. It changes no evaluation."""
    owner: str | None = None
    """Owner of the alerts whose rule or threshold names no owner."""


def merge_contracts(shared: EvaluationContract, own: EvaluationContract) -> EvaluationContract:
    """Return a contract with the fields that either states; those of ``own`` are the closer ones."""
    return shared.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})


class EvaluationCase(EvaluationContract):
    """One recorded run with its contract: the input of ``evaluate``."""

    case_id: str | None = None
    input: str = ""
    """Name or description of the evaluation."""
    agent_run: AgentRun
    run_metadata: RunMetadata | None = None
    baseline_metrics: dict[str, object] | None = None
    fake_judge_response: dict[str, object] | str | None = None
    """An answer for tests, in the form that a judge returns. It is used if no judge is given, and the report
    says so."""
