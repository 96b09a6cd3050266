"""Compares texts in any language: exact match, edit distance, shared words, keywords.

A word is a run of letters, digits and marks. In scripts without spaces between words (Han, kana, Thai, Lao,
Khmer, Burmese) each letter is a word, together with its marks. Case, Unicode form and invisible characters
make no difference to words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, lru_cache
from itertools import chain, groupby
from typing import Final

from rapidfuzz.distance import Levenshtein

_SCANNED: Final = (range(0x3400), range(0xA000, 0xAC00), range(0xD7B0, 0x20000), range(0xE0100, 0xE01F0))
"""The code points that are scanned for character classes. Han and Hangul are ranges of their own: scanning
them would take most of the time."""

_UNSPACED: Final = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\uaa60-\uaa76"  # Burmese
    "\u1780-\u17b3"  # Khmer
    "\u3005-\u3007\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003347f]"  # kana, Han
)
"""Matches a letter of a script that puts no space between words."""


@cache
def word_pattern() -> re.Pattern[str]:
    """Match a word: a run of letters, digits and marks, or a letter of an unspaced script with its marks."""
    marks, letters = _character_class(_is_mark), f"{_character_class(_is_spaced)}\uac00-\ud7a3"
    return re.compile(f"{_UNSPACED.pattern}[{marks}]*|[{letters}][{letters}{marks}]*")


@cache
def punctuation_class() -> str:
    """Return the inside of a character class: general category P and the backtick, without hyphen and %."""
    return _character_class(_is_punctuation)


@cache
def reordered_pattern() -> re.Pattern[str]:
    """Match 30 characters in a row whose normal form starts with a mark that normalisation reorders.

    Sorting such a run takes quadratic time; 30 is the limit of Unicode's stream-safe text (UAX 15).
    """
    return re.compile(f"[{_character_class(_is_reordered)}]{{30}}")


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _is_spaced(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" and not _UNSPACED.match(char)


def _is_punctuation(char: str) -> bool:
    return char not in "-%" and (char == "`" or unicodedata.category(char)[0] == "P")


def _is_reordered(char: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) != 0


def _character_class(belongs: Callable[[str], bool]) -> str:
    return "".join(_code_ranges(belongs))


def _code_ranges(belongs: Callable[[str], bool]) -> Iterator[str]:
    members = (code for code in chain(*_SCANNED) if belongs(chr(code)))
    for _, run in groupby(enumerate(members), lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in run]
        yield f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}"


MAX_COST: Final = 12_000_000
"""Limit of ``matching_cost`` up to which an edit distance is computed: about 0.1 s."""
_SPACED_ASCII: Final = "".join(char.lower() if char.isalnum() else " " for char in map(chr, range(128)))
_JOINED_ASCII: Final = {code: chr(code) if chr(code).isalnum() else None for code in range(128)}
_OTHER: Final = re.compile(r"[\W_]+")
_ALPHABETIC_WORD: Final = re.compile(r"[^\W_]+")
_BEYOND_ALPHABETS: Final = re.compile("[^\x00-\u02ff\u0370-\u0482\u048a-\u058f\u2000-\u206f\u20a0-\u20bf]")
"""Matches a character outside Latin, Greek, Cyrillic, Armenian, common punctuation and currency signs. Their
words need ``word_pattern``, because ``\\w`` does not match combining marks."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_DASH: Final = re.compile("[\u2010-\u2015\u2212]")
_JOINER: Final = "\u034f"  # COMBINING GRAPHEME JOINER: invisible, and marks are not reordered across it
_LONG_TEXT: Final = 1000
_SYMBOL: Final = re.compile("[#+%&@$€£¥<>=*/^~|]")
"""Matches a symbol that distinguishes a keyword from its words: C++, AT&T, 50 %."""


def exact_match(output: str, reference: str) -> bool:
    """Return whether the texts are the same, character by character."""
    return output == reference


def normalized_exact_match(output: str, reference: str) -> bool:
    """Return whether the texts are the same except for case, Unicode form, white space and punctuation.

    As in SQuAD (Rajpurkar et al. 2016), for any language: no articles are dropped, and the signs of a number
    stay (3.14 is not 314, -5 is not 5). If the reference is only punctuation, punctuation is compared.
    """
    observed, expected = _fold_case(output), _fold_case(reference)
    if _keep_letters(observed) != _keep_letters(expected):  # decides most cases in a tenth of the time
        return False
    stripped = _strip_punctuation(expected)
    return _strip_punctuation(observed) == stripped if stripped else observed.split() == expected.split()


