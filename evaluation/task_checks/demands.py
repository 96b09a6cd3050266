"""Tells the sentences of a task that demand something of the output from those that only speak of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evaluation.task_checks.reading import any_of

OUTPUT: Final = rf"(?:(?:entire|whole|full|final|complete|overall|total|written) )*(?:{any_of('outputs')})s?"
"""What a task may call its output."""
_VERB: Final = re.compile(rf"(?:{any_of('orders')})\b")
_TOPIC_VERB: Final = re.compile(rf"(?:{any_of('explaining')})\b")
"""Verbs whose object is a topic, not the output."""
_SENTENCE: Final = re.compile(
    r"(?:(?!(?<!\be\.g)(?<!\bi\.e)(?<!\bmin)(?<!\bmax)(?<!\.s)(?<!\bvs)[.!?]+[)'\"]*(?=\s|$))[^\n])+[.!?]*"
)
_LEAD: Final = re.compile(
    r"(?:\s|[-*,:!(]|\b(?:please|pls|plz|kindly|also|and|but|so|ok|okay|hey|hi|hello|then|finally|note"
    r"|important|oh|"
    r"now|just|first|additionally|furthermore|moreover|remember|thanks|that|next|lastly|well|explicitly)\b)*"
    rf"(?:(?:in|for|throughout|within|after|at the (?:very )?end of) (?:your|the|this) {OUTPUT},? )?"
    r"(?:at the end,? )?(?:please )?(?:explicitly )?"
)
_POLITE: Final = re.compile(
    r"(?:can|could|would|will|may|might) (?:you|u|we|i|your)\b|how about\b|do you mind\b"
)
_DUTY: Final = rf"(?:{any_of('duties')})\b"
_REQUIREMENT: Final = re.compile(
    rf"(?:(?:^|[,;:] |\band |\bthat )(?:your|the|this|no|all|every|each) {OUTPUT}\b[^,;:.]{{0,40}}? {_DUTY})"
    rf"|\byour {OUTPUT} {_DUTY}|(?:^|[,;:] |\band |\bbut )(?:it|there|they|he) (?!is\b|are\b|can\b){_DUTY}"
    rf"|^there is a\b"
    r"|\b(?:i|we)(?:'d| would| do)? (?:really |just |only )?(?:want|need|like|love|prefer|expect|require)\b"
    r"(?! to know| to understand| help| advice)|\b(?:make|be) sure\b|\bensure\b|\b(?:is|are) (?:required"
    r"|needed|expected)\b|\byou (?:must|should|may not|can't|are (?:not )?(?:allowed|limited))\b"
    rf"|\b(?:the|an?|any|each|every) (?:letters?|words?|keywords?|phrases?|commas?|first|last|title"
    rf"|section)\b"
    rf"[^,;:.]{{0,50}}? {_DUTY}|^\ue000[^.;:]{{0,40}}? {_DUTY}"
)
_SUBJECT: Final = re.compile(rf"(?:{any_of('subjects')})\b|an? [^,;:]*?\b[a-z]{{3,}}ed\b")
"""Starts of statements and conditions."""
_FINITE: Final = re.compile(rf"\b(?:{any_of('finite_verbs')})\b")
_REPORT: Final = re.compile(rf"\b(?:{any_of('reports')})\b")
_BLOCK: Final = re.compile(rf"\b(?:{any_of('barriers')})\b")
_RELATIVE: Final = re.compile(r"\b(?:how|why|what|which|that)\b")
_ABOUT: Final = re.compile(r"\b(?:about|on|of people|to write|meaning|between)\b")
_NOUN: Final = re.compile(rf"\b(?:{OUTPUT}|ruling|rule|was|were)\b")
_BY: Final = re.compile(
    r"\b(?:in|using|within|under|as)(?: (?:an?|the|only|just|total of|maximum of|all))*\s?$"
)
_BY_WORD: Final = re.compile(
    r"(?P<manner>(?:in|using|within|under) )|(?:without (?:using|any|commas?)|entirely|at most|at least"
    r"|no more)\b"
)
_CLAUSE: Final = re.compile(
    r"[;:,(]| - |\b(?:sure|ensure|so) that\b|\band (?=use|make|keep|do|don't|include|mention|avoid|end"
    r"|start|begin|add|put|write|give|limit)|\bbut "
)
_GIVEN: Final = re.compile(
    rf"(?<!like )\b(?:{any_of('given_signs')}|here(?:'s| is"
    rf"| are))\b(?![^:\n]*\b(?:{any_of('form_words')})\b[^:\n]*:)"
    r"[^:\n]*:(?!\s*[\[(]?\ue000)|(?:^|\n)(?:passage|text|context|(?:e-?)?mail|review|article|document"
    r"|transcript|"
    r"notes|log|message)\s*:(?!\s*\ue000)"
)
_ANNOUNCED: Final = re.compile(
    r"\bhere(?:'s| is| are) (?:an?|the|my|our)\b|\b(?:text|passage|e-?mail|article|message|code"
    r"|instructions?|prompt|"
    r"rules|draft|note) below\b|\b(?:this|the following) (?:e-?mail|text|article|ad|message|passage|code"
    r"|poem|"
    r"function|comment|letter|prompt|instructions?)\b|\b(?:proofread|correct|edit|grade|review|rewrite"
    r"|improve) my\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the folded text.

    Attributes:
        start: Its place in the text.
        text: Its words.
        is_given: Whether it stands in a text that is given to work on.
    """

    start: int
    text: str
    is_given: bool


