"""Writes texts in normal form (Unicode's NFKC, without what no reader sees), and splits them into words.

A word is a run of letters, digits and marks. In scripts without spaces between words (Han, kana, Thai, Lao,
Khmer, Burmese) each letter is a word, together with its marks. Case, Unicode form and invisible characters
make no difference to words.
"""

from __future__ import annotations

import html
import json
import re
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final

import regex

from agents.parsing.thoughts import remove_thoughts

_UNSEEN: Final = r"\p{Default_Ignorable_Code_Point}\ufff9-\ufffb[\p{Cc}--\s]"
"""What no reader sees: ignorable characters, marks of annotations, and control characters but white space."""
_INVISIBLE: Final = regex.compile(f"[{_UNSEEN}]", regex.V1)
_EMOJI: Final = r"\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?"
_HIDDEN: Final = regex.compile(
    rf"(?P<emoji>{_EMOJI}(?:\u200d{_EMOJI})*|[0-9#*]\ufe0f\u20e3?)"
    r"|(?P<joint>(?<=[\p{L}\p{M}])(?<![A-Za-z])[\u200c\u200d](?![A-Za-z])(?=\p{L}))"
    rf"|[{_UNSEEN}\u2028\u2029\u2800\ud800-\udfff]",
    regex.V1,
)
"""Matches a character that is hidden or moves others, and the emoji and joined letters that need one."""
_LOOSE_MARKS: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
"""Matches combining marks of no script that composed with no letter, such as strokes through a word."""
_DIGIT: Final = re.compile(r"\d")
_BLANKS: Final = "\u2028\u2029\u2800"
_LINE_END: Final = re.compile("[\r\v\f\x85\u2028\u2029]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
_CACHED_TEXTS: Final = 32
"""The texts of one run in their readings, which each of its checks reads again."""
_ASCII_SIGNS: Final = str.maketrans(
    dict.fromkeys("\u02d7\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d", "-")
    | dict.fromkeys("\u02b9\u02bb\u02bc\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
)
"""The typographic forms of a hyphen and of quotation marks, as models and word processors write them."""


cache_by_text: Final = lru_cache(4_096)
"""Caches a function of a text: the texts of a run, and those that recur from run to run."""


def show_hidden(text: str) -> str:
    """Return a text with the code, such as [U+202E], of each character that is hidden or moves others."""
    return _HIDDEN.sub(lambda match: match["emoji"] or match["joint"] or f"[U+{ord(match[0]):04X}]", text)


@lru_cache(_CACHED_TEXTS)
def normalize_for_search(text: str, *, ignore_case: bool, unify: bool) -> str:
    """Return ``normalize_text``, with the signs of ASCII if wanted; cached for the checks of one run."""
    normal = normalize_text(text, ignore_case=ignore_case)
    return unify_signs(normal) if unify else normal


def normalize_text(text: str, *, ignore_case: bool = True) -> str:
    """Return a text in NFKC, without invisible characters, white space collapsed, optionally case-folded."""
    return " ".join((fold_case(text) if ignore_case else normalize_lines(text)).split())


def remove_unseen(text: str) -> str:
    """Return a text as it is, without what no reader sees; emoji stay whole, and blank letters are blanks."""
    if text.isascii():
        return _remove_controls(text)
    return _HIDDEN.sub(lambda match: match["emoji"] or (" " if match[0] in _BLANKS else ""), text)


def has_digit(text: str) -> bool:
    """Return whether a text has a decimal digit of any script."""
    if text.isascii():
        # Three times as fast as the search.
        return any(map(text.__contains__, string.digits))
    return _DIGIT.search(text) is not None


def unify_line_ends(text: str) -> str:
    """Return a text with one newline at each line end of Unicode, and two at a paragraph separator."""
    return _LINE_END.sub("\n", text.replace("\r\n", "\n").replace("\u2029", "\n\n"))


def unify_signs(text: str) -> str:
    """Return a text with the hyphens, apostrophes and quotation marks of ASCII; a long dash stays."""
    return text if text.isascii() else text.translate(_ASCII_SIGNS)


def normalize_lines(text: str) -> str:
    """Return a text in NFKC without invisible characters; its white space stays."""
    return _remove_controls(text) if text.isascii() else _normalize_unicode(text)


def fold_case(text: str) -> str:
    """Return a text in NFKC, without invisible characters, case-folded."""
    if text.isascii():
        return _remove_controls(text).lower()
    # Case folding may leave normal form, so the text is normalised again.
    return unicodedata.normalize("NFKC", _normalize_unicode(text).casefold())


def _remove_controls(text: str) -> str:
    # Most texts of one line have none, and this test is far cheaper than the search.
    return text if text.isprintable() else _CONTROL.sub("", text)


def _normalize_unicode(text: str) -> str:
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))


