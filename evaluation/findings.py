"""Finding: the one result of a check, measure, audit rule, threshold, comparison or judge; and its status.

The findings about scores and thresholds make the metric groups of a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args

from typing_extensions import TypedDict

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
Group: TypeAlias = Literal["record", "response", "operational", "trajectory", "audit", "judge", "drift"]
CheckKind: TypeAlias = Literal["format", "content", "length", "language", "tool"]
Covers: TypeAlias = Literal["form", "content", "actions"]
CheckSource: TypeAlias = Literal["contract", "task", "function"]

TRUNCATED: Final = "truncated_reply"
"""The name of the finding about a last reply that reached its limit of tokens."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer to one requirement, measure, rule or comparison; made once, and never changed.

    Attributes:
        name: The metric, or the id of the audit rule.
        group: The part of the evaluation that made it.
        passed: None if the answer is not known.
        severity: The effect if it did not pass.
        kind: The kind of answer; with the severity, it decides the status of the run.
        reason: One sentence that names the problem and the change.
        observed: The value that was compared; of a check, the observation as a main clause.
        limit: The value that it was compared with; of a check, the requirement as an instruction.
        where: The place in the run, such as ``agent_run.final_output``.
        category: The category of an audit finding, such as ``safety``.
        evidence: Plain JSON that backs it: an excerpt, or the words of a function.
        owner: The owner of the alert; None for the owner of the contract.
        action: The recommended action; None for the usual one of its kind.
        check: The check of the contract that it answers: its kind, or the name of a function; None
            if it answers no check.
        failure: The kind of failure of such a check.
        covers: The part of the answer that the check is about: its form, its content, or the actions.
        origin: ``function`` for a check of the user's code, ``task`` if the check quotes the
            task, else ``contract``.
        quote: The words of the task that state the check.
    """

    name: str
    group: Group
    passed: bool | None
    severity: Severity
    kind: FindingKind
    reason: str
    observed: object = None
    limit: object = None
    where: str = ""
    category: str = ""
    evidence: object = None
    owner: str | None = None
    action: str | None = None
    check: str | None = None
    failure: CheckKind = "content"
    covers: Covers = "content"
    origin: CheckSource = "contract"
    quote: str | None = None

    @property
    def ends_early(self) -> bool:
        """Whether it says that the output is missing or was cut off."""
        return self.kind == "execution" or self.name == TRUNCATED


STRICTNESS: Final[tuple[EvaluationStatus, ...]] = ("passed", "warning", "needs_review", "failed", "invalid")
"""From the mildest to the strictest."""
UNVERIFIED: Final = "no defect found; the answer is not verified"
"""What a reader is told of a passed run that nothing was demanded of."""

_Statuses: TypeAlias = Mapping[Severity, EvaluationStatus]
_MEASURED: Final[_Statuses] = {"info": "passed", "warning": "warning", "critical": "failed"}
_UNANSWERED: Final[_Statuses] = {"info": "needs_review", "warning": "needs_review", "critical": "failed"}
_DOUBTED: Final[_Statuses] = {"info": "passed", "warning": "needs_review", "critical": "failed"}
STATUS: Final[Mapping[FindingKind, _Statuses]] = {
    **dict.fromkeys(
        ("policy", "response", "trajectory", "operational", "collaboration", "judge", "regression", "defect"),
        _MEASURED,
    ),
    # No judge settles a lost fact: a text may say the same without it, but no check can tell.
    **dict.fromkeys(("judge_error", "metric_error", "inconclusive", "check_error", "lost_fact"), _UNANSWERED),
    # No judge settles an undecided check: whether it holds is no matter of opinion.
    **dict.fromkeys(("record", "undecided", "suspicion"), _DOUBTED),
    "drift": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "anomaly": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "improvement": {"info": "passed", "warning": "passed", "critical": "passed"},
    "missing_data": {"info": "warning", "warning": "needs_review", "critical": "failed"},
    "execution": {"info": "failed", "warning": "failed", "critical": "failed"},
    "invalid_input": {"info": "invalid", "warning": "invalid", "critical": "invalid"},
}
"""The status by kind and severity. Only a measured finding, or a check, of severity info lets a run pass."""


def strictest_status(findings: Iterable[tuple[FindingKind, Severity]]) -> EvaluationStatus:
    """Return the strictest status of any finding; ``passed`` if there is none."""
    statuses = (STATUS[kind][severity] for kind, severity in findings)
    return max(statuses, key=STRICTNESS.index, default="passed")


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


OutcomeStatus = Literal["scored", "not_applicable", "missing_data", "error"]
OUTCOME_STATUSES: Final[tuple[OutcomeStatus, ...]] = get_args(OutcomeStatus)
_GRAVITY: Final[tuple[OutcomeStatus, ...]] = ("scored", "error", "missing_data")
_SHOWN: Final = ("kind", "passed", "severity", "observed", "limit", "reason", "owner")
"""The fields of a finding that the group of its metric shows besides the name."""


class Unscored(TypedDict):
    """The reason why a metric has no value."""

    status: OutcomeStatus
    reason: str


Score: TypeAlias = float | Unscored
"""A value, or the reason why there is none."""


def build_group(
    scores: Mapping[str, Score],
    findings: Sequence[Finding],
    facts: JsonObject = MappingProxyType({}),
) -> JsonObject:
    """Build one metric group of the state.

    Args:
        scores: The metrics by name.
        findings: The findings of the group.
        facts: Further data, such as names, positions and limits.

    Returns:
        Metrics and facts by name, with ``status`` (of the group), ``passed`` (None if no question could be
        answered), ``counts`` (metrics by status), ``unscored`` (status and reason by metric) and ``checks``.
    """
    unscored = {name: score for name, score in scores.items() if isinstance(score, dict)}
    statuses = Counter(score["status"] for score in unscored.values())
    statuses["scored"] = len(scores) - len(unscored)
    return {
        **{name: score for name, score in scores.items() if name not in unscored},
        **facts,
        "status": group_status(scores),
        "passed": _all_passed(findings),
        "counts": {status: statuses[status] for status in OUTCOME_STATUSES},
        "unscored": unscored,
        "checks": [
            {"metric": each.name, **{name: getattr(each, name) for name in _SHOWN}} for each in findings
        ],
    }


def group_status(scores: Mapping[str, Score]) -> OutcomeStatus:
    """Return "scored" if any metric has a value, else the gravest reason why none has."""
    statuses = {score["status"] if isinstance(score, dict) else "scored" for score in scores.values()}
    return next((status for status in _GRAVITY if status in statuses), "not_applicable")


def _all_passed(findings: Sequence[Finding]) -> bool | None:
    answers = {finding.passed for finding in findings}
    if False in answers:
        return False
    return None if None in answers or not answers else True


_MOST_NAMES: Final = 5


def join_names(names: Iterable[str]) -> str:
    """List up to five different names, each on one line and cut to 60 characters, and count the rest."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MOST_NAMES
    shown = (shorten(name) for name in distinct[:_MOST_NAMES])
    text = ", ".join(name if name.isprintable() else ascii(name) for name in shown)
    return f"{text} and {more} more" if more > 0 else text


