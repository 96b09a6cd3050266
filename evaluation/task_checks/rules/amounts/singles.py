"""A single thing with an article: "answer in one sentence", "include an e-mail address"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.governors import find_governor
from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.quantities import Bounds
from evaluation.task_checks.rules.amounts.units import PART_AFTER, PART_BEFORE, Count
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import BY_NAME

_ARTICLE: Final = regex.compile(
    r"(?<!\w)(?P<number>an?|one|a single|just one|only one|exactly one|"
    r"one single)(?: (?!own\b|separate\b|new\b|different\b)[a-z-]+)?? (?P<noun>sentence|"
    r"paragraph|word|line)\b(?![-'])(?! (?:count|"
    r"limit|cloud|processor|game|search|fragment|structure|starter|of the text|from|that (?:is|"
    r"was)|by |in the (?:text|article)|document|list|break|or (?:more|two)|or phrase|at a time|"
    r"problem))"
)
_BEFORE_ARTICLE: Final = regex.compile(
    r"(?:^|\b(?:(?<!(?:one|two|three|four|five|more|\d|them) )in|with|using|into|as|to|of|write|compose|"
    r"create|give me|give us|produce|"
    r"generate|draft|craft|answer|is|be|exactly|only|just|within|me|us)) ?$"
)
_SINGLE_PART: Final = regex.compile(
    r"\b(?:an?|the(?= code)|(?:a few|some|several|a couple of)(?= emoji)) "
    r"(?:(?:valid|working|short|fenced|contact|single) )?"
    r"(?:(?P<emails>e-?mail address)|(?P<links>(?:web ?)?link|url|hyperlink|web address)|(?P<emojis>emojis?)|"
    r"(?P<hashtags>hash ?-?tag)|"
    r"(?P<placeholders>placeholder)|(?P<code_blocks>code ?-?block))(?![\w-])"
    r"(?! (?:[a-z]+ )?(?:each|every|all|both|the end)\b)"
)
_EACH: Final = regex.compile(r"\b(?:each|every)\b[^.;,:]{0,40}$")
_GOES_ON: Final = regex.compile(
    r"[^.;:\n]{0,60}?(?:, (?:and )?then\b|\band then\b|\bfollowed by\b|, after that\b)"
)
"""Words after a unit that is not all: "a paragraph on bees, then a list"."""
_NAMES_PART: Final = regex.compile(r"link|url|address|emoji|hash|placeholder|code")
_LISTED: Final = regex.compile(
    r"(?: (?!(?:about|that|which|who|not|no|each|every)\b)[\w\ue000@#.-]+,?){0,7} ?"
)
_REFUSED: Final = regex.compile(
    r"(?:\b(?:not|never|no|avoid|without|instead of|rather than|ends?|ending|finish|close)\b|n't\b)[^.;]*$"
)


def find_units(sentence: Sentence, counts: list[Count]) -> Iterator[Finding]:
    """Find a single sentence, paragraph, line or word as the whole output: "Answer in one sentence"."""
    taken = {count.match.start() for count in counts}
    for match in _ARTICLE.finditer(sentence.text):
        before = sentence.text[: match.start()]
        if taken & set(range(match.start(), match.end())) or not _BEFORE_ARTICLE.search(before):
            continue
        if match["number"] in {"a", "an"} and match["noun"] in {"word", "line"}:
            continue
        if _EACH.search(before):
            continue
        if is_demanded(sentence, match.start(), match.end()) and not PART_BEFORE.search(before):
            check = BY_NAME[f"{match['noun']}s"].build(Bounds(1, 1))
            is_part = _GOES_ON.match(sentence.text, match.end())
            start, end = sentence.start + match.start(), sentence.start + match.end()
            yield Finding(start, end, None if is_part else check)


def find_parts(sentence: Sentence, counts: list[Count]) -> Iterator[Finding]:
    """Find a single part that a sentence orders: "include two links and an e-mail address"."""
    if not _NAMES_PART.search(sentence.text):
        return
    for match in _SINGLE_PART.finditer(sentence.text):
        before, after = sentence.text[: match.start()], sentence.text[match.end() :]
        governor = find_governor(sentence.text, match.start())
        if governor is None or governor.kind != "require" or not _LISTED.fullmatch(before, governor.end):
            continue
        is_counted = any(count.match.start() < match.end() <= count.end for count in counts)
        if is_counted or _REFUSED.search(before) or not is_demanded(sentence, match.start(), match.end()):
            continue
        name = next(thing for thing, words in match.groupdict().items() if words and thing in BY_NAME)
        is_whole = not (PART_BEFORE.search(before) or PART_AFTER.match(after))
        check = BY_NAME[name].build(Bounds(1, None)) if is_whole else None
        yield Finding(sentence.start + match.start(), sentence.start + match.end(), check)
