"""Reads a text as a reader sees it: without thoughts, hidden elements, and marks of Markdown and HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from evaluation.texts.normal import remove_unseen, unify_line_ends, unify_signs

_THOUGHT: Final = re.compile(
    r"<(think|thinking|reasoning|scratchpad|reflection)\b[^>]*>.*?(?:</\1>|\Z)|\A.*?</think>",
    re.DOTALL | re.IGNORECASE,
)
_HIDDEN: Final = re.compile(
    r"<!--.*?-->|<(script|style|template|head)\b.*?</\1>"
    r"|<(\w+)\b[^>]*(?:\bhidden\b|display:\s*none|visibility:\s*hidden)[^>]*>.*?</\2>",
    re.DOTALL | re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"^[ \t]*\[[^\]\n]+\]:[^\n]*$", re.MULTILINE)
"""Matches the definition of a link, of which a reader sees nothing."""
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\(([^)\s]*)[^)\n]*\)")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_MARKS: Final = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|`+|~~|^[ \t]*(?:#{1,6}|>+)[ \t]+", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\(n|t|r)(?![a-z])")
_CONTINUED: Final = re.compile(r"\\\n[ \t]*(?:\\[ ])?")
"""Matches where YAML goes on with a long text in double quotation marks."""
_CODE: Final = re.compile(r"^```.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_QUOTED: Final = re.compile(r'"[^"\n]{2,600}"|\u00ab[^\u00bb\n]{2,600}\u00bb')
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;:])[)\"']?\s+(?=\S)|\n+")
_CACHED: Final = 256


@lru_cache(_CACHED)
def read_visible(text: str) -> str:
    """Return a text as a reader sees it; the addresses of links stay, in parentheses."""
    plain = _HIDDEN.sub(" ", _THOUGHT.sub(" ", unify_line_ends(text)))
    plain = _LINK.sub(r"\1 (\2)", _REFERENCE.sub(" ", plain))
    return read_source(_MARKS.sub("", _TAG.sub(" ", plain))).strip()


@lru_cache(_CACHED)
def read_source(text: str) -> str:
    """Return the text of a document with all its tags; escapes and wrapped lines are resolved."""
    plain = _ESCAPE.sub(_read_escape, _CONTINUED.sub(" ", unify_line_ends(text)))
    return unify_signs(remove_unseen(html.unescape(plain)))


def _read_escape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "


def split_stated(text: str) -> Iterator[str]:
    """Yield the sentences that a visible text states; code, quotations and questions are left out."""
    plain = _QUOTED.sub(_keep_title, _CODE.sub("\n", text))
    yield from (each for each in _SENTENCE_END.split(plain) if each and not each.rstrip().endswith("?"))


def _keep_title(match: re.Match[str]) -> str:
    """Keep a quotation that may be the name of a thing; several words are what somebody says."""
    return match[0].strip('"') if len(match[0].split()) <= _TITLE_WORDS else " ... "


_TITLE_WORDS: Final = 4
