"""The repeated request: finds the order to repeat it, and the text that the output has to repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.texts.given_texts import split_sentences

_REQUEST: Final = (
    r"(?:request|prompt|question|instructions?|sentence|task|query|text|message|paragraph|statement)s?"
)
_REPEAT: Final = regex.compile(
    r"(?:\b(?:repeat|restate|copy|echo|reproduce|quote|write out|say)|\bby (?:repeat|restat|copy|echo|"
    r"reproduc|quot)ing)\b(?: (?:back|me|to me|"
    r"first))*[^.;:]{0,15}?\b(?:the|this|my|all(?: of)?(?: the)?)(?: (?:exact|entire|whole|full|"
    rf"following|original|same|above|complete|very))* {_REQUEST}\b"
    rf"|\bbe (?:my|the|this|your)(?: \w+)? {_REQUEST},? (?:repeated|copied|restated)\b"
)
_WORD_FOR_WORD: Final = regex.compile(
    r"word[- ](?:for|by)[- ]word|verbatim|without (?:any )?(?:changes?|changing|alter)|exact(?:ly)?|"
    r"unchanged|before (?:you )?(?:answer|respond|giv|reply)|entire request|literally|"
    r"then (?:give |write |provide )?(?:your |the )?(?:answer|respond|reply)|as (?:it )?is"
)
_REFUSED: Final = regex.compile(r"\b(?:not|don't|never|without) (?:\w+ ){0,2}$")
_LABEL: Final = regex.compile(
    rf"^(?:(?:here|this|below) is )?(?:(?:the|my|your) )?(?:{_REQUEST}|anfrage|frage|aufgabe)"
    rf"(?: (?:is|to repeat))*:\s*|^hier ist (?:die|meine) \w+:\s*",
    regex.I,
)
_BELOW: Final = regex.compile(r"\b(?:below|following|after this|that follows)\b")
_ABOVE: Final = regex.compile(r"\b(?:above|preceding|previous)\b")
_NEAR: Final = 15
_LEAD: Final = r"^(?:(?:\d+[.)]|and|but|also|please|remember|note|important|so)[,:]? )*"
_ABOUT_REPEATING: Final = regex.compile(
    r"\b(?:repeat(?:s|ed|ing)?|repetition|restat(?:e|ed|ing)|echo(?:ed|ing)?)\b"
    r"|\b(?:not|n't|dont|never|no|nothing|without|avoid)\b.*\b(?:before|in front of|ahead of|prior to|"
    r"preced\w+) (?:it|this|that|the (?:request|question|prompt))\b"
    rf"|{_LEAD}(?:(?:only |and )?(?:then|after that|afterwards|after this|next|finally),? )"
    r"(?:you )?(?:can |may |should |must )?(?:answer|respond|reply|(?:give|write|provide|add|state) "
    r"(?:me )?(?:your|the|an) (?:answer|response|reply))\b[^.;:]{0,30}$"
    rf"|{_LEAD}(?:do not|don't|never) (?:change|alter|modify|add|omit|answer) (?:it|anything|any words?|"
    r"a word|the (?:request|question|prompt)|its \w+)\b[^.;:]{0,30}$"
    rf"|{_LEAD}(?:the|your|my) (?:request|question|prompt|instruction)s? "
    r"(?:to|that|does|is|must|should)\b(?!.*:)"
)
"""Sentences that say how to repeat the request: no request has them."""
_BETWEEN: Final = ".:!?;, \n"


def find_repetition(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find whether the output has to repeat the request first."""
    match = _REPEAT.search(sentence.text)
    if (
        not match
        or not is_demanded(sentence, match.start() + len(match.group().split()[0]), match.end())
        or not _WORD_FOR_WORD.search(sentence.text)
        or _REFUSED.search(sentence.text[: match.start()])
    ):
        return
    start = sentence.start + match.start()
    text = _read_request(sentence, match, reading)
    yield Finding(
        start, sentence.start + match.end(), {"check": "repeats_request", "text": text} if text else None
    )


def _read_request(sentence: Sentence, match: regex.Match[str], reading: Reading) -> str:
    """Return the request to repeat; an empty text if its extent is not known."""
    words = sentence.text[match.start() : match.end() + _NEAR]
    sentences = split_sentences(reading)
    before = _read_before(sentence, sentences, reading)
    after = _read_after(sentence, match, sentences, reading)
    if _BELOW.search(words) or (not before and not _ABOVE.search(words)):
        return after or ""
    return before or "" if _ABOVE.search(words) or after == "" else ""


def _read_before(sentence: Sentence, sentences: list[Sentence], reading: Reading) -> str | None:
    """Return the text before the sentences about repeating; None if one of them is within the text."""
    earlier = [other for other in sentences if other.start < sentence.start]
    end = sentence.start
    while earlier and _is_about_repeating(earlier[-1]):
        end = earlier.pop().start
    if any(_is_about_repeating(other) for other in earlier):
        return None
    return regex.sub(r"(?:\s*(?:First|Please|Before))$", "", reading.quote(0, end))


def _read_after(
    sentence: Sentence, match: regex.Match[str], sentences: list[Sentence], reading: Reading
) -> str | None:
    """Return the text after the sentences about repeating; None if one of them is within the text."""
    colon = sentence.text.find(":", match.end())
    if colon >= 0:
        place = sentence.start + colon + 1
        quoted = [mark for mark in reading.get_marks(place, place + 2) if mark.character == QUOTED]
        if quoted:
            return quoted[0].content.strip()
    else:
        place = sentence.start + len(sentence.text)
    end = len(reading.text)
    later = [other for other in sentences if other.start >= place]
    while colon < 0 and later and _is_about_repeating(later[0]):
        place = later[0].start + len(later.pop(0).text)
    while later and _is_about_repeating(later[-1]):
        end = later.pop().start
    if any(_is_about_repeating(other) for other in later):
        return None
    place += len(reading.text[place:end]) - len(reading.text[place:end].lstrip(_BETWEEN))
    return _LABEL.sub("", reading.quote(place, max(place, end)))


def _is_about_repeating(sentence: Sentence) -> bool:
    return _ABOUT_REPEATING.search(sentence.text) is not None
