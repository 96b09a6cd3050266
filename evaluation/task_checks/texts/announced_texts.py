"""Finds the texts to work on that a task announces: "Rewrite this text: ..."."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

import regex

from evaluation.task_checks.language.words import EXPLAINING, PRODUCING, REQUIRING, REWORKING
from evaluation.task_checks.marks import CODE, QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.texts.demand_lists import lists_demands
from evaluation.task_checks.texts.sentence_roles import asks_or_explains, is_order, states_demand

_REQUIREMENTS: Final = (
    r"(?:rules?|constraints?|requirements?|key ?words?|words?|phrases?|terms?|format|guidelines?|"
    r"instructions?|form|"
    r"structure|criteria|conditions?|options?|template|sections?|headings?|labels?|columns?|keys|"
    r"sentence|style)"
)
_GIVES_TEXT: Final = regex.compile(
    rf"\b(?:{EXPLAINING})\b.*?\b(?:this|these|following|below|my|our)\b"
    rf"|\b(?:{PRODUCING})\b.*?\b(?:this|these|following|below)\b"
    r"|\b(?:reply|respond|answer|response)\b.*?\b(?:my|our)\b"
    rf"|(?:^|\b(?:you|please|and|then|to) |[,;] )(?:{EXPLAINING})\b.*\b(?:the|a|an)\b"
)
_ASKS_FOR: Final = regex.compile(
    r"\b(?:uses?|includes?|contains?|mentions?|excludes?|avoids?|follows?|with|of|from|ends?|"
    r"starts?|begins?|finish(?:es)?|"
    rf"in)\b[^:]*\b(?:{_REQUIREMENTS}|these|the following)\s*:?$"
    rf"|\bfollowing {_REQUIREMENTS}\s*:?$"
)
_REWORKS: Final = regex.compile(
    rf"^(?:please )?(?:{EXPLAINING})\b(?:(?! and (?:{REQUIRING})\b)[^:])*\b(?:this|following|the) "
    r"(?:\w+ )?(?:instruction|"
    r"sentence|phrase|rule|requirement)\s*:?$"
)
_TEXT_NOUN: Final = (
    r"(?:essay|text|paragraph|e-?mail|letter|article|draft|poem|story|code|note|message|passage|"
    r"review|abstract|resume|speech|"
    r"report|job ad|post)"
)
_MENDING: Final = (
    r"rewrite|re-write|rephrase|paraphrase|proofread|correct|edit|fix|improve|polish|reword|tighten|revise"
)
_RULES: Final = r"(?:instructions?|prompts?|rules?|requirements?|guidelines?|criteria|specification)"
_POINTS_BELOW: Final = regex.compile(
    rf"\b(?:{EXPLAINING})\b[^.]*\b(?:below|following)\b(?! {_REQUIREMENTS})"
    rf"|^(?:please )?(?:{REWORKING}) (?:(?:my|the) (?:[a-z]+ )?{_TEXT_NOUN}|(?:[a-z]+ ){{0,3}}"
    rf"(?:this|these))\b[^{QUOTED}{CODE}]*$"
    rf"|^(?:please )?(?:{_MENDING}) (?:my|our|the) [^{QUOTED}{CODE}]*$"
    rf"|^(?:please )?(?:{REWORKING}) (?:my|our|the) (?:[a-z]+ ){{0,2}}{_RULES}\b"
    r"|^(?:please )?(?:reply|respond|react|answer)(?: to)? (?:this|these)\b|^here(?:'s| is| are)\b"
    r"|^[^:]*\b(?:pasted|quoted)\b"
)
_RULES_BELOW: Final = regex.compile(
    rf"^(?:please )?(?:{EXPLAINING})\b[^.]*\b{_RULES} below\b"
    rf"|^(?:please )?(?:{REWORKING}) (?:my|our|the) (?:[a-z]+ ){{0,2}}{_RULES}\b"
)
_NAMES_RULES: Final = regex.compile(rf"\b{_RULES}\b")
_POINTS_AFTER: Final = regex.compile(
    rf"^(?:please )?(?:{EXPLAINING})\b[^.]*\bfollowing (?:\w+ )?(?:passage|text|article|story|"
    r"paragraph|review|essay|abstract|report)$"
)
_COLON: Final = regex.compile(r":(?=\s|$)")
_MOST_COLONS: Final = 5
"""Colons of a sentence that are read; it bounds the time of a sentence of nothing else."""
_LABEL: Final = regex.compile(
    r"^(?:text|article|passage|e-?mail|context|input|document|transcript|story|poem|source|"
    r"original|code|data|review|message|"
    r"paragraph|notes|ticket|statement|comment|tweet|headline|conversation|customer|user|student|"
    r"quote|here (?:is|are)\b[^:]*)\s*:"
)
_ABOUT_ANSWER: Final = regex.compile(
    r"\b(?:your|the) (?:entire |whole |final |full )?(?:response|answer|reply|output|rewrite|"
    r"summary|explanation|translation|version)\b"
)
_GREETS: Final = regex.compile(r"^(?:dear|hi|hello|hey|good (?:morning|evening|day))\b")
_REPLIES: Final = regex.compile(
    r"(?:please )?(?:(?:reply|respond|answer|react)\b"
    r"|(?:write|draft) (?:an?|the) (?:reply|answer|response) to (?:this|the|my)\b)"
)
_ORDERS: Final = regex.compile(
    rf"^(?:please |also |and |finally,? )?(?:{REQUIRING}|{PRODUCING}|no|in|at (?:least|most)|"
    r"your|wrap|first|without|"
    r"the (?:response|answer|output))\b"
)
_ORDERS_IN_LINE: Final = regex.compile(
    r"^(?:(?:please|also|and|finally) |(?:keep|make sure|limit|answer|respond|reply|write|use|"
    r"(?:turn|make|rewrite|summari[sz]e|shorten) (?:it|this|that)|summari[sz]e)\b)"
)
_TURNS_TO_TASK: Final = regex.compile(
    r"(?:turn|make|rewrite|summari[sz]e|shorten|translate|convert) (?:it|this|that|them|these|those)\b"
    r"|(?:your )?(?:task|instructions?|constraints?|requirements?|question)\s*:"
)
"""The end of a text in a line: "turn them into a poem", "Task: ..."."""
_STATES_RULE: Final = regex.compile(
    r" (?:(?:not|no) (?:more|less|fewer|longer|shorter) (?:than|as)|at (?:least|most)|exactly|max\w*|min\w*|"
    r"up to|between|under|fewer than|less than|more than) (?:\w+ )?(?:\d|\w+ (?:words?|sentences?|"
    r"paragraphs?|"
    r"lines?|bullets?)\b)"
)
_ONLY_SIZE: Final = regex.compile(
    r" [a-z ]{2,20} (?:\d+|[a-z-]+) (?:words?|sentences?|paragraphs?|lines?|bullets?|"
    r"characters?)\b[^.;:]{0,20}"
)
"""A size and nothing else: no text to work on."""
_POINTS: Final = regex.compile(r"\b(?:this|these|following|below|my|our)\b")
_REWORKS_BELOW: Final = regex.compile(rf"^(?:please )?(?:{REWORKING})\b[^:]*:$")
_REWORKS_ALL: Final = regex.compile(
    rf"^(?:please )?(?:{REWORKING})(?: (?:from|this|that|it|to|into|[a-z]+ish|german|french)){{0,3}}$"
)
_SHOWS: Final = regex.compile(
    r"(?<!\b(?:should|must|can|to|it|you) )\b"
    r"(?:says|said|sends|sent|writes|wrote|posted|reads|states|told|left|gave)\b[^:]{0,40}$|\b(?:got|have|has|had|received|found|is|was|came|comes)\b[^:]{0,60}"
    r"\b(?:this|these|the following)\b[^:]{0,60}$|\b(?:quoted|offered|showed|handed) (?:me|us)\b[^:]{0,60}$"
    r"|^(?:i|we|my|our|the)\b[^:]*\bthe [a-z]+ below\b[^:]*$"
    r"|^(?:why|what|how|where|which|who|is|does|do)\b[^:]*\b(?:here|this|these|the following)$"
)
"""Words before the colon of a text that somebody else wrote: "my aunt sent this to all of us: ..."."""
_ASKS_ABOUT_RULES: Final = regex.compile(
    r"^(?:is|are|am|was|were|do|does|did|can|should|has|what|which|why|how|where|who)\b(?!.*\byou\b).*"
    r"\b(?:(?:these|those|the following|my|our) "
    r"(?:[a-z]+ )?(?:rules|requirements|guidelines|instructions|conditions|criteria|constraints)$"
    r"|(?:the following|my|our) (?:[a-z]+ )?[a-z]*(?:prompt|draft|message|e-?mail|text|note|letter)\b"
    r"|(?:this|these)\b)"
)
"""A question of which the rules or the text after it are the topic: "Is there a gap in these rules?"."""


def mark_announced(sentences: list[Sentence], reading: Reading) -> Iterator[Sentence]:
    """Mark the text after "Rewrite this text:" in its line, or below it, as data."""
    data_line, below, whole, names_rules = -1, -1, False, False
    demanding = _find_demanding_end(sentences)
    for sentence in sentences:
        if sentence.is_data:
            yield sentence
            continue
        line = _find_line_end(reading, sentence.start)
        # A letter, or rules to discuss: whatever they order, they order it of somebody else.
        whole = whole or (sentence.paragraph == below and bool(_GREETS.match(sentence.text)))
        ends_text = _TURNS_TO_TASK if whole else _ORDERS_IN_LINE
        data_line = -1 if line == data_line and ends_text.match(sentence.text) else data_line
        if sentence.paragraph in demanding and sentence.paragraph > below >= 0 and not names_rules:
            below, whole = -1, False
        if line == data_line or (below >= 0 and _is_below(sentence, below, whole=whole)):
            yield replace(sentence, is_data=whole or not _ABOUT_ANSWER.search(sentence.text))
            continue
        head, rest = _split_data(sentence, has_below=sentences[-1].paragraph > sentence.paragraph)
        is_given = rest or _POINTS_AFTER.search(head.text) or _asks_about_rules(head)
        data_line = line if is_given else data_line
        below = _find_data_below(sentences, sentence, reading, head) if below < 0 else below
        names_rules = names_rules or _NAMES_RULES.search(head.text) is not None
        whole = bool(_RULES_BELOW.match(head.text) or (rest and _LABEL.match(sentence.text)))
        yield head


def _find_demanding_end(sentences: list[Sentence]) -> frozenset[int]:
    """Find the last paragraph if it states demands and nothing else: it is no part of a letter above it."""
    last = sentences[-1].paragraph if sentences else 0
    end = [sentence for sentence in sentences if sentence.paragraph == last]
    return frozenset({end[0].paragraph} if end and all(map(states_demand, end)) else ())


def _asks_about_rules(sentence: Sentence) -> bool:
    return sentence.is_question and _ASKS_ABOUT_RULES.match(sentence.text) is not None


def _split_data(sentence: Sentence, *, has_below: bool) -> tuple[Sentence, str]:
    """Split off the text to work on that follows in the same line."""
    colon = _find_data_colon(sentence)
    rest = "" if colon is None else sentence.text[colon + 1 :].strip()
    if colon is None or rest[:1] in {QUOTED, CODE}:
        return sentence, ""
    if lists_demands(sentence.text[:colon], rest, has_below=has_below):
        return sentence, ""
    return replace(sentence, text=sentence.text[: colon + 1]), rest


def _find_data_below(sentences: list[Sentence], sentence: Sentence, reading: Reading, head: Sentence) -> int:
    """Find the paragraph at which a text to work on starts; -1 if none does."""
    following = next((other for other in sentences if other.start > sentence.start), None)
    if following is None or (sentence.line == sentences[-1].line and not head.text.endswith(":")):
        return -1
    if _asks_about_rules(head) and following.line > sentence.line:
        is_text = _NAMES_RULES.search(head.text) or not _are_demands(sentences, head)
        return following.paragraph if is_text else -1
    is_letter = _GREETS.match(following.text) and (asks_or_explains(head) or _REPLIES.match(head.text))
    if is_letter and following.paragraph > sentence.paragraph:
        return following.paragraph
    if _POINTS_BELOW.search(head.text) and not head.text.endswith(":"):
        are_demands = not _RULES_BELOW.match(head.text) and _are_demands(sentences, sentence)
        return -1 if are_demands else sentence.paragraph + 1
    is_announced = head.text.endswith(":") and _find_data_colon(head) is not None and head == sentence
    if is_announced and not _is_mark_next(reading, sentence):
        return following.paragraph
    return -1


def _are_demands(sentences: list[Sentence], sentence: Sentence) -> bool:
    """Check whether nothing but demands stands below a sentence."""
    below = [other for other in sentences if other.paragraph > sentence.paragraph]
    return all(states_demand(other) for other in below)


def _is_below(sentence: Sentence, below: int, *, whole: bool) -> bool:
    if sentence.paragraph <= below:
        return sentence.paragraph == below
    return whole or not _ORDERS.match(sentence.text)


def _find_line_end(reading: Reading, start: int) -> int:
    end = reading.text.find("\n", start)
    return len(reading.text) if end < 0 else end


def _find_data_colon(sentence: Sentence) -> int | None:
    """Find the colon after which a text to work on stands."""
    label = _LABEL.match(sentence.text)
    if label:
        return label.end() - 1
    if ":" not in sentence.text:
        return None
    for match in islice(_COLON.finditer(sentence.text), _MOST_COLONS):
        head = sentence.text[: match.start()]
        states_rule = _STATES_RULE.match(sentence.text, match.end())
        if states_rule and (not _POINTS.search(head) or _ONLY_SIZE.fullmatch(sentence.text, match.end())):
            continue
        if (
            (_SHOWS.search(head) and not is_order(head))
            or _REWORKS.match(head)
            or _REWORKS_ALL.match(head)
            or _REWORKS_BELOW.match(sentence.text)
            or (_GIVES_TEXT.search(head) and not _ASKS_FOR.search(head))
        ):
            return match.start()
    return None


def _is_mark_next(reading: Reading, sentence: Sentence) -> bool:
    following = reading.text[sentence.start + len(sentence.text) :].lstrip(": \n")
    return following[:1] in {QUOTED, CODE}
