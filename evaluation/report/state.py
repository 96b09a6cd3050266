"""The state of the evaluation graph, and what its findings decide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from typing_extensions import TypedDict

from evaluation.checks.check_model import NotRun
from evaluation.contract.contract import AUDIT_METRICS
from evaluation.contract.requirements import Contract
from evaluation.contract.run import CallOutcome
from evaluation.findings import EvaluationStatus, Finding, Group
from evaluation.report.report_model import Alert
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
    findings: list[Finding]
    """All findings so far, in the order of the nodes; a graph stores them as plain JSON."""
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
    """The contract as JSON."""
    may_be_sensitive: bool
    """Whether the case may contain a credential or personal data; False: certainly not."""
    response_metrics: JsonObject
    operational_metrics: JsonObject
    trajectory_metrics: JsonObject
    judge_decision: JsonObject
    """Whether a judge was needed, why, and what it cost."""
    judge_result: JsonObject | None
    audit_findings: list[JsonObject]
    drift_signals: JsonObject
    alerts: list[Alert]
    evaluation_status: EvaluationStatus
    errors: list[str]
    evaluation_report: JsonObject | None


class PreparedState(EvaluationState, total=False):
    """The state between the nodes, with what is not stored."""

    demands: Contract
    """The contract, validated once."""


def read_demands(state: EvaluationState) -> Contract:
    """Return the contract of a state; one that comes from a store is read from its JSON."""
    demands = cast("PreparedState", state).get("demands")
    return Contract.read(state["contract"]) if demands is None else demands


def metric_groups(state: EvaluationState) -> dict[str, JsonObject]:
    """Return the metric groups by name, in the order of the report."""
    return {
        "response": state["response_metrics"],
        "operational": state["operational_metrics"],
        "trajectory": state["trajectory_metrics"],
    }


def select_findings(state: EvaluationState, *groups: Group) -> list[Finding]:
    """List the findings of groups, in the order of the nodes."""
    return [finding for finding in state["findings"] if finding.group in groups]


NOTHING_ASKED: Final = "the contract contains no check"
NOTHING_DECIDES: Final = (
    "no check of the contract has an answer, or each only informs, as severity info and a single earlier run "
    "do; give a check the severity warning or critical, or give a tolerance in 'drift'"
)


def has_any_demand(state: EvaluationState) -> bool:
    """Return whether the contract contains any demand. A run with nothing to check cannot pass."""
    return bool(state["baseline_metrics"] or read_demands(state).requirements)


def is_decided(state: EvaluationState, findings: Iterable[Finding]) -> bool:
    """Return whether a question that more than informs is answered, or such an audit rule is given."""
    answered = [finding.severity for finding in findings if finding.passed is not None]
    return not {*_rule_severities(state), *answered} <= {"info"}


def only_informs(state: EvaluationState, findings: Iterable[Finding]) -> bool:
    """Return whether there are questions or audit rules, and all of them only inform."""
    return {*_rule_severities(state), *(finding.severity for finding in findings)} == {"info"}


def _rule_severities(state: EvaluationState) -> list[object]:
    thresholds, audit = state["thresholds"], read_demands(state).rules.audit
    bounds = [thresholds[name] for name in AUDIT_METRICS if name in thresholds]
    # The search that nobody asked for can refuse a run, and answers no question of the caller.
    searched = ["critical"] if audit.demands_defects else []
    severities = [rule.severity for rule in audit.rules]
    return [*searched, *severities, *(bound.get("severity", "critical") for bound in bounds)]


def breaks_audit(state: EvaluationState) -> bool:
    """Return whether an audit finding fails the run regardless of all else."""
    return any(finding.severity == "critical" for finding in select_findings(state, "audit"))


def has_ended_early(state: EvaluationState) -> bool:
    """Return whether the run has no whole output, so that there is nothing more to ask about it."""
    return any(finding.ends_early for finding in select_findings(state, "record"))
