"""Reads single values of a reply (text, lists, booleans) in the spellings that language models use."""

from __future__ import annotations

import json
import re
from typing import Annotated, Final

from pydantic import BeforeValidator

from agents.parsing.surrogates import replace_surrogates
from evaluation.sensitive.quoting import shorten

TEXT_LIMIT: Final = 1_000
"""Maximum number of characters of one text."""

_EMPTY_TEXT: Final = re.compile(
    r"""[\s.*_–—-]*+
    (?: none | nothing | nil | null | n/?a | no(?:\ (?:deviations?|concerns?|assumptions?))? )?
    [\s.*_–—-]*+""",
    re.IGNORECASE | re.VERBOSE,
)
_DOUBT: Final = re.compile(
    r"""</?think | n[’']t\b | \b(?:not|never|cannot|but|however|instead|stop)\b
    | \b(?:halt|reorient|ask.?human|false|reject|refus|fail|wrong|incorrect|claim|quot|exampl|pretend)""",
    re.IGNORECASE | re.VERBOSE,
)


def is_doubtful(text: str) -> bool:
    """Checks whether a text contains words that deny, refuse or quote the approval next to it."""
    # Matches too much on purpose: a question too many costs a person a minute, a false approval the step.
    return _DOUBT.search(text) is not None


def encode_value(value: object) -> str:
    """Encodes a decoded value as JSON. Returns an empty text for null, false and empty containers."""
    is_empty = value is None or value is False or value in ([], {})
    return "" if is_empty else json.dumps(value, ensure_ascii=False)


def format_value(value: object) -> str:
    """Formats a decoded value as text of at most ``TEXT_LIMIT`` characters.

    Returns an empty text for null, false, and words such as "none" or "n/a".
    """
    text = replace_surrogates(value if isinstance(value, str) else encode_value(value)).strip()
    return "" if _EMPTY_TEXT.fullmatch(text) else shorten(text, TEXT_LIMIT)


def _read_entries(value: object) -> list[str] | None:
    # null also stands for a list that an object names twice, of which decoders keep only the last.
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [text for item in items if (text := format_value(item))]


Text = Annotated[str, BeforeValidator(format_value)]
Entries = Annotated[list[str], BeforeValidator(_read_entries)]
"""Entries without the empty ones. A single value counts as a list of one entry; null is refused."""
OptionalEntries = Annotated[Entries, BeforeValidator(lambda value: value or [])]
"""Like ``Entries``; null is an empty list."""
