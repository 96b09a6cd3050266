"""Finds the words that a sentence names: quoted ones, and those after "the words"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.rules.wording.occurrences import APPEARS, TIMES

_NOUN: Final = (
    r"(?:(?:(?:all|each|both|any) (?:of )?)?(?:these|the following)(?= ?:)|"
    r"(?:(?:each|all|any|both|either|every|one|some)(?: one)? of |(?:both|either|neither|all|any|each) )?"
    r"(?:the |these |those |this |of )?(?:(?:following|exact|specific|forbidden|given|single|"
    r"certain|literal|two|three|"
    r"four|five|\d+|key|magic|required|banned) )*"
    r"(?:key ?-?words?|words?|terms?|phrases?|expressions?|strings?|text|exact words|names?|"
    r"verbs?|nouns?|adjectives?|"
    r"(?:(?:our|my) )?(?:hash ?-?tags?|(?:web ?)?(?:links?|urls?|sites?|addresse?s?)|e-?mail(?: address)?)"
    r"(?! (?:such|like|to)\b))\b"
    r"(?: (?:such as|like))?(?: of)?(?: at least once(?= ?:))?"
    r"(?: in this list| below| listed (?:here|below)| to (?:avoid|"
    r"use|include|exclude|skip|"
    r"leave out))?(?: in (?:your|the) (?:response|answer|reply|text|story|poem|essay|letter|article|"
    r"post)(?=:))?):?\s?"
)
_JOIN: Final = (
    r"(?:, ?(?:and |or |and/or |nor )?| and | or | nor | as well as | and also | plus | & | / ?|/|"
    r" )(?:the (?:word|phrase|term|keyword|hash ?tag)s? |(?:the|our|my|your) (?:(?:web ?)?site|link|url) )?"
)
_QUOTES: Final = rf"[\[(]?{QUOTED}(?:{_JOIN}{QUOTED})*[\])]?"
_STOP: Final = (
    r"(?:should|must|has|have|had|may|can|in|at|with|exactly|only|once|twice|more|less|fewer|no|"
    r"not|for|to|as|is|are|be|on|of|"
    r"throughout|somewhere|appears?|occurs?|shows?|each|every|but|so|anywhere|limit|count|that|"
    r"which|from|than|within|the|a|an|"
    r"or|and|your|it|you|used?|between|before|after|when|while|instead|please|also|will|needs?|"
    r"if|starting|beginning|about|thrice|three|two|any|do|does|don't|shall|cannot|without|by|"
    r"longer|shorter|long|per|order|choice|choices|limits|game|play|written|spelled|entirely|related|ending|"
    r"describing|associated|total|minimum|maximum|like|containing|whose|who|what|how|characters?|"
    r"sentences?|words?|wrapped|separated|other|itself|themselves|above|below|here)"
)
_BARE: Final = rf"(?!{_STOP}\b)[\p{{L}}][\p{{L}}'-]*"
_BARE_LIST: Final = rf"{_BARE}(?:(?:, (?:and |or )?| and | or ){_BARE})*"
_PHRASE_LIST: Final = (
    rf"{_BARE}(?: {_BARE}){{0,3}}(?:,(?: and| or)? {_BARE}(?: {_BARE}){{0,3}})+(?:,? (?:and|"
    rf"or) {_BARE}(?: {_BARE}){{0,2}})?"
)
_VERB: Final = (
    r"(?:(?:us(?:e|es|ed|ing)|usage|trace)(?: of)?|includ(?:e|es|ed|ing)|contain(?:s|ing)?|"
    r"mention(?:s|ing|ed)?(?: of)?|see|find|read|hear|"
    r"incorporat(?:e|es|ing)|add(?:ing)?|ha(?:s|ve|ving)|featur(?:e|es|ing)|"
    r"insert(?:ing)?|employ(?:s|ing)?|work in|avoid(?:s|ing)?|exclud(?:e|es|ing)|omit(?:s|ting)?|"
    r"neither|but not|skip(?:ping)?|say(?:ing)?|writ(?:e|ing)|weave in|without|with|no|leave out|"
    r"repeat(?:ing)?|"
    r"drop|sprinkle in|put|stat(?:e|es|ing)|cit(?:e|es|ing)|appear(?= the))"
)
_FILL: Final = (
    r"(?: (?:in|into|to|from|throughout)? ?(?:your|the|it|its)? ?(?:entire |whole )?(?:response|"
    r"answer|text|reply|output|both|also|either|any of|at least|somewhere)"
    r"| in (?:your|the) [a-z]\w+(?: (?:of|about|on|for|the) (?:the )?\w+)?)?"
)
_USE: Final = regex.compile(
    rf"\b(?P<verb>{_VERB}){_FILL}:? (?P<noun>{_NOUN})?(?:(?P<quotes>{_QUOTES})|"
    rf"(?P<bare>(?(noun)(?<=\s)(?:{_PHRASE_LIST}|{_BARE_LIST})|(?!))))"
)
_VALUE: Final = (
    r"(?P<noun>(?:the )?(?:phone |order |exact )?(?:number|year|sum|price|figure|amount|code)"
    r"(?: of)? )(?:(?P<quotes>(?!))|(?P<bare>[£$€]?\d[\d.,:/-]{0,20}(?<=\d)(?: \d[\d/-]{1,20}(?<=\d))*))"
    r"(?=$|[.,;:!?)]| (?:in|at|on|to|and|or|but|for|somewhere|must|should|has|have|may|shall|can|cannot|"
    r"is|are|"
    r"twice|once|exactly|only|once|no|not|\w+ times)\b)"
)
"""A number that stands for itself: "the year 1912"."""
_USE_VALUE: Final = regex.compile(rf"\b(?P<verb>{_VERB}){_FILL} {_VALUE}")
_VALUE_FIRST: Final = regex.compile(rf"(?<!\w){_VALUE}")
_NAMES_VALUE: Final = regex.compile(r"(?:number|year|sum|price|figure|amount|code)(?: of)? [£$€]?\d")
_COLON_LIST: Final = regex.compile(
    rf"(?P<noun>\b{_NOUN})(?P<modal>(?:should|must|has to|have to|needs? to|may|can|cannot|are|"
    rf"is|to|you)\b[^.;:{QUOTED}]{{0,60}})(?:: ?|(?<= are| is) )"
    rf"(?:(?P<quotes>{_QUOTES})|(?P<bare>{_PHRASE_LIST}|{_BARE_LIST}))"
)
_COUNTED: Final = regex.compile(rf"(?<!\bno)(?<!\bno )(?:{TIMES.pattern}) (?:of (?:the )?)?$")
_WORD_FIRST: Final = regex.compile(
    rf"(?<!\w)(?P<noun>{_NOUN})?(?:(?P<quotes>{_QUOTES})|(?P<bare>(?(noun)(?<=\s){_BARE_LIST}|(?!))))"
)
_NAMES_WORDS: Final = regex.compile(
    rf"{QUOTED}|these ?:|\b(?:key ?-?words?|words?|terms?|phrases?|expressions?|strings?|text|names?|"
    r"verbs?|nouns?|adjectives?)\b"
)
"""Without one of these, a sentence names no words: the patterns below take longer."""
_ELLIPSIS: Final = regex.compile(
    rf"(?<!\w)(?P<noun>{_NOUN})(?:(?P<quotes>{_QUOTES})|"
    rf"(?P<bare>(?<=\s){_BARE})(?= (?:at (?:least|most)|exactly)\b))"
    rf"|(?P<noun>)(?P<quotes>{QUOTED})(?= (?:(?:at (?:least|most)|exactly|no (?:more|fewer|less) than) )?"
    r"(?:once|twice|\w+ times)\b)"
)
_ARE: Final = regex.compile(r"words?\b[^.;:]{0,60} (?:is|are) ")
_BARE_TIMES: Final = regex.compile(
    r"\b(?P<verb>mention(?:ing)?|say(?:ing)?|repeat(?:ing)?) (?:(?P<noun>the name) )?(?:(?P<quotes>(?!))|"
    rf"(?P<bare>(?!(?:it|this|that|them|him|her)\b){_BARE}))(?= (?:{TIMES.pattern}))"
)
_TIMES_AFTER: Final = regex.compile(rf"^[^.;,]{{0,30}}?(?:{TIMES.pattern})")
_NEXT_IN_LIST: Final = regex.compile(
    r"\b(?:includ(?:e|es|ing)|contain(?:s|ing)?|us(?:e|es|ing)|mention(?:s|ing)?|featur(?:e|es|"
    r"ing))\b[^.;:]*(?:,| and) $"
)
"""Words before the name of another word to include: "including three dates and the name ..."."""


def find_word_lists(text: str) -> Iterator[regex.Match[str]]:
    """Find lists of words in a sentence, with the group ``quotes`` or ``bare``."""
    if _NAMES_VALUE.search(text):
        yield from _USE_VALUE.finditer(text)
        yield from (match for match in _VALUE_FIRST.finditer(text) if APPEARS.match(text[match.end() :]))
    if not _NAMES_WORDS.search(text):
        return
    yield from _USE.finditer(text)
    for match in _WORD_FIRST.finditer(text):
        if (
            APPEARS.match(text[match.end() :])
            or _is_list_item(text, match)
            or _COUNTED.search(text[: match.start()])
        ):
            yield match
    yield from _BARE_TIMES.finditer(text)
    if ":" in text or _ARE.search(text):
        yield from _COLON_LIST.finditer(text)
    for match in _ELLIPSIS.finditer(text):
        is_next = _NEXT_IN_LIST.search(text[: match.start("noun")])
        if is_next or _TIMES_AFTER.match(text[match.end() :]):
            yield match


def _is_list_item(text: str, match: regex.Match[str]) -> bool:
    """Check for a label: "Forbidden words: a, b"."""
    label = regex.match(
        r"(?:.*[,;] )?(?:required|forbidden|banned|must-have|mandatory|avoid(?:ed)?|taboo|no-go|"
        r"prohibited|"
        r"off-limits)?(?P<colon>:)?\s*$",
        text[: match.start()],
    )
    return bool(label and match["noun"] and (":" in match["noun"] or label["colon"]))
