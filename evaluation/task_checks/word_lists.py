"""The language of a task, and the English words for its German ones, so that one set of rules reads both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_TABLE: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("word_lists.json").read_text(encoding="utf-8")
)
LANGUAGES: Final[Mapping[str, str]] = _TABLE["languages"]
"""The codes of languages by their English names in small letters."""
NUMBERS: Final[Mapping[str, int]] = _TABLE["numbers"]
"""Numbers by their words."""
_GERMAN: Final[Mapping[str, str]] = _TABLE["german"]
_SENTENCE: Final = 5
"""Fewest words that have a function word in them."""
_ENDINGS: Final = ("en", "es", "er", "em", "e", "n", "s")


def any_of(name: str) -> str:
    """Returns the words of a list as alternatives of a regular expression."""
    return "|".join(map(re.escape, _TABLE[name]))


_GERMAN_WORDS: Final = re.compile(rf"\b(?:{any_of('german_words')})\b")
_ENGLISH_WORDS: Final = re.compile(rf"\b(?:{any_of('english_words')})\b")


def find_language(text: str) -> str | None:
    """Returns ``en`` or ``de``, whichever has more function words; None if a sentence has neither's."""
    folded = text.lower()
    german, english = len(_GERMAN_WORDS.findall(folded)), len(_ENGLISH_WORDS.findall(folded))
    if not german and not english and len(text.split()) >= _SENTENCE:
        return None
    return "de" if german > english else "en"


def translate_word(word: str) -> str:
    """Returns the English words for a German word in small letters, or the word itself."""
    stems = [word, *(word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))]
    return next((_GERMAN[stem] for stem in stems if stem in _GERMAN), word)
