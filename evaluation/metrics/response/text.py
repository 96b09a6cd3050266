"""How near one text is to another, in any language.

A word is a run of letters, digits and marks; a letter of a script without spaces between words (Han, kana,
Thai, Lao, Khmer, Burmese) is a word of its own, with the marks on it. Case, Unicode form and invisible
characters make no difference to words.
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
"""Every plane that holds letters, digits, marks or punctuation, but for Han and Hangul."""

_UNSPACED: Final = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\uaa60-\uaa76"  # Burmese
    "\u1780-\u17b3"  # Khmer
    "\u3005-\u3007\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003347f]"  # kana, Han
)
"""A letter of a script that puts no space between words."""


@cache
def word_pattern() -> re.Pattern[str]:
    """Match a word: a run of letters, digits and marks, or a letter of an unspaced script with its marks."""
    marks, letters = _class(_is_mark), f"{_class(_is_spaced)}\uac00-\ud7a3"
    return re.compile(f"{_UNSPACED.pattern}[{marks}]*|[{letters}][{letters}{marks}]*")


@cache
def punctuation() -> str:
    """List what counts as punctuation (general category P, and the backtick), less hyphen and per cent.

    The list is the inside of a character class.
    """
    return _class(lambda char: char not in "-%" and (char == "`" or unicodedata.category(char)[0] == "P"))


@cache
def reordered_pattern() -> re.Pattern[str]:
    """Match 30 characters in a row whose normal form starts with a mark that normalisation reorders.

    Sorting such a run takes the square of its length; 30 is the bound of Unicode's stream-safe text (UAX 15).
    """
    return re.compile(f"[{_class(_is_reordered)}]{{30}}")


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _is_spaced(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" and not _UNSPACED.match(char)


def _is_reordered(char: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) != 0


def _class(belongs: Callable[[str], bool]) -> str:
    return "".join(_ranges(belongs))


def _ranges(belongs: Callable[[str], bool]) -> Iterator[str]:
    members = (code for code in chain(*_SCANNED) if belongs(chr(code)))
    for _, run in groupby(enumerate(members), lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in run]
        yield f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}"


MAX_STEPS: Final = 12_000_000
"""Greatest number of machine words of characters for which an edit distance is computed: about 0.1 s."""
_SPACED_ASCII: Final = "".join(char.lower() if char.isalnum() else " " for char in map(chr, range(128)))
_JOINED_ASCII: Final = {code: chr(code) if chr(code).isalnum() else None for code in range(128)}
_OTHER: Final = re.compile(r"[\W_]+")
_ALPHABETIC_WORD: Final = re.compile(r"[^\W_]+")
_BEYOND_ALPHABETS: Final = re.compile("[^\x00-\u02ff\u0370-\u0482\u048a-\u058f\u2000-\u206f\u20a0-\u20bf]")
"""What is not Latin, Greek, Cyrillic, Armenian, common punctuation or a currency: ``re`` lacks its marks."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_DASH: Final = re.compile("[\u2010-\u2015\u2212]")
_JOINER: Final = "\u034f"
_LONG: Final = 1000
_SYMBOL: Final = re.compile("[#+%&@$€£¥<>=*/^~|]")
"""What sets a keyword apart from its words: C++, AT&T, 50 %."""


def exact_match(output: str, reference: str) -> bool:
    """Say whether the texts are the same, character by character."""
    return output == reference


def normalized_exact_match(output: str, reference: str) -> bool:
    """Say whether the texts are the same but for case, Unicode form, white space and punctuation.

    As in SQuAD (Rajpurkar et al. 2016), for any language: no articles are dropped, and what makes a number
    stays (3.14 is not 314, -5 is not 5). A reference of nothing but punctuation is compared with it.
    """
    observed, expected = _folded(output), _folded(reference)
    if _letters(observed) != _letters(expected):  # this settles most, at a tenth of the price
        return False
    wanted = _bare(expected)
    return _bare(observed) == wanted if wanted else observed.split() == expected.split()


