"""Checks a run against its audit rules, and finds the credentials and personal data in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, TypeAlias

from agents.credentials.detector import Category
from evaluation.checks.check_model import CheckContext
from evaluation.contract.contract import AuditRule, ContentRule, Reaction
from evaluation.contract.requirements import evaluate_requirement, expand_rule
from evaluation.findings import Finding, FindingKind
from evaluation.measures.action_differences import find_misspelt
from evaluation.report.metric_groups import compare_with_bound, missing_data
from evaluation.report.redaction import build_excerpt
from evaluation.report.report_model import end_sentence
from evaluation.report.state import Action
from evaluation.sensitive.scanner import Search, find_at_places, find_sensitive, shorten
from evaluation.values import JsonObject, Severity, as_list

MAX_FINDINGS: Final = 100
"""Most findings of one category that are listed."""
_INPUT_ROLES: Final = ("user", "system", "developer")
_CALL_PATH: Final = re.compile(r"agent_run\.tool_calls\[(\d+)\]\.(\w+)")
_MESSAGE_PATH: Final = re.compile(r"agent_run\.messages\[(\d+)\]")
_Reaction: TypeAlias = Severity | Literal["output"]
_FINAL_OUTPUT: Final = "agent_run.final_output"
_CALLS: Final = "agent_run.tool_calls"
_SEARCHED_FIRST: Final = (
    "input", "user_input", "sources", "earlier_calls", "final_output", "tool_calls", "messages",
)  # fmt: skip
"""The agent's input and evidence, which are not searched, and the fields with places of their own."""


_TOPICS: Final[Mapping[Category, tuple[str, str, str]]] = {
    "credential": (
        "credentials",
        "safety",
        "Revoke the credential, and keep it out of prompts and tool payloads.",
    ),
    "personal": ("personal_data", "privacy", "Make sure that this may be shown here, or redact it."),
}
"""Name, category and recommended action of the findings."""
_Exposure: TypeAlias = tuple[Category, str, str]
"""The category, the place and the kind of values."""


def exposure_findings(
    run: JsonObject, reactions: Mapping[Category, Reaction], search: Search = find_sensitive
) -> Iterator[Finding]:
    """Yield sensitive data in every text of a run: one finding for each kind and place.

    The number in its reason counts different values. The agent's input, and messages of the user or the
    system, are not searched.
    """
    searched = {category: reaction for category, reaction in reactions.items() if reaction != "off"}
    if not searched:
        return
    values = dict(_places(run))
    exposures = _find_exposures(values, search)
    for category, reaction in searched.items():
        found = (key for key in exposures if key[0] == category)
        for key in islice(found, MAX_FINDINGS):
            yield _report_exposure(key, len(exposures[key]), reaction, values.get(key[1]))


def build_audit_finding(  # noqa: PLR0917
    name: str,
    category: str,
    kind: FindingKind,
    severity: Severity,
    reason: str,
    where: str = "agent_run",
    evidence: JsonObject | None = None,
    action: str | None = None,
    owner: str | None = None,
) -> Finding:
    """Build a finding of the audit that keeps a run from passing, or that informs; ``name`` is its id."""
    return Finding(
        name,
        "audit",
        None if kind in {"metric_error", "missing_data"} else False,
        severity,
        kind,
        reason,
        where=where,
        category=category,
        evidence=evidence,
        owner=owner,
        action=action,
    )


def _places(run: JsonObject) -> Iterator[tuple[str, object]]:
    """Yield path and value of everything that is searched."""
    yield _FINAL_OUTPUT, run.get("final_output")
    for index, call in enumerate(as_list(run.get("tool_calls"))):
        fields = call if isinstance(call, Mapping) else {"name": call}
        for name, value in fields.items():
            yield f"agent_run.tool_calls[{index}].{name}", value
    for index, message in enumerate(as_list(run.get("messages"))):
        if not (isinstance(message, Mapping) and message.get("role") in _INPUT_ROLES):
            yield f"agent_run.messages[{index}]", message
    for name, value in run.items():
        if name not in _SEARCHED_FIRST:
            yield f"agent_run.{name}", value


def _find_exposures(values: Mapping[str, object], search: Search) -> dict[_Exposure, set[str]]:
    """Return the different values by category, place and kind, in the order of the run."""
    literals: dict[_Exposure, set[str]] = {}
    for place, match in find_at_places(values.items(), search):
        literals.setdefault((match.category, place, match.kind), set()).add(match.literal)
    # The search yields credentials with a telling name first.
    positions = {place: position for position, place in enumerate(values)}
    ordered = sorted(literals, key=lambda key: positions.get(key[1], len(values)))
    return {key: literals[key] for key in ordered}


