"""The outcomes of checks and thresholds, the audit findings, and the alerts that they raise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NotRequired, TypeAlias, cast, get_args

from typing_extensions import TypedDict

from evaluation.checks.check_model import CheckKind, Covers
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, Severity, format_numbers

FindingKind = Literal[
    "invalid_input",
    "record",
    "execution",
    "policy",
    "response",
    "trajectory",
    "operational",
    "collaboration",
    "judge",
    "judge_error",
    "metric_error",
    "missing_data",
    "inconclusive",
    "undecided",
    "check_error",
    "lost_fact",
    "regression",
    "improvement",
    "drift",
    "anomaly",
    "defect",
    "suspicion",
]
EvaluationStatus = Literal["passed", "warning", "needs_review", "failed", "invalid"]
OutcomeStatus = Literal["scored", "not_applicable", "missing_data", "error"]
OUTCOME_STATUSES: Final[tuple[OutcomeStatus, ...]] = get_args(OutcomeStatus)
_GRAVITY: Final[tuple[OutcomeStatus, ...]] = ("scored", "error", "missing_data")


TRUNCATED: Final = "truncated_reply"
"""The metric of a last reply that reached its limit of tokens."""


class MetricOutcome(TypedDict):
    """The answer to one question of the contract; ``passed`` is None if it could not be answered."""

    kind: FindingKind
    metric: str
    passed: bool | None
    severity: Severity
    observed: object
    limit: object
    reason: str
    owner: str | None


CheckSource: TypeAlias = Literal["contract", "task", "function", "command"]


class CheckRecord(TypedDict):
    """The outcome of one check of the contract; ``passed`` is None if it could not be decided."""

    check: str
    """The kind of the check, such as ``word_count``, or the name of a function or command."""
    passed: bool | None
    seen: str
    """What the run has, as a main clause."""
    wanted: str
    """The requirement, as an instruction."""
    kind: CheckKind
    covers: Covers
    """What the check is about: the form of the answer, its content, or what was done."""
    severity: Severity
    sentence: str
    """What the executor has to change, and what the run has."""
    quote: str | None
    """The words of the task that state the requirement."""
    source: CheckSource
    """``function`` or ``command`` for a check of the user's code, ``task`` if the check quotes the task, else
    ``contract``."""
    evidence: NotRequired[str]
    """The end of what a command printed, redacted."""
    is_error: NotRequired[bool]
    """True if the user's code raised, took too long or cannot be found."""


class AuditFinding(TypedDict):
    """A breach of an audit rule, or an exposed credential or personal data."""

    id: str
    category: str
    kind: FindingKind
    severity: Severity
    metric: str
    reason: str
    where: str
    evidence: dict[str, object]
    owner: str | None
    recommended_action: str | None


def build_finding(  # noqa: PLR0917
    name: str,
    category: str,
    kind: FindingKind,
    severity: Severity,
    reason: str,
    where: str,
    recommended_action: str | None,
    evidence: JsonObject = MappingProxyType({}),
    owner: str | None = None,
) -> AuditFinding:
    """Build an audit finding; ``name`` is its id."""
    return {
        "id": name,
        "category": category,
        "kind": kind,
        "severity": severity,
        "metric": "audit",
        "reason": reason,
        "where": where,
        "evidence": dict(evidence),
        "owner": owner,
        "recommended_action": recommended_action,
    }


class Unscored(TypedDict):
    """The reason why a metric has no value."""

    status: OutcomeStatus
    reason: str


Score: TypeAlias = float | Unscored
"""A value, or the reason why there is none."""


def build_outcome(  # noqa: PLR0917
    kind: FindingKind,
    metric: str,
    passed: bool | None,
    severity: Severity,
    reason: str,
    observed: object = None,
    limit: object = None,
    owner: str | None = None,
) -> MetricOutcome:
    """Build an outcome; ``reason`` names in one sentence the problem and the change."""
    return {
        "kind": kind,
        "metric": metric,
        "passed": passed,
        "severity": severity,
        "observed": observed,
        "limit": limit,
        "reason": reason,
        "owner": owner,
    }


def not_applicable(reason: str) -> Unscored:
    """Build the reason of a metric that nothing asks for."""
    return {"status": "not_applicable", "reason": reason}


