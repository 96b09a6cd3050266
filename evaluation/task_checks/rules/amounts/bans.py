"""Things that the output may not have: "without commas", "no lists or tables"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.moods import is_demanded, is_statement
from evaluation.task_checks.quantities import Bounds
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts.counts import PART_AFTER, PART_BEFORE
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import BY_NAME, THING, Fields, get_thing

_NO: Final = (
    r"(?:no|neither|without(?: using| any| the use of| including| having| a single| even one)*(?: any)?|"
    r"zero|(?:avoid|"
    r"refrain from|free of|skip|omit|exclude|leave out|stay away from|steer clear of|"
    r"abstain from)(?: using| the use of| including| all| any| adding| having| writing| the)*"
    r"|(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|cannot|can't|may not|not|"
    r"n't|does not|doesn't|not to)(?: (?:use|include|contain|have|add|insert|put|employ|write|"
    r"want(?: to (?:see|find|read))?|wish to see|like to see|need|give(?: me)?|present|make use of|"
    r"provide|be|show|feature|rely on|format|ever|any|"
    r"even a single|a single|a|in|there|be|with|using|your \w+))*(?: any| a single| a| an)*"
    r"|not a single|not any|n't any|(?:not|n't) (?:allowed|permitted|supposed) to (?:use|include|"
    r"have|write)(?: any)?)"
)
_PLACE_AFTER: Final = regex.compile(
    r"^ (?:after|before|between|at the (?:start|end|beginning)|in (?:the )?(?:titles?|headings?|"
    r"first|last))\b"
)
_REFUSES: Final = regex.compile(
    r"\b(?:no|neither|not|never|without|zero|avoid|refrain|free of|skip|omit|exclude|excluded|leave out|"
    r"stay away|steer|abstain|"
    r"dont|cannot|forbidden|banned|prohibited|off limits)\b|n't\b"
)
_FORBIDDEN: Final = regex.compile(
    rf"(?<!\w)(?P<no>{_NO}) (?:a |an |the )?(?:(?!word|letter|term|phrase)[a-z]+,? ){{0,1}}?{THING.pattern}"
)
_ALSO: Final = regex.compile(
    r"(?:,? ?(?:and|or|nor|&)(?: (?:no|any|from|of|from any|from using|without(?: any)?))?|"
    rf",)(?: the)? (?:any |no )?(?:{THING.pattern})"
)
_PASSIVE: Final = regex.compile(
    rf"(?<!\w)(?:{THING.pattern})(?: of any kind)? (?:(?:is|are|be|should|must|may|"
    r"can)(?: be)? )?(?:not (?:be )?(?:allowed|permitted|used|appear|be used|included|present|"
    r"be included|accepted)|forbidden|banned|excluded|prohibited|off limits|not to be used|"
    r"cannot be used)\b"
)
_BEFORE_NO: Final = regex.compile(
    r"\b(?:why|if|when|that|who|which|because|has|had|is|are|there (?:is|are))\b ?$"
)
_FORBIDDABLE: Final = frozenset(BY_NAME) - {
    "words",
    "sentences",
    "paragraphs",
    "stanzas",
    "lines",
    "characters",
    "items",
    "unique_words",
    "characters_without_spaces",
    "placeholders",
}


def find_forbidden(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the things that a sentence forbids: "without commas", "no lists or tables"."""
    if not _REFUSES.search(sentence.text):
        return
    for match in _FORBIDDEN.finditer(sentence.text):
        if not _is_forbidden(sentence, match) or (
            not match["no"].startswith("not") and _BEFORE_NO.search(sentence.text[: match.start()])
        ):
            continue
        yield from _forbid(sentence, match, match.start())
        end = match.end()
        while also := _ALSO.match(sentence.text, end):
            yield from _forbid(sentence, also, match.start())
            end = also.end()
    for match in _PASSIVE.finditer(sentence.text):
        if is_demanded(sentence, match.start(), match.end()) or is_statement(sentence, match.start()):
            yield from _forbid(sentence, match, match.start())


def _is_forbidden(sentence: Sentence, match: regex.Match[str]) -> bool:
    thing = match.start(get_thing(match).name)
    return is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, thing, match.end())


def _forbid(sentence: Sentence, match: regex.Match[str], start: int) -> Iterator[Finding]:
    thing = get_thing(match)
    if thing.name not in _FORBIDDABLE or regex.match(
        r" (?:to|in order to|for) ", sentence.text[match.end() :]
    ):
        return
    scoped = (
        _PLACE_AFTER.match(sentence.text[match.end() :])
        or PART_BEFORE.search(sentence.text[:start])
        or PART_AFTER.match(sentence.text[match.end() :])
    )
    check = None if scoped else thing.build(Bounds(0, 0))
    yield Finding(sentence.start + start, sentence.start + match.end(), _bound_by_zero(check))


def _bound_by_zero(check: Fields | None) -> Fields | None:
    """Say "at most 0" for "exactly 0", which reads better in messages."""
    if check is None or "exactly" not in check:
        return check
    return {**{name: value for name, value in check.items() if name != "exactly"}, "max": 0}