def split_sentences(text: str) -> Iterator[Sentence]:
    """Splits a folded text into sentences."""
    given = _find_given(text)
    for first, last in ((0, given), (given, len(text))):
        for match in _SENTENCE.finditer(text, first, last):
            yield Sentence(match.start(), match.group(), is_given=first > 0)


def is_demand(sentence: str, place: int, *, is_asked: bool = False) -> bool:
    """Returns whether the words at a place of a sentence demand something of the output.

    Args:
        sentence: The sentence.
        place: The place of the words in it.
        is_asked: Whether the task ends with a question, which a mere fragment may be about.
    """
    head = _LEAD.match(sentence)
    first = head.end() if head else 0
    body, before, words = sentence[first:], sentence[first : max(first, place)], sentence[max(first, place) :]
    is_order = _VERB.match(body) is not None
    if sentence.rstrip(" )").endswith("?") and not (is_order and ":" in words):
        return _POLITE.match(body) is not None and not _is_topic(body, before, words)
    is_required = _REQUIREMENT.search(body) or _REQUIREMENT.search(sentence)
    if not (is_order or is_required):
        is_statement = _SUBJECT.match(body) or _FINITE.search(body)
        return not (is_statement or is_asked) and not _is_topic(body, before, words)
    return not _is_topic(body, before, words)


def _is_topic(body: str, before: str, words: str) -> bool:
    """Returns whether the words belong to the topic of the sentence: "a man who writes 3 words"."""
    clause = _CLAUSE.split(before)[-1]
    if _BLOCK.search(clause) or _REPORT.search(before):
        return True
    lead, manner = _BY_WORD.match(words), _BY.search(clause)
    has_topic = _TOPIC_VERB.match(body) is not None
    if (relative := _RELATIVE.search(clause)) is not None:
        # "Explain why the sky is blue in one paragraph", but not "how to ask for an answer in one paragraph".
        is_plain = relative.group() in {"how", "why", "what"} and not _NOUN.search(clause, relative.end())
        return not (is_plain and (manner or (lead and lead["manner"])))
    if manner or lead:
        return False
    if _ABOUT.search(clause):
        return _VERB.match(body) is not None
    return has_topic and clause == before and bool(before.strip())


def _find_given(text: str) -> int:
    """Returns the place where a text to work on begins, or the end."""
    colon = _GIVEN.search(text)
    first, _, _ = text.partition("\n\n")
    is_announced = _ANNOUNCED.search(first) and not re.search(r"repeat|\ue000", first)
    return min(colon.end() if colon else len(text), len(first) if is_announced else len(text))
