"""Requirements for which there is no check: "no contractions", "at least three metaphors", "in YAML"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.fragments import BOUND_AND_PART
from evaluation.task_checks.demands.governors import find_governor
from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence

_CLAUSE: Final = regex.compile(r"[^,;:()]+?(?=[,;:()]|$| and (?!the |a |[a-z-]+s(?:$|[.;:!?)]))| but )")
_LEAD: Final = regex.compile(
    r"^ *(?:(?:and|but|also|please|kindly|then|finally|additionally|furthermore|moreover|however|"
    r"so|just|secondly) )*"
)
_ORDERS: Final = regex.compile(
    r"(?:do not|don't|never|avoid|refrain|make sure|be sure|ensure|you (?:must|should|may not|"
    r"cannot|can't|have to|need to)"
    r"|(?:your|the) (?:entire |whole |final |overall )?(?:response|answer|reply|output|text|poem|"
    r"story|essay|letter|e-?mail|"
    r"summary|article|post|song|message|tone|style|format|list|speech|title) (?:should|must|"
    r"has to|needs to|may not|cannot|can't)"
    r"|(?:it|they|both|everything|there|each(?: of them| \w+)?|every \w+|all \w+) (?:(?:should|"
    r"must)(?:n't)?|has to|"
    r"needs to|may not|cannot|can't)|"
    r"(?:the|your) (?:first|second|third|last|final|other) [a-z]+ (?:should|must|has to|needs to)|"
    r"no \w+|without \w+ing)\b"
)
_ABOUT: Final = regex.compile(
    r"(?:[a-z]+ ){1,4}(?:should|must|has to|needs to) (?:be about|"
    r"(?:be on|involve|address|treat|discuss|deal with) (?:the )?(?:topic|subject|theme))\b"
)
"""A statement of the topic, which every request has."""
_FORMAT: Final = regex.compile(
    r"\b(?:(?:in|as|with|use|using|into|to|valid|only|output|return) (?:a |an |the |valid |"
    r"proper )*(?:xml|ya?ml|html|latex|toml|"
    r"apa|mla|chicago|svg|sql|mermaid|rtf|jsonl)(?: (?:format|style|page|document|only|code|table|"
    r"snippet|fragment))?"
    r"|iambic pentameter|rhym(?:e|es|ing)(?: scheme)?|acrostic|alliteration|free verse|palindrome)\b"
)
_PART: Final = regex.compile(
    r"\b(?:add|include|have|has|contain|give it|with|needs?|start with|end with|provide) (?:an?|"
    r"your|two|some|any)? ?(?:[a-z]+ )?"
    r"(?:title|subtitle|heading|subject line|introduction|conclusion|table of contents|"
    r"footnotes?|citations?|references|sources|"
    r"greeting|call to action|refrain|chorus)\b"
)
_SORTED: Final = regex.compile(
    r"\b(?:(?:sorted|ordered|ranked|arranged|listed|grouped) )?(?:(?:alphabetic|"
    r"chronologic)ally(?: (?:sorted|"
    r"ordered))?\b|"
    r"in (?:reverse )?(?:alphabetical|chronological|numerical|ascending|descending)(?: [a-z]+)? order\b)"
    r"|\b(?:sorted|ordered|ranked|arranged|grouped) (?:(?:by|from|in) )?[a-z]+(?: to [a-z]+)?\b"
)
_NOBODY_SAYS: Final = regex.compile(
    r"\b(?:neither|none|nobody|no one|no-one|not one|no [a-z]+)"
    r"(?: of (?:them|these|whom|which|the [a-z]+))? (?:ever )?"
    rf"(?:says?|uses?|mentions?|utters?|names?|contains?|writes?|speaks?) [^.;:]*{QUOTED}"
)
"""What no part of the output, and nobody in it, says: 'two ants, neither of whom says "work"'."""
_NOUN: Final = regex.compile(r"^ (?!occurrences?\b|instances?\b|times?\b|of\b)(?:[a-z'-]+ ){0,3}?[a-z'-]{3,}")
_SAYS_NOTHING: Final = regex.compile(
    r"\b(?:no other|not? (?:additional|further|more) (?:words|text)|nothing)\b"
)


def find_others(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find requirements; those that overlap a check are dropped later."""
    if sentence.is_data or sentence.is_question:
        return
    yield from _find_orders(sentence)
    yield from _find_forms(sentence)
    yield from _find_amounts(sentence)
    yield from _find_bound_parts(sentence)


def _find_orders(sentence: Sentence) -> Iterator[Finding]:
    for match in _CLAUSE.finditer(sentence.text):
        lead = _LEAD.match(match.group())
        start = match.start() + (lead.end() if lead else 0)
        is_other = _ABOUT.match(sentence.text, start) or _SAYS_NOTHING.search(match.group())
        if _ORDERS.match(sentence.text, start) and not is_other:
            yield Finding(sentence.start + start, sentence.start + match.end())


def _find_forms(sentence: Sentence) -> Iterator[Finding]:
    """Find formats, parts and orders of items, and words that nobody in the output says."""
    for pattern in (_FORMAT, _PART, _SORTED):
        for match in pattern.finditer(sentence.text):
            if is_demanded(sentence, match.start(), match.end()):
                yield Finding(sentence.start + match.start(), sentence.start + match.end())
    for match in _NOBODY_SAYS.finditer(sentence.text):
        governor = find_governor(sentence.text, match.start())
        if governor and governor.kind != "explain":
            yield Finding(sentence.start + match.start(), sentence.start + match.end())


def _find_bound_parts(sentence: Sentence) -> Iterator[Finding]:
    """Find a statement about a part of the output behind a bound."""
    if match := BOUND_AND_PART.match(sentence.text):
        yield Finding(sentence.start + match.start("part"), sentence.start + match.end("part"))


def _find_amounts(sentence: Sentence) -> Iterator[Finding]:
    for quantity in find_quantities(sentence.text):
        noun = _NOUN.match(sentence.text[quantity.end :])
        if (
            noun
            and _is_bound(quantity, sentence.text)
            and is_demanded(sentence, quantity.start, quantity.end)
        ):
            yield Finding(sentence.start + quantity.start, sentence.start + quantity.end + noun.end())


def _is_bound(quantity: Quantity, text: str) -> bool:
    """Check for words that make a bound: "5+ years" is none."""
    has_sign = text[quantity.start : quantity.end].endswith("+")
    return quantity.bounds.is_stated and not quantity.bounds.is_near and not has_sign
