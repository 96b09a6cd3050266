"""Drops what a task allows or waives, and leaves unchecked what holds under a condition or in a part only.

"You may use bullet points" and "there is no need for a title" require nothing. "If you name a source, add a
link" and "in the second paragraph, avoid commas" are requirements that no check of the whole output holds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import regex

from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence

_SCOPE: Final = regex.compile(
    r"\b(?:except\w*|apart|aside|other|save|exception|but|then|followed|after|below|underneath|title|"
    r"headline|heading|body|caption|subject|footer|"
    r"intro\w*|conclusion|"
    r"first|second|third|fourth|fifth|last|final|next|one|have|need\w*|necessary|required|obliged|"
    r"essential|mandatory|obligation|requirement|may|can|could|"
    r"might|free|"
    r"welcome|option\w*|nice|allowed|permitted|if|unless|whenever|in case|should|when|where)\b|"
    r"^(?:\w+,? )?(?:in|for|"
    r"within|inside|under|"
    r"throughout) (?:the|your|its|each|every|paragraph|section|line|part|sentence|stanza|chapter)\b"
    r"|^(?:the )?(?:paragraph|section|line|part|sentence|stanza|chapter|slide|version) [\da-c]"
)
"""Without one of these, everything in a sentence holds for the whole output."""
_SAME_CLAUSE: Final = r"(?:(?! but | instead)[^.,;:]){0,80}$"
_WAIVED: Final = regex.compile(
    r"(?:\bno (?:need|requirement|obligation)\b|\b(?:do|does)(?: not|n't) (?:have|need) (?:to|an?|any)\b"
    r"|\b(?:need not|needn't)\b"
    rf"|(?:\bnot|n't) (?:necessary|needed|required|obliged|essential|mandatory)\b){_SAME_CLAUSE}"
)
_PERMITTED: Final = regex.compile(
    r"\b(?:(?<!that )(?<!which )you (?:may|can|could|might)(?!'t| not)|you(?:'re| are) (?:free|welcome|"
    r"allowed|"
    rf"permitted) to|feel free to)\b(?P<rest>{_SAME_CLAUSE})"
)
_OPTIONAL: Final = regex.compile(r"^\W*(?:optional(?:ly)?|as an option|not required|nice to have)\b")
_BOUNDED: Final = regex.compile(
    r"\b(?:only|just|up to|at (?:most|least)|no|not|never|more|less|fewer|under|below|between|within|exactly|"
    r"max\w*|min\w*|but)\b"
)
_CONDITION: Final = regex.compile(
    r"^(?:(?:and|but|also|so|then|please),? )?(?:if|unless|whenever|in case|should (?:you|the|it|your))\b"
    r"(?! (?:(?:at all )?possible|not|so|you (?:can|could|don't mind|like|please|want|were|had)|i |we |"
    r"\w+ (?:were|was|had|could)\b))[^,;:]{3,120}, "
)
_ON_CONDITION: Final = regex.compile(
    r"^,? ?(?:(?!about|on|of|what|how)\w+ ){0,3}?(?:unless|if (?:at all )?possible|"
    r"if you can|(?:if|when|where) (?:you (?:must|mention|use|"
    r"have to|"
    r"quote|name|cite)|needed|necessary|required|applicable|appropriate|relevant))\b"
)
_ORDINAL: Final = (
    r"(?:(?:very )?(?:first|second|third|fourth|fifth|last|final|opening|closing|next|other|middle|"
    r"\d+(?:st|nd|rd|th))"
    r" (?:\w+ )?)"
)
_IN_PART: Final = regex.compile(
    r"^(?:(?:and|but|also|then|please),? )?(?:in|for|within|under|throughout) (?:(?:the|your|its) "
    rf"(?:{_ORDINAL}(?:paragraph|sentence|line|section|part|stanza|verse|half|chapter|bullet|item|one|"
    rf"version|"
    r"response|answer)|(?:first|second|third|last|latter|former)(?=,| (?:must|should|may|no|at|use)\b)|"
    r"title|heading|headline|introduction|intro|conclusion|subject line|caption|header|"
    r"footer)"
    r"|(?:paragraph|section|line|part|sentence|stanza|chapter) (?:\d+|one|two|three|four|five))\b"
    r"|^(?:the )?(?:paragraph|section|line|part|sentence|stanza|chapter|slide|version) "
    r"(?:\d+|one|two|three|four|five|[a-c])\b(?! (?:and|to|or)\b)"
)
_IN_EACH: Final = regex.compile(
    r"^(?:(?:and|but|also|then|please),? )?(?:in|inside|for|within|under|below) (?:each|every) "
    r"(?:section|part|chapter|column|cell|slide|card|group|block|entry|heading)\b"
)
_IN_PART_OF_CLAUSE: Final = regex.compile(
    rf"(?:[,;] ?|\band |\bbut )in (?:the|its|your) {_ORDINAL}(?:paragraph|sentence|line|section|part|"
    rf"stanza|verse)"
    r"\b[^.,;:]*$"
)
_PART_IS: Final = regex.compile(
    rf"(?:^|[,;:(] ?| and |\. ?)(?:an? |the |its |your )?(?:{_ORDINAL.removesuffix(')')}?(?:one|version|"
    rf"answer|line|sentence|"
    r"paragraph|part|half|stanza|verse|section))|subject(?: line)?|headline|title|heading|body|caption|intro|"
    r"introduction|conclusion|footer|sign-off)\b(?! (?:and|as well)\b)[^.;,:]{0,40}$"
)
_EXCEPT: Final = (
    r"(?:except(?:ing)?|apart from|aside from|other than|save (?:for|in)|with (?:the|one|an) exception)"
)
_EXCEPTED_BEFORE: Final = regex.compile(
    rf"\b{_EXCEPT}\b(?:(?! and | but )[^.;:])*$|\b{_EXCEPT}\b[^.;:]*, (?:which|where|that|who) [^.;:]*$"
)
"""An exception, or words about it: "except the last one, which has two lines"."""
_EXCEPTED_AFTER: Final = regex.compile(
    r"^(?:[ ,]*(?:each|apiece|long|at all|anywhere|ever|please|whatsoever|(?:or|and)? ?\ue000|"
    r"(?:in|of|per|for) (?:the|your|each|every|any) \w+)){0,4}[ ,(-]*"
    rf"(?:{_EXCEPT}\b|(?:but|and)? ?not (?:in|for|after) the (?:title|heading|last|first|final)\b|"
    r"but (?:the|for the|in the) (?:first|last|final|second|title)(?: \w+)?(?=$|[.,;:!)]))"
)
"""An exception from the words before it: "no commas except in the list"."""
_NEXT: Final = regex.compile(
    r"\b(?:then|followed by|after that|afterwards|below (?:it|that|this)|underneath)\b[^.;]{0,60}$"
)
_REPEATS: Final = regex.compile(r"\b(?:repeat|restate|copy|quote)\w*\b")
_OF_ALL: Final = frozenset(
    {"word_count", "sentence_count", "paragraph_count", "line_count", "character_count"}
    | {"letter_case", "language"}
)
"""Checks of the whole output, of which a part may have another size, case or language."""
_PLACED: Final = frozenset({"each", "sentence", "number"})
"""Fields of checks that hold for a part."""


def apply_scopes(findings: Iterable[Finding], sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Drop requirements that are none; drop the check of those that hold for a part only."""
    starts = [sentence.start for sentence in sentences]
    for finding in findings:
        sentence = sentences[max(0, bisect_right(starts, finding.start) - 1)]
        if sentence.is_context or not _has_scope(sentence.text):
            yield replace(finding, check=None) if sentence.is_context else finding
            continue
        before, end = sentence.text[: finding.start - sentence.start], finding.end - sentence.start
        if not _is_optional(sentence.text, before, end):
            is_partial = _is_conditional(sentence.text, before, end) or _is_in_part(finding, before)
            is_partial = is_partial or _has_exception(sentence.text, before, end)
            yield replace(finding, check=None) if is_partial else finding


