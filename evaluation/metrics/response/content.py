"""Checks content rules: a text, pattern, number or JSON value that an output must or must not contain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from evaluation.inputs.messages import assistant_parts, assistant_texts
from evaluation.inputs.rules import ContentRule
from evaluation.metrics.response.facts.amounts import read_worded_numbers
from evaluation.patterns.json_schema import find_schema_problem, matches_schema
from evaluation.patterns.regex import matches_pattern
from evaluation.results.findings import MetricOutcome, Unscored, build_outcome, missing_data, unscored_error
from evaluation.sensitive.quoting import quote_text
from evaluation.texts.disguises import contains_text, read_disguised, spell_strokes
from evaluation.texts.json_texts import read_json_in_prose, read_json_values
from evaluation.texts.normal import normalize_lines, normalize_text, states_text, unify_signs
from evaluation.texts.numbers import is_near, states_number
from evaluation.values import JsonObject, Severity

Place = Literal["final_output", "assistant_messages"]
Demand = Literal["required_content", "forbidden_content"]
_MAX_DESCRIBED: Final = 500
"""Most characters of a text or pattern in feedback to the agent, which has to know all of it."""
_SUBJECTS: Final = {
    "final_output": "The output",
    "assistant_messages": "The assistant's side of the conversation",
}

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

    def disguised_in(self, place: Place) -> list[str]:
        """Return further readings of these texts, in which forbidden content may hide."""
        texts = [*self.texts_in(place), *self._join_parts(place)]
        return list(dict.fromkeys(chain(texts, *map(read_disguised, texts))))[len(self.texts_in(place)) :]

    def _join_parts(self, place: Place) -> Iterator[str]:
        """Yield the messages of several parts, joined as a reader may see them."""
        for parts in assistant_parts(self.messages):
            if len(parts) > 1 and (place == "assistant_messages" or "".join(parts) == self.final):
                yield from ("".join(parts), " ".join(parts))


def is_required_in(rule: ContentRule, agent_texts: AgentTexts) -> bool | None:
    """Return whether a text of the agent has what ``rule`` requires; None if a text is too long to decide.

    A text is compared in normal form (NFKC), with white space collapsed. Hyphens and quotation marks match
    their typographic forms, unless the rule has no letter or digit. A pattern may match the text as it is, or
    in this form. A JSON Schema applies to the whole text or to all its fenced blocks. A number matches any
    common reading of a number in the text.
    """
    return _any_found({_has_required(rule, text) for text in agent_texts.texts_in(rule.where)})


def is_forbidden_in(rule: ContentRule, agent_texts: AgentTexts) -> bool | None:
    """Return whether a text of the agent has what ``rule`` forbids; None if a text is too long to decide.

    As ``is_required_in``, but also behind look-alikes, invisible characters and parts of a message, and in
    any fenced block or object in prose.
    """
    answers = {_is_found(rule, text) for text in agent_texts.texts_in(rule.where)}
    if True in answers:
        return True
    return _any_found({*answers, *(_is_found(rule, text) for text in agent_texts.disguised_in(rule.where))})


def _any_found(answers: Collection[bool | None]) -> bool | None:
    # One text that matches decides, even if another one is too long to search.
    if True in answers:
        return True
    return None if None in answers else False


def _has_required(rule: ContentRule, text: str) -> bool | None:
    if rule.text is not None and (normal := _normalize(rule.text, rule)):
        return states_text(_normalize(text, rule), normal)
    if rule.json_schema is not None:
        values = read_json_values(text)
        # One block that fits does not outweigh another one that says something else.
        return bool(values) and _all_match(rule.json_schema, values)
    return _is_found(rule, text)


def _normalize(text: str, rule: ContentRule) -> str:
    normal = normalize_text(text, ignore_case=rule.ignore_case)
    # A rule about a sign itself, such as a dash, means no other one.
    return unify_signs(normal) if any(map(str.isalnum, rule.text or "")) else normal


def _list_forms(text: str) -> list[str]:
    """List a text as it is and, if it differs, in normal form with the signs of ASCII; line breaks stay."""
    return list(dict.fromkeys([text, unify_signs(normalize_lines(text))]))


def _all_match(schema: Mapping[str, object] | bool, values: Sequence[object]) -> bool | None:
    answers = {matches_schema(schema, value) for value in values}
    return False if False in answers else None if None in answers else True


def _is_found(rule: ContentRule, text: str) -> bool | None:
    if rule.text is not None:
        normal = _normalize(rule.text, rule)
        # Normalising removes invisible characters, so a rule for one of them has no normal form.
        return contains_text(_normalize(text, rule), normal) if normal else rule.text in text
    if rule.pattern is not None:
        readings = dict.fromkeys(each for form in _list_forms(text) for each in spell_strokes(form))
        return _any_found({matches_pattern(rule.pattern, each) for each in readings})
    if rule.number is not None:
        return any(
            _states_number(each, rule.number, rule.tolerance) for each in spell_strokes(unify_signs(text))
        )
    schema = rule.json_schema is not None and rule.json_schema
    values = read_json_values(text)
    further = read_json_in_prose(text)
    answers = [matches_schema(schema, value) for value in [*values, *(further or ())]]
    return _any_found([*answers, None] if further is None else answers)


def _states_number(text: str, number: float, tolerance: float) -> bool:
    return states_number(text, number, tolerance) or any(
        is_near(value, number, tolerance) for value in read_worded_numbers(text)
    )


def content_checks(
    demand: Demand, rules: Sequence[JsonObject], agent_texts: AgentTexts
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