_UNSPACED: Final = (
    r"[\p{L}&&[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"  # u30fc is kana
)
"""The letters of scripts that put no space between words."""
_WORD: Final = regex.compile(
    rf"{_UNSPACED}\p{{M}}*+|[[\p{{L}}\p{{N}}]--{_UNSPACED}][[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]*+", regex.V1
)
_GAPS: Final = "".join(char if char.isalnum() else " " for char in map(chr, range(128)))
"""ASCII with a blank for each character that is no letter or digit: a full table translates faster."""
_ALPHABETIC_WORD: Final = re.compile(r"[^\W_]+")
_BEYOND_ALPHABETS: Final = re.compile("[^\x00-\u02ff\u0370-\u0482\u048a-\u058f\u2000-\u206f\u20a0-\u20bf]")
"""Matches a character outside Latin, Greek, Cyrillic, Armenian, common punctuation and currency signs. Their
words may have combining marks, which take a slower search."""


def split_words(text: str) -> list[str]:
    """Split a text into its words, in order, case-folded and in normal form (NFKC)."""
    folded = fold_case(text)
    if folded.isascii():
        return folded.translate(_GAPS).split()
    if not _BEYOND_ALPHABETS.search(folded):
        return _ALPHABETIC_WORD.findall(folded)
    words: list[str] = _WORD.findall(folded)
    return words


_UNSTATED: Final = regex.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|<!--.*?(?:-->|\Z)|(?<!~)~~(?!~)[^~\n]+~~"
    r"|<(script|style|template|head)\b.*?</\2>"
    r"|<(\w+)\b[^<>]*(?:\bhidden\b|display:\s*none|visibility:\s*hidden)[^<>]*>.*?</\3>"
    r"|\s(?:title|alt)=(?:\"[^\"\n]*\"|'[^'\n]*')(?=[^<>]*>)"
    r"|(?<=\]\([^()\s]*)\s+\"[^\"\n]*\"(?=\))"
    r"|^[ \t]*\[[^\]\n]+\]:[ \t]*\S+(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*$",
    regex.DOTALL | regex.MULTILINE | regex.IGNORECASE,
)
"""Matches what a reader does not see (comments, struck-out text, hidden elements, titles and definitions of
links), and code, where all of it is shown."""
_UNSTATED_SIGNS: Final = ("`", "<", "~~", ">", "](", "]:")
"""Each match has one of these signs, or one behind it."""
_RAISED: Final = regex.compile(r"(?<=\d)(?=\p{No})")
"""Matches between a digit and a digit or fraction of one character, as in 10² and 6½."""
_ADDRESS: Final = regex.compile(
    r"\b(?:[a-z][a-z+.-]{0,20}://|www\.)[^\s<>\"')\]]+|(?<=\])\([^()\s]*\)", regex.IGNORECASE
)
_LIST_MARK: Final = regex.compile(r"^[ \t]{0,3}(\d{1,3})[.)](?=[ \t]+\S)", regex.MULTILINE)