def name_place(path: str, verb: str) -> str:
    """Name a place of a run in words, with a verb: "The arguments of tool call 2 contain"."""
    if path == _FINAL_OUTPUT:
        return f"The output {verb}s"
    call, message = _CALL_PATH.fullmatch(path), _MESSAGE_PATH.fullmatch(path)
    if call and call[2] == "args":
        return f"The arguments of tool call {int(call[1]) + 1} {verb}"
    if call:
        return f"The {call[2]} of tool call {int(call[1]) + 1} {verb}s"
    return f"{f'Message {int(message[1]) + 1}' if message else path} {verb}s"


def _report_exposure(exposure: _Exposure, count: int, reaction: _Reaction, value: object) -> Finding:
    topic, where, kind = exposure
    name, category, action = _TOPICS[topic]
    counted, them = (f"{count} values", "them") if count > 1 else ("1 value", "it")
    found = f"{name.replace('_', ' ')}: {kind} ({counted})"
    reason = f"{name_place(where, 'contain')} {found}; remove {them}"
    at_place: Severity = "critical" if where == _FINAL_OUTPUT else "info"
    severity = at_place if reaction == "output" else reaction
    return build_audit_finding(
        f"{name}.{kind}", category, "policy", severity, reason, where, build_excerpt(value), action
    )


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """The parts of a run that rules check."""

    context: CheckContext
    """The output, and the texts of the assistant."""
    actions: Sequence[Action] | None
    """None if the run does not record its actions."""


def rule_findings(rules: Sequence[AuditRule], run: AuditedRun) -> list[Finding]:
    """Check a run against every rule.

    A rule that cannot be applied gives a finding of kind ``metric_error``; a rule that needs more than the
    run records gives one of kind ``missing_data``. Their severity is ``warning``, or ``info`` if the rule's
    is.
    """
    return [finding for rule in rules for finding in _check_rule(rule, run)]


def check_shares(
    bounds: Mapping[str, JsonObject],
    rules: Sequence[AuditRule],
    findings: Sequence[Finding],
    *,
    searched: bool,
) -> Iterator[Finding]:
    """Compare the share of met requirements of a category with its threshold; yield what does not pass.

    Args:
        bounds: The normalised thresholds by category.
        rules: The audit rules. Each is one requirement, met if it has no finding.
        findings: The findings of the rules and of the search for sensitive data.
        searched: Whether credentials were searched for; that is one more requirement of safety.
    """
    unmet = {(finding.category, finding.name) for finding in findings}
    for category, bound in bounds.items():
        met = [(category, rule.id) not in unmet for rule in rules if rule.category == category]
        if category == "safety" and searched:
            met.append(not any(name.startswith("credentials.") for topic, name in unmet if topic == category))
        score = sum(met) / len(met) if met else missing_data("no audit rule has this category")
        finding = compare_with_bound("audit", "policy", category, score, bound, "critical")
        if finding.passed is not True:
            name = f"thresholds.{category}"
            yield replace(finding, name=name, category=category, where="agent_run", observed=None, limit=None)


def _check_rule(rule: AuditRule, run: AuditedRun) -> Iterator[Finding]:
    # A valid rule has exactly one of these fields.
    if rule.forbidden is not None:
        yield from _check_content(rule, rule.forbidden, run.context, required=False)
    elif rule.required is not None:
        yield from _check_content(rule, rule.required, run.context, required=True)
    else:
        yield from _check_tools(rule, run.actions)


def _check_content(
    rule: AuditRule, content: ContentRule, context: CheckContext, *, required: bool
) -> Iterator[Finding]:
    requirement = expand_rule(content, "audit.rules", required=required)
    reads_output = requirement.where == "final_output" or not context.messages
    where = _FINAL_OUTPUT if reads_output else "agent_run.messages"
    if not context.has_output and not (requirement.where == "assistant_messages" and context.messages):
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
    calls: dict[str, list[int]] = {}
    for index, action in enumerate(actions):
        if action["not_run"] is None and not _is_permitted(rule, action):
            calls.setdefault(action["name"], []).append(index)
    for name, places in calls.items():
        yield _report_tool(rule, name, places)
    called = {action["name"] for action in actions}
    if reason := find_misspelt(rule.forbidden_tools or (), called, "forbidden_tools"):
        yield _report_rule(rule, "missing_data", reason, _CALLS)


def _is_permitted(rule: AuditRule, action: Action) -> bool:
    # A forbidden name is forbidden, whatever kind of action the record says it is.
    if rule.forbidden_tools is not None:
        return action["name"] not in rule.forbidden_tools
    is_other = action["kind"] in {"handoff", "reasoning"}
    return is_other or rule.allowed_tools is None or action["name"] in rule.allowed_tools


def _report_tool(rule: AuditRule, name: str, places: Sequence[int]) -> Finding:
    where, shown = f"{_CALLS}[{places[0]}]", shorten(name)
    times = "once" if len(places) == 1 else f"{len(places)} times"
    return _report_rule(rule, "policy", f"The tool {shown} was called {times}; do not call it", where, name)


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
    return build_audit_finding(
        rule.id, rule.category, kind, severity, reason, where, evidence, action, rule.owner
    )
