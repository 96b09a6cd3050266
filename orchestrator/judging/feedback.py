"""Reads the alerts of a report: as feedback, problems and findings in words, as kinds, and as a score.

The feedback to an executor is limited to what its task says: the answer that a contract expects is masked.
An executor that is told the expected answer repeats it, and a retry then proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from typing import Final, Literal

from evaluation.contract.requirements import Contract
from evaluation.findings import STATUS, STRICTNESS, TRUNCATED, EvaluationStatus, FindingKind
from evaluation.report.report_model import Alert, CheckRecord, end_sentence
from evaluation.values import as_list, as_object
from orchestrator.judging.evidence import list_outcomes, read_judgement
from orchestrator.state.records import ProblemRecord, Report

HIDDEN: Final = "[not shown]"
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]\w*")
_REPEATED_MASK: Final = re.compile(re.escape(HIDDEN) + r"(?:[\s,.'\"_-]*" + re.escape(HIDDEN) + ")+")
_PARTS: Final = ("reference_output", "keywords", "required_content", "expected_trajectory", "checks")
"""The parts of a contract that say what it expects."""
_VALUES: Final = frozenset({
    "reference_output", "keywords", "expected_trajectory", "name", "agent", "target", "args",
    "text", "texts", "options", "word", "words", "letter", "letters", "labels", "keys", "header", "marker",
    "separator", "pattern", "number", "const",
})  # fmt: skip
"""The fields within these parts that hold expected texts and numbers, also nested ones."""
_SHORT_WORD: Final = 4
"""Words of fewer letters are hidden only if the expected text is short: "the" gives nothing away."""
_SHORT_TEXT: Final = 3
"""Number of words of a short text, such as a name or "yes"."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The answer that a contract expects, without the words and numbers that the executor was given.

    Attributes:
        words: Words of the expected texts, of expected tools and of their arguments, in lower case.
        numbers: The expected numbers, without their signs.
        shown: Words and numbers of the task and the step.
    """

    words: frozenset[str]
    numbers: frozenset[float]
    shown: frozenset[str]

    def mask(self, text: str) -> str:
        """Returns the text with ``HIDDEN`` in place of each expected word and number."""
        masked = _TOKEN.sub(lambda match: HIDDEN if self._is_expected(match[0]) else match[0], text)
        return _REPEATED_MASK.sub(HIDDEN, masked)

    def _is_expected(self, token: str) -> bool:
        word = token.casefold()
        if word in self.shown:
            return False
        is_number = token[0].isdecimal()
        return not self.numbers.isdisjoint(_read_numbers(token)) if is_number else word in self.words


def read_expectations(contract: Contract, shown: str) -> Expectations:
    """Collects the answers that a contract expects.

    Args:
        contract: The contract of the step. Tools of ``must_call`` are no secret, nor are forbidden texts, nor
            checks whose ``quote`` stands in the task or the step.
        shown: The task and the step.
    """
    plain = contract.plain
    hidden = [check for check in as_list(plain.get("checks")) if not _is_stated(as_object(check), shown)]
    parts: dict[str, object] = {**plain, "checks": hidden}
    texts = [text for name in _PARTS for text in _list_expected(name, parts.get(name))]
    tokens = {token for text in texts for token in _TOKEN.findall(text)}
    called = contract.rules.must_call
    return Expectations(
        words=frozenset(word for text in texts for word in _list_words(text)),
        numbers=frozenset(n for token in tokens if token[0].isdecimal() for n in _read_numbers(token)),
        shown=frozenset(token.casefold() for text in (shown, *called) for token in _TOKEN.findall(text)),
    )


def _list_expected(name: str, value: object, *, is_value: bool = False) -> Iterator[str]:
    """Yields the texts and numbers that a part of a contract expects; counts and forms are no secret."""
    is_value = is_value or name in _VALUES
    if isinstance(value, Mapping):
        for key, inner in {**value, **_find_bounds(value)}.items():
            yield from _list_expected(key, inner, is_value=is_value and name != "expected_trajectory")
    elif isinstance(value, list):
        for inner in value:
            yield from _list_expected(name, inner, is_value=is_value)
    elif is_value and value is not None and not isinstance(value, bool):
        # Also without the backslash of a pattern before a point, which would end a number.
        yield from (str(value), str(value).replace("\\.", "."))


def _is_stated(check: Mapping[str, object], shown: str) -> bool:
    """Returns whether a check is no secret: it forbids, is a function, or quotes the task or the step."""
    quote, text = (" ".join(each.split()).casefold() for each in (str(check.get("quote") or ""), shown))
    return check.get("check") in ("excludes", "function") or (quote != "" and quote in text)


def _find_bounds(value: Mapping[str, object]) -> dict[str, object]:
    """Returns the number of an object with the bounds of its tolerance, which a sentence may name."""
    number, tolerance = value.get("number"), value.get("tolerance", 0)
    if not isinstance(number, int | float) or not isinstance(tolerance, int | float):
        return {}
    return {"number": [number, number - tolerance, number + tolerance]}


def _list_words(text: str) -> set[str]:
    words = [token.casefold() for token in _TOKEN.findall(text) if not token[0].isdecimal()]
    long = {word for word in words if len(word) >= _SHORT_WORD}
    return long if long and len(words) > _SHORT_TEXT else {*words}


def _read_numbers(token: str) -> set[float]:
    """Returns the values of a number; the comma may separate thousands or decimals."""
    texts = {token.replace(",", ""), token.replace(".", "").replace(",", ".")}
    return {float(text) for text in texts if text.count(".") <= 1}


MAX_FEEDBACK: Final = 1500
"""Most characters of a feedback: small local models lose the task in a longer one."""
_MAX_ITEM: Final = 700
_MAX_EVIDENCE: Final = 1000
"""Most characters of what a command printed: the last ones, where test runners say what failed."""
_MAX_LINE: Final = 300
FAILURES: Final[tuple[EvaluationStatus, ...]] = ("invalid", "failed", "needs_review")
"""The statuses that keep a run from passing."""
_WARNING: Final[tuple[EvaluationStatus, ...]] = ("warning",)
_EXECUTOR_KINDS: Final = frozenset({
    "policy", "response", "trajectory", "operational", "collaboration", "judge", "defect"
})  # fmt: skip
"""The kinds of alerts about the executor's own work. It cannot correct the others: a missing value, say."""
KEEP_REQUIREMENTS: Final = "Keep to these requirements"
"""Before the requirements that an output did not meet; by default, the executor is told these alone."""
KEEP_CORRECTIONS: Final = "Keep to these corrections"
_REFUSED: Final = "Your output was not accepted. What has to change"
_ACCEPTED: Final = "Your output was accepted. What could be better"
_OPEN: Final = "Whether your output is good enough could not be decided"
_STATED: Final = frozenset({"contract", "task"})
"""The sources of the checks of the vocabulary."""
_EXPLAINED: Final = frozenset({"code", "csv", "json", "schema", "table"})
"""The checks that say where the output is wrong, which their requirement cannot say."""
_SHORTEN: Final = "The last output was cut off at its limit of tokens; write a shorter one that is complete."
_INVALID: Final = "Your output was not judged, since its check is not set up correctly"


