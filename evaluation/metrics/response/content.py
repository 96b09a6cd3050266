"""Checks content rules: a text, pattern, number or JSON value that an output must or must not contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from evaluation.checks import BaseCheck
from evaluation.checks.kinds.data_formats import JsonSchema
from evaluation.checks.kinds.notations import Pattern, StatesNumber
from evaluation.checks.kinds.wording import Contains, Excludes
from evaluation.checks.search import any_true, negate
from evaluation.inputs.messages import assistant_parts, assistant_texts
from evaluation.inputs.rules import ContentRule
from evaluation.patterns.json_schema import find_schema_problem
from evaluation.results.findings import MetricOutcome, Unscored, build_outcome, missing_data, unscored_error
from evaluation.sensitive.quoting import quote_text
from evaluation.texts.json_texts import read_json_values
from evaluation.values import JsonObject, Severity

Place = Literal["final_output", "assistant_messages"]
Demand = Literal["required_content", "forbidden_content"]
_MAX_DESCRIBED: Final = 500
"""Most characters of a text or pattern in feedback to the agent, which has to know all of it."""
_SUBJECTS: Final = {
    "final_output": "The output",
    "assistant_messages": "The assistant's side of the conversation",
}

_CACHED: Final = 256
_IN_MESSAGES: Final = " in the assistant's messages"


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """The texts of the agent: its final output, if there is one, and the recorded conversation."""

    final: str | None
    messages: object = None

    def texts_in(self, place: Place) -> list[str]:
        """Return the texts that a rule searches: the output, or each message and the output."""
        messages = assistant_texts(self.messages) if place == "assistant_messages" else ()
        return list(dict.fromkeys([*messages, *([] if self.final is None else [self.final])]))

    def read_texts_in(self, place: Place) -> list[str]:
        """Return these texts, and the messages of several parts as a reader may see them joined."""
        return list(dict.fromkeys([*self.texts_in(place), *self._join_parts(place)]))

    def _join_parts(self, place: Place) -> Iterator[str]:
        """Yield the messages of several parts, joined as a reader may see them."""
        for parts in assistant_parts(self.messages):
            if len(parts) > 1 and (place == "assistant_messages" or "".join(parts) == self.final):
                yield from ("".join(parts), " ".join(parts))


def is_required_in(rule: ContentRule, agent_texts: AgentTexts) -> bool | None:
    """Return whether a text of the agent has what ``rule`` requires; None if a text is too long to decide.

    The checks of the vocabulary decide, see ``build_check``.
    """
    check = build_check(rule, required=True)
    return any_true({check.holds(text) for text in agent_texts.texts_in(rule.where)})


def is_forbidden_in(rule: ContentRule, agent_texts: AgentTexts) -> bool | None:
    """Return whether a text of the agent has what ``rule`` forbids; None if a text is too long to decide.

    As ``is_required_in``, but also behind disguises and in the parts of a message.
    """
    check = build_check(rule, required=False)
    return any_true({negate(check.holds(text)) for text in agent_texts.read_texts_in(rule.where)})


def build_check(rule: ContentRule, *, required: bool) -> BaseCheck:
    """Write a content rule as a check of one text."""
    if rule.text is not None:
        return _search_text(rule.text, required=required, ignore_case=rule.ignore_case)
    if rule.pattern is not None:
        return _search_pattern(rule.pattern, required=required)
    if rule.number is not None:
        return StatesNumber(number=rule.number, tolerance=rule.tolerance, present=required)
    schema = rule.json_schema is not None and rule.json_schema
    return JsonSchema(json_schema=schema, alone=False, matches=required)


# Cached, because many runs have the same contract.
@lru_cache(_CACHED)
def _search_text(text: str, *, required: bool, ignore_case: bool) -> BaseCheck:
    kind = Contains if required else Excludes
    return kind(texts=[text], ignore_case=ignore_case, whole_words=False)


@lru_cache(_CACHED)
def _search_pattern(pattern: str, *, required: bool) -> BaseCheck:
    return Pattern(pattern=pattern, matches=required)


def content_checks(
    demand: Demand, rules: Sequence[JsonObject | ContentRule], agent_texts: AgentTexts
) -> list[MetricOutcome]:
    """Build one check for each rule; its reason quotes the rule and nothing of the agent's texts."""
    return [
        _check_rule(demand, index, ContentRule.model_validate(rule), agent_texts)
        for index, rule in enumerate(rules)
    ]


