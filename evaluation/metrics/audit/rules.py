"""How long the raw text of a run may be kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final, Literal

from pydantic import ValidationError

from evaluation.inputs.rules import AuditRule, ContentRule, Severity
from evaluation.metrics.audit.exposure import name_place
from evaluation.metrics.audit.hosts import find_hosts, is_within
from evaluation.metrics.response.content import AgentTexts, describe_answer, is_found_in
from evaluation.results.alerts import end_sentence
from evaluation.results.findings import AuditFinding, FindingKind
from evaluation.results.redaction import build_excerpt
from evaluation.results.state import Action
from evaluation.values import JsonObject

Answer = tuple[Literal["kept", "missing_data"], str]


def retention_problem(metadata: JsonObject, days: float, now: datetime) -> Answer | None:
    """Compare the age of a run with the days that its text may be kept; None where it may.

    The end of the time allowed is ``timestamp`` plus ``days``. It is exceeded if ``now`` is later, or if
    ``retain_until``, a free label in which a recorder says how long the text will be kept, is later. Both are
    ISO 8601; without an offset, UTC.

    Returns:
        What is wrong (kept too long, or not known), and a sentence that says it.
    """
    made, until = parse_time(metadata.get("timestamp")), metadata.get("retain_until")
    if made is None:
        return (
            "missing_data",
            "metadata.timestamp is no ISO 8601 time, so that the age of the run is not known",
        )
    if until is not None and parse_time(until) is None:
        return "missing_data", "metadata.retain_until is no ISO 8601 time"
    end = _after(made, days)
    if end < (parse_time(until) or made):
        return "kept", f"the text is to be kept until {_day(until)}; {days:g} days end on {_day(end)}"
    if end < now:
        return (
            "kept",
            f"the text of {_day(made)} is still there; {days:g} days ended on {_day(end)}",
        )
    return None


def parse_time(value: object) -> datetime | None:
    """Read a time; None for what is no ISO 8601."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _after(made: datetime, days: float) -> datetime:
    try:
        return made + timedelta(days=days)
    except OverflowError:  # beyond the year 9999
        return datetime.max.replace(tzinfo=UTC)


def _day(moment: object) -> str:
    read = moment if isinstance(moment, datetime) else parse_time(moment)
    return read.date().isoformat() if read else ""


_OUTPUT: Final = "agent_run.final_output"
_SHOWN_HOSTS: Final = 3
_SHOWN: Final = 80
_DEEPEST: Final = 200


@dataclass(frozen=True)
class AuditedRun:
    """What rules are held against."""

    output: str | None
    """None where the run gave none."""
    messages: object
    actions: Sequence[Action] | None
    """None where the run does not record them."""
    metadata: JsonObject
    now: datetime | None
    """None where the clock gives no time with a zone."""

    @cached_property
    def said(self) -> AgentTexts:
        """The texts in which content rules look."""
        return AgentTexts(self.output, self.messages)


@dataclass(frozen=True, slots=True)
class _Breach:
    """One breach of a rule; or, by its kind, a question that could not be answered."""

    reason: str
    where: str
    evidence: object = None
    kind: FindingKind = "policy"


def rule_findings(rules: Iterable[object], audited: AuditedRun) -> list[AuditFinding]:
    """Hold every rule against a run.

    A rule that cannot be read or applied is a finding of kind ``metric_error``, one that lacks what it needs
    of the run a finding of kind ``missing_data``: of severity ``warning``, or ``info`` as the rule has it.
    """
    return [finding for index, given in enumerate(rules) for finding in _findings(index, given, audited)]


def _findings(index: int, given: object, audited: AuditedRun) -> Iterator[AuditFinding]:
    try:
        rule = AuditRule.model_validate(given)
    except ValidationError as error:
        broken = AuditRule(id=f"audit.rules[{index}]", allowed_tools=[])
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
        reason = f"the rule cannot be read: {problem}"
        yield _finding(broken, _Breach(reason, "contract.audit", None, "metric_error"))
        return
    for breach in _breaches(rule, audited):
        yield _finding(rule, breach)


def _breaches(rule: AuditRule, audited: AuditedRun) -> Iterator[_Breach]:
    if rule.forbidden is not None:
        yield from _content(rule.forbidden, audited.said, "forbidden")
    elif rule.required is not None:
        yield from _content(rule.required, audited.said, "required")
    elif rule.max_retention_days is not None:
        yield from _retention(rule.max_retention_days, audited)
    elif rule.allowed_domains is not None:
        yield from _domains(rule.allowed_domains, audited)
    else:
        yield from _used(rule, audited.actions)