RefusalKind = Literal["format", "content", "length", "language", "tool", "judge", "unverified", "other"]
"""The kind of a failure: of a failed check, of a judge's refusal ("judge"), of a missing verdict
("unverified"), or of anything else, such as a bound on time."""

_KINDS: Final[Mapping[FindingKind, RefusalKind]] = {
    "response": "content",
    "policy": "content",
    "lost_fact": "content",
    "trajectory": "tool",
    "collaboration": "tool",
    "judge": "judge",
    **dict.fromkeys(
        ("judge_error", "metric_error", "missing_data", "inconclusive", "undecided", "check_error"),
        "unverified",
    ),
}


def list_kinds(report: Report | None) -> list[RefusalKind]:
    """Lists the kinds of everything that keeps a run from passing, each once; none without a report."""
    if report is None:
        return []
    checks = report.get("checks", ())
    failed = [each for each in checks if each["passed"] is False and each["severity"] == "critical"]
    # The alert of a check says less than the check itself.
    alerts = [
        alert
        for alert in _select_alerts(FAILURES, report)
        if not failed or alert["kind"] != "response" or alert["metric"] == TRUNCATED
    ]
    return [*dict.fromkeys([*(each["kind"] for each in failed), *map(_find_kind, alerts)])]


def _find_kind(alert: Alert) -> RefusalKind:
    return "length" if alert["metric"] == TRUNCATED else _KINDS.get(alert["kind"], "other")


def findings_of(
    report: Report | None,
    expected: Expectations | None = None,
) -> list[str]:
    """List what kept a run from passing, the strictest first.

    Each item is one line of at most 300 characters: the severity and the alert's sentence. It does not quote
    the ``expected`` answer, if one is given. Without a report, there is nothing to list.
    """
    lines = [_format_line(alert) for alert in _select_alerts(FAILURES, report)] if report else []
    return lines if expected is None else [expected.mask(line) for line in lines]


def warnings_of(report: Report) -> list[str]:
    """List the warnings that a run passes with, as in ``findings_of``."""
    return [_format_line(alert) for alert in _select_alerts(_WARNING, report)]


def _format_line(alert: Alert) -> str:
    return _cut_line(f"{alert['severity']}: {alert['reason']}", _MAX_LINE)


def explain_derived(report: Report) -> list[str]:
    """Say which words of the task the failed checks rest on, and how to change such a check."""
    return [
        _cut_line(
            f"the check {check['check']} rests on “{check['quote']}”; "
            "`orchestrator checks TASK --save FILE` writes the checks to change",
            _MAX_LINE,
        )
        for check in report.get("checks", ())
        if check["source"] == "task" and check["passed"] is False
    ]


