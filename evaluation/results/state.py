"""The state of the evaluation graph; all values are plain JSON."""

from typing_extensions import TypedDict

from evaluation.checks.check_model import NotRun
from evaluation.inputs.run import CallOutcome
from evaluation.results.findings import Alert, AuditFinding, CheckRecord, EvaluationStatus, MetricOutcome
from evaluation.values import JsonObject


class Action(TypedDict):
    """One observed action; every key is present."""

    kind: str
    name: str
    args: JsonObject | None
    args_error: str | None
    """Why the recorded text of the arguments is not a JSON object; ``args`` is None then."""
    args_text: str | None
    """The recorded text of such arguments."""
    result: object
    error: str | None
    """The text of an error; None if the call succeeded."""
    not_run: NotRun | None
    """Why the tool did not run; None if it did."""
    outcome: CallOutcome | None
    """What the call did, if the tool is stated to act and the record tells; None for any other call."""
    agent: str | None
    target: str | None
    latency_ms: float | None
    message: int | None
    """The number of the message that made the call."""


class EvaluationState(TypedDict, total=False):
    """Every field that a node reads or writes; all are present after the last node."""

    input: str
    case_id: str | None
    agent_run: JsonObject
    actual_output: str
    record_checks: list[MetricOutcome]
    """What keeps the record of the run from being trusted."""
    reference_output: str | None
    actual_trajectory: list[Action]
    expected_trajectory: list[JsonObject]
    trajectory_match_mode: str
    run_metadata: JsonObject
    thresholds: dict[str, JsonObject]
    """Normalised: min, max, severity, owner by metric."""
    rubric: JsonObject | None
    baseline_metrics: JsonObject | None
    fake_judge_response: JsonObject | str | None
    """Stands for the answer of a judge if no judge is given."""
    contract: JsonObject
    """The rest of the contract: content, trajectory, audit, drift and judge rules."""
    may_be_sensitive: bool
    """Whether the case may contain a credential or personal data; False: certainly not."""
    check_results: list[CheckRecord]
    """The outcomes of the contract's checks, in its order."""
    response_metrics: JsonObject
    operational_metrics: JsonObject
    trajectory_metrics: JsonObject
    judge_decision: JsonObject
    """Whether a judge was needed, why, and what it cost."""
    judge_result: JsonObject | None
    audit_findings: list[AuditFinding]
    drift_signals: JsonObject
    alerts: list[Alert]
    evaluation_status: EvaluationStatus
    errors: list[str]
    evaluation_report: JsonObject | None
