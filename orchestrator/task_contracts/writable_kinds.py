"""The kinds of checks that a model may write: what each means, and one example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents.reply_types import JsonSchema


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
