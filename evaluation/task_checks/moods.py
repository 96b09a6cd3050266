"""Decides whether words of a sentence demand something of the output, or only mention it.

A demand has a governor before it: an order, a wish, or a statement of what the output must have. Words
that start a topic ("about", "how", "who") between the governor and the words make them a mention, unless a
preposition leads back to the output: "Write about bees in at most 50 words".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, cast

import regex

from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.words import EXPLAINING, PRODUCING, REQUIRING

Kind = Literal["produce", "explain", "require"]

_ADDRESS: Final = r"(?:can|could|would|will) you(?: (?:please|also|kindly|possibly|help me(?: to)?))* "
_OPENING: Final = (
    r"(?:at the (?:very )?(?:end|start|beginning|top|bottom)(?: of (?:your|the|"
    r"this) (?:[a-z]+ )?[a-z]+)?|(?:in|throughout|after|for|within|before) "
    r"(?:your|the|this|each) (?:entire |whole |own )?[a-z]+)"
)
"""Words before an order that no comma has to follow: "in your response use ..."."""
_ORDER: Final = regex.compile(
    rf"(?:^|[,;:(.!?-] ?|^{_OPENING} |\b(?:and|but|then|also|please|kindly|first|next|finally|so|"
    r"just|lastly|instead|simply|always|"
    r"now|additionally|furthermore|moreover|however|again|let's|you (?:should|must|need to|"
    r"have to|can|may|are to|will)|need to|"
    rf"{_ADDRESS.rstrip()}) )(?:\w+ly )?"
    rf"(?:(?P<explain>{EXPLAINING})|(?P<produce>{PRODUCING})|(?P<require>{REQUIRING}))\b"
)
_MODAL: Final = regex.compile(
    r"\b(?:should|must|shall|ha(?:s|ve) to|needs? to|ought to|may|might|can|can't|cannot|mustn't|"
    r"shouldn't|will|"
    r"is to|are to|(?:is|are|be) (?:not )?(?:allowed|required|forbidden|permitted|supposed|"
    r"expected|prohibited|banned)|"
    r"contains?|has|have|is|are|uses?|starts?|begins?|ends?|includes?|appears?|needs?|consists?)\b(?:n't)?"
)
_STRONG: Final = regex.compile(
    r"should|must|shall|to$|can't|cannot|shouldn't|mustn't|may|can|allowed|required|forbidden|"
    r"permitted|supposed|expected|prohibited|banned|will"
)
_BREAK: Final = regex.compile(r"[,;:(] ?|\b(?:and|but|so|then|also|please|sure|that|ensure|be|note) |^|- ")
_SUBJECT: Final = regex.compile(
    r"^(?:in (?:your|the) (?:entire |whole )?\w+,? )?"
    r"(?:your|the|this|these|it|its|they|each|every|all|no|both|there|you|my|our|any|neither|"
    r"nothing|response|answer|"
    r"output|paragraph|letters?|words?|sentences?|responses|answers|paragraphs|sections|parts|"
    r"entire|whole|all|length|lines?|only|everything|none|\ue000|use|"
    r"not|such|at|keywords?|one|some|several)\b"
    r"|^\ue000"
)
_OUTPUT: Final = regex.compile(
    r"^(?:your|the) (?:entire |whole |final )?(?:response|answer|reply|output|text|result|letter|"
    r"poem|essay|story|message|summary|list|word|letter|phrase|keywords?|words)\b"
    r"|^(?:it|there|everything|each|every|your [a-z-]+)\b"
)
_OTHERS: Final = regex.compile(
    r"\b(?:who|whom|whose|which|teacher|law|user|student|pupil|government|constitution|"
    r"assignment|contract|man|woman"
    r"|says?|said|tells?|told|claims?|asks?|asked|states|believes?|thinks?|heard|why|how|what|"
    r"when|if|whether|because)\b"
)
_WISH: Final = regex.compile(
    r"\b(?:i|we)(?:'d| would| do|'ll)? ?(?:really )?(?:want|need|like|love|prefer|expect|wish|"
    r"require|appreciate|hope for)\b"
    r"|\b(?:i'm|i am|we are|we're) looking for\b|\b(?:want|need|would like) (?:you to|it to|this to|the)\b"
)
_EACH_UNIT: Final = regex.compile(
    r"\b(?:in which|where|wherein|such that|so that|with) (?:each|every|no|all|any)(?: of the| single)? "
    r"(?:lines?|sentences?|paragraphs?|stanzas?|words?|verses?|bullets?|bullet points?|items?|sections?)\b"
)
_REQUEST: Final = regex.compile(r"(?:can|could|would|will) you")
_MENTIONS: Final = regex.compile(rf"\b(?:{EXPLAINING})\b[^,;:]*$|\b(?:about|whether)\b[^,;:]*$")
_LABEL: Final = regex.compile(
    r"^(?:max(?:imum)? |min(?:imum)? |word |output |target |desired )?(?:length|format|language|"
    r"tone|style|constraints?|requirements?|rules?|note|output"
    r"|count|limit|important|nb|case|size|title|remember|reminder|p\.?s\.?)\s?:"
)
_LABEL_BEFORE: Final = regex.compile(
    r"[,;.)] (?:length|word count|language|format|tone|limit|maximum|minimum) ?: ?$"
)
_TOPIC: Final = regex.compile(
    r"\b(?:about|regarding|concerning|how|why|what|whether|who|whose|whom|where|when|because|"
    r"titled|called|named|entitled|"
    r"describing|explaining|asking|telling|requesting|informing|reminding|arguing|claiming|"
    r"teaches|teaching|on|that|which|"
    r"if|for|of [a-z]+ing)\b"
)
_REPORT: Final = regex.compile(
    r"\b(?:says|said|claims|claimed|told|tells|believes?|states that|stated|argues|argued|heard|"
    r"asks for|asked|forbids?|"
    r"refuses?|requires? (?:me|us|him|her|them)|wants|wanted|known as|insists?|insisted|demands|"
    r"demanded|ordered|instructs|"
    r"instructed|requested|decided|promised)\b"
)
_TEXTUAL: Final = regex.compile(
    r"\b(?:writ(?:e|es|ten|ing)|wrote|says?|said|tells?|told|speaks?|spoken|express(?:es)?|"
    r"answers?|asks?|sings?|sung|reads?|"
    r"respond|publish(?:ed)?|prints?|printed|spells?|copy|invented|describes?|summari[sz]es?|"
    r"sends?|posts?|ends|starts|in which|"
    r"who|whose|whom)\b"
)
"""Verbs to which a number belongs if they are in a topic: "about a man who answers in two words"."""
_FILLERS: Final = (
    r"(?: (?:the|a|an|only|all|entirely|any|just|and|but|in|with|your (?:response|answer|reply)))*"
)
_FORM: Final = r"in the (?:form|shape|format) of"
_WITHOUT: Final = r"without (?:using|any|the(?: use of)?|mentioning|saying|writing|including|repeating)"
_MARKS: Final = r"[,;(:]| - ?"
_ATTRIBUTES: Final = (
    r"(?:that|which)(?:'s| is| are| has| have| contains?| includes?| uses?| should| must|"
    r" does not| doesn't| do not| don't)?"
    r"(?: \w+){0,6}?|containing|including|having"
)
_BACK: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|with|without|{_WITHOUT}|and|but|as|into|{_FORM}|{_ATTRIBUTES}"
    r"|and (?:has|contains|is|includes|uses|that|which|do not|don't|with|without|in|use|using)(?: \w+){0,3}?"
    rf"|(?:of|for|to) (?:at|about|around|exactly|between|no|not))|{_MARKS}){_FILLERS}[ ,]*$"
)
"""Leads from a topic back to what is written."""
_BACK_EXPLAIN: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|{_WITHOUT}|and without|into|as|to|"
    rf"{_FORM})|{_MARKS}){_FILLERS}[ ,]*$"
)
_BACK_CROSS: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|{_WITHOUT}|as|{_FORM})|{_MARKS}){_FILLERS}[ ,]*$"
)
"""The same across a topic of a verb such as "explain"."""
_WITH: Final = regex.compile(r"\b(?:with|of|and|but|by)(?: (?:a|an|the))? ?$")
_BOUND: Final = regex.compile(
    r"(?:at (?:least|most)|no|without|in|using|exactly|less than|more than|fewer than|"
    r"a m[ai][xn]imum|between|not|up to|"
    r"under|over|about)\b"
)
_CONTINUES: Final = regex.compile(
    r"^[ ,]*(?:letters?|text|words?)? ?(?:is|are|was|were|has|had|do|does|did|makes?|seems?|"
    r"looks?|means?|became|cost)\b(?! (?:allowed|required|enough|fine|ok|forbidden|the (?:limit|"
    r"maximum|minimum)|permitted|a must|needed|acceptable|not allowed|preferred|to be|"
    r"not (?:accepted|ok|used)))"
)
_NONE_USED: Final = regex.compile(
    r"^(?:no|not|zero)[ ,]*(?:letters?|text|words?)? ?(?:is|are) (?:used|included|present)\b"
)
_ASKING: Final = regex.compile(
    r"^(?:(?:in|at|for|to|from|on|with|by) (?:which|what|whom)|what|why|how|when|where|who|which|"
    r"whose|whom|is|are|was|were|do|does|did|should|must|has|am|may|can|could|would|"
    r"will)\b(?! (?:not|you|about (?:writing|a|some)))"
)


_LONGEST_ORDER: Final = 20


@dataclass(frozen=True, slots=True)
class _Governor:
    end: int
    kind: Kind


def is_demanded(sentence: Sentence, start: int, end: int) -> bool:
    """Check whether the words between two places of a sentence demand something of the output."""
    if sentence.is_data or _is_subject(sentence.text, start, end):
        return False
    before = sentence.text[:start]
    governor = _find_governor(sentence.text, start)
    if _LABEL_BEFORE.search(before):
        return True
    if governor is None:
        return _starts_sentence(sentence, before)
    return not _REPORT.search(before) and _reaches(governor, before[governor.end :], sentence.text[start:])


def _is_subject(text: str, start: int, end: int) -> bool:
    """Check whether a statement follows: "two words are enough for him". "No commas are used" is a demand."""
    if _NONE_USED.match(f"{text[start:end].split(' ', 1)[0]}{text[end:]}"):
        return False
    return bool(_CONTINUES.match(text[end:]))


def _reaches(governor: _Governor, gap: str, rest: str) -> bool:
    """Check whether a governor reaches over the words between it and what it may demand."""
    topic = _TOPIC.search(gap)
    if governor.kind == "explain":
        return _leads_back(gap, _BACK_CROSS if topic else _BACK_EXPLAIN, rest)
    if governor.kind == "require":
        return topic is None or not _TEXTUAL.search(gap)
    return topic is None or _leads_back(gap, _BACK, rest)


def is_statement(sentence: Sentence, start: int) -> bool:
    """Check whether a place may be the subject of a statement of what the output must have."""
    if sentence.is_data or (sentence.is_question and not _REQUEST.match(sentence.text)):
        return False
    return not _OTHERS.search(sentence.text[:start]) and not _MENTIONS.search(sentence.text[:start])


def _leads_back(gap: str, back: regex.Pattern[str], rest: str) -> bool:
    if not back.search(gap) and not (_WITH.search(gap) and _BOUND.match(rest)):
        return False
    topic = _TOPIC.search(gap)
    return not topic or not _TEXTUAL.search(gap[topic.start() :]) or gap.rstrip().endswith(",")


def _starts_sentence(sentence: Sentence, before: str) -> bool:
    """Check whether the words are a demand without a verb: "No commas." or "In one sentence, ..."."""
    if _LABEL.match(before):
        return True
    lead = regex.fullmatch(
        r"(?:(?:please|and|but|also|with|in|using|within|only|all|the|a|an|just|everything|to|of|"
        r"entirely|completely|under|without|using|avoid)\b,? ?)*",
        before,
    )
    if sentence.is_question and _ASKING.match(sentence.text):
        return bool(regex.search(r",(?: in| with| using| and| please)* ?$", before))
    return lead is not None or bool(
        not _ASKING.match(sentence.text)
        and regex.search(r"[,;(] ?(?:\w+ ){0,2}$", before)
        and not _has_verb(before)
    )


def _has_verb(before: str) -> bool:
    return bool(
        regex.search(r"\b(?:is|are|was|were|has|had|have|did|does|do|\w+ed|i|he|she|we|they)\b", before)
    )


@lru_cache(4096)
def _find_governor(text: str, start: int) -> _Governor | None:
    """Find the last governor before a place; the words there may start with an order themselves."""
    governors = [*_find_orders(text, start), *_find_statements(text[:start])]
    return max(governors, key=lambda governor: governor.end, default=None)


def _find_orders(text: str, start: int) -> Iterator[_Governor]:
    topic_from: int | None = None
    for match in _ORDER.finditer(text, 0, start + _LONGEST_ORDER):
        kind = cast("Kind", match.lastgroup)
        place = match.start(kind)
        if place > start or (place == start and kind == "explain"):
            return
        # "Explain why some languages, such as Thai, write ..." is no order to write.
        is_order = kind != "produce" or match.group()[0] != "," or topic_from is None
        if is_order or not _TOPIC.search(text, topic_from, place):
            yield _Governor(min(match.end(), start), "require" if place == start else kind)
        topic_from = match.end() if kind == "explain" else topic_from


def _find_statements(before: str) -> list[_Governor]:
    wishes = [_Governor(match.end(), "produce") for match in _WISH.finditer(before)]
    modals = [
        _Governor(match.end(), "require")
        for match in _MODAL.finditer(before)
        if _states_property(before, match)
    ]
    units = [_Governor(match.end(), "require") for match in _EACH_UNIT.finditer(before)]
    return wishes + modals + units


def _states_property(before: str, modal: regex.Match[str]) -> bool:
    """Check whether the words before a modal verb are about the output."""
    breaks = [
        match.end() for match in _BREAK.finditer(before, 0, modal.start()) if match.end() <= modal.start()
    ]
    is_strong = bool(_STRONG.search(modal.group()))
    subject = _SUBJECT if is_strong else _OUTPUT
    return any(
        subject.match(before[place : modal.start()]) and not _OTHERS.search(before[place : modal.start()])
        for place in breaks[-4:]
    )
