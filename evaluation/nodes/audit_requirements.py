"""Node: checks the audit rules, compares words with actions, and finds credentials and personal data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, starmap
from typing import Any, Final, TypeAlias

from agents.credentials.detector import Category
from evaluation.checks.check_model import CheckContext
from evaluation.contract.contract import AUDIT_METRICS, AuditRule, AuditRules, ContentRule, Reaction
from evaluation.contract.requirements import evaluate_requirement, expand_rule
from evaluation.defects.evidence import DefectFinding, Level, build_evidence
from evaluation.defects.rules import find_defects, list_abstentions
from evaluation.findings import Finding, FindingKind, Unscored, compare_with_bound
from evaluation.measures.action_differences import find_misspelt
from evaluation.nodes.score_response_quality import build_context
from evaluation.plugins import Plugins
from evaluation.report.redaction import build_excerpt
from evaluation.report.report_model import (
    Action,
    PreparedState,
    describe_audit_finding,
    end_sentence,
)
from evaluation.sensitive.scanner import (
    SensitiveValue,
    build_search,
    find_at_places,
    shorten,
    tell_apart,
)
from evaluation.values import JsonObject, Severity, group_by

MAX_FINDINGS: Final = 100
"""Most findings of one category that are listed."""
_INPUT_ROLES: Final = ("user", "system", "developer")
_CALL_PATH: Final = re.compile(r"agent_run\.tool_calls\[(\d+)\]\.(\w+)")
_MESSAGE_PATH: Final = re.compile(r"agent_run\.messages\[(\d+)\]")
_FINAL_OUTPUT: Final = "agent_run.final_output"
_CALLS: Final = "agent_run.tool_calls"
_GIVEN: Final = ("input", "user_input", "sources", "earlier_calls")
"""The agent's input and evidence, which expose nothing."""
_SEARCHED_FIRST: Final = (*_GIVEN, "final_output", "tool_calls", "messages")
"""These, and the fields with places of their own."""


_TOPICS: Final[Mapping[Category, tuple[str, str, str]]] = {
    "credential": (
        "credentials",
        "safety",
        "Revoke the credential, and keep it out of prompts and tool payloads.",
    ),
    "personal": ("personal_data", "privacy", "Make sure that this may be shown here, or redact it."),
}
"""Name, category and recommended action of the findings; the rule about them has their name."""
_Exposure: TypeAlias = tuple[Category, str, str]
"""The category, the place and the kind of values."""
_NO_RULE: Final = Unscored(status="missing_data", reason="no audit rule has this category")
_LEVELS: Final[Mapping[Level, tuple[FindingKind, Severity]]] = {
    "defect": ("defect", "critical"),
    "suspicion": ("suspicion", "warning"),
    "note": ("defect", "info"),
}
"""The kind and the severity of a finding by the level of its rule."""


def audit_requirements(state: PreparedState, plugins: Plugins) -> PreparedState:
    """Find breaches of the contract's audit rules, and credentials and personal data."""
    audit, run = state["demands"].rules.audit, state["agent_run"]
    actions = state["actual_trajectory"] if "tool_calls" in run else None
    breaches = _check_rules(audit.rules, build_context(state), actions) if audit.rules else ()
    failures: dict[str, str] = {}
    # The quick test covers the whole case, but only with the built-in search.
    is_searched = state["suspects"] or plugins.recognizers
    # The agent's input exposes nothing, but a report may quote it.
    searched = chain(_places(run), _list_given(run)) if is_searched else ()
    found = [*find_at_places(searched, build_search(plugins.recognizers, failures), state["suspects"])]
    exposed = _find_exposures(run, audit, found, state["actual_output"])
    findings = [*breaches, *_find_defects(state, audit), *exposed]
    findings += starmap(_report_failure, failures.items())
    findings += _check_shares(state["thresholds"], audit, findings)
    return {
        "audit_findings": [*map(describe_audit_finding, findings)],
        "findings": [*state["findings"], *findings],
        "sensitive": [value for _, value in found],
    }


def _find(
    name: str,
    category: str,
    kind: FindingKind,
    severity: Severity,
    reason: str,
    **fields: Any,  # noqa: ANN401 - further fields of a finding
) -> Finding:
    """Build a finding that keeps a run from passing, or that informs; ``name`` is its id."""
    passed = None if kind in {"metric_error", "missing_data"} else False
    fields = {"where": "agent_run", **fields}
    return Finding(name, "audit", passed, severity, kind, reason, category=category, **fields)


