"""The checks that a model may write: their kinds, and the proof that each rests on words of the task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.reply_types import JsonSchema
from evaluation import ContractError
from evaluation.checks import Check, CheckContext, read_checks
from evaluation.task_checks import DerivedChecks
from evaluation.task_checks.amounts import NUMBER, read_number
from evaluation.task_checks.derivation import describe_conflict, find_conflicts
from evaluation.task_checks.reading import translate_word


@dataclass(frozen=True, slots=True)
class WritableKind:
    """A kind of check as a model is told of it.

    Attributes:
        meaning: What the output has to be, in one line.
        quote: Words of a task that demand it.
        fields: The fields of the check for these words.
    """

    meaning: str
    quote: str
    fields: Mapping[str, object]


KINDS: Final[Mapping[str, WritableKind]] = {
    "word_count": WritableKind("number of words", "at most 50 words", {"max": 50}),
    "sentence_count": WritableKind("number of sentences", "in exactly 3 sentences", {"exactly": 3}),
    "paragraph_count": WritableKind("number of paragraphs", "two paragraphs", {"exactly": 2}),
    "line_count": WritableKind("number of lines", "4 lines", {"exactly": 4}),
    "character_count": WritableKind("number of characters", "under 280 characters", {"max": 279}),
    "list_item_count": WritableKind(
        "number of list items; marker: any, bullet or number",
        "as 5 bullet points",
        {"exactly": 5, "marker": "bullet"},
    ),
    "heading_count": WritableKind("number of Markdown headings", "at least 2 headings", {"min": 2}),
    "placeholder_count": WritableKind("number of [placeholders]", "at least 3 placeholders", {"min": 3}),
    "highlight_count": WritableKind("number of bold or italic parts", "highlight 2 parts", {"min": 2}),
    "contains": WritableKind("all these texts occur", 'mention "tide"', {"texts": ["tide"]}),
    "excludes": WritableKind("none of these texts occurs", 'never say "very"', {"texts": ["very"]}),
    "occurrences": WritableKind(
        "how often a text occurs", 'use "sea" at least twice', {"text": "sea", "min": 2}
    ),
    "letter_count": WritableKind("how often a letter occurs", "no letter e", {"letter": "e", "max": 0}),
    "starts_with": WritableKind("the first words", 'start with "Dear all"', {"text": "Dear all"}),
    "ends_with": WritableKind("the last words", 'end with "Best, Tom"', {"text": "Best, Tom"}),
    "one_of": WritableKind("one of these answers", "answer yes or no", {"options": ["yes", "no"]}),
    "letter_case": WritableKind("style: upper or lower", "in all caps", {"style": "upper"}),
    "language": WritableKind("the language, as a code of two letters", "in German", {"code": "de"}),
    "punctuation": WritableKind(
        "a mark; use: absent or present", "no commas", {"mark": ",", "use": "absent"}
    ),
    "json": WritableKind(
        "JSON; root: any, object or array; keys that it has",
        "a JSON object with the key id",
        {"root": "object", "keys": ["id"]},
    ),
    "table": WritableKind("a Markdown table", "a table with 3 columns", {"columns": 3}),
}
_SCHEMAS: Final[Mapping[type, object]] = {
    int: {"type": "integer", "minimum": 0},
    str: {"type": "string"},
    list: {"type": "array", "items": {"type": "string"}},
}
EXAMPLES: Final = ("passing", "failing")
"""The fields with the two outputs that show what a check means."""


def describe_kinds() -> str:
    """Returns one line for each kind: its name, its meaning and an example."""
    return "\n".join(
        f"- {name}: {kind.meaning}. {json.dumps({'check': name, 'quote': kind.quote, **kind.fields})}"
        for name, kind in KINDS.items()
    )


def build_schema() -> JsonSchema:
    """Returns the JSON Schema of a reply, about 2 kB: the fields of all kinds together."""
    fields = {name: _SCHEMAS[type(value)] for kind in KINDS.values() for name, value in kind.fields.items()}
    texts = dict.fromkeys(("quote", *EXAMPLES), _SCHEMAS[str])
    item = {
        "type": "object",
        "properties": {"check": {"enum": list(KINDS)}, **fields, **texts},
        "required": ["check", "quote", *EXAMPLES],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "checks": {"type": "array", "items": item},
            "unchecked": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["checks", "unchecked"],
    }


_NUMBER: Final = re.compile(rf"(?<!\w)(?:{NUMBER})(?!\w)")
_STRICT: Final = re.compile(r"\b(?:more|less|fewer|under|over|above|below|longer|shorter|exceed\w*)\b|[<>]")
"""Words that leave out their own number: "under 60 words" are at most 59."""
_NONE: Final = re.compile(r"\b(?:no|not|never|without|avoid\w*|dont|nor|none|any)\b|n't")
_ONE: Final = re.compile(r"\b(?:an?|any)\b")
_FIXED: Final = frozenset({"check", "quote", "severity", "style", "use", "marker", "mark", "root", "code"})
"""Fields with values of the vocabulary, which a task says in other words."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of the items of a reply.

    Attributes:
        checks: Those that hold.
        unchecked: The quotes of the others.
        problems: One sentence for each of the others.
    """

    checks: tuple[Check, ...] = ()
    unchecked: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def review_items(items: Sequence[object], task: str) -> Reviewed:
    """Validates the items of a model's list of checks."""
    checks, unchecked, problems = [], [], []
    for number, item in enumerate(items, 1):
        quote = find_quote(item.get("quote"), task) if isinstance(item, Mapping) else None
        check = _read_item(item, quote)
        if not isinstance(check, str):
            checks.append(check)
            continue
        problems.append(f"check {number}: {check}")
        unchecked += [quote] if quote else []
    return Reviewed(tuple(checks), tuple(unchecked), tuple(problems))


