"""What a text has to hold, or must not: a text, a pattern, JSON of a schema, a number."""

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
from evaluation.metrics.response.text import plain
from evaluation.results.findings import MetricOutcome, Unscored, build_outcome, missing_data, unscored_error
from evaluation.values import JsonObject

Demand = Literal["required_content", "forbidden_content"]
_LONG: Final = 500
"""Characters of a text or pattern that are shown to whoever has to meet it."""
_PLACES: Final = {"final_output": "the final output", "assistant_messages": "the assistant's messages"}


@dataclass(frozen=True)
class Texts:
    """Texts in which rules look for something, each on its own; what rules need of them is made once."""

    texts: tuple[str, ...]

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The texts in normal form, case-folded."""
        return tuple(plain(text) for text in self.texts)

    @cached_property
    def normal(self) -> tuple[str, ...]:
        """The texts in normal form, case kept."""
        return tuple(plain(text, ignore_case=False) for text in self.texts)

    @cached_property
    def values(self) -> tuple[object, ...]:
        """The JSON values that the texts are, or that their fenced blocks are."""
        return tuple(value for text in self.texts for value in json_values(text))


@dataclass(frozen=True)
class Said:
    """What the agent said: its final output, if it gave one, and the recorded conversation."""

    final: str | None
    messages: object = None

    @cached_property
    def final_output(self) -> Texts:
        """The final output alone."""
        return Texts(() if self.final is None else (self.final,))

    @cached_property
    def assistant_messages(self) -> Texts:
        """The assistant's messages, and the final output if it is none of them."""
        said = tuple(assistant_texts(self.messages))
        return Texts((*said, *(text for text in self.final_output.texts if text not in said)))

    def where(self, place: Literal["final_output", "assistant_messages"]) -> Texts:
        """Give the texts that a rule looks at."""
        return self.final_output if place == "final_output" else self.assistant_messages


def found_in(rule: ContentRule, texts: Texts) -> bool | None:
    """Say whether any of ``texts`` holds what ``rule`` names; None where a text is too long to tell.

    A text is compared in normal form (NFKC), with white space collapsed; a JSON Schema is fulfilled by the
    whole text or a fenced block; a number is met by any common reading of one that the text states.
    """
    if rule.text is not None:
        return _holds(texts, rule.text, rule.ignore_case)
    if rule.pattern is not None:
        return _any(matches_pattern(rule.pattern, text) for text in texts.texts)
    if rule.number is not None:
        return _any(states_number(text, rule.number, rule.tolerance) for text in texts.texts)
    schema = rule.json_schema is not None and rule.json_schema
    return any(find_schema_problem(schema, value) is None for value in texts.values)


def _holds(texts: Texts, text: str, ignore_case: bool) -> bool:
    wanted = plain(text, ignore_case=ignore_case)
    if not wanted:  # invisible characters only
        return any(text in one for one in texts.texts)
    return any(wanted in one for one in (texts.folded if ignore_case else texts.normal))


def _any(answers: Iterable[bool | None]) -> bool | None:
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def json_values(text: str) -> list[object]:
    """Read ``text`` as one JSON value, or else each of its fenced blocks that is one."""
    whole = _json(text)
    blocks = text.split("```")[1::2] if not whole else []
    return whole or [value for block in blocks for value in _json(block) or _json(block.partition("\n")[2])]


def _json(text: str) -> list[object]:
    try:
        return [json.loads(text.strip().lstrip("\ufeff"), parse_constant=_refused)]
    except (ValueError, RecursionError):
        return []


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def content_checks(demand: Demand, rules: Sequence[JsonObject], said: Said) -> list[MetricOutcome]:
    """Make one check a rule; its reason names the rule, and quotes nothing of what was said."""
    return [
        _checked(demand, index, ContentRule.model_validate(rule), said) for index, rule in enumerate(rules)
    ]


def _checked(demand: Demand, index: int, rule: ContentRule, said: Said) -> MetricOutcome:
    texts = said.where(rule.where)
    name = f"{demand}[{index}] ({described(rule)})"
    if not texts.texts:
        return _open("missing_data", demand, f"{name} cannot be judged: the run has no final output", rule)
    found = found_in(rule, texts)
    if found is None:
        return _open("metric_error", demand, f"{name} cannot be judged: the text is too long for it", rule)
    passed = found == (demand == "required_content")
    reason = f"{name} is {'' if found else 'not '}found in {_PLACES[rule.where]}"
    seen = "found" if found else _lacking(rule, texts)
    return build_outcome("response", demand, passed, rule.severity, reason, seen, _looked_for(rule))


def _open(
    kind: Literal["missing_data", "metric_error"], demand: Demand, reason: str, rule: ContentRule
) -> MetricOutcome:
    # what could not be judged is for somebody to look at, and says nothing against the agent
    severity: Severity = "info" if rule.severity == "info" else "warning"
    return build_outcome(kind, demand, None, severity, reason)


def _lacking(rule: ContentRule, texts: Texts) -> str:
    """Say how a rule is not met; of JSON, by the place in the schema."""
    if rule.json_schema is None:
        return "not found"
    problem = find_schema_problem(rule.json_schema, texts.values[0]) if texts.values else None
    return "no JSON" if problem is None else f"JSON in which {problem}"


def _looked_for(rule: ContentRule) -> str:
    """Describe a rule at length, for whoever has to meet it."""
    where = "" if rule.where == "final_output" else f" in {_PLACES[rule.where]}"
    return f"{described(rule, _LONG)}{where}"


def described(rule: ContentRule, limit: int = MAX_SHOWN) -> str:
    """Name what a rule looks for, in at most ``limit`` characters of it."""
    if rule.text is not None:
        return f"text {quote_text(rule.text, limit)}"
    if rule.pattern is not None:
        return f"pattern {quote_text(rule.pattern, limit)}"
    if rule.number is not None:
        return f"number {rule.number!r}{f' +/- {rule.tolerance!r}' if rule.tolerance else ''}"
    return "json_schema"


def content_score(checks: Sequence[MetricOutcome]) -> float | int | Unscored:
    """Score the checks (one at least) of one demand: the share of what was required that is there, or the
    number of forbidden things that are.

    It has no value while one of them is open.
    """  # noqa: D205
    unknown = next((found for found in checks if found["passed"] is None), None)
    if unknown is not None:
        is_missing = unknown["kind"] == "missing_data"
        return missing_data(unknown["reason"]) if is_missing else unscored_error(unknown["reason"])
    met = sum(found["passed"] is True for found in checks)
    return met / len(checks) if checks[0]["metric"] == "required_content" else len(checks) - met