def feedback_of(report: Report) -> str:
    """Tell the executor what to change, the most important first.

    Returns:
        At most ``MAX_FEEDBACK`` characters, with the number of alerts left out. If no check failed, it says
        what could not be decided. Empty if there is nothing to say.
    """
    alerts = [_address(alert) for alert in _select_alerts((*FAILURES, *_WARNING), report)]
    own = [alert for alert in alerts if _is_own(alert)]
    if own:
        head = _ACCEPTED if report.get("status") == "warning" else _REFUSED
        return _format_feedback(head, own, report.get("checks", ()))
    return _format_feedback(_INVALID if report.get("status") == "invalid" else _OPEN, alerts, ())


def problems_of(report: Report, expected: Expectations) -> list[ProblemRecord]:
    """List the requirements that were not met, the most severe first, without the expected answer."""
    selected = [_address(alert) for alert in _select_alerts(FAILURES, report) if _is_own(alert)]
    checks = {end_sentence(check["sentence"]): check for check in report.get("checks", ())}
    return [_build_problem(alert, checks.get(alert["reason"]), expected) for alert in selected]


def _build_problem(alert: Alert, check: CheckRecord | None, expected: Expectations) -> ProblemRecord:
    wanted = alert["reason"] if check is None else end_sentence(check["wanted"])
    sentence = f"{wanted[:1].upper()}{wanted[1:]}"
    shown = expected.mask(sentence)
    is_stated = alert["metric"] == TRUNCATED
    if check is not None:
        is_stated = check["source"] in _STATED and check["check"] not in _EXPLAINED
    return ProblemRecord(
        kind=_find_kind(alert) if check is None else check["kind"],
        wanted=_cut_line(shown, _MAX_ITEM),
        is_stated=is_stated and shown == sentence,
    )


def _address(alert: Alert) -> Alert:
    """Returns the alert in words for the executor: it cannot allow itself more tokens."""
    return {**alert, "reason": _SHORTEN} if alert["metric"] == TRUNCATED else alert


def _is_own(alert: Alert) -> bool:
    return alert["kind"] in _EXECUTOR_KINDS or alert["metric"] == "stuck_runs"


def report_score(report: Report) -> float | None:
    """Score a run from 0 to 1: the mean of its answered questions; None if no question was answered.

    The questions are the answered outcomes of the report (1 if passed, else 0), the breaches of audit rules
    above severity ``info`` and a cut-off reply (0 each; a report does not list the rules that were kept), and
    the judge's score if there is one: (score - min) / (max - min) on its scale.
    """
    points = [float(each["passed"]) for each in list_outcomes(report) if each["passed"] is not None]
    points += [
        0.0
        for alert in report.get("alerts", ())
        if (alert["kind"] == "policy" or alert["metric"] == TRUNCATED) and alert["severity"] != "info"
    ]
    points += _judge_points(report)
    return fmean(points) if points else None


def _judge_points(report: Report) -> list[float]:
    result = read_judgement(report)
    if result.get("status") != "scored":
        return []
    least, most = result["scale"]["min"], result["scale"]["max"]
    return [(result["score"] - least) / (most - least)]


def _select_alerts(statuses: Collection[EvaluationStatus], report: Report) -> list[Alert]:
    """Select the alerts that lead to one of these statuses, the strictest first, else in their order."""
    alerts: Sequence[Alert] = report.get("alerts", ())
    ranked = [(STATUS[alert["kind"]][alert["severity"]], alert) for alert in alerts]
    selected = [each for each in ranked if each[0] in statuses]
    return [alert for _, alert in sorted(selected, key=lambda item: -STRICTNESS.index(item[0]))]


def _quote_end(text: str) -> list[str]:
    """Quotes the last lines of a further text. Each has a mark, so that none passes for an item."""
    lines = [f"  | {line[-_MAX_LINE:]}" for line in text.splitlines()]
    sizes = accumulate(len(line) + 1 for line in reversed(lines))
    kept = sum(size <= _MAX_EVIDENCE for size in sizes)
    return ["  the end of what it printed:", *lines[len(lines) - kept :]]


def _format_feedback(head: str, alerts: Sequence[Alert], checks: Sequence[CheckRecord]) -> str:
    if not alerts:
        return ""
    printed = {f"checks.{check['check']}": check.get("evidence") for check in checks}
    lines = [f"{head}{', the most important first' if len(alerts) > 1 else ''}:"]
    for at, alert in enumerate(alerts):
        note = f"- and {len(alerts) - at} more"
        text = printed.get(alert["metric"])
        item = [f"- {_cut_line(alert['reason'], _MAX_ITEM)}", *(_quote_end(text) if text else [])]
        if len("\n".join([*lines, *item, *([note] if at + 1 < len(alerts) else [])])) > MAX_FEEDBACK:
            return "\n".join([*lines, note])
        lines += item
    return "\n".join(lines)


def _cut_line(text: str, limit: int) -> str:
    # On one line, so that a judge's answer cannot pass for a second item.
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