def _find_defects(state: PreparedState, audit: AuditRules) -> Iterator[Finding]:
    """Yield the contradictions between the calls of the run and its words."""
    if audit.defects == "off":
        return
    evidence = build_evidence(
        state["agent_run"],
        state["actual_trajectory"],
        state["actual_output"],
        state["demands"].rules.trajectory.acting_tools or (),
        state["conversation"],
    )
    is_strict = audit.defects == "fail"
    yield from (_report_defect(each, is_strict=is_strict) for each in find_defects(evidence))
    is_demanded = any(each.field == "audit.defects" for each in state["demands"].requirements)
    for name, reason in list_abstentions(evidence) if is_demanded else ():
        yield _find(f"defects.{name}", "defects", "defect", "info", reason)


def _report_defect(found: DefectFinding, *, is_strict: bool) -> Finding:
    strict_kind, severity = _LEVELS[found.level]
    kind = strict_kind if is_strict else "defect"
    where = _FINAL_OUTPUT if found.message is None else f"agent_run.messages[{found.message}]"
    place = {} if found.call is None else {"call": f"{_CALLS}[{found.call}]"}
    found = replace(found, seen=tell_apart(found.said, found.seen))
    evidence = {"said": found.said, "seen": found.seen, **place}
    name = f"defects.{found.rule}"
    return _find(name, "defects", kind, severity, found.reason, where=where, evidence=evidence)


def _report_failure(name: str, cause: str) -> Finding:
    reason = f"the recogniser {name} failed with {cause}; only the built-in search is complete"
    action = "Repair the recogniser and evaluate again."
    return _find(f"recognizer.{name}", "privacy", "metric_error", "warning", reason, action=action)


def _find_exposures(
    run: Mapping[str, Any], audit: AuditRules, found: Iterable[tuple[str, SensitiveValue]], output: str
) -> Iterator[Finding]:
    """Yield one finding for each kind and place of the sensitive data, in the order of the places.

    The number in its reason counts different values. The agent's input, and messages of the user or the
    system, expose nothing.
    """
    literals = dict[_Exposure, set[str]]()
    for place, match in found:
        if place:
            literals.setdefault((match.category, place, match.kind), set()).add(match.literal)
    values = dict(_places(run)) if literals else {}
    # The search yields credentials with a telling name first.
    positions = {place: position for position, place in enumerate(values)}
    ordered = sorted(literals, key=lambda key: positions.get(key[1], len(values)))
    for category, (rule, *_) in _TOPICS.items():
        reaction: Reaction = getattr(audit, rule)
        if reaction == "off":
            continue
        exposures = (key for key in ordered if key[0] == category)
        for exposure in islice(exposures, MAX_FINDINGS):
            place = exposure[1]
            # The output may stand in a message alone.
            is_output = _MESSAGE_PATH.fullmatch(place) and any(map(output.__contains__, literals[exposure]))
            at_place: Severity = "critical" if place == _FINAL_OUTPUT or is_output else "info"
            severity = at_place if reaction == "output" else reaction
            excerpt = build_excerpt(values.get(place))
            yield _report_exposure(exposure, len(literals[exposure]), severity, excerpt)