_UNITS: Final = ("_ms", "_usd")


def compare_with_bound(  # noqa: PLR0917
    group: Group, kind: FindingKind, metric: str, score: Score, bound: JsonObject, severity: Severity
) -> Finding:
    """Compare a score with a normalised threshold ({"min"?, "max"?, "severity"?, "owner"?}).

    Both bounds are inclusive: a value equal to its limit passes. Without a value, it is not known.

    Args:
        group: The group of the finding.
        kind: The kind of the finding.
        metric: The name of the metric.
        score: Its value, or the reason why it has none.
        bound: The threshold.
        severity: The severity of a breach if the threshold names none.
    """
    owner = cast("str | None", bound.get("owner"))
    stated = cast("Severity | None", bound.get("severity"))
    if isinstance(score, dict):
        text = f"{metric} has a threshold and no value: {score['reason']}"
        limit = bound.get("max", bound.get("min"))
        return Finding(
            metric, group, None, stated or "warning", "missing_data", text, limit=limit, owner=owner
        )
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    is_below = low is not None and score < low
    passed = not is_below and (high is None or score <= high)
    limit = high if high is not None and not is_below else low
    observed, required = describe_comparison(score, bound)
    reason = f"{metric} is {observed}; it {'is, as required,' if passed else 'must be'} {required}"
    return Finding(metric, group, passed, stated or severity, kind, reason, score, limit, owner=owner)


def check_bounds(
    kind: FindingKind, bounds: Mapping[str, JsonObject], scores: Mapping[str, Score]
) -> Iterator[Finding]:
    """Compare each score of a trajectory that has a threshold; a breach is critical by default."""
    for metric, score in scores.items():
        if metric in bounds:
            yield compare_with_bound("trajectory", kind, metric, score, bounds[metric], "critical")


def limits_by_name(bounds: Mapping[str, JsonObject]) -> dict[str, object]:
    """Return the bounds by the names under which the report shows them."""
    most = {limit_name(name): bound["max"] for name, bound in bounds.items() if "max" in bound}
    least = {limit_name(name, "minimum"): bound["min"] for name, bound in bounds.items() if "min" in bound}
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
