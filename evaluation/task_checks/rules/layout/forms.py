"""Well-known forms of texts: haiku, limerick, sonnet, tweet; lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.language.words import PRODUCING
from evaluation.task_checks.quantities import NUMBER, Bounds, Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.negation import is_negated
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_POEMS: Final[dict[str, Fields]] = {
    "haiku": {"check": "line_syllables", "syllables": [5, 7, 5]},
    "limerick": {"check": "line_count", "exactly": 5},
    "sonnet": {"check": "line_count", "exactly": 14},
    "tweet": {"check": "character_count", "max": 280},
    "tanka": {"check": "line_syllables", "syllables": [5, 7, 5, 7, 7]},
}
_VERB: Final = (
    rf"(?:{PRODUCING}|turn (?:it|this|that|them|\w+ \w+) into|rewrite (?:it|this|that|them) as|"
    r"respond with|answer with|reply with|answer in|want|need|like|love|appreciate|prefer|use|"
    r"convert (?:it|this|that|"
    r"\w+ \w+) (?:in)?to|compose|share)"
)
_POEM: Final = regex.compile(
    rf"\b(?:{_VERB})(?: (?:me|us|him|her|them|up|out|down|for me))*(?: (?:in|as|in the form of|"
    r"with|into))? (?:a|an|one|another|your|my|the)(?: single)?(?: (?!that|who|about|for|to|"
    r"from|of|like)[a-z'-]+){0,4}? (?P<form>haiku|limerick|sonnet|tweet|tanka)\b(?! (?:poet|"
    r"form|form's|lover|cycle|sequence|thread|contest|style|that won|from the|in the (?:style|"
    r"anthology)|club|account|storm|competition|workshop|writer)\b|'s|-)"
    r"|\b(?:answer|respond|reply|summari[sz]e|describe|explain|write|rewrite|express|phrase|give|"
    r"tell|provide|make|"
    r"present|put|format|written|rephrase|say)\b[^.;?]{0,80}?\b(?:as|in the form of|"
    r"in the shape of|into|to) (?:a|an|one)(?: [a-z'-]+){0,3}? (?P<form>haiku|limerick|sonnet|"
    r"tweet|tanka)\b(?! (?:poet|form|lover|does|do|would|is)\b|'s)"
    r"|^(?:(?:just|only|please|quick|hey|hi|ok|so),? )*(?:(?:an?|one) (?:(?!that|who|about|for|"
    r"of)[a-z'-]+ ){0,2}?)?"
    r"(?P<form>haiku|limerick|sonnet|tweet|tanka)(?=,? (?:about|on|for|to|please|announcing|describing|"
    r"from)\b|$)"
)
_POEM_NAME: Final = regex.compile("|".join(_POEMS))
_LIST: Final = regex.compile(
    r"(?:^|(?:[:,;]|\b(?:as|in|with|using|use|make|write|give me|create|provide|produce|into|include|of|a|be|"
    r"only|present|form of|your|to))(?: (?:a|an|the|only|just|simple|short|markdown|single|"
    r"form of|brief|list of|format of|some|clear|concise|a few|few|several|"
    r"of))* )(?P<kind>(?:bullet(?:ed)?(?:[- ]point)?|unordered) ?-?(?:(?!and\b|or\b)[a-z-]+ )?lists?|"
    r"bullet[- ]?points|bullets|bulletpoints|(?:numbered|ordered) (?:(?!and\b|or\b)[a-z-]+ )?lists?|"
    r"numbered steps)(?: form(?:at)?|"
    r" list)?\b(?! (?:\d|are|were|versus|vs)\b)"
)
_SIZE_LEAD: Final = regex.compile(
    r" (?:of|with|containing|having|that (?:has|contains)|consisting of)(?: the)? ?"
)
_MEMBERS: Final = regex.compile(
    r"(?![ -](?:[a-z]+ )?(?:words?|sentences?|paragraphs?|lines?|characters?|letters?|stanzas?|sections?|"
    r"parts?|years?|months?|weeks?|days?|hours?|minutes?|people|pages?)\b)[^.;:]{0,60}$"
)
_ADDED: Final = regex.compile(r",? (?:with )?")
_MEMBER: Final = regex.compile(rf"(?= (?!at|or|and|max|min|per|each|in|on|of)[a-z]){_MEMBERS.pattern}")
_ITEMS: Final = regex.compile(r" (?:items?|entries|points?|elements?)\b(?! (?:of|on) view)")


def find_forms(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find forms of texts that are known to have a number of lines, syllables or characters."""
    if not _POEM_NAME.search(sentence.text):
        return
    for match in _POEM.finditer(sentence.text):
        if not is_demanded(sentence, match.start("form"), match.end()) or is_negated(sentence, match.start()):
            continue
        yield Finding(
            sentence.start + match.start(),
            sentence.start + match.end(),
            dict(_POEMS[match["form"]]),
            is_form=True,
        )


def find_lists(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find lists with bullet points or numbers, of any length."""
    for match in _LIST.finditer(sentence.text):
        place = match.start("kind")
        if not (
            is_demanded(sentence, place, match.end()) or is_demanded(sentence, match.start(), match.end())
        ) or is_negated(sentence, place):
            continue
        if regex.search(rf"(?:{NUMBER}|to|no|number of) $", sentence.text[:place]) or regex.search(
            r"\b(?:each|every|the|these|those|mark|start) (?:of the )?$", sentence.text[:place]
        ):
            continue
        marker = "bullet" if regex.match(r"bullet|unordered", match["kind"]) else "number"
        after = _read_size(sentence.text, match.end())
        size = after.bounds if after else _read_size_before(sentence, match.start())
        fields: Fields = {
            "check": "list_item_count",
            "marker": marker,
            **(size.to_fields() if size else {"min": 2}),
        }
        start, end = sentence.start + match.start(), sentence.start + (after.end if after else match.end())
        # A note such as "numbered list" belongs to a number elsewhere: "three reasons. Numbered list."
        is_note = size is None and place == 0
        yield Finding(start, end, None if is_note else fields, is_default=size is None)


def _read_size_before(sentence: Sentence, place: int) -> Bounds | None:
    """Read the number of things to list: "10 questions, as a numbered list"."""
    before = sentence.text[:place]
    quantity = next(reversed(find_quantities(before)), None)
    if quantity is None or len(find_quantities(before)) > 1 or not sentence.text.startswith("as ", place):
        return None
    is_size = _MEMBERS.match(before, quantity.end) and is_demanded(sentence, quantity.start, quantity.end)
    return quantity.bounds if is_size else None


def _read_size(text: str, place: int) -> Quantity | None:
    """Read the number of items: "a bulleted list of three points", "numbered list, seven items"."""
    after = text[place:]
    lead = _SIZE_LEAD.match(after)
    for quantity in find_quantities(after):
        is_next = lead is not None and quantity.start <= lead.end()
        is_added = _ADDED.fullmatch(after[: quantity.start]) and _MEMBER.match(after, quantity.end)
        if is_next or (is_added and quantity.bounds.most != 1) or _ITEMS.match(after[quantity.end :]):
            return replace(quantity, start=place + quantity.start, end=place + quantity.end)
    return None