def levenshtein_similarity(output: str, reference: str) -> float | None:
    """1 - d / max(|output|, |reference|), d being the least number of insertions, deletions, substitutions.

    Levenshtein 1966, over the characters as they are; two empty texts are alike. None where different
    texts are too long for it (``MAX_STEPS``; two texts of 25,000 characters are not).
    """
    if output == reference:
        return 1.0
    if steps(len(output), len(reference)) > MAX_STEPS:
        return None
    return Levenshtein.normalized_similarity(output, reference)


def steps(first: int, second: int) -> int:
    """Say what bit-parallel matching of two lengths costs: 64 of the shorter at once, along the longer."""
    return -(-min(first, second) // 64) * max(first, second)


def token_jaccard(output: Set[str], reference: Set[str]) -> float:
    """|O and R| / |O or R| over the distinct words; 1 for two empty texts (Jaccard 1901)."""
    shared = len(output & reference)
    either = len(output) + len(reference) - shared
    return shared / either if either else 1.0


def keyword_coverage(output: str, words: Sequence[str], keywords: Sequence[str]) -> float:
    """Share of ``keywords`` (one at least) whose words stand in ``output`` in a row, as whole words.

    ``words`` are those of ``output``. Symbols that set a keyword apart (C++, 50 %) have to be there too;
    spelling and inflection are exact.
    """
    return (len(keywords) - len(missing_keywords(output, words, keywords))) / len(keywords)


def missing_keywords(output: str, words: Sequence[str], keywords: Sequence[str]) -> list[str]:
    """List the keywords that ``keyword_coverage`` does not find."""
    text, line = plain(output), f" {' '.join(words)} "
    return [keyword for keyword in keywords if not _covered(*_wanted(keyword), text, line)]


@lru_cache(1024)
def _wanted(keyword: str) -> tuple[str, str]:
    """Give the words that have to be there, and the whole text where symbols or signs count."""
    words = tokens(keyword)
    symbolic = not words or _SYMBOL.search(keyword)
    return f" {' '.join(words)} " if words else "", plain(keyword) if symbolic else ""


def _covered(words: str, symbols: str, text: str, line: str) -> bool:
    return words in line and symbols in text


def token_coverage(output: Set[str], reference: Set[str]) -> float:
    """Share of the distinct words of ``reference`` (one at least) that ``output`` has."""
    return len(output & reference) / len(reference)


def tokens(text: str) -> list[str]:
    """Split a text into its words, in order, in lower case (case-folded) and in normal form (NFKC)."""
    if text.isascii():
        return text.translate(_SPACED_ASCII).split()
    folded = _folded(text)
    return (word_pattern() if _BEYOND_ALPHABETS.search(folded) else _ALPHABETIC_WORD).findall(folded)


def plain(text: str, *, ignore_case: bool = True) -> str:
    """Bring a text to NFKC, without invisible characters, white space collapsed, and case-folded if asked."""
    return " ".join((_folded(text) if ignore_case else _normal(text)).split())


def _bare(folded: str) -> str:
    """Take out the punctuation, but for what makes a number what it is, and collapse white space."""
    if folded.isascii():
        return " ".join(_ascii_removable().sub("", folded).split())
    return " ".join(_removable().sub("", _DASH.sub("-", folded)).split())


def _letters(folded: str) -> str:
    """Keep letters and digits alone."""
    return folded.translate(_JOINED_ASCII) if folded.isascii() else _OTHER.sub("", folded)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _normal(text).casefold())


def _normal(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _stream_safe(_INVISIBLE.sub("", text)))


def _stream_safe(text: str) -> str:
    """Break up endless runs of combining marks, which normalisation takes quadratic time to sort."""
    if len(text) < _LONG:
        return text
    return reordered_pattern().sub(rf"\g<0>{_JOINER}", text)


@cache
def _ascii_removable() -> re.Pattern[str]:
    return _removing(r"""!"#&'()*,./:;?@\[\\\]_`{}""")


@cache
def _removable() -> re.Pattern[str]:
    return _removing(punctuation())


def _removing(marks: str) -> re.Pattern[str]:
    """Match punctuation that is not between digits, no minus before a number and no per cent after one."""
    return re.compile(rf"[{marks}](?!\d)|(?<!\d)[{marks}]|-(?!\d)|(?<=[^\W\d])-|(?<!\d)%")
