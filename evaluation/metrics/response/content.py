"""Checks content rules: a text, pattern, number or JSON value that an output must or must not contain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NoReturn

from evaluation.inputs.messages import assistant_texts
from evaluation.inputs.patterns import MAX_SHOWN, find_schema_problem, matches_pattern, quote_text
from evaluation.inputs.rules import ContentRule, Severity
from evaluation.metrics.response.numbers import states_number
from evaluation.metrics.response.text import normalize_text
from evaluation.results.findings import MetricOutcome, Unscored, build_outcome, missing_data, unscored_error
from evaluation.values import JsonObject

Demand = Literal["required_content", "forbidden_content"]
_MAX_DESCRIBED: Final = 500
"""Most characters of a text or pattern in feedback to the agent, which has to know all of it."""
_PLACES: Final = {"final_output": "the final output", "assistant_messages": "the assistant's messages"}
_SUBJECTS: Final = {
    "final_output": "The output",
    "assistant_messages": "The assistant's side of the conversation",
}


@dataclass(frozen=True)
class SearchedTexts:
    """Texts that rules search, one by one; their normal forms are computed once for all rules."""

    texts: tuple[str, ...]

    @cached_property
    def casefold_texts(self) -> tuple[str, ...]:
        """The texts in normal form, case-folded."""
        return tuple(normalize_text(text) for text in self.texts)

    @cached_property
    def normal_texts(self) -> tuple[str, ...]:
        """The texts in normal form, case kept."""
        return tuple(normalize_text(text, ignore_case=False) for text in self.texts)

    @cached_property
    def values(self) -> tuple[object, ...]:
        """The JSON values in the texts: a whole text, or its fenced blocks."""
        return tuple(value for text in self.texts for value in read_json_values(text))


@dataclass(frozen=True)
class AgentTexts:
    """The texts of the agent: its final output, if there is one, and the recorded conversation."""

    final: str | None
    messages: object = None

    @cached_property
    def final_output(self) -> SearchedTexts:
        """The final output alone."""
        return SearchedTexts(() if self.final is None else (self.final,))

    @cached_property
    def assistant_messages(self) -> SearchedTexts:
        """The assistant's messages, and the final output if it is none of them."""
        messages = tuple(assistant_texts(self.messages))
        return SearchedTexts((*messages, *(text for text in self.final_output.texts if text not in messages)))

    def texts_in(self, place: Literal["final_output", "assistant_messages"]) -> SearchedTexts:
        """Return the texts that a rule searches."""
        return self.final_output if place == "final_output" else self.assistant_messages


def is_found_in(rule: ContentRule, texts: SearchedTexts) -> bool | None:
    """Return whether one of ``texts`` contains what ``rule`` names; None if a text is too long to decide.

    A text is compared in normal form (NFKC), with white space collapsed. A JSON Schema applies to the
    whole text or a fenced block. A number matches any common reading of a number in the text.
    """
    if rule.text is not None:
        return _contains_text(texts, rule.text, rule.ignore_case)
    if rule.pattern is not None:
        return _any_answer(matches_pattern(rule.pattern, text) for text in texts.texts)
    if rule.number is not None:
        return _any_answer(states_number(text, rule.number, rule.tolerance) for text in texts.texts)
    schema = rule.json_schema is not None and rule.json_schema
    return any(find_schema_problem(schema, value) is None for value in texts.values)


def _contains_text(texts: SearchedTexts, text: str, ignore_case: bool) -> bool:
    normal = normalize_text(text, ignore_case=ignore_case)
    if not normal:  # only invisible characters, which normalising removes
        return any(text in searched for searched in texts.texts)
    return any(
        normal in searched for searched in (texts.casefold_texts if ignore_case else texts.normal_texts)
    )


def _any_answer(answers: Iterable[bool | None]) -> bool | None:
    # One text that matches decides, even if another one is too long to search.
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def read_json_values(text: str) -> list[object]:
    """Read ``text`` as one JSON value; if it is none, read its fenced blocks."""
    return _parse_json(text) or [value for block in text.split("```")[1::2] for value in _parse_block(block)]


def _parse_block(block: str) -> list[object]:
    # The first line may name the language of the block.
    return _parse_json(block) or _parse_json(block.partition("\n")[2])


def _parse_json(text: str) -> list[object]:
    try:
        return [json.loads(text.strip().lstrip("\ufeff"), parse_constant=_reject_constant)]
    except (ValueError, RecursionError):
        return []


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def content_checks(
    demand: Demand, rules: Sequence[JsonObject], agent_texts: AgentTexts
) -> list[MetricOutcome]:
    """Build one check for each rule; its reason quotes the rule and nothing of the agent's texts."""
    return [
        _check_rule(demand, index, ContentRule.model_validate(rule), agent_texts)
        for index, rule in enumerate(rules)
    ]


def _check_rule(demand: Demand, index: int, rule: ContentRule, agent_texts: AgentTexts) -> MetricOutcome:
    texts = agent_texts.texts_in(rule.where)
    name = f"{demand}[{index}] ({describe_rule(rule)})"
    if not texts.texts:
        reason = f"{name} cannot be judged: the run has no final output"
        return _build_undecided("missing_data", demand, reason, rule)
    is_found = is_found_in(rule, texts)
    if is_found is None:
        reason = f"{name} cannot be judged: the text is too long for it"
        return _build_undecided("metric_error", demand, reason, rule)
    passed = is_found == (demand == "required_content")
    reason = describe_answer(rule, texts, is_found=is_found, passed=passed)
    seen = "found" if is_found else _describe_failure(rule, texts)
    return build_outcome("response", demand, passed, rule.severity, reason, seen, _describe_at_length(rule))


def _build_undecided(
    kind: Literal["missing_data", "metric_error"], demand: Demand, reason: str, rule: ContentRule
) -> MetricOutcome:
    # At most a warning: an undecided check needs a person, but is no evidence against the agent.
    severity: Severity = "info" if rule.severity == "info" else "warning"
    return build_outcome(kind, demand, None, severity, reason)


def describe_answer(rule: ContentRule, texts: SearchedTexts, *, is_found: bool, passed: bool) -> str:
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
    return f"{'a match of ' if rule.pattern is not None else ''}the {describe_rule(rule, _MAX_DESCRIBED)}"


def _describe_failure(rule: ContentRule, texts: SearchedTexts) -> str:
    """Say how a rule is not met; for JSON, name the place in the schema."""
    if rule.json_schema is None:
        return "not found"
    problem = find_schema_problem(rule.json_schema, texts.values[0]) if texts.values else None
    return "no JSON" if problem is None else f"JSON in which {problem}"


def _describe_at_length(rule: ContentRule) -> str:
    """Describe a rule in full, for feedback to the agent."""
    where = "" if rule.where == "final_output" else f" in {_PLACES[rule.where]}"
    return f"{describe_rule(rule, _MAX_DESCRIBED)}{where}"


def describe_rule(rule: ContentRule, limit: int = MAX_SHOWN) -> str:
    """Name the text, pattern, number or schema of a rule, with at most ``limit`` characters of it."""
    if rule.text is not None:
        return f"text {quote_text(rule.text, limit)}"
    if rule.pattern is not None:
        return f"pattern {quote_text(rule.pattern, limit)}"
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