def find_quote(quote: object, task: str) -> str | None:
    """Returns the words of the task that a quote copies, with any white space; None if there are none."""
    words = quote.split() if isinstance(quote, str) else []
    found = re.search(r"\s+".join(map(re.escape, words)), task) if words else None
    return None if found is None else found.group()


def join_rules(reviewed: Reviewed, stated: DerivedChecks, unchecked: Sequence[str]) -> DerivedChecks:
    """Joins the checks of a model with what the rules read: where they differ, neither is checked.

    Args:
        reviewed: The checks of the model that hold.
        stated: What the rules read in the same text.
        unchecked: The words that the model says are unchecked.
    """
    conflicts = find_conflicts(reviewed.checks)
    dropped = [check for group in conflicts for check in group]
    dropped += [check for check in reviewed.checks if any(_differ(check, own) for own in stated.checks)]
    kept = tuple(check for check in reviewed.checks if check not in dropped)
    demands = [_read_demand(check) for check in kept]
    own = [check.quote or "" for check in stated.checks if _read_demand(check) not in demands]
    phrases = [
        phrase for phrase in stated.unchecked if not any(phrase in (check.quote or "") for check in kept)
    ]
    words = [*reviewed.unchecked, *unchecked, *(check.quote or "" for check in dropped), *own, *phrases]
    return DerivedChecks(kept, tuple(dict.fromkeys(words)), tuple(map(describe_conflict, conflicts)))


def _read_item(item: object, quote: str | None) -> Check | str:
    """Returns the check of an item, or its problem."""
    if not isinstance(item, Mapping) or item.get("check") not in KINDS:
        return f"its kind is none of {', '.join(KINDS)}"
    if quote is None:
        return "its quote does not stand in the task; copy the words exactly"
    fields = {name: value for name, value in item.items() if name not in {*EXAMPLES, "severity"}}
    try:
        [check] = read_checks([{**fields, "quote": quote}])
    except ContractError as error:
        return str(error)
    missing = next(_list_foreign(check, quote), None)
    if missing is not None:
        return f"{missing!r} does not stand in its quote {quote!r}"
    return _try_examples(check, item) or check


def _try_examples(check: Check, item: Mapping[str, object]) -> str | None:
    """Returns which example the check judges otherwise than the model says; None if it agrees with both."""
    for name, expected in zip(EXAMPLES, (True, False), strict=True):
        example = item.get(name)
        if not isinstance(example, str) or check.evaluate(CheckContext(example)).passed is not expected:
            return f"its example {name!r} is not {name}"
    return None


def _list_foreign(check: Check, quote: str) -> Iterator[object]:
    """Yields the numbers and texts of a check that its quote does not have."""
    folded = " ".join(quote.split()).casefold()
    numbers = _read_numbers(folded)
    for name, value in check.model_dump(exclude_defaults=True).items():
        parts = [] if name in _FIXED else value if isinstance(value, list) else [value]
        for part in parts:
            text = " ".join(str(part).split()).casefold()
            if part not in numbers if isinstance(part, int) else text not in folded:
                yield part


def _read_numbers(folded: str) -> set[int]:
    english = " ".join(translate_word(word) for word in re.findall(r"[\w'-]+|[<>]", folded))
    words = f"{folded}\n{english}"
    numbers = {read_number(found) for found in _NUMBER.findall(words)}
    if _STRICT.search(words):
        numbers |= {number + step for number in numbers for step in (-1, 1)}
    return numbers | ({0} if _NONE.search(words) else set()) | ({1} if _ONE.search(words) else set())


def _differ(check: Check, own: Check) -> bool:
    """Returns whether the rules read the same words as another demand of the same kind."""
    first, second = check.quote or "", own.quote or ""
    is_same_place = first in second or second in first
    return is_same_place and check.check == own.check and _read_demand(check) != _read_demand(own)


def _read_demand(check: Check) -> dict[str, object]:
    return check.model_dump(exclude={"quote", "severity"})
