"""Words of a demand that introduce an exact text."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand
from evaluation.task_checks.sentences import Sentence

UNITS: Final = {
    "line": "line",
    "sentence": "sentence",
    "paragraph": "paragraph",
    "stanza": "paragraph",
    "verse": "paragraph",
    "bullet point": "list_item",
    "bullet": "list_item",
    "item": "list_item",
    "list item": "list_item",
}
WHOLE: Final = (
    r"(?:(?:your|the|this|its|my|it|everything|all)(?: (?:entire|whole|complete|full|final|"
    r"very))*(?: (?P<object>[a-z-]+))?)"
)
_MENTIONS: Final = regex.compile(
    r"\b(?:says|said|claims|told|why|how|whether|asks|asked|because|what)\b|\bexplain\b[^,;:]*$"
)
EXACT: Final = (
    r"(?: ?(?:exactly|only|just|verbatim|always))?(?: (?:the|this|these|a|an))?(?: (?:exact|"
    r"following|exact same|literal|closing|opening|final|single|very|same|words?|phrases?|sentences?|"
    r"text|line|question|term|expression|sign-off|greeting|keyword|statement|words of|letters?|"
    r"character|string))*:?\s?"
)


def is_free(sentence: Sentence, match: regex.Match[str]) -> bool:
    """Check a statement of which the part is the subject."""
    return can_demand(sentence) and not _MENTIONS.search(sentence.text[: match.start()])