def _check_rule(demand: Demand, index: int, rule: ContentRule, agent_texts: AgentTexts) -> MetricOutcome:
    rule = with_default_place(rule, agent_texts) if demand == "forbidden_content" else rule
    texts = agent_texts.texts_in(rule.where)
    is_found = (is_required_in if demand == "required_content" else is_forbidden_in)(rule, agent_texts)
    if is_found is None or not texts:
        problem = "the text is too long for it" if texts else "the run has no final output"
        reason = f"{demand}[{index}] ({_describe_rule(rule)}) cannot be judged: {problem}"
        # At most a warning: an undecided check needs a person, but is no evidence against the agent.
        severity: Severity = "info" if rule.severity == "info" else "warning"
        return build_outcome("metric_error" if texts else "missing_data", demand, None, severity, reason)
    passed = is_found == (demand == "required_content")
    reason = describe_answer(rule, texts, is_found=is_found, passed=passed)
    seen = "found" if is_found else _describe_failure(rule, texts)
    limit = f"{_describe_rule(rule)}{'' if rule.where == 'final_output' else _IN_MESSAGES}"
    return build_outcome("response", demand, passed, rule.severity, reason, seen, limit)


def with_default_place(rule: ContentRule, agent_texts: AgentTexts) -> ContentRule:
    """Let a rule that forbids, and names no place, search all that the assistant said."""
    has_more = agent_texts.texts_in("assistant_messages") != agent_texts.texts_in("final_output")
    if "where" in rule.model_fields_set or not has_more:
        return rule
    return rule.model_copy(update={"where": "assistant_messages"})


def describe_answer(rule: ContentRule, texts: Sequence[str], *, is_found: bool, passed: bool) -> str:
    """Say in one sentence whether the texts contain the content of a rule, and how to correct them."""
    statement = f"{_SUBJECTS[rule.where]} {'contains' if is_found else 'lacks'} {_describe_content(rule)}"
    if passed:
        return f"{statement}, as required"
    if is_found:
        return f"{statement}; remove it"
    place = f" ({_describe_failure(rule, texts)})" if rule.json_schema is not None else ""
    return f"{statement}{place}; include it"


def _describe_content(rule: ContentRule) -> str:
    if rule.json_schema is not None:
        return "JSON that matches the JSON Schema"
    return f"{'a match of ' if rule.pattern is not None else ''}the {_describe_rule(rule)}"


def _describe_failure(rule: ContentRule, texts: Sequence[str]) -> str:
    """Say how a rule is not met; for JSON, name the place in the schema."""
    if rule.json_schema is None:
        return "not found"
    values = [value for text in texts for value in read_json_values(text)]
    problem = find_schema_problem(rule.json_schema, values[0]) if values else None
    return "not JSON" if problem is None else f"JSON in which {problem}"


def _describe_rule(rule: ContentRule) -> str:
    """Name the text, pattern, number or schema of a rule."""
    if rule.text is not None:
        return f"text {quote_text(rule.text, _MAX_DESCRIBED)}"
    if rule.pattern is not None:
        return f"pattern {quote_text(rule.pattern, _MAX_DESCRIBED)}"
    if rule.number is not None:
        return f"number {rule.number!r}{f' +/- {rule.tolerance!r}' if rule.tolerance else ''}"
    return "json_schema"


def content_score(checks: Sequence[MetricOutcome]) -> float | int | Unscored:
    """Score the checks (at least one) of one demand; there is no value if one of them is undecided.

    For required content the share that is found, for forbidden content the number that is found.
    """
    undecided = next((check for check in checks if check["passed"] is None), None)
    if undecided is not None:
        is_missing = undecided["kind"] == "missing_data"
        return missing_data(undecided["reason"]) if is_missing else unscored_error(undecided["reason"])
    met = sum(check["passed"] is True for check in checks)
    return met / len(checks) if checks[0]["metric"] == "required_content" else len(checks) - met
