"""What an alert of an evaluation report says, in a sentence for the executor whose work it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from evaluation.metrics.response.scores import QUALITY_METRICS
from evaluation.results.alerts import ACTIONS, Alert
from evaluation.results.thresholds import limit_name
from orchestrator.judging.report import Facts, Report, facts_of, judge_result, mapping, text, texts
from orchestrator.state.graph_state import Json
from orchestrator.state.plain_values import shown

_LENGTHS: Final = ("words", "characters")
_KEYWORDS: Final = "keyword_coverage"
_SORTS: Final[Mapping[str, str]] = {
    "pattern": "a match of the regular expression",
    "json_schema": "JSON of the wanted schema",
}
_CALLS: Final[Mapping[str, str]] = {
    "forbidden_actions": "Tools were called that are forbidden",
    "failed_calls": "Tool calls ended in an error",
    "unreadable_arguments": "The arguments of tool calls are no JSON object",
}
_UNITS: Final[Mapping[str, str]] = {"_ms": " ms", "_usd": " US dollars"}
_EXPOSURES: Final = ("credentials.", "personal_data.")
_CALL: Final = re.compile(r"agent_run\.tool_calls\[(\d+)\](?:\.(\w+))?")
_MESSAGE: Final = re.compile(r"agent_run\.messages\[(\d+)\]")
_ENDS: Final = (".", "!", "?", "…")
_LARGE: Final = 1e12
_SHOWN: Final = 5
_SHOWN_VALUE: Final = 80


def complaint(alert: Alert, report: Report) -> str:
    """Say what was wanted and what was seen, with words for the names of fields.

    Args:
        alert: About something that the executor did.
        report: The report that the alert is of.
    """
    by = alert["kind"] if alert["kind"] in ("judge", "policy") else alert["metric"]
    return _TOLD.get(by, _measured)(alert, report)


def in_words(alert: Alert) -> str:
    """An alert's own reason, with words for the name of its metric."""
    return _sentence(alert["reason"].replace(alert["metric"], _name(alert["metric"])))


def missing_keywords(report: Report) -> str:
    """The wanted keywords that the output lacks, as a list in words; empty where none is known."""
    return _listed(texts(facts_of(report, "response").get("missing_keywords")))


def _content(alert: Alert, report: Report) -> str:  # noqa: ARG001 - the report adds nothing
    wanted = _wanted_content(str(alert["limit"]))
    if alert["metric"] == "forbidden_content":
        return f"The output must not hold {wanted}, and does."
    seen = alert["observed"]
    return f"The output has to hold {wanted}; it does not{'' if seen == 'not found' else f': {seen}'}."


def _wanted_content(limit: str) -> str:
    sort, _, rule = limit.partition(" ")
    return f"{_SORTS.get(sort, f'the {sort}')} {rule}".rstrip()


def _keywords(alert: Alert, report: Report) -> str:
    missing = missing_keywords(report)
    rest = f"; missing: {missing}" if missing else ""
    wanted = _wanted(alert, {}, "{:.0%}".format)
    return f"The output holds {alert['observed']:.0%} of the wanted keywords; {wanted} is wanted{rest}."


def _length(alert: Alert, report: Report) -> str:
    wanted = _wanted(alert, facts_of(report, "response"))
    return f"The output has {_number(alert['observed'])} {alert['metric']}; {wanted} are wanted."


def _likeness(alert: Alert, report: Report) -> str:
    value = f"{_name(alert['metric'])} is {_number(alert['observed'])}"
    wanted = _wanted(alert, facts_of(report, "response"))
    return f"The output is not like the expected answer: {value}; {wanted} is wanted."


def _measured(alert: Alert, report: Report) -> str:
    """Tell a number against its bounds; what is no number, in the report's own words."""
    if not isinstance(alert["observed"], int | float) or not isinstance(alert["limit"], int | float):
        return in_words(alert)
    wanted = _wanted(alert, facts_of(report, alert["kind"]))
    name, unit = _name(alert["metric"]), _unit(alert["metric"])
    was, is_ = ("were", "are") if name.endswith("s") else ("was", "is")
    return f"The {name} {was} {_number(alert['observed'])}{unit}; {wanted}{unit} {is_} wanted."


def _wanted(alert: Alert, facts: Facts, shown_as: Callable[[object], str] | None = None) -> str:
    number = shown_as or _number
    low, high = facts.get(limit_name(alert["metric"], "minimum")), facts.get(limit_name(alert["metric"]))
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    side = "least" if _amount(alert["observed"]) < _amount(alert["limit"]) else "most"
    return f"at {side} {number(alert['limit'])}"


