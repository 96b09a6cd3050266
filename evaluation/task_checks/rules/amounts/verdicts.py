"""Bounds that a verdict on an amount states: "anything over 300 words is cut", "nothing under 50 will do"."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.quantities import Bounds

_FEW_WORDS: Final = r"(?: (?!nothing|anything|no|and|but)[a-z'-]+){0,4}?"
_SUBJECT: Final = regex.compile(
    rf"(?:^|[,;:] ?|\b(?:and|but|because|since) )(?:(?P<none>nothing|no (?:text|answer|response|reply|"
    rf"story|poem|essay|letter|[a-z]+ (?=of|with|that)))|(?:anything|everything|whatever|"
    rf"(?:an?|any) [a-z]+|[a-z]+s)){_FEW_WORDS} ?$"
)
_BE: Final = r"(?:is|are|will be|would be|can be|may be|gets?|counts? as|seems?)"
_BAD: Final = regex.compile(
    rf" {_BE} (?:simply |just |automatically |far |much )?(?:too (?:long|short|much|little|many|few)|"
    rf"rejected|refused|"
    r"ignored|wrong|cut\b|discarded|deleted|truncated|lost|returned|a fail|invalid|unacceptable|"
    r"not (?:acceptable|accepted|allowed|ok|okay|read))| (?:will not|won't|cannot|can't|does not|doesn't|"
    r"must not) "
    r"(?:do|work|fit|count|be)\b"
)
_GOOD: Final = regex.compile(
    rf" (?:{_BE} (?:accepted|acceptable|okay|ok|fine|good|enough|allowed|permitted|read|considered)|will do|"
    r"will work|counts)\b"
)

_ENDS: Final = regex.compile(r"(?: long| in length)?,?(?: please| pls| thanks)?(?:$|[.;:!)])")


def read_verdict(bounds: Bounds, before: str, after: str) -> Bounds | None:
    """Return the bounds that a verdict on an amount leaves; None if there is no verdict that decides."""
    subject = _SUBJECT.search(before)
    if subject is None:
        return None
    is_refused = subject["none"] is None
    # "Nothing longer than 40 words, please!"
    verdict = _BAD.match(after) if is_refused else _GOOD.match(after) or _ENDS.match(after)
    return _complement(bounds) if verdict else None


def _complement(bounds: Bounds) -> Bounds | None:
    if bounds.least is not None and bounds.most is None:
        return Bounds(None, max(0, bounds.least - 1))
    if bounds.most is not None and bounds.least is None:
        return Bounds(bounds.most + 1, None)
    return None