def levenshtein_similarity(output: str, reference: str) -> float | None:
    """1 - d / max(|output|, |reference|); d is the least number of insertions, deletions, substitutions.

    Levenshtein 1966, over the characters as they are; two empty texts have similarity 1. Returns None if
    different texts are too long (``MAX_COST``; two texts of 25,000 characters are not).
    """
    if output == reference:
        return 1.0
    if matching_cost(len(output), len(reference)) > MAX_COST:
        return None
    return Levenshtein.normalized_similarity(output, reference)


def matching_cost(first: int, second: int) -> int:
    """Return the machine words that bit-parallel matching visits: 64 of the shorter at once, per item."""
    return -(-min(first, second) // 64) * max(first, second)


def token_jaccard(output: Set[str], reference: Set[str]) -> float:
    """|O and R| / |O or R| over the distinct words; 1 for two empty texts (Jaccard 1901)."""
    shared = len(output & reference)
    either = len(output) + len(reference) - shared
    return shared / either if either else 1.0


def keyword_coverage(output: str, words: Sequence[str], keywords: Sequence[str]) -> float:
    """Share of ``keywords`` (at least one) whose words occur in ``output`` in a row, as whole words.

    ``words`` are the words of ``output``. Symbols of a keyword (C++, 50 %) must occur too; spelling and
    inflection are exact.
    """
    return (len(keywords) - len(find_missing_keywords(output, words, keywords))) / len(keywords)


def find_missing_keywords(output: str, words: Sequence[str], keywords: Sequence[str]) -> list[str]:
    """List the keywords that do not occur in an output with these words."""
    text, line = normalize_text(output), f" {' '.join(words)} "
    parts = [(keyword, *_keyword_parts(keyword)) for keyword in keywords]
    return [keyword for keyword, spaced, symbolic in parts if spaced not in line or symbolic not in text]


# The same keywords are looked for in every run of a batch.
@lru_cache(1024)
def _keyword_parts(keyword: str) -> tuple[str, str]:
    """Return the words that must occur, and the whole keyword if it has symbols or no words."""
    words = split_words(keyword)
    symbolic = not words or _SYMBOL.search(keyword)
    return f" {' '.join(words)} " if words else "", normalize_text(keyword) if symbolic else ""


def token_coverage(output: Set[str], reference: Set[str]) -> float:
    """Share of the distinct words of ``reference`` (at least one) that ``output`` has."""
    return len(output & reference) / len(reference)


def split_words(text: str) -> list[str]:
    """Split a text into its words, in order, case-folded and in normal form (NFKC)."""
    if text.isascii():
        return text.translate(_SPACED_ASCII).split()
    folded = _fold_case(text)
    return (word_pattern() if _BEYOND_ALPHABETS.search(folded) else _ALPHABETIC_WORD).findall(folded)


def normalize_text(text: str, *, ignore_case: bool = True) -> str:
    """Return a text in NFKC, without invisible characters, white space collapsed, optionally case-folded."""
    return " ".join((_fold_case(text) if ignore_case else _normalize_unicode(text)).split())


def _strip_punctuation(folded: str) -> str:
    """Remove the punctuation, except the signs of numbers, and collapse white space."""
    if folded.isascii():
        return " ".join(_ascii_removal_pattern().sub("", folded).split())
    return " ".join(_removal_pattern().sub("", _DASH.sub("-", folded)).split())


def _keep_letters(folded: str) -> str:
    """Remove everything except letters and digits."""
    return folded.translate(_JOINED_ASCII) if folded.isascii() else _OTHER.sub("", folded)


def _fold_case(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Case folding may leave normal form, so the text is normalised again.
    return unicodedata.normalize("NFKC", _normalize_unicode(text).casefold())


def _normalize_unicode(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _break_mark_runs(_INVISIBLE.sub("", text)))


def _break_mark_runs(text: str) -> str:
    """Break up long runs of combining marks, which normalisation sorts in quadratic time."""
    if len(text) < _LONG_TEXT:
        return text
    return reordered_pattern().sub(rf"\g<0>{_JOINER}", text)


@cache
def _ascii_removal_pattern() -> re.Pattern[str]:
    return _compile_removal(r"""!"#&'()*,./:;?@\[\\\]_`{}""")


@cache
def _removal_pattern() -> re.Pattern[str]:
    return _compile_removal(punctuation_class())


def _compile_removal(marks: str) -> re.Pattern[str]:
    """Match punctuation, except between digits, a minus before a number and a per cent sign after one."""
    return re.compile(rf"[{marks}](?!\d)|(?<!\d)[{marks}]|-(?!\d)|(?<=[^\W\d])-|(?<!\d)%")