def _content(
    rule: ContentRule, said: AgentTexts, demand: Literal["forbidden", "required"]
) -> Iterator[_Breach]:
    texts = said.texts_in(rule.where)
    where = _OUTPUT if rule.where == "final_output" else "agent_run.messages"
    if not texts.texts:
        yield _Breach("the run has no output to judge", where, None, "missing_data")
        return
    found = is_found_in(rule, texts)
    if found is None:
        yield _Breach("the text is too long for this rule", where, texts.texts[0], "metric_error")
    elif found == (demand == "forbidden"):
        yield _Breach(describe_answer(rule, texts, is_found=found, passed=False), where, texts.texts[-1])


def _retention(days: float, audited: AuditedRun) -> Iterator[_Breach]:
    if audited.now is None:
        yield _Breach("the clock gives no time with a zone", "clock", None, "metric_error")
        return
    problem = retention_problem(audited.metadata, days, audited.now)
    if problem is not None:
        kind: FindingKind = "policy" if problem[0] == "kept" else "missing_data"
        yield _Breach(problem[1], "run_metadata.timestamp", audited.metadata.get("timestamp"), kind)


def _used(rule: AuditRule, actions: Sequence[Action] | None) -> Iterator[_Breach]:
    if actions is None:
        yield _Breach(
            "the run does not record which tools it used", "agent_run.tool_calls", None, "missing_data"
        )
    else:
        yield from _tools(rule, actions)


def _tools(rule: AuditRule, actions: Sequence[Action]) -> Iterator[_Breach]:
    """Find the tools that may not be used: one breach a tool, at its first call."""
    calls: dict[str, list[int]] = {}
    for index, action in enumerate(actions):
        if action["kind"] == "tool" and not _permitted(rule, action["name"]):
            calls.setdefault(action["name"], []).append(index)
    for name, places in calls.items():
        where = f"agent_run.tool_calls[{places[0]}]"
        times = "once" if len(places) == 1 else f"{len(places)} times"
        yield _Breach(f"The tool {_short(name)} was called {times}; do not call it", where, name)


def _permitted(rule: AuditRule, tool: str) -> bool:
    if rule.forbidden_tools is not None:
        return tool not in rule.forbidden_tools
    return rule.allowed_tools is None or tool in rule.allowed_tools


def _domains(allowed: Sequence[str], audited: AuditedRun) -> Iterator[_Breach]:
    """Find addresses outside the allowed domains: one breach a place, with the first hosts."""
    for where, value in _addressed(audited):
        hosts = dict.fromkeys(host for text in _texts(value) for host in find_hosts(text))
        outside = [host for host in hosts if not any(is_within(host, domain) for domain in allowed)]
        if outside:
            named = ", ".join(_short(host) for host in outside[:_SHOWN_HOSTS])
            more = f" and {len(outside) - _SHOWN_HOSTS} more" if len(outside) > _SHOWN_HOSTS else ""
            problem = f"{name_place(where, 'contain')} addresses outside the allowed domains"
            reason = f"{problem}: {named}{more}; remove them"
            yield _Breach(reason, where, value)


def _addressed(audited: AuditedRun) -> Iterator[tuple[str, object]]:
    yield _OUTPUT, audited.output or ""
    for index, action in enumerate(audited.actions or ()):
        yield f"agent_run.tool_calls[{index}].args", action["args"]


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for name, one in value.items():
            yield from _texts(name, depth + 1)
            yield from _texts(one, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value:
            yield from _texts(one, depth + 1)


def _finding(rule: AuditRule, breach: _Breach) -> AuditFinding:
    return {
        "id": rule.id,
        "category": rule.category,
        "kind": breach.kind,
        "severity": _severity(rule, breach),
        "metric": "audit",
        "reason": _explain_breach(rule, breach),
        "where": breach.where,
        "evidence": {} if breach.evidence is None else dict(build_excerpt(breach.evidence)),
        "owner": rule.owner,
        "recommended_action": rule.recommended_action if breach.kind == "policy" else None,
    }


def _explain_breach(rule: AuditRule, breach: _Breach) -> str:
    reason = f"Rule {_short(rule.id)}: {breach.reason}"
    if breach.kind != "policy" or rule.recommended_action is None:
        return reason
    return f"{end_sentence(reason)} {rule.recommended_action}"


def _severity(rule: AuditRule, breach: _Breach) -> Severity:
    # what could not be judged is for somebody to look at, and says nothing against the agent
    return rule.severity if breach.kind == "policy" or rule.severity == "info" else "warning"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
