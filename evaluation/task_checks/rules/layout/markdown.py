"""Markdown or plain text as the form of the whole output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.governors import TOPIC, find_governor
from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.language.words import ALONE, MARKDOWN, REWORKING
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.negation import is_negated
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_LEAD: Final = (
    r"(?:^|[,;:(] ?| - |\b(?:in|as|using|with|use|into|to|return|output|be|only)(?: (?:a|an|the|only|just|"
    r"valid|proper|clean|nice|standard|basic|simple|full|github|flavou?red|structured|well-formatted)){0,3} )"
)
_MORE: Final = r"(?= (?:about|on|with|that|which|so|explaining|describing|as|using|containing|including)\b)"
_MARKDOWN: Final = regex.compile(
    rf"{_LEAD}(?P<form>{MARKDOWN}(?: only)?)(?! (?:is|are|be|should|must|may)\b)(?:{ALONE}|{_MORE})"
    r"|(?P<form>markdown[- ]formatted) (?:answer|response|reply|output|text|message|article|post|report|"
    r"summary)\b"
)
_PLAIN: Final = regex.compile(
    r"\b(?P<form>(?:plain|unformatted|raw)[- ]?text(?: (?:only|format|output))?)(?![ -]?(?:files?|editors?|"
    r"tables?|passwords?|attachments?|documents?|logs?|protocols?|storage|field|box|string)\b)"
)
_PARTS: Final = regex.compile(
    r"\b(?:bullets?|points?|lists?|headings?|headers?|highlight|bold|italic|emphasi[sz]|sections?|"
    r"tables?|divider|parts?\b|passages?|phrases?|separat|ticks?|titles?|checkbox|code|fences?|files?|links?|images?|h[1-6]|quotes?|asterisks?|json|"
    r"footnotes?|syntax for|notation for)"
)
"""Parts of a text of which Markdown may be the notation: "four bullet points in markdown"."""
_REWORKS: Final = regex.compile(rf"(?:{REWORKING})\b")
_SET_OFF: Final = regex.compile(
    r"(?:[,;:(] ?| - |\bas )(?:(?:in|as|using|with|use|into|only|just|an?|the|valid|please) ){0,4}$"
)
_NAMES_FORMAT: Final = regex.compile(r"format\b")
_WRITTEN: Final = regex.compile(
    r"\b(?:writ|note|doc|text|comment|wiki|blog|page|editor|line|paragraph|character|symbol|sign|spac|indent|escap|"
    r"render|pars|convert|syntax|feature|math|formula|diagram|emoji|colou?r|variable|password|e-?mail|message|"
    r"credential|secret|key)"
)
"""Topics that may be in Markdown or plain text themselves: "an article about notes in Markdown"."""


def find_markdown(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find Markdown as the form of the output; as the notation of a part, it belongs to the part."""
    if "markdown" not in sentence.text or _PARTS.search(sentence.text):
        return
    for match in _MARKDOWN.finditer(sentence.text):
        if _is_wanted(sentence, match):
            yield _find_form(sentence, match, "present")


def find_plain_text(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find plain text as the form of the output."""
    if "text" not in sentence.text:
        return
    for match in _PLAIN.finditer(sentence.text):
        if _is_wanted(sentence, match):
            yield _find_form(sentence, match, "absent")


def _is_wanted(sentence: Sentence, match: regex.Match[str]) -> bool:
    place = match.start("form")
    is_ordered = is_demanded(sentence, match.start(), match.end()) or is_demanded(
        sentence, place, match.end()
    )
    return is_ordered and not is_negated(sentence, place)


def _find_form(sentence: Sentence, match: regex.Match[str], use: str) -> Finding:
    check: Fields | None = {"check": "markdown", "use": use} if _is_certain(sentence, match) else None
    return Finding(sentence.start + match.start("form"), sentence.start + match.end("form"), check)


def _is_certain(sentence: Sentence, match: regex.Match[str]) -> bool:
    """Check whether the form belongs to the output, and not to its topic."""
    place = match.start("form")
    governor = find_governor(sentence.text, place)
    if governor is None or _SET_OFF.search(sentence.text, 0, place) or _NAMES_FORMAT.search(match["form"]):
        return True
    if governor.kind == "explain":
        return _REWORKS.search(sentence.text, 0, governor.end) is not None
    topic = TOPIC.search(sentence.text, governor.end, place)
    return topic is None or not _WRITTEN.search(sentence.text, topic.start(), place)
