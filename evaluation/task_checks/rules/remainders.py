"""Clauses of a demand that no rule touches: "5 lines, the third in Latin, none of them blank".

A task that demands something often goes on in clauses that only continue the demand. What such a clause
says of a part, in numbers, in a literal, in a word of form or in a negation, is listed as unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import regex

from evaluation.task_checks.language.words import EXPLAINING, PRODUCING
from evaluation.task_checks.quantities import NUMBER, find_quantities
from evaluation.task_checks.rules.coverage import Known
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence

_CUT: Final = regex.compile(
    r"(?P<firm>[,;:()](?!\d)| - |(?<= )(?=(?:but|then) ))"
    r"|(?<= )(?=(?:and|so that|such that|with|in which|of which|except|plus|"
    r"(?<!\b(?:in|of) )(?:which|that)) )"
)
_JOIN: Final = regex.compile(r"[ ,;:()-]*(?:(?:and|but|then|also|so|please)\b[ ,]*)*")
_FORM: Final = (
    r"headers?|headings?|subject line|numerals?|digits?|placeholders?|brackets?|parentheses|quotes|"
    r"quotation marks?|bold|italics?|caps|capitals?|uppercase|lowercase|"
    r"(?:upper|lower|sentence|title)[- ]case|capitali[sz]ed|ordered|sorted|alphabetical(?:ly)?|numbered|"
    r"bulleted|separated|delimiter|separator|commas?|"
    r"semicolons?|dash(?:es)?|tabs?|full stop|backticks|code (?:fence|block)|vowels?|label(?:l?ed|s)|"
    r"alternating|in (?:this|that|the same|reverse) (?:[a-z]+ )?order|"
    r"(?:longer|shorter|more|fewer|less) than|the (?:most|fewest|longest|shortest)|integers?|question"
)
_UNIT: Final = (
    r"(?:words?|sentences?|lines?|paragraphs?|titles?|headings?|headers?|headlines?|bullets?|points?|items?|"
    r"entries|rows?|columns?|cells?|fields?|keys?|sections?|parts?|stanzas?|verses?|steps?|questions?|answers?|"
    r"labels?|numbers?|keywords?|versions?|conclusion|body|teasers?|captions?|options?)"
)
_MODAL: Final = (
    r"must|should|shall|has to|have to|needs? to|mustn't|can't|cannot|may not|may only|shouldn't|is to|are to"
)
_MARKER: Final = regex.compile(
    rf"\b(?:(?:{NUMBER}|once|twice|first|second|third|fourth|fifth|middle|last|final|others?|rest|each|every|per|"
    rf"none|neither|nor|nobody|nothing|no|not|never|without|except|only|{_FORM})(?![\w-])"
    r"(?! (?:day|week|month|year|hour|minute)s?\b))|[\ue000\ue003#€]"
)
_PART: Final = regex.compile(
    r"(?:(?:in|under|at|for|below|after|before|of) )*(?:the |an? )?(?:(?:first|second|third|fourth|fifth|"
    r"last|final|middle|others?|rest)\b(?! (?:time|day|week|month|year|place|quarter|of all)\b)|"
    r"each\b|every\b|none\b|neither\b)"
)
"""A clause about a part continues the demand even behind words about something else."""
_TOPIC: Final = regex.compile(
    r"\b(?:about|because|since|whether|how|why|what|who|whom|whose|if|when|while|although|though|where|"
    r"for example|for instance)\b"
)
_OTHER: Final = regex.compile(
    r"(?:i|we|he|she|they|you|my|our|his|her|their|it's|there's|that's|thanks?|sorry|hope|hi|hello|dear|ok|"
    r"cheers|because|since|as|if|when|while|although|though|who|how|why|what|where|e\.g|i\.e|such as|like|"
    r"to|about|for|on|an example|for example)\b"
)
"""Starts of clauses that give a reason, a topic or an example."""
_NEW_TOPIC: Final = regex.compile(
    rf"(?:{PRODUCING}|{EXPLAINING})\b(?!.*\b(?:rest|others?|first|second|third|last|each|every)\b|.*\ue000)"
)
"""An order for a text after its form: "in 3 lines, list the uses of two metals"."""
_NO_PERSON: Final = r"(?!(?:i|we|he|she|they|you|my|our|people|one|who|what|there)\b)"
_STATES: Final = regex.compile(
    rf"(?:{_NO_PERSON}[\w'\ue000-]+ ){{1,5}}?(?:{_MODAL})\b.{{4}}"
    rf"|(?:(?:the|each|every|all|other) )*(?:[a-z-]+ )?{_UNIT} (?:[\da-z] )?(?:is|are|has|have|gets?|"
    r"contains?|starts?|begins?|ends?|number|carry|carries|comes?)\b"
)
"""Statements of what must be, or of what a part is."""
_NOTE: Final = regex.compile(
    r"(?!.*\b(?:is|are|was|were|has|had|have|did|does|do|i|he|she|we|they|you|says?|said|what|why|how|if|when|"
    rf"who|my|our|about)\b)(?!(?:it|this|that|there|some|many|most|all|{PRODUCING}|{EXPLAINING})\b).{{8,45}}"
)
"""A demand without a verb: "keywords in upper case"."""
_PLACED: Final = regex.compile(
    r"(?:underneath|below|under|above|beneath|then|after|in|on|at)\b[^,;:]* "
    r"(?:write|put|add|say|print|insert)\b[^,;:]*\ue000"
)
_IN_FORM: Final = regex.compile(rf"\b(?:{_FORM}|no|not|without)\b")
_DANGLING: Final = regex.compile(r"(?: (?:and|with|but|of|in|the|that|which)| ?\(\d+)+$")
_BARE: Final = regex.compile(
    r"(?:the )?(?:first|second|third|fourth|last|final|others?)(?: [a-z]+)?|no(?:t|thing|ne)?"
    r"|must not [a-z]+"
)
_LEAST: Final = 5
_MOST: Final = 100


def find_remainders(sentence: Sentence, touched: Sequence[Finding], known: Known) -> Iterator[Finding]:
    """Find the clauses of a sentence that no finding touches, and that state more of a demand."""
    if sentence.is_context or sentence.is_question or not _MARKER.search(sentence.text):
        return
    place, is_first = 0, True
    for finding in [*sorted(touched, key=lambda finding: finding.start), None]:
        stop = len(sentence.text) if finding is None else finding.start - sentence.start
        for found in _find_in_gap(sentence, place, stop, is_first=is_first):
            if not _is_known(found, known):
                yield found
        place = place if finding is None else max(place, finding.end - sentence.start)
        is_first = False


def _is_known(found: Finding, known: Known) -> bool:
    """Check whether a check holds what a clause says, or the number of parts in it."""
    words = known.reading.text[found.start : found.end]
    quantities = find_quantities(words)
    return (
        known.covers(found)
        or known.covers_signs(found)
        or known.names(found)
        or any(quantity.bounds.least in known.numbers for quantity in quantities)
    )


def _find_in_gap(sentence: Sentence, start: int, end: int, *, is_first: bool) -> Iterator[Finding]:
    """Find the clauses between two findings, or before the first one."""
    text, place, is_topic = sentence.text, None, False
    if end - start < _LEAST or not _MARKER.search(text, start, end):
        return
    for first, last, is_end in _cut(text, start, end, is_first=is_first):
        part = text[first:last]
        # Words that lead to the next finding say nothing by themselves.
        leads = last == end < len(text)
        if is_first:
            states = _starts(part, is_end=is_end and not leads)
        else:
            states = _continues(part, is_topic=is_topic)
        place = first if place is None and states else place
        if place is not None and (is_end or leads):
            yield from _place(sentence, place, first if leads else last)
            place = None
        is_topic = is_topic or bool(_TOPIC.search(part) or _NEW_TOPIC.match(part))


def _cut(text: str, start: int, end: int, *, is_first: bool) -> Iterator[tuple[int, int, bool]]:
    """Cut words into clauses and their parts; tells of each part whether it ends a clause."""
    cuts = [
        (match.start(), match.end(), match["firm"] is not None) for match in _CUT.finditer(text, start, end)
    ]
    cuts = [*([(start, start, True)] if is_first else []), *cuts, (end, end, True)]
    for (_, first, _), (last, _, is_end) in pairwise(cuts):
        join = _JOIN.match(text, first, last)
        yield (join.end() if join else first), last, is_end


def _place(sentence: Sentence, start: int, end: int) -> Iterator[Finding]:
    text = sentence.text[start:end].rstrip(" ,;:()-")
    text = _DANGLING.sub("", text)
    if len(text) >= _LEAST and _MARKER.search(text) and not _BARE.fullmatch(text):
        yield Finding(sentence.start + start, sentence.start + start + len(text))


def _continues(text: str, *, is_topic: bool) -> bool:
    """Check whether a clause after a demand says more of it."""
    is_other = is_topic or _NEW_TOPIC.match(text) is not None
    if is_other and not _PART.match(text):
        return False
    return len(text) < _MOST and not _OTHER.match(text) and _MARKER.search(text) is not None


def _starts(text: str, *, is_end: bool) -> bool:
    """Check for a statement of what must be, an order for a place, or a note without a verb."""
    if not _LEAST <= len(text) < _MOST or not _MARKER.search(text):
        return False
    is_note = is_end and _NOTE.fullmatch(text) is not None and _IN_FORM.search(text) is not None
    return is_note or any(pattern.match(text) for pattern in (_STATES, _PLACED))