def missing_data(reason: str) -> Unscored:
    """Build the reason of a metric whose data the run does not record."""
    return {"status": "missing_data", "reason": reason}


def unscored_error(reason: str) -> Unscored:
    """Build the reason of a metric that cannot be computed."""
    return {"status": "error", "reason": reason}


def build_group(
    scores: Mapping[str, Score],
    checks: Sequence[MetricOutcome],
    facts: JsonObject = MappingProxyType({}),
) -> JsonObject:
    """Build one metric group of the state.

    Args:
        scores: The metrics by name.
        checks: The outcomes of the group.
        facts: Further data, such as names, positions and limits.

    Returns:
        Metrics and facts by name, with ``status`` (of the group), ``passed`` (None if no check could be
        answered), ``counts`` (metrics by status), ``unscored`` (status and reason by metric) and ``checks``.
    """
    statuses = _list_statuses(scores)
    return {
        **{name: score for name, score in scores.items() if not isinstance(score, dict)},
        **facts,
        "status": group_status(scores),
        "passed": _all_passed(checks),
        "counts": {status: statuses.count(status) for status in OUTCOME_STATUSES},
        "unscored": {name: score for name, score in scores.items() if isinstance(score, dict)},
        "checks": list(checks),
    }


def group_status(scores: Mapping[str, Score]) -> OutcomeStatus:
    """Return "scored" if any metric has a value, else the gravest reason why none has."""
    statuses = _list_statuses(scores)
    return next((status for status in _GRAVITY if status in statuses), "not_applicable")


def _list_statuses(scores: Mapping[str, Score]) -> list[OutcomeStatus]:
    return [each["status"] if isinstance(each, dict) else "scored" for each in scores.values()]


def _all_passed(checks: Sequence[MetricOutcome]) -> bool | None:
    answers = {check["passed"] for check in checks}
    if False in answers:
        return False
    return None if None in answers or not answers else True


ACTIONS: Final[Mapping[FindingKind, str]] = {
    "invalid_input": "Correct the case; nothing was evaluated.",
    "record": "Correct the record of the run, or have a person review it.",
    "execution": "Find the cause of the error, and run again.",
    "policy": "Block release and review the output against the policy.",
    "response": "Compare the output with what was asked, and correct the prompt or the agent.",
    "trajectory": "Block release and inspect tool routing.",
    "operational": "Inspect latency, tokens and calls; raise the limit only if the cost is accepted.",
    "collaboration": "Inspect the hand-offs between the agents.",
    "judge": "Read the judge's rationale and concerns, and correct the agent.",
    "judge_error": "Have a person review the run; the judge gave no usable answer.",
    "metric_error": "Correct the configuration named in the reason and evaluate again.",
    "missing_data": "Record the missing value, or remove its threshold.",
    "inconclusive": "Give a threshold or a judge, or have a person review the run.",
    "undecided": "Have a person decide whether the check holds.",
    "check_error": "Correct the check that the reason names, and evaluate again.",
    "lost_fact": "Compare the facts that the reason names with the reference.",
    "regression": "Compare with the baseline and find the change that caused it.",
    "improvement": "Confirm that the measurement is right, and renew the baseline.",
    "drift": "Compare inputs and versions with those of the baseline.",
    "anomaly": "Inspect the run; repeat it before drawing conclusions.",
    "defect": "Compare both sides that the reason names, and correct the agent.",
    "suspicion": "Have a person compare both sides that the reason names.",
}
"""The recommended action by kind of finding."""
_ENDS: Final = (".", "!", "?", "…")
_MOST_NAMES: Final = 5


class Alert(TypedDict):
    """A finding that a person, or an executor that tries again, has to know."""

    severity: Severity
    kind: FindingKind
    metric: str
    observed: object
    limit: object
    reason: str
    """What is wrong and what to change, for the reader of a report and for the executor."""
    owner: str | None
    recommended_action: str


def alert(outcome: MetricOutcome, owner: str | None = None) -> Alert:
    """Turn an outcome that did not pass into an alert."""
    return {
        "severity": outcome["severity"],
        "kind": outcome["kind"],
        "metric": outcome["metric"],
        "observed": outcome["observed"],
        "limit": outcome["limit"],
        "reason": end_sentence(outcome["reason"]),
        "owner": outcome["owner"] or owner,
        "recommended_action": ACTIONS[outcome["kind"]],
    }


