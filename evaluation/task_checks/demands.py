"""Tells words that demand something of the output from words that only speak of it, or are unsure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from evaluation.checks.segmentation import LANGUAGES
from evaluation.task_checks.task_reading import (
    NUMBERS,
    QUOTED,
    SEPARATOR,
    Fields,
    Reading,
    any_of,
)

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
    if (relative := _RELATIVE.search(clause)) is not None:
        # "Explain why the sky is blue in one paragraph", but not "how to ask for an answer in one paragraph".
        is_plain = relative.group() in {"how", "why", "what"} and not _NOUN.search(clause, relative.end())
        return not (is_plain and (manner or (lead and lead["manner"])))
    if manner or lead:
        return False
    if _ABOUT.search(clause):
        return _VERB.match(body) is not None
    return _TOPIC_VERB.match(body) is not None and clause == before and bool(before.strip())


def _find_given(text: str) -> int:
    """Returns the place where a text to work on begins, or the end."""
    colon = _GIVEN.search(text)
    first, _, _ = text.partition("\n\n")
    is_announced = _ANNOUNCED.search(first) and not re.search(r"repeat|\ue000", first)
    return min(colon.end() if colon else len(text), len(first) if is_announced else len(text))


_PROSE: Final = frozenset({"sentence_count", "paragraph_count", "line_count"})
_SIZES: Final = _PROSE | {"word_count", "character_count"}
_TEXTS: Final = frozenset({"contains", "excludes", "occurrences"})
_OF_PARTS: Final = _SIZES | _TEXTS | {"list_item_count", "starts_with", "ends_with"}
"""Kinds that would mean something else of a part: "each title in 5 words"."""
_FOLLOWER: Final = re.compile(
    rf"\s?(?:$|[^\w\s]|\n|(?:{any_of('followers')}|in(?! (?:all )?(?:bold|italics|caps|capital|upper))|\w+ing"
    r"|(?:is|are) (?:allowed|needed|required|enough|fine|ok|permitted))\b)"
)
_EACH: Final = re.compile(r"\b(?:each(?! separated| other)|every|per|apiece|for all|respectively|both)\b")
_PART: Final = re.compile(
    rf"(?<!this )(?<!following )\b(?:{any_of('parts')}|(?:first|second|last|other) one)\b"
    r"(?! and)(?! or)[^,;:.]{0,30}$"
)
_PLACE: Final = re.compile(
    r".*\b(?:first|second|third|last|final|opening|closing|one of the|next) (?:sentences?|paragraphs?|lines?|"
    r"sections?|words?|stanzas?|comments|bullets?)\b[^;:.]*$"
)
_SOME: Final = re.compile(
    r"\b(?:some|words?|title|headings?|names?|first letters?|keywords?|times)(?: (?!and)\w+){0,2} ?$"
)
_CODE: Final = re.compile(
    r"\b(?:code|script|function|program|sql|query|bash|one-liner|python|javascript|html|css)\b"
)
_NEGATION: Final = re.compile(
    r"(?:\b(?:not|never|no|nowhere|avoid|instead of|rather than)|n't|\bdont)\b[^,.;:]{0,60}$"
)

REPEATED: Final = r"\b(?:repeat|copy)\b[^.\n]{0,60}?\b(?:request|prompt|question|sentence)\b"
"""Demands to write the request again, before the answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Words of the folded text that state a requirement.

    Attributes:
        start: Their place.
        end: The place behind them.
        check: The fields of the check; None if no check says the same.
    """

    start: int
    end: int
    check: Fields | None = None

    @property
    def kind(self) -> str:
        """The kind of the check; empty if there is none."""
        return str((self.check or {}).get("check", ""))

    @property
    def forbids(self) -> bool:
        """Whether the check names something that the output lacks."""
        fields = self.check or {}
        return fields.get("max") == 0 or fields.get("use") == "absent"


def abstain(finding: Finding, sentence: Sentence, text: str) -> Finding:
    """Returns the finding, without its check if its words may be about something else."""
    if finding.check is None:
        return finding
    before = sentence.text[: finding.start - sentence.start]
    after = sentence.text[finding.end - sentence.start :]
    is_doubtful = (
        _is_about_part(finding.kind, before, after)
        or _goes_on(finding, text)
        or (_is_negated(finding) and _NEGATION.search(before))
    )
    return replace(finding, check=None) if is_doubtful else finding


def _is_about_part(kind: str, before: str, after: str) -> bool:
    clause = re.split(r"[,;:.\n]", after)[0]
    if kind in _OF_PARTS and (_EACH.search(before) or _EACH.search(clause)):
        return True
    if kind in _TEXTS:
        return bool(_PLACE.search(before) or _PLACE.match(after))
    if kind == "letter_case":
        return _SOME.search(before) is not None
    return kind in _SIZES and _PART.search(before) is not None


def _goes_on(finding: Finding, text: str) -> bool:
    """Returns whether the noun goes on after the words: "3 consecutive ..."."""
    has_bounds = not {"min", "max", "exactly"}.isdisjoint(finding.check or {})
    needs_end = has_bounds or finding.kind == "language" or finding.kind in _TEXTS
    return needs_end and _FOLLOWER.match(text, finding.end) is None


def _is_negated(finding: Finding) -> bool:
    """Returns whether a negation before the words would turn them round."""
    return not finding.forbids and "max" not in (finding.check or {}) and finding.kind != "excludes"


def settle(findings: Sequence[Finding], text: str) -> list[Finding]:
    """Drops the checks that other parts of the output make unsure, and words that a longer finding has."""
    unsure = _list_unsure(findings, text)
    kept = [replace(each, check=None) if each.kind in unsure else each for each in findings]
    return [each for each in kept if not any(_covers(other, each) for other in kept if other is not each)]


def _list_unsure(findings: Sequence[Finding], text: str) -> set[str]:
    kinds = {finding.kind for finding in findings if not finding.forbids}
    unsure: set[str] = set()
    if kinds & {"json", "schema", "table"}:
        unsure |= _PROSE
    if _CODE.search(text):
        unsure |= {"markdown", "heading_count", *_PROSE}
    if SEPARATOR in text:
        unsure.add("paragraph_count")
    if re.search(REPEATED, text):
        unsure |= {"starts_with", *_SIZES}
    has_bullets = any((each.check or {}).get("marker") == "bullet" and not each.forbids for each in findings)
    if has_bullets and any(each.kind == "markdown" for each in findings):
        unsure |= {"markdown", "list_item_count"}
    return unsure


def _covers(other: Finding, finding: Finding) -> bool:
    if not (other.start < finding.end and finding.start < other.end):
        return False
    if finding.check is not None:
        is_longer = other.end - other.start > finding.end - finding.start
        return other.check is not None and is_longer and other.start <= finding.start
    return other.check is not None or (other.start, -other.end) < (finding.start, -finding.end)


NUMBER: Final = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
Rule: TypeAlias = Callable[[re.Match[str], Reading], Fields]
_KEY: Final = rf"(?:{QUOTED}|[a-z][\w-]*)"
_KEYS: Final = re.compile(
    rf"(?P<only>\b(?:exactly|only|just) )?(?:(?:the|these|two|three|four|following|exactly) )*(?:keys?"
    rf"|fields?)"
    rf"(?: named| called| are)?:? (?P<keys>{_KEY}(?:(?:, (?:and )?| and ){_KEY})*)(?=\s*(?:[.!?;:)\n]|$)|,? "
    r"(?:for|in|of|only|and nothing)\b|, (?:nothing|no|in|for)\b)(?P<alone> (?:only|and nothing else"
    r"|and no others?)\b)?"
)
_CODES: Final = {name.lower(): code for code, name in LANGUAGES.items()}
_LANGUAGE: Final = "|".join(_CODES)


def read_number(words: str) -> int:
    """Reads a number in digits or words."""
    return NUMBERS[words] if words in NUMBERS else int(words.replace(",", ""))


def _read_json(match: re.Match[str], reading: Reading) -> Fields:
    """Returns the check of JSON, with the keys that stand anywhere in the task."""
    words, named = match.group(), _KEYS.search(reading.text)
    root = "array" if re.search(r"array|list", words) else "object" if words.endswith("object") else "any"
    if named is None:
        return {"check": "json", "root": root}
    keys = [
        reading.literal(key.start()) if key[0] == QUOTED else reading.quote(*key.span())
        for key in re.compile(_KEY).finditer(reading.text, *named.span("keys"))
        if key[0] != "and"
    ]
    if not (named["only"] or named["alone"]):
        return {"check": "json", "root": root, "keys": keys}
    fields = {"required": keys, "properties": {key: {} for key in keys}, "additionalProperties": False}
    return {"check": "schema", "json_schema": {"type": "object", **fields}}


def _read_language(match: re.Match[str], _: Reading) -> Fields:
    return {"check": "language", "code": _CODES[match["language"]]}


def _read_table(match: re.Match[str], _: Reading) -> Fields:
    columns = re.search(rf"\b({NUMBER})[ -]columns?\b", match.string)
    return {"check": "table", **({"columns": read_number(columns[1])} if columns else {})}


def _fix(**fields: object) -> Rule:
    return lambda _match, _reading: fields


_ONLY: Final = r"(?:(?:only|all|just|entirely|fully|the|completely|plain|written|in|using|simple) )*"
_BY_FORM: Final = r"\b(?:in|using|use|with|be|only|are|is|everything|all|contain) "
_JSON: Final = (
    r"\b(?:(?:in|as|into|return|output|using|with|only|valid|respond with|give me|produce|an?|just|the) )+"
    r"(?:valid |single )?json(?: (?:format|object|array|list|document))?\b(?! (?:file|schema|parser|api"
    r"|strings?))"
)
_SPOKEN: Final = (
    rf"\b(?:in|into|language:|only|entirely|answer|speak"
    rf"|use) {_ONLY}(?P<language>{_LANGUAGE})\b(?: language)?"
)
_UPPER: Final = (
    r"(?:(?:all[- ])?(?:capital letters|upper-? ?case(?: letters)?|capitals|caps)|capitali[sz]ed)\b"
)
_LOWER: Final = r"(?:(?:all[- ])?lower-? ?case(?:d|(?: letters)?)|small letters)\b"
_IN_TABLE: Final = (
    r"\b(?:in|as|into|with|include|add|make|using|use|create|give me|return|draw) (?:an? |one )?"
    rf"(?:markdown |simple |{NUMBER}[- ]columns? )*table\b(?! (?:of contents|for"
    rf"|tennis))(?: with {NUMBER} columns)?"
)
_NUMBER_ALONE: Final = r"\b(?:only|just) (?:with )?(?:a |the )?number\b|\bnumber (?:only|alone)\b"
_FORMS: Final[tuple[tuple[re.Pattern[str], Rule], ...]] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (_JSON, _read_json),
        (_SPOKEN, _read_language),
        (_BY_FORM + _ONLY + _UPPER, _fix(check="letter_case", style="upper")),
        (_BY_FORM + _ONLY + _LOWER, _fix(check="letter_case", style="lower")),
        (_IN_TABLE, _read_table),
        (_NUMBER_ALONE, _fix(check="word_count", min=1, max=1)),
    )
)


def find_forms(text: str, start: int, reading: Reading) -> Iterator[Finding]:
    """Finds the demands of a sentence on the form; ``start`` is its place in the folded text."""
    for pattern, build in _FORMS:
        for match in pattern.finditer(text):
            yield Finding(start + match.start(), start + match.end(), build(match, reading))
