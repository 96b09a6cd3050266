"""Requirements that no rule has read: a safety net, so that a run never claims more than was checked.

It looks for numbers of things, words of form, prohibitions and orders in what a task demands. What no finding
of a rule touches is listed as unchecked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

import regex

from evaluation.task_checks.demands.fragments import REPORT
from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.language.words import PRODUCING, REQUIRING
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.coverage import AND, Known, drop_masked, list_kinds, list_signs, list_texts
from evaluation.task_checks.rules.finding import Finding, overlap
from evaluation.task_checks.rules.form_words import FORM_WORDS
from evaluation.task_checks.rules.remainders import find_remainders
from evaluation.task_checks.sentences import Sentence

_PLACES: Final = regex.compile(r"at the|each|every|only|just|nothing|first|last|final")
"""Form words that say where or for what: another requirement of the same clause does not cover them."""
_STATIVE: Final = (
    r"let|remember|try|be|do|go|have|number|title|select|choose|pick|cover|follow|present|express|stay"
)
_ORDER: Final = regex.compile(
    r"(?:make|give|keep) (?:it|them|everything)\b|"
    rf"(?:(?!(?:{_STATIVE})(?:s|es|ing)?\b)(?:{REQUIRING})|contain|call it|name it|sign|nowhere|no|without|"
    r"neither|nor|offer|state|unterschreib)(?:s|es|ing)?\b"
)
_CLAUSE: Final = regex.compile(
    r"[^,;:()\n]+?(?=[,;:()\n]|$| - | and (?!the |a |an |my |our )| but | so that | that mentions)"
)
_LEAD: Final = regex.compile(
    r"(?:[ -]|\b(?:and|but|also|please|pls|plz|kindly|then|finally|so|just|it|should|must|has to|have to|"
    r"needs? to|can you|could you|would you|you|your|answer|response|the|text|be|which|that|who|will|"
    r"shall)\b)*"
)
_NO_THING: Final = regex.compile(
    r"[ -]?(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|"
    r"am|pm|h|euros?|dollars?|pounds?|usd|eur|kg|g|km|miles?|m|cm|percent|degrees|yr|people|persons?|kids?|"
    r"children|of (?:them|these|us|my|our|the)|o'clock|(?:\w+ )?(?:19|20)\d\d)\b"
)
_HAS: Final = regex.compile(
    r" (?:example|sample)\b|"
    r"(?: [a-z]+)? (?:have|has|had|are|were|was)\b(?! (?:to|required|needed|enough|expected)\b)"
)
"""After a number of things that an example shows, or of which a statement follows."""
_SEPARATED: Final = regex.compile(r"\b(?:separated|divided|delimited) (?:by|with) ?$")
_GIVEN: Final = regex.compile(
    r"\b(?:my|our|his|her|their|its|these|those|this|version|number|#|for|level|step|chapter|page|"
    r"question|day|year|since|in the year|of the|to the|age|aged|turning|turns) ?$"
)
_YEAR: Final = regex.compile(r"(?:1[5-9]|20)\d\d")
_THE: Final = regex.compile(r"\bthe ?$")
_BEST: Final = regex.compile(r"[ -](?:\w+est|most|least|top|best|größten|\w+sten)\b")
_NOUN: Final = regex.compile(
    r"(?:[ -](?!and\b|or\b|but\b|in\b|to\b|of\b|with\b|for\b|on\b|about\b|that\b|which\b|my\b|the\b|a\b|an\b"
    r"|by\b|at\b|from\b|as\b|is\b|are\b|at\b)[\w'<>-]+){1,3}"
)
_TEXT_UNIT: Final = regex.compile(
    r" (?:words|characters|chars|sentences|lines|paragraphs|pages|letters|bullets?|bullet points|"
    r"items|steps|sections|headings)\b"
)
_NARRATES: Final = regex.compile(
    rf"^(?!.*{REPORT.pattern}.*\b(?:must|should|has to|have to|may not)\b)"
    r"(?!.*, (?:but|so|yet) (?:[a-z]+ ){0,3}(?:i|we) (?:only |just )?(?:need|want|would like)\b)"
    r"(?:(?:so|and|but|well|ok|yesterday|today|last \w+|currently),? )*(?:i|we|he|she|they|my|our)"
    r"(?:'m|'ve|'re|'s)?\b(?!(?:'d| would| want| need| like| wish| expect| prefer| (?:only |just )?(?:after|"
    r"looking|hoping)\b))"
)
_REQUEST: Final = regex.compile(r"\b(?:can|could|would|will) (?:you|it)\b|\bplease\b|\bplz\b|\bpls\b")
_VERB: Final = regex.compile(
    r"\b(?:is|are|was|were|has|had|have|did|does|do|i|he|she|we|they|you|says?|said|what|why|how|if|when|"
    r"who)\b"
)
_LEADS: Final = regex.compile(
    r"\b(?:to|into|as|in|of|with|using)(?: (?:a|an|the|its|one|about|valid|markdown|single|plain))* ?$"
    r"|\b(?:tell|give|show|put|add|write|explain|ask)(?: (?:me|us|it|them|that|this)) ?$"
)
_TOPIC: Final = regex.compile(
    r"\b(?:about|why|how|what|whether|when|if|who|whom|whose|of [a-z]+ing)\b"
    r"|^(?:it|this|there|he|she|they)(?:'s| is| are|'re| was| were) (?:also )?(?:an?|the|made|designed)\b"
)
"""Words that start a topic, or a description of something else: "it's a boat with one mast"."""
_TELLS: Final = regex.compile(rf"(?:please )?(?:{PRODUCING}|{REQUIRING}|can you|could you|would you)\b")
_PARTS: Final = frozenset({"part_count", "list_item_count", "section_count", "csv", "table"})
"""Checks of a number of parts: the number of the things that the parts are is the same requirement."""
_GIVEN_FORM: Final = regex.compile(
    r"\b(?:the|this|these|my|our) (?:[a-z]+ )?(?:haikus?|limericks?|sonnets?|tweets?|acrostics?|couplets?)$"
)
"""A text that is there already: "rewrite the haiku below"."""
_LONGEST_FRAGMENT: Final = 60
_MOST: Final = 300
_BEFORE: Final = 5
"""Findings that may reach into the next sentence."""
_NEAREST: Final = 100
"""Requirements of the same sentence are among the last ones; it bounds the time of long tasks."""


def find_leftovers(
    sentences: Sequence[Sentence], findings: Sequence[Finding], reading: Reading
) -> list[Finding]:
    """Find the requirements that no finding touches."""
    result: list[Finding] = []
    checks = [finding.check for finding in findings if finding.check]
    parts = [check for check in checks if check["check"] in _PARTS]
    values = [check.get(name) for check in parts for name in ("exactly", "min", "rows", "columns")]
    numbers = frozenset(value for value in values if isinstance(value, int))
    kinds, texts, signs = list_kinds(checks), list_texts(checks), list_signs(checks)
    ordered = sorted(findings, key=lambda finding: finding.start)
    starts = [finding.start for finding in ordered]
    for sentence in sentences:
        if sentence.is_data or _asks(sentence):
            continue
        tells, before = _NARRATES.match(sentence.text) is not None, len(result)
        near = _list_near(ordered, starts, _place(sentence, 0, len(sentence.text)))
        known = Known(reading, list(drop_masked(near, reading.text)), checks, kinds, numbers, texts, signs)
        for place in () if tells else _find_candidates(sentence, known):
            if not known.touches(place) and not any(overlap(place, other) for other in result[-_NEAREST:]):
                result.append(place)
        if near or ((findings or result) and not tells):
            result.extend(find_remainders(sentence, [*near, *result[before:]], known))
    return result[:_MOST]


def _list_near(ordered: Sequence[Finding], starts: Sequence[int], place: Finding) -> list[Finding]:
    """List the findings that share words with a place, of findings in order."""
    first, last = bisect_left(starts, place.start), bisect_left(starts, place.end)
    return [finding for finding in ordered[max(0, first - _BEFORE) : last] if overlap(finding, place)]


def _find_candidates(sentence: Sentence, known: Known) -> Iterator[Finding]:
    yield from _find_orders(sentence, known)
    yield from _find_amounts(sentence, known.numbers)
    for match in FORM_WORDS.finditer(sentence.text):
        clause = _find_clause(sentence, match)
        is_free = not known.touches(clause)
        is_covered = known.covers(_place(sentence, *match.span())) or known.covers_signs(clause)
        if is_covered or not (is_free or _PLACES.match(match.group())):
            continue
        if _GIVEN_FORM.search(sentence.text, 0, match.end()):
            continue
        if _is_stated(sentence, match.start(), match.end()):
            yield clause if is_free else _place(sentence, *match.span())


def _find_clause(sentence: Sentence, match: regex.Match[str]) -> Finding:
    """Return the words from a form word to the end of its clause, and the adjectives before it."""
    for clause in _CLAUSE.finditer(sentence.text):
        if clause.start() <= match.start() < clause.end():
            lead = _LEAD.match(clause.group())
            start = clause.start() + (lead.end() if lead else 0)
            return _place(sentence, min(start, match.start()), max(clause.end(), match.end()))
    return _place(sentence, *match.span())


def _find_amounts(sentence: Sentence, numbers: frozenset[int]) -> Iterator[Finding]:
    """Find numbers of things: "three reasons", "2 hashtags"; no ages, prices, times or years."""
    for quantity in find_quantities(sentence.text):
        if _is_no_amount(sentence.text, quantity) or quantity.bounds.least in numbers:
            continue
        noun = _NOUN.match(sentence.text, quantity.end)
        end = noun.end() if noun else quantity.end
        is_length = _is_bound(quantity) and bool(_TEXT_UNIT.match(sentence.text, quantity.end))
        if is_length or _is_stated(sentence, quantity.start, end):
            yield _place(sentence, quantity.start, end)


def _is_no_amount(text: str, quantity: Quantity) -> bool:
    before, after = text[: quantity.start], text[quantity.end :]
    if (
        _SEPARATED.search(before)
        or _NO_THING.match(after)
        or _HAS.match(after)
        or _YEAR.fullmatch(text, quantity.start, quantity.end)
    ):
        return True
    if _THE.search(before) and not _BEST.match(after):
        return True
    if _is_bound(quantity):
        return False
    return bool(_GIVEN.search(before)) or not _NOUN.match(after) or after.startswith(" times")


def _is_bound(quantity: Quantity) -> bool:
    return quantity.bounds.least != quantity.bounds.most or quantity.bounds.is_stated


def _find_orders(sentence: Sentence, known: Known) -> Iterator[Finding]:
    for match in _CLAUSE.finditer(sentence.text):
        lead = _LEAD.match(match.group())
        start = match.start() + (lead.end() if lead else 0)
        if not _ORDER.match(sentence.text, start) or known.covers(_place(sentence, *match.span())):
            continue
        is_literal = QUOTED in match.group() and _TELLS.match(sentence.text) is not None
        is_order = is_literal or is_demanded(sentence, match.end() - 1, match.end())
        if is_order or _is_stated(sentence, start, match.end()):
            clause = _place(sentence, start, match.end())
            yield from _split_objects(sentence, start, match.end()) if known.touches(clause) else [clause]


def _split_objects(sentence: Sentence, start: int, end: int) -> Iterator[Finding]:
    """Split the objects of an order, of which a rule has read one: "include a quote and the word X"."""
    place = start
    for join in [*AND.finditer(sentence.text, start, end), None]:
        stop = join.start() if join else end
        yield _place(sentence, place, stop)
        place = join.end() if join else end


def _is_stated(sentence: Sentence, start: int, end: int) -> bool:
    """Check whether words are demanded, or stand in a note without a verb: "numbered list, one line each"."""
    if is_demanded(sentence, start, end):
        return True
    before = sentence.text[:start].rpartition(" - ")[2]
    if _TOPIC.search(before, before.rfind(": ") + 1):
        return False
    return bool(_LEADS.search(before)) or (len(before) < _LONGEST_FRAGMENT and not _VERB.search(before))


def _asks(sentence: Sentence) -> bool:
    """Check for a question that is no request: "Which is better, XML or JSON?"."""
    return sentence.is_question and not _REQUEST.search(sentence.text)


def _place(sentence: Sentence, start: int, end: int) -> Finding:
    return Finding(sentence.start + start, sentence.start + end)
