"""Answers of which the output has to be one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_CHOICE: Final = regex.compile(
    r"\b(?:choose|choosing|pick|select|answer|respond|reply|selecting|say|one of|options?|be|"
    rf"include|use|from|output|with|write)\b[^.;]{{0,70}}?(?P<list>[\[(]?{QUOTED}(?:(?:,| or|"
    rf", or| and|, and| /|/|;|\n)\s?{QUOTED})+[\])]?)"
)
_CHOOSES: Final = regex.compile(
    r"\b(?:one of|choose|pick|select|either|options?|only|just|simply|choices?|nothing else|"
    r"exactly one|options|following)\b|\bor\b"
)
_PLAIN_CHOICE: Final = regex.compile(
    r"\b(?:answer|respond|reply|say|tell|output|return)(?: with| by saying| only| just| simply|"
    r" either| the word| a| the| me| simple| your| with| entirely)*(?P<list> (?P<first>yes|true|agree|"
    r"correct|"
    r"positive|spam|male|real)(?P<rest>(?:, | or |/|, or )(?:no|false|maybe|disagree|incorrect|"
    r"negative|neutral|unknown|fake|not spam|ham|unsure))+)\b"
)
_NOT_BEFORE: Final = regex.compile(r"\b(?:not|never|cannot|avoid|without)\b[^.;,]{0,20}$|n't\b[^.;,]{0,20}$")
_SHORT_CHOICE: Final = regex.compile(
    r"^(?:(?:just|only|please),? )?(?P<list>(?:yes|true|agree)(?: or |/)(?:no|false|"
    r"disagree))(?: only| please|, please|, nothing else|\.|$)"
)
_NAMES_WORDS: Final = regex.compile(r"\b(?:words?|keywords?|phrases?|terms?|not|avoid|without)\b|n't\b")
_STARTS: Final = regex.compile(
    r"\b(?:start|begin|open|end|finish|clos)(?:e|s|es|ing|ning|ting)? "
    r"(?:(?:it|your|the|each|every)(?: [a-z]+){0,2} )?(?:off )?(?:with|by) (?:either |one of )?"
    r"(?:the (?:words?|phrases?) )?[\[(]?$"
)
"""Words of which the output, or each part of it, has one at its start or end."""
_ABOUT: Final = regex.compile(r"\b(?:about|on|discuss\w*|explain\w*)\b")
_SAYS_ONE: Final = regex.compile(r"\b(?:following|one of|only|exact)\b")
_OR: Final = regex.compile(r",? (?:or|oder|and|und) |, | ?/ ?")
_ANSWERS: Final = regex.compile(r"\b(?:answer|respond|reply|say|output|return|classify|response)\b")
_BARE_OPTION: Final = r"(?:\([\w' -]{1,40}\)|(?!(?:or|and)\b)[\w'-]+(?: (?!(?:or|and)\b)[\w'-]+){0,3})"
_BARE_CHOICE: Final = regex.compile(
    r"(?P<lead>\b(?:one of|choose (?:from|between)|pick (?:from|between)|options|choices|labels|categories)\b"
    rf"[^:;\n]{{0,50}}: ?)(?P<list>{_BARE_OPTION}(?:(?:,? or |,? and |, | ?/ ?){_BARE_OPTION})+)$"
)
_HAS: Final = regex.compile(r"(?:include|use|with|contain)")
_NAMED_OPTIONS: Final = regex.compile(r"\b(?:one of|options?|choices?|alternatives?)\b")
_ALONE: Final = regex.compile(r"\b(?:only|nothing else|just|nothing but|no other|and nothing|alone)\b")


def find_choice(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the answers of which the output has to be one."""
    quoted = next((match for match in _CHOICE.finditer(sentence.text) if _is_choice(sentence, match)), None)
    if quoted:
        marks = reading.get_marks(sentence.start + quoted.start("list"), sentence.start + quoted.end("list"))
        yield from _build_choice(sentence, quoted, [mark.content.strip().rstrip(",;") for mark in marks])
        return
    yield from _find_short_choice(sentence, reading)
    yield from _find_bare_choice(sentence, reading)
    for match in _PLAIN_CHOICE.finditer(sentence.text):
        if is_demanded(sentence, match.start("list"), match.end("list")):
            text = reading.quote(sentence.start + match.start("list"), sentence.start + match.end("list"))
            options = [part for part in _OR.split(text.strip()) if part]
            yield from _build_choice(sentence, match, options)


def _is_choice(sentence: Sentence, match: regex.Match[str]) -> bool:
    words, lead = match.group(), match.group()[: match.start("list") - match.start()]
    if not _CHOOSES.search(words) or _NOT_BEFORE.search(sentence.text[: match.start()]):
        return False
    if _ABOUT.search(lead) or _STARTS.search(sentence.text, 0, match.start("list")):
        return False
    if _NAMES_WORDS.search(lead) and not _SAYS_ONE.search(words):
        return False
    if _HAS.match(words) and not _NAMED_OPTIONS.search(words):
        return False
    verb = match.start() + len(words.split(" ", 1)[0])
    places = (verb, match.start("list"))
    return any(is_demanded(sentence, place, match.end()) for place in places)


def _find_short_choice(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find "Yes or no only."."""
    match = _SHORT_CHOICE.match(sentence.text)
    if match and not sentence.is_data:
        start, end = sentence.start + match.start("list"), sentence.start + match.end("list")
        yield from _build_choice(sentence, match, _OR.split(reading.quote(start, end)))


def _find_bare_choice(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find options without quotation marks: "Reply with one of: (always), (sometimes), (never)"."""
    match = _BARE_CHOICE.search(sentence.text)
    if match and _ANSWERS.search(sentence.text) and is_demanded(sentence, match.start(), match.end("lead")):
        place = sentence.start + match.start("list")
        text = reading.quote(place, sentence.start + match.end("list"))
        options = [part.strip(" ().") for part in _OR.split(text)]
        yield from _build_choice(sentence, match, options)


def _build_choice(sentence: Sentence, match: regex.Match[str], options: list[str]) -> Iterator[Finding]:
    if len(options) < 2 or not all(options) or any(not regex.search(r"\w", option) for option in options):  # noqa: PLR2004
        return
    fields: Fields = {"check": "one_of", "options": options}
    if _ALONE.search(sentence.text):
        fields["alone"] = True
    yield Finding(sentence.start + match.start(), sentence.start + match.end(), fields)