def policy_alert(finding: AuditFinding, owner: str | None = None) -> Alert:
    """Turn an audit finding into an alert; its rule may name its own action."""
    kind, severity, reason = finding["kind"], finding["severity"], finding["reason"]
    place, name, own = finding["where"], finding["id"], finding["owner"]
    outcome = build_outcome(kind, finding["metric"], False, severity, reason, place, name, own)
    action = finding["recommended_action"] or ACTIONS[kind]
    return {**alert(outcome, owner), "recommended_action": action}


def end_sentence(text: str) -> str:
    """Add a full stop to a text that does not end a sentence."""
    stripped = text.rstrip()
    return stripped if not stripped or stripped.endswith(_ENDS) else f"{stripped}."


def join_names(names: Iterable[str]) -> str:
    """List up to five different names, each on one line and cut to 60 characters, and count the rest."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MOST_NAMES
    shown = (shorten(name) for name in distinct[:_MOST_NAMES])
    text = ", ".join(name if name.isprintable() else ascii(name) for name in shown)
    return f"{text} and {more} more" if more > 0 else text


_UNITS: Final = ("_ms", "_usd")


def compare_with_bound(
    kind: FindingKind, metric: str, value: float, bound: JsonObject, severity: Severity
) -> MetricOutcome:
    """Compare a value with a normalised threshold ({"min"?, "max"?, "severity"?, "owner"?}).

    Both bounds are inclusive: a value equal to its limit passes.
    """
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    is_below = low is not None and value < low
    passed = not is_below and (high is None or value <= high)
    limit = high if high is not None and not is_below else low
    verb = "is, as required," if passed else "must be"
    observed, required = describe_comparison(value, bound)
    reason = f"{metric} is {observed}; it {verb} {required}"
    severity, owner = _read_reaction(bound, severity)
    return build_outcome(kind, metric, passed, severity, reason, value, limit, owner)


def check_bounds(
    kind: FindingKind, bounds: Mapping[str, JsonObject], scores: Mapping[str, Score], severity: Severity
) -> Iterator[MetricOutcome]:
    """Compare each threshold with its metric."""
    for metric, bound in bounds.items():
        score = scores[metric]
        if isinstance(score, dict):
            yield unanswered_bound(metric, bound, score["reason"])
        else:
            yield compare_with_bound(kind, metric, score, bound, severity)


def unanswered_bound(
    metric: str, bound: JsonObject, reason: str, severity: Severity = "warning"
) -> MetricOutcome:
    """Build the outcome of a threshold whose value the run lacks."""
    limit = bound.get("max", bound.get("min"))
    text = f"{metric} has a threshold and no value: {reason}"
    severity, owner = _read_reaction(bound, severity)
    return build_outcome("missing_data", metric, None, severity, text, None, limit, owner)


def limits_by_name(bounds: Mapping[str, JsonObject]) -> dict[str, object]:
    """Return the bounds by the names under which the report shows them."""
    most = {limit_name(metric): bound["max"] for metric, bound in bounds.items() if "max" in bound}
    least = {
        limit_name(metric, "minimum"): bound["min"] for metric, bound in bounds.items() if "min" in bound
    }
    return {**most, **least}


def limit_name(metric: str, side: str = "limit") -> str:
    """Name the limit of a metric, with the unit last: latency_ms gives latency_limit_ms."""
    for unit in _UNITS:
        if metric.endswith(unit):
            return f"{metric.removesuffix(unit)}_{side}{unit}"
    return f"{metric}_{side}"


def describe_comparison(value: float, bound: JsonObject) -> tuple[str, str]:
    """Write a value and its threshold ("at least 40", "at most 60", "40 to 60"); different numbers differ."""
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    observed, *limits = format_numbers(value, *[side for side in (low, high) if side is not None])
    if len(limits) > 1:
        return observed, " to ".join(limits)
    return observed, f"{'at most' if low is None else 'at least'} {limits[0]}"


def _read_number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _read_reaction(bound: JsonObject, default: Severity) -> tuple[Severity, str | None]:
    """Return severity and owner; the bound was validated as a ``Threshold``."""
    return cast("Severity", bound.get("severity", default)), cast("str | None", bound.get("owner"))
