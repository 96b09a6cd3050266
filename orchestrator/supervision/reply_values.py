"""The values of a reply: texts and lists, in the spellings that language models use."""

from __future__ import annotations

import json
from typing import Annotated, Final

from pydantic import BeforeValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from agents.parsing.surrogates import replace_surrogates
from evaluation.sensitive.quoting import shorten

TEXT_LIMIT: Final = 1_000
"""Maximum number of characters of one text."""
_NOTHING: Final = {
    *("none", "nothing", "nil", "null", "na", "n/a", "no"),
    *("no deviations", "no concerns", "no assumptions"),
}


def format_value(value: object) -> str:
    """Formats a decoded value as text of at most ``TEXT_LIMIT`` characters.

    Returns an empty text for null, false, and words such as "none" or "n/a".
    """
    if value is None or value is False or value in ([], {}):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = replace_surrogates(text).strip()
    word = text.strip(" .*_–—-").lower()
    return "" if not word or word in _NOTHING else shorten(text, TEXT_LIMIT)


def _read_entries(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [text for item in items if (text := format_value(item))]


def _refuse_null(value: object) -> object:
    # An object that names a list twice is read with null: only one of the two could be kept.
    if value is None:
        raise PydanticCustomError("null", "null is no list; an empty one is")
    return value


Text = Annotated[str, BeforeValidator(format_value)]
Entries = Annotated[list[str], BeforeValidator(_read_entries)]
"""Entries without the empty ones. A single value counts as a list of one entry."""
StatedEntries = Annotated[Entries, BeforeValidator(_refuse_null)]
"""Like ``Entries``, but null is refused."""


def hint_text(longest: int) -> object:
    """Limits a text in the JSON schema only: a model without schema may write more, which is cut later."""
    return Field(json_schema_extra={"minLength": 3, "maxLength": longest})


def hint_entries(most: int, longest: int) -> object:
    """Limits a list in the JSON schema only, as ``hint_text`` does a text."""
    items: JsonDict = {"type": "string", "minLength": 3, "maxLength": longest}
    return Field(json_schema_extra={"items": items, "maxItems": most})
