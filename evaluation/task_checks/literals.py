"""Words and letters that the output has to have, may not have, or has to start or end with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluation.task_checks.abstention import Fields, Finding
from evaluation.task_checks.amounts import read_times
from evaluation.task_checks.demands import OUTPUT
from evaluation.task_checks.reading import QUOTED, Reading, any_of

_NOUN: Final = r"(?:key ?)?words?|phrases?|terms?|names?|sentences?|hash-?tags?|lines?|letters?|expressions?"
_NO_WORD: Final = (
    r"(?!(?:count|limit|length|order|choice|in|of|that|which|with|from|like|by|and|or|for|to|at|you|is|are"
    r"|must|"
    r"should|may|can|below|above|list|exactly|less|more|than|not|used|i)\b)"
)
_PLAIN: Final = rf"{_NO_WORD}[a-z][\w'-]*"
_LITERAL: Final = re.compile(
    rf"(?:\b(?P<noun>{_NOUN})(?: of)?:? )?(?P<marks>[\[(]?{QUOTED}(?:(?:,? (?:and|or)|,"
    rf"|/)? ?{QUOTED})*[\])]?)"
    rf"|\b(?P<noun2>(?:key ?)?words?|terms?):? (?P<plain>{_PLAIN}(?:(?:, (?:and |or )?| and | or ){_PLAIN})*)"
    r"(?=\s*(?:[.!?;)\n]|$)|,? (?:in|at least|at most|exactly|more|less|anywhere|once|twice|must|should"
    r"|may|\d|but) )"
    r"|\bletters? (?P<letter>[a-z])(?!\w)"
)
_FILL: Final = (
    r"(?: (?:the|these|this|following|exact|single|all|both|of|any|an?|our|your|it|in|to|by|saying|up"
    r"|directly))*"
    rf"(?: {OUTPUT})?(?: (?:the|exact|in))*:? ?"
)
_DUTY: Final = rf" (?:{any_of('duties')}|to)"
_STATED: Final = rf"(?:words?|phrase|sentence|line|thing)\b[^.;:,]{{0,30}}{_DUTY}(?: be)?{_FILL}$"
_START: Final = rf"\b(?:start|begin|open|kick off)\w*{_FILL} ?(?:with|by saying){_FILL}$|\bfirst {_STATED}"
_END: Final = (
    rf"\b(?:end|finish|conclude|close|sign off|wrap up)\w*{_FILL} ?(?:with|by saying){_FILL}$"
    rf"|\b(?:last|final|closing) {_STATED}"
)
_NOT: Final = (
    r"(?:\b(?:not|never|dont|avoid|avoiding|without|refrain from|excluding|exclude|omit|leave out|no)|n't)"
    r"(?: (?:use|using|include|including|mention|mentioning|contain|containing|say|saying|write|have|put"
    r"|let|ever))*"
)
_FORBIDDEN: Final = (
    rf"{_DUTY} ?not\b(?: (?:be )?(?:appear|occur|used|in))?|,? (?:must|should|may|can)n't\b(?: (?:appear"
    rf"|be used))?"
    r"| never\b| (?:is|are) (?:forbidden|banned)"
)
_USE: Final = (
    r"\b(?:includ(?:e|es|ing)|contain(?:s|ing)?|mention(?:ing)?|us(?:e|es|ing)|incorporate|features?|add"
    r"|has|have|"
    rf"with|insert){_FILL}$"
)
_USED: Final = (
    rf"{_DUTY} (?:all |both |each )?(?:appear|occur|be (?:used|included|mentioned|in|part)|show up)"
    rf"| appears?\b"
)
_KINDS: Final = tuple(
    (kind, re.compile(before), re.compile(after))
    for kind, before, after in (
        ("starts_with", _START, rf"{_DUTY} (?:be (?:the )?(?:first|opening)|come first)"),
        ("ends_with", _END, rf"{_DUTY} be (?:the )?(?:very )?(?:last|final|closing)"),
        ("excludes", rf"{_NOT}{_FILL}$", _FORBIDDEN),
        ("contains", _USE, _USED),
    )
)
_PART: Final = re.compile(
    r"\b(?:paragraphs?|sections?|bullets?|stanzas?|first one|last one|which|title|line)\b[^.;]*$"
)
_POSTSCRIPT: Final = re.compile(r"(?i)(?:p\. ?)+s\.?|p+s")
_PLACED: Final = frozenset({"starts_with", "ends_with"})


def find_literals(text: str, start: int, reading: Reading) -> Iterator[Finding]:
    """Finds the words that a sentence demands or forbids; ``start`` is its place in the folded text."""
    for match in _LITERAL.finditer(text):
        kind, first, end = _find_kind(match, text)
        bounds, last = read_times(text, end)
        if kind is None and bounds is None:
            continue
        words = _read_words(match, start, reading)
        check = _build_check(kind, words, bounds, match)
        is_part = kind in _PLACED and _PART.search(text[: match.start()])
        yield Finding(start + first, start + max(last, end), None if is_part else check)


def _find_kind(match: re.Match[str], text: str) -> tuple[str | None, int, int]:
    """Returns the demand on a literal, and where the words that say so start and end."""
    before = text[: match.start()].rstrip()
    for kind, front, back in _KINDS:
        found = front.search(before, max(0, len(before) - 100))
        # "Close with X" says where, which only "with the word X" does not.
        if found is not None and (match["noun"] or match["plain"] or not found.group().startswith("with")):
            return kind, found.start(), match.end()
        if (found := back.match(text, match.end())) is not None:
            return kind, match.start(), found.end()
    return None, match.start(), match.end()


def _build_check(
    kind: str | None, words: list[str], bounds: Fields | None, match: re.Match[str]
) -> Fields | None:
    if not words or not all(re.search(r"\w", word) for word in words):
        return None
    if match["letter"] or (match["noun"] or "").startswith("letter"):
        limit = bounds or ({"max": 0} if kind == "excludes" else None)
        is_letter = len(words) == 1 and len(words[0]) == 1
        return {"check": "letter_count", "letter": words[0], **limit} if limit and is_letter else None
    if bounds is not None:
        return {"check": "occurrences", "text": words[0], **bounds} if len(words) == 1 else None
    if kind in _PLACED:
        name = "marker" if _POSTSCRIPT.fullmatch(words[0]) else "text"
        return (
            {"check": "postscript" if name == "marker" else kind, name: words[0]} if len(words) == 1 else None
        )
    if kind is None or (kind == "contains" and re.search(r"\bor\b", match.group())):
        return None
    return {"check": kind, "texts": words}


def _read_words(match: re.Match[str], start: int, reading: Reading) -> list[str]:
    if match["marks"]:
        return reading.literals(start + match.start("marks"), start + match.end("marks"))
    if match["letter"]:
        return [match["letter"]]
    first = start + match.start("plain")
    pieces = [
        piece for piece in re.finditer(r"[a-z][\w'-]*", match["plain"]) if piece.group() not in {"and", "or"}
    ]
    return [reading.quote(first + piece.start(), first + piece.end()) for piece in pieces]
