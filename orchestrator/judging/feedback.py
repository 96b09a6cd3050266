"""What an evaluation report says: in words, for whoever decides and for the executor, and as one number."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from evaluation.results.alerts import Alert
from evaluation.results.state import EvaluationStatus
from evaluation.results.status import STATUS, STRICTNESS
from orchestrator.judging.feedback_wording import complaint, in_words, missing_keywords
from orchestrator.judging.report import Report, alerts_of, checks_of, judge_result, mapping, text
from orchestrator.state.graph_state import Json

MAX_FEEDBACK: Final = 1500
"""Characters of a feedback."""
_MAX_ITEM: Final = 700
_MAX_LINE: Final = 300
_KEEPING: Final[tuple[EvaluationStatus, ...]] = ("invalid", "failed", "needs_review")
_WARNING: Final[tuple[EvaluationStatus, ...]] = ("warning",)
_DONE: Final = frozenset({"policy", "response", "trajectory", "operational", "collaboration", "judge"})
"""The kinds of alerts that are about what the executor said and did."""
_REPEATED: Final = "stuck_runs"
_REFUSED: Final = "Your output was not accepted. What has to change"
_ACCEPTED: Final = "Your output was accepted. What could be better"
_OPEN: Final = "Whether your output is good enough could not be decided"
_INVALID: Final = "Your output was not judged, since its check is not set up correctly"


def findings_of(report: Report) -> list[str]:
    """What kept a run from passing, be it with a warning: one line each, the most severe first.

    A line holds the severity, the metric, and what was expected against what was observed, in at most 300
    characters.
    """
    return [_line(alert, report) for alert in _asking_for(_KEEPING, report)]


def warnings_of(report: Report) -> list[str]:
    """What a run passes with and is to be kept in mind: one line each, as in ``findings_of``."""
    return [_line(alert, report) for alert in _asking_for(_WARNING, report)]


def feedback_of(report: Report) -> str:
    """What the executor has to mend, addressed to it: the failed checks, the most important first.

    At most ``MAX_FEEDBACK`` characters, with a note of how many more there are. Where no check failed, it
    says what could not be decided; it is empty where there is nothing to say.
    """
    alerts = _asking_for((*_KEEPING, *_WARNING), report)
    failed = [alert for alert in alerts if alert["kind"] in _DONE or alert["metric"] == _REPEATED]
    if failed:
        head = _ACCEPTED if report.get("status") == "warning" else _REFUSED
        return _bounded(head, [complaint(alert, report) for alert in failed])
    head = _INVALID if report.get("status") == "invalid" else _OPEN
    return _bounded(head, [in_words(alert) for alert in alerts])


def report_score(report: Report) -> float | None:
    """How good a run was, from 0 to 1: points over questions; None where no question was answered.

    The questions are the checks of the report that were answered (1 point where passed, else 0), the
    breaches of audit rules that are more than information (0 points each; a report does not hold the rules
    that were kept), and the judge's score if there is one: (score - least) / (greatest - least) points on
    its scale.
    """
    points = [float(check["passed"]) for check in checks_of(report) if check["passed"] is not None]
    alerts = alerts_of(report)
    points += [0.0 for alert in alerts if alert["kind"] == "policy" and alert["severity"] != "info"]
    points += _judge_points(report)
    return sum(points) / len(points) if points else None


def _judge_points(report: Report) -> list[float]:
    result = judge_result(report)
    if result.get("status") != "scored":
        return []
    scale = mapping(result["scale"])
    least, greatest = _number(scale["min"]), _number(scale["max"])
    return [(_number(result["score"]) - least) / (greatest - least)]


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else 0.0


def _asking_for(statuses: Collection[EvaluationStatus], report: Report) -> list[Alert]:
    """The alerts that ask for one of these statuses, the strictest first, else in their order."""
    asked = [(STATUS[alert["kind"]][alert["severity"]], alert) for alert in alerts_of(report)]
    kept = [(status, alert) for status, alert in asked if status in statuses]
    return [alert for _, alert in sorted(kept, key=lambda item: -STRICTNESS.index(item[0]))]


def _line(alert: Alert, report: Report) -> str:
    reason = alert["reason"].rstrip(".")
    named = reason if reason.startswith(alert["metric"]) else f"{alert['metric']}: {reason}"
    return _cut(f"{alert['severity']}: {named}{_detail(alert, report)}", _MAX_LINE)


def _detail(alert: Alert, report: Report) -> str:
    if alert["kind"] == "judge":
        return f"; the judge: {text(judge_result(report).get('rationale'))}"
    missing = missing_keywords(report) if alert["metric"] == "keyword_coverage" else ""
    return f"; missing: {missing}" if missing else ""


def _bounded(head: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    lines = [f"{head}{', the most important first' if len(items) > 1 else ''}:"]
    for at, item in enumerate(items):
        note = f"- and {len(items) - at} more"
        added = [f"- {_cut(item, _MAX_ITEM)}", *([note] if at + 1 < len(items) else [])]
        if len("\n".join([*lines, *added])) > MAX_FEEDBACK:
            return "\n".join([*lines, note])
        lines.append(added[0])
    return "\n".join(lines)


def _cut(told: str, limit: int) -> str:
    line = " ".join(told.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
