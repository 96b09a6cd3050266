"""Credentials and personal data in what a run said and did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.inputs.rules import Reaction, Severity
from evaluation.results.findings import AuditFinding
from evaluation.results.redaction import UNSEARCHED, WITHHELD_ACTION, build_excerpt
from evaluation.sensitive.json_values import Search, encode_json, find_at_places
from evaluation.sensitive.scanner import find_sensitive, may_contain_sensitive
from evaluation.sensitive.spans import Category
from evaluation.values import JsonObject, as_list

MAX_FINDINGS: Final = 100
"""Findings of one category that are listed; what is beyond is counted."""
_GIVEN_ROLES: Final = ("user", "system", "developer")
_CALL_PATH: Final = re.compile(r"agent_run\.tool_calls\[(\d+)\]\.(\w+)")
_MESSAGE_PATH: Final = re.compile(r"agent_run\.messages\[(\d+)\]")
_CALL_FIELDS: Final = ("name", "args", "result", "error")


@dataclass(frozen=True, slots=True)
class _Sort:
    name: Literal["credentials", "personal_data"]
    category: Literal["safety", "privacy"]
    action: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """Values of one kind at one place."""

    sort: Category
    kind: str
    count: int
    where: str
    value: object


_SORTS: Final[Mapping[Category, _Sort]] = {
    "credential": _Sort(
        "credentials", "safety", "Revoke the credential, and keep it out of prompts and tool payloads."
    ),
    "personal": _Sort(
        "personal_data", "privacy", "Make sure that this may be shown here; redact it where it may not."
    ),
}


def exposure_findings(
    run: JsonObject, reactions: Mapping[Category, Reaction], search: Search = find_sensitive
) -> list[AuditFinding]:
    """List what is sensitive in outputs, tool payloads and messages: one finding a kind and place.

    The count in its reason is that of different values. What the agent was told is no finding: the input,
    and messages of the user or the system. Of each category ``MAX_FINDINGS`` are listed, and one more
    counts the rest.
    """
    if not any(_severity(reaction) for reaction in reactions.values()):
        return []
    if search is find_sensitive and not may_contain_sensitive(encode_json(run)):
        return []
    values = dict(_places(run))
    seen = _seen(values, search)
    listed = [
        finding
        for sort, reaction in reactions.items()
        if (severity := _severity(reaction)) is not None
        for finding in _listed([one for one in seen if one.sort == sort], severity)
    ]
    return [*listed, *([_UNSEARCHED] if any(one.sort == "unsearched" for one in seen) else [])]


_UNSEARCHED: Final[AuditFinding] = {
    "id": "sensitive.unsearched",
    "category": "privacy",
    "kind": "metric_error",
    "severity": "warning",
    "metric": "audit",
    "reason": UNSEARCHED,
    "where": "agent_run",
    "evidence": {},
    "owner": None,
    "recommended_action": WITHHELD_ACTION,
}


def _severity(reaction: Reaction) -> Severity | None:
    return None if reaction == "off" else reaction


def _listed(seen: list[_Seen], severity: Severity) -> Iterator[AuditFinding]:
    for one in seen[:MAX_FINDINGS]:
        count, them = (f"{one.count} values", "them") if one.count > 1 else ("1 value", "it")
        reason = f"{name_place(one.where, 'contain')} {_words(one.sort)}: {one.kind} ({count}); remove {them}"
        yield _finding(one, severity, reason, dict(build_excerpt(one.value)))
    more = len(seen) - MAX_FINDINGS
    if more > 0:
        rest = _Seen(seen[0].sort, "more", more, "agent_run", None)
        yield _finding(rest, severity, f"{more} more findings of {_words(rest.sort)} are not listed", {})


def name_place(path: str, verb: str) -> str:
    """Name a place of a run in words, with a verb: "The arguments of tool call 2 contain"."""
    if path == "agent_run.final_output":
        return f"The output {verb}s"
    call, message = _CALL_PATH.fullmatch(path), _MESSAGE_PATH.fullmatch(path)
    if call and call[2] == "args":
        return f"The arguments of tool call {int(call[1]) + 1} {verb}"
    if call:
        return f"The {call[2]} of tool call {int(call[1]) + 1} {verb}s"
    return f"{f'Message {int(message[1]) + 1}' if message else path} {verb}s"


def _words(sort: Category) -> str:
    return _SORTS[sort].name.replace("_", " ")


def _finding(one: _Seen, severity: Severity, reason: str, evidence: dict[str, object]) -> AuditFinding:
    sort = _SORTS[one.sort]
    return {
        "id": f"{sort.name}.{one.kind}",
        "category": sort.category,
        "kind": "policy",
        "severity": severity,
        "metric": "audit",
        "reason": reason,
        "where": one.where,
        "evidence": evidence,
        "owner": None,
        "recommended_action": sort.action,
    }


def _places(run: JsonObject) -> Iterator[tuple[str, object]]:
    """Yield path and value of everything that is looked through."""
    yield "agent_run.final_output", run.get("final_output")
    for index, call in enumerate(as_list(run.get("tool_calls"))):
        fields = call if isinstance(call, Mapping) else {"name": call}
        for name in _CALL_FIELDS:
            yield f"agent_run.tool_calls[{index}].{name}", fields.get(name)
    for index, message in enumerate(as_list(run.get("messages"))):
        if not _is_given(message):
            yield f"agent_run.messages[{index}]", message


def _is_given(message: object) -> bool:
    """Whether a message is what the agent was told, and not what it said or did."""
    return isinstance(message, Mapping) and message.get("role") in _GIVEN_ROLES


def _seen(values: Mapping[str, object], search: Search) -> list[_Seen]:
    literals: dict[tuple[str, Category, str], set[str]] = {}
    for place, one in find_at_places(values.items(), search):
        literals.setdefault((place, one.category, one.kind), set()).add(one.literal)
    seen = [
        _Seen(sort, kind, len(found), place, values.get(place))
        for (place, sort, kind), found in literals.items()
    ]
    order = {place: at for at, place in enumerate(values)}
    return sorted(seen, key=lambda one: order.get(one.where, len(order)))