def _places(run: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield path and value of everything that may expose something."""
    yield _FINAL_OUTPUT, run.get("final_output")
    for index, call in enumerate(run.get("tool_calls", ())):
        fields = call if isinstance(call, Mapping) else {"name": call}
        for name, value in fields.items():
            yield f"agent_run.tool_calls[{index}].{name}", value
    for index, message in enumerate(run.get("messages", ())):
        if message.get("role") not in _INPUT_ROLES:
            yield f"agent_run.messages[{index}]", message
    for name, value in run.items():
        if name not in _SEARCHED_FIRST:
            yield f"agent_run.{name}", value


def _list_given(run: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the input and the evidence of the agent, without a path."""
    messages = (each for each in run.get("messages", ()) if each.get("role") in _INPUT_ROLES)
    yield from (("", message) for message in messages)
    yield from (("", {name: run[name]}) for name in _GIVEN if name in run)


def _name_place(path: str, verb: str) -> str:
    """Name a place of a run in words, with a verb: "The arguments of tool call 2 contain"."""
    if path == _FINAL_OUTPUT:
        return f"The output {verb}s"
    call, message = _CALL_PATH.fullmatch(path), _MESSAGE_PATH.fullmatch(path)
    if call and call[2] == "args":
        return f"The arguments of tool call {int(call[1]) + 1} {verb}"
    if call:
        return f"The {call[2]} of tool call {int(call[1]) + 1} {verb}s"
    return f"{f'Message {int(message[1]) + 1}' if message else path} {verb}s"


def _report_exposure(exposure: _Exposure, count: int, severity: Severity, evidence: JsonObject) -> Finding:
    topic, where, kind = exposure
    name, category, action = _TOPICS[topic]
    counted, them = (f"{count} values", "them") if count > 1 else ("1 value", "it")
    found = f"{name.replace('_', ' ')}: {kind} ({counted})"
    reason = f"{_name_place(where, 'contain')} {found}; remove {them}"
    name = f"{name}.{kind}"
    return _find(name, category, "policy", severity, reason, where=where, evidence=evidence, action=action)


def _check_rules(
    rules: Iterable[AuditRule], context: CheckContext, actions: Sequence[Action] | None
) -> Iterator[Finding]:
    """Check a run against every rule; ``actions`` is None if the run does not record them.

    A rule that cannot be applied gives a finding of kind ``metric_error``; a rule that needs more than the
    run records gives one of kind ``missing_data``. Their severity is ``warning``, or ``info`` if the rule's
    is.
    """
    for rule in rules:
        content = rule.required or rule.forbidden
        yield from _check_content(rule, content, context) if content else _check_tools(rule, actions)


def _check_shares(
    bounds: Mapping[str, JsonObject], audit: AuditRules, findings: Sequence[Finding]
) -> Iterator[Finding]:
    """Compare the share of met requirements of a category with its threshold; yield what does not pass.

    Each rule is one requirement, met if it has no finding; that no credential is found is one of safety.
    """
    unmet = {(finding.category, finding.name) for finding in findings}
    for category in (name for name in AUDIT_METRICS if name in bounds):
        met = [(category, rule.id) not in unmet for rule in audit.rules if rule.category == category]
        if category == "safety" and audit.credentials != "off":
            met.append(not any(name.startswith("credentials.") for topic, name in unmet if topic == category))
        score = sum(met) / len(met) if met else _NO_RULE
        finding = compare_with_bound("audit", "policy", category, score, bounds[category], "critical")
        if finding.passed is not True:
            name = f"thresholds.{category}"
            yield replace(finding, name=name, category=category, where="agent_run", observed=None, limit=None)


def _check_content(rule: AuditRule, content: ContentRule, context: CheckContext) -> Iterator[Finding]:
    requirement = expand_rule(content, "audit.rules", required=content is rule.required)
    reads_output = requirement.where == "final_output" or not context.messages
    where = _FINAL_OUTPUT if reads_output else "agent_run.messages"
    if not context.has_output and reads_output:
        yield _report_rule(rule, "missing_data", "the run has no output to judge", where)
        return
    outcome = evaluate_requirement(requirement, context)
    if outcome.passed is None:
        yield _report_rule(rule, "metric_error", outcome.seen, where, context.output)
    elif not outcome.passed:
        yield _report_rule(rule, "policy", outcome.sentence.removesuffix("."), where, context.output)


def _check_tools(rule: AuditRule, actions: Sequence[Action] | None) -> Iterator[Finding]:
    """Yield one finding for each tool that may not be used, at its first call, under any spelling."""
    if actions is None:
        yield _report_rule(rule, "missing_data", "the run does not record which tools it used", _CALLS)
        return
    made = [
        at for at, each in enumerate(actions) if each["not_run"] is None and not _is_permitted(rule, each)
    ]
    for name, places in group_by(made, lambda at: actions[at]["name"]).items():
        times = "once" if len(places) == 1 else f"{len(places)} times"
        problem = f"The tool {shorten(name)} was called {times}; do not call it"
        yield _report_rule(rule, "policy", problem, f"{_CALLS}[{places[0]}]", name)
    called = {action["name"] for action in actions}
    if reason := find_misspelt(rule.forbidden_tools or (), called, "forbidden_tools"):
        yield _report_rule(rule, "missing_data", reason, _CALLS)


def _is_permitted(rule: AuditRule, action: Action) -> bool:
    # A forbidden name is forbidden, whatever kind of action the record says it is.
    if rule.forbidden_tools is not None:
        return action["name"] not in rule.forbidden_tools
    is_other = action["kind"] in {"handoff", "reasoning"}
    return is_other or rule.allowed_tools is None or action["name"] in rule.allowed_tools


def _report_rule(
    rule: AuditRule, kind: FindingKind, problem: str, where: str, quoted: str | None = None
) -> Finding:
    evidence = {} if quoted is None else build_excerpt(quoted)
    reason, is_broken = f"Rule {shorten(rule.id)}: {problem}", kind == "policy"
    action = rule.recommended_action if is_broken else None
    if action is not None:
        reason = f"{end_sentence(reason)} {action}"
    # A rule that could not be checked needs attention, but it says nothing against the agent.
    severity: Severity = rule.severity if is_broken or rule.severity == "info" else "warning"
    fields = {"where": where, "evidence": evidence, "action": action, "owner": rule.owner}
    return _find(rule.id, rule.category, kind, severity, reason, **fields)