@lru_cache(1024)
def _has_scope(text: str) -> bool:
    """Check for words of a scope; the findings of the rules and the leftovers ask for the same sentence."""
    return _SCOPE.search(text) is not None


def _is_optional(text: str, before: str, end: int) -> bool:
    if _OPTIONAL.match(before) or _WAIVED.search(before) or _WAIVED.search(text, 0, end):
        return True
    match = _PERMITTED.search(before) or _PERMITTED.search(text, 0, end)
    return match is not None and not _BOUNDED.search(text, match.start("rest"), end)


def _is_conditional(text: str, before: str, end: int) -> bool:
    return bool(_CONDITION.match(before) or _ON_CONDITION.match(text[end:]))


def _has_exception(text: str, before: str, end: int) -> bool:
    return bool(_EXCEPTED_BEFORE.search(before) or _EXCEPTED_AFTER.match(text[end:]))


def _is_in_part(finding: Finding, before: str) -> bool:
    check = finding.check or {}
    if _PLACED & set(check):
        return False
    is_next = _NEXT.search(before) and not _REPEATS.search(before)
    is_part = is_next or _PART_IS.search(before) or _IN_EACH.match(before)
    return bool(
        _IN_PART.match(before)
        or _IN_PART_OF_CLAUSE.search(before)
        or (is_part and check.get("check") in _OF_ALL)
    )