def read_stated(text: str, wanted: str = "") -> str:
    """Return a text without the parts that no reader sees; they stay in code, or if they are ``wanted``."""
    # Most texts have none of these signs, and this test is far cheaper than the search.
    if not any(map(text.__contains__, _UNSTATED_SIGNS)):
        return text
    is_wanted = any(not match["code"] for match in _UNSTATED.finditer(wanted))
    return text if is_wanted else _UNSTATED.sub(lambda match: match["code"] or " ", text)


def part_numbers(text: str) -> str:
    """Write a sign into 10² and 6½, which Unicode's normal form writes as 102 and 61⁄2."""
    return text if text.isascii() else _RAISED.sub("^", text)


def remove_labels(text: str) -> str:
    """Remove addresses and the marks of lists that count from 1: their numbers state nothing."""
    text = _ADDRESS.sub(" ", text)
    numbers = [int(number) for number in _LIST_MARK.findall(text)]
    counted = accumulate(numbers, lambda last, number: number if number in {1, last + 1} else 0, initial=0)
    places = iter([*counted][1:])
    return _LIST_MARK.sub(lambda match: "" if next(places) else match[0], text)


_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\(([^)\s]*)[^)\n]*\)")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_MARKS: Final = re.compile(
    r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!`)`{1,2}(?!`)|(?<!~)~~(?!~)|^[ \t]*(?:#{1,6}|>+)[ \t]+", re.MULTILINE
)
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\(n|t|r)(?![a-z])")
_CONTINUED: Final = re.compile(r"\\\n[ \t]*(?:\\[ ])?")
"""Matches where YAML goes on with a long text in double quotation marks."""
_CODE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_WRAPPED: Final = re.compile(r"\s*```(?:markdown|md|te?xt)?[ \t]*\n((?:(?!```).)*)```\s*", re.DOTALL)
"""Matches a whole text that stands in a fence, and is no code."""
_QUOTED: Final = re.compile(r'"[^"\n]{2,600}"|\u00ab[^\u00bb\n]{2,600}\u00bb')
_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?;:])(?!(?<=\d\.)\s(?:Jan|Feb|M\u00e4r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))[)\"']?\s+(?=\S)|\n+"
)
"""Matches after a sentence, but not within "18. November"."""


_UNMARKED: Final = re.compile(r"(?:[\w\t\n !\"$%'()+,\-./:;=?@\[^{|}]++|\](?![(:]))*+", re.ASCII)
"""Matches a text without marks, tags, links, escapes and other signs than those of ASCII."""


@cache_by_text
def read_visible(text: str) -> str:
    """Return a text as a reader sees it; the addresses of links stay, in parentheses, and fences of code."""
    if _UNMARKED.fullmatch(text):
        return text.strip()
    text = unify_line_ends(text)
    text = wrapped[1] if (wrapped := _WRAPPED.fullmatch(text)) else text
    plain = read_stated(remove_thoughts(text) if "<" in text else text)
    plain = _LINK.sub(r"\1 (\2)", plain) if "](" in plain else plain
    plain = _TAG.sub(" ", plain) if "<" in plain else plain
    return read_source(_MARKS.sub("", plain) if any(map(plain.__contains__, "*`~#>")) else plain).strip()


@cache_by_text
def read_source(text: str) -> str:
    """Return the text of a document with all its tags; escapes and wrapped lines are resolved."""
    plain = _ESCAPE.sub(_read_escape, _CONTINUED.sub(" ", unify_line_ends(text)))
    return unify_signs(remove_unseen(html.unescape(plain)))


def _read_escape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "


def remove_code(text: str) -> str:
    """Return a text without its blocks of code: their comments are no words of the answer."""
    return _CODE.sub("\n", text) if "```" in text or "~~~" in text else text


@cache_by_text
def split_stated(text: str) -> Sequence[str]:
    """Return the sentences that a visible text states; code, quotations and questions are left out."""
    plain = remove_code(text)
    plain = _QUOTED.sub(_keep_title, plain) if '"' in plain or "\u00ab" in plain else plain
    return [each for each in _SENTENCE_END.split(plain) if each and not each.rstrip().endswith("?")]


def _keep_title(match: re.Match[str]) -> str:
    """Keep a quotation that may be the name of a thing; several words are what somebody says."""
    return match[0].strip('"') if len(match[0].split()) <= _TITLE_WORDS else " ... "


_TITLE_WORDS: Final = 4


_WORD_RUN: Final = re.compile(r"\w+")
_INLINE: Final = r"(?:a|abbr|b|big|code|del|em|font|i|ins|mark|s|small|span|strong|sub|sup|u|wbr)"
_LONGEST: Final = 200
"""Characters of a tag or a comment; it bounds the search."""
_WITHIN_WORD: Final = regex.compile(
    rf"(?<=\p{{L}})(?:\*{{1,3}}|~~|`|<!--[^<>]{{0,{_LONGEST}}}-->|</?{_INLINE}(?:\s[^<>]{{0,{_LONGEST}}})?/?>)++"
    r"(?=\p{L})",
    regex.IGNORECASE,
)


@lru_cache(_CACHED_TEXTS)
def read_disguised(text: str) -> str:
    """Return a text as it looks; line breaks stay.

    Invisible characters are removed, and look-alikes of Latin letters (Unicode TS 39) are replaced in words
    that look Latin.
    """
    if text.isascii():
        return normalize_lines(text)
    # Before and after NFKC, which turns some look-alikes into other letters.
    plain = _LOOSE_MARKS.sub("", normalize_lines(_WORD_RUN.sub(_read_word, text)))
    return _WORD_RUN.sub(_read_word, plain)


def _read_word(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii():
        return word
    latin = word.translate(_read_lookalikes())
    # A word with letters like no Latin one, such as an ordinary Russian word, does not look Latin.
    return latin if latin.isascii() or any(map(str.isascii, word)) else word


@cache
def _read_lookalikes() -> Mapping[int, str]:
    """Read the characters that Unicode TS 39 (``confusables.txt``) puts beside one of ASCII."""
    groups = json.loads(Path(__file__).with_name("lookalikes.json").read_bytes())
    return {ord(char): plain for plain, alike in groups.items() for char in alike}


@lru_cache(_CACHED_TEXTS)
def read_rendered(text: str) -> str:
    """Return the text without the marks and tags inside of words, with character references resolved.

    Marks between words stay, and so do underscores, which are a part of names.
    """
    return _WITHIN_WORD.sub("", html.unescape(text))


_PREFIX: Final = re.compile(r".*(?:[.:/]|__)|mcp[_-]+[^_-]+[_-]", re.DOTALL | re.IGNORECASE)
"""The name of a server or a package before its tool, as in mcp__files__rm and files.rm."""
_CACHED_NAMES: Final = 1024


def is_same_tool(name: str, other: str) -> bool:
    """Return whether two names differ only by form: capitals, punctuation, look-alikes, a prefix of one."""
    (full, bare), (other_full, other_bare) = _list_forms(name), _list_forms(other)
    return not full.isdisjoint(other_full | other_bare) or not bare.isdisjoint(other_full)


def fold_tool_name(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name)).casefold()


@lru_cache(_CACHED_NAMES)
def _list_forms(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """List the folded readings of a name, and those without the name of a server or a package before it."""
    readings = [unicodedata.normalize("NFKC", name), read_disguised(name)]
    bare = [_PREFIX.sub("", each, count=1) for each in readings]
    return frozenset(map(fold_tool_name, readings)), frozenset(map(fold_tool_name, bare))


def cut_out(text: str, spans: Iterable[tuple[int, int]], substitute: str) -> str:
    """Replace each of the spans, which do not overlap and are in their order."""
    kept, done = [], 0
    for start, end in spans:
        kept.append(text[done:start])
        done = end
    return substitute.join([*kept, text[done:]])
