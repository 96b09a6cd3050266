"""Finds demands without a verb: "No commas.", "Length: 50 words", "In one sentence, what is love?"."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.demands.governors import OTHERS
from evaluation.task_checks.language.words import TEXT
from evaluation.task_checks.sentences import Sentence

_LABEL: Final = regex.compile(
    r"^(?:max(?:imum)? |min(?:imum)? |(?:total |number of )?(?:words?|sentences?|paragraphs?|lines?|"
    r"characters?) ?|"
    r"(?!my |our )\w+ )?(?:length|format|language|"
    r"tone|style|constraints?|requirements?|rules?|note|output"
    r"|count|limit|number|ending|opening|important|nb|case|size|title|forbidden|banned|prohibited|taboo|required|mandatory|remember|reminder|p\.?s\.?)\s?(?::|$)"
)
REPORT: Final = regex.compile(
    r"\b(?:says|said|claims|claimed|told|tells|believes?|states that|stated|argues|argued|heard|"
    r"asks for|asked|forbids?|"
    r"refuses?|requires? (?:me|us|him|her|them)|wants|wanted|known as|insists?|insisted|demands|"
    r"demanded|ordered|instructs|"
    r"instructed|requested|decided|promised|"
    r"(?:complain|report|warn|object|grumble|moan|announce|point out|remark|hint|decree|admit|note)"
    r"(?:s|e?d) that)\b"
)
_CLAUSE: Final = regex.compile(
    r"^[^,;:]{0,40}, (?:the|an?|my|our|his|her|their|every|each|most|many|some|all|no|it|he|she|they|there|"
    r"we|i|people|one)\b(?: (?!that\b|which\b|who\b|what\b|why\b|how\b|when\b|if\b)[\w\ue000'-]+){0,5}? "
    r"(?:is|are|was|were|has|have|had|means?|meant|gets?|comes?|goes|does|do|did|makes?|follows?|becomes?|"
    r"became|seems?|looks?|stands?)\b(?! (?:to|allowed|required|forbidden|permitted)\b)"
)
"""A statement after words that a comma sets off: "In Italian, the word means butter"."""
BOUND_AND_PART: Final = regex.compile(
    r"(?:fewer|less|no more|not more|no less|no fewer|at (?:most|least)|max\w*|min\w*|up to|under|exactly)\b"
    r"[^,;:]{1,40}, (?P<part>(?:the|each|every|no|all) (?:\w+ )?(?:moral|titles?|first|last|final|second|"
    r"lines?|sentences?|paragraphs?|points?|bullets?|items?|headings?|greeting|subject|stanzas?)\b"
    r"(?![^.;:]*\b(?:was|were|had|did|became|meant)\b)[^.;:,]*)"
)
"""A bound and a statement about a part: "fewer than 200 words, the moral goes in the last line"."""
_NO_VERB: Final = regex.compile(
    r"[-(]? ?(?:(?:please|and|but|also|nothing|with|in|as|using|within|only|all|the|a|an|just|everything|"
    r"to|of|entirely|completely|under|without|using|avoid|no|anything|somewhere|from|your|whole|response|"
    r"answer|reply|length|"
    r"(?:each|every|no) (?:of the )?(?:line|sentence|paragraph|stanza|verse|item|bullet(?: point)?)s?|"
    r"(?:in|into|with|without|using|within|under) (?:[\w'-]+ ){0,6}?[\w'-]+,? (?:and|but)|"
    r"(?:can|could|would|will) you)\b,? ?)*"
)
_NAMES_TEXT: Final = regex.compile(
    rf"^(?:an?|one|[a-z]+-[a-z]+) (?:[a-z-]+ ){{0,3}}?(?:{TEXT}|paragraph)\b.*\b(?:of|with|in|using|within)"
    r"(?: (?:a|an|the))? $"
)
"""A task without a verb: "A poem in Latin with four lines"."""
_AFTER_COMMA: Final = regex.compile(r"(?:,(?: in| with| using| and| please)*| \((?:in|using|with)) ?$")
_NEAR_COMMA: Final = regex.compile(
    r"[,;(] ?(?!(?:the|an?|my|our|his|her|their|its|most|many|some|every|all) [a-z]+ $"
    r"|[a-z]{3,}s (?!of|in|at|no|not|must|should|with|under|over|up|max|min|only|just)[a-z]+ $)(?:\w+ ){0,2}$"
)
"""A few words after a comma that are no subject: "in her letters, the queen never used commas"."""
_VERB: Final = regex.compile(
    r"\b(?:is|are|was|were|has|had|have|did|does|do|wants?|\w+ed|won|wrote|made|got|came|went|took|gave|saw|"
    r"told|found|sent|lost|began|became|kept|brought|bought|felt|i|he|she|we|they)\b"
)
_HAPPENS: Final = regex.compile(
    r"(?:an?|the|his|her|their) [^,;:]{3,40} (?:has|have|had|came|left|sent|wrote|got|[a-z]{2,}ed)\b(?! to\b)"
)
"""A fact before a colon: "a note has arrived: forty words"."""
_WANTED: Final = regex.compile(r"\bwhat (?:i|we)(?:'d| would)? (?:need|want|expect|like)\b")
_COMPARES: Final = regex.compile(r"(?:which|what)\b[^,]*\b(?:better|best|worse|more|right|[a-z]{3,}er)\b")
"""A question that ends with its alternatives: "Which is better, two lines or three?"."""
_ASKING: Final = regex.compile(
    r"^(?:(?:in|at|for|to|from|on|with|by) (?:which|what|whom)|what|why|how|when|where|who|which|"
    r"whose|whom|is|are|was|were|do|does|did|should|must|has|am|may|can|could|would|"
    r"will)\b(?! (?:not|you|about (?:writing|a|some)))"
)
ASKS_BACK: Final = regex.compile(
    r"\b(?:do i mean|(?:is|was|are) meant|such an? [a-z]+|like (?:this|that)|(?:is|was) (?:this|that)|"
    r"said (?:this|them)|is (?:this|that) [a-z ]+ called)$"
)
"""The end of a question about the words before it: "Fourteen lines: which form is meant?"."""
_ASKS_OTHERS: Final = regex.compile(r", (?:can|may|should|could|must|do|does|is|are) (?!you\b)[a-z]+ [^,]*$")
"""A question after words that a comma sets off: "Instead of a name, can one write initials?"."""


def is_fragment(sentence: Sentence, before: str, end: int) -> bool:
    """Check whether the words are a demand without a verb: "No commas." or "In one sentence, ..."."""
    if _LABEL.match(before):
        return True
    bound = None if before else BOUND_AND_PART.match(sentence.text)
    is_statement = _CLAUSE.match(sentence.text[end:]) and (bound is None or end > bound.start("part"))
    if is_statement or ASKS_BACK.search(sentence.text, end):
        return False
    if sentence.is_question and _ASKING.match(sentence.text):
        return not _COMPARES.match(sentence.text) and bool(_AFTER_COMMA.search(before))
    if _NO_VERB.fullmatch(before) or (_NAMES_TEXT.search(before) and not _VERB.search(sentence.text)):
        return True
    is_asked = _ASKING.match(sentence.text) or _ASKS_OTHERS.search(before)
    return not is_asked and (
        _starts_clause(before) or bool(_NEAR_COMMA.search(before) and not _VERB.search(before))
    )


def _starts_clause(before: str) -> bool:
    """Check for a demand without a verb after a colon or a dash: "Shout a little: five words in capitals"."""
    head, mark, clause = before.rpartition(": ")
    if not mark:
        head, mark, clause = before.rpartition(" - ")
    is_report = (
        REPORT.search(head) or _HAPPENS.match(head) or (OTHERS.search(head) and not _WANTED.search(head))
    )
    return bool(mark) and not is_report and _NO_VERB.fullmatch(clause) is not None