def _trajectory(alert: Alert, report: Report) -> str:
    problems = alert["reason"].partition(": ")[2].rstrip(".")
    given = facts_of(report, "trajectory").get("argument_mismatches")
    differences = [_difference(mapping(one)) for one in given[:_SHOWN]] if isinstance(given, list) else []
    rest = f" ({'; '.join(differences)})" if differences else ""
    return f"The tool calls are not the expected ones: {problems}{rest}."


def _difference(found: Facts) -> str:
    name, path = text(found.get("name")), text(found.get("path")).removeprefix("/")
    wanted, seen = _quoted(found.get("expected")), _quoted(found.get("actual"))
    if found.get("problem") == "missing":
        return f"{name} lacks {path}, which should be {wanted}"
    if found.get("problem") == "unexpected":
        return f"{name} was given {path}, which is not expected"
    return f"{name} was given {seen}{f' for {path}' if path else ''}, not {wanted}"


def _quoted(value: Json) -> str:
    """A value as a report quotes it: by an excerpt, or raw."""
    excerpt = value.get("excerpt", value) if isinstance(value, dict) else value
    return shown(excerpt, _SHOWN_VALUE)


def _calls(alert: Alert, report: Report) -> str:
    names = texts(facts_of(report, "trajectory").get(alert["metric"]))
    return f"{_CALLS[alert['metric']]}: {_listed(names)}."


def _repeated(alert: Alert, report: Report) -> str:  # noqa: ARG001 - the report adds nothing
    return f"The tool {alert['reason']}."


def _broken_rule(alert: Alert, report: Report) -> str:  # noqa: ARG001 - the report adds nothing
    action, rule = alert["recommended_action"], str(alert["limit"])
    own = action if action != ACTIONS["policy"] and not rule.startswith(_EXPOSURES) else ""
    return f"A rule is broken: {_places_in_words(alert['reason'])}. {_sentence(own)}".rstrip()


def _places_in_words(reason: str) -> str:
    told = _CALL.sub(_call_in_words, reason.replace("agent_run.final_output", "the output"))
    return _MESSAGE.sub(lambda found: f"message {int(found[1]) + 1}", told)


def _call_in_words(found: re.Match[str]) -> str:
    part = f"the {found[2].replace('args', 'arguments')} of " if found[2] else ""
    return f"{part}tool call {int(found[1]) + 1}"


def _judged(alert: Alert, report: Report) -> str:
    result = judge_result(report)
    scale, criteria = mapping(result.get("scale")), mapping(result.get("criteria"))
    score, ends = _number(alert["observed"]), f"{_number(scale.get('min'))} to {_number(scale.get('max'))}"
    parts = [
        f"A reviewer gave {score} on a scale from {ends}; {_wanted(alert, {})} is wanted.",
        _sentence(text(result.get("rationale"))),
        _after("By criterion", [f"{name} {_number(given)}" for name, given in criteria.items()]),
        _after("Concerns", texts(result.get("concerns"))),
        _sentence(text(result.get("recommended_action"))),
    ]
    return " ".join(part for part in parts if part)


def _after(label: str, items: Sequence[str]) -> str:
    return _sentence(f"{label}: {'; '.join(items)}") if items else ""


def _sentence(told: str) -> str:
    """A text with a capital letter and a full stop; empty where there is none."""
    plain = told.strip()
    return f"{plain[:1].upper()}{plain[1:]}{'' if plain.endswith(_ENDS) else '.'}" if plain else ""


def _name(metric: str) -> str:
    return re.sub("(_ms|_usd)$", "", metric).replace("_", " ")


def _unit(metric: str) -> str:
    return next((unit for suffix, unit in _UNITS.items() if metric.endswith(suffix)), "")


def _amount(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < _LARGE else f"{value:.4g}"
    return str(value)


def _listed(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _SHOWN
    listed = ", ".join(name[:_SHOWN_VALUE] for name in distinct[:_SHOWN])
    return f"{listed} and {more} more" if more > 0 else listed


_TOLD: Final[Mapping[str, Callable[[Alert, Report], str]]] = {
    **dict.fromkeys(_LENGTHS, _length),
    **dict.fromkeys(_CALLS, _calls),
    **dict.fromkeys(QUALITY_METRICS - {_KEYWORDS}, _likeness),
    "judge": _judged,
    "policy": _broken_rule,
    "required_content": _content,
    "forbidden_content": _content,
    _KEYWORDS: _keywords,
    "trajectory": _trajectory,
    "stuck_runs": _repeated,
}
"""By metric; what a judge said and what broke a rule, by kind."""
