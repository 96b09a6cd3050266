"""Derives the checks that a task states, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from evaluation.checks import Check, read_checks
from evaluation.checks.kinds.wording import CountCheck
from evaluation.errors import ContractError
from evaluation.task_checks.demands import (
    NUMBER,
    OUTPUT,
    Finding,
    Sentence,
    abstain,
    find_forms,
    is_demand,
    read_number,
    settle,
    split_sentences,
)
from evaluation.task_checks.task_reading import QUOTED, Fields, Reading, Rows, any_of, read_rows, read_task

_NEGATED: Final = r"(?:not|n't) (?:to )?(?:be |use |have |contain |write |go |appear )?"
_AT_LEAST: Final = (
    rf"at least|no (?:fewer|less|shorter) than|{_NEGATED}(?:shorter|less|fewer|below|under)(?: than)?|"
    r"(?:a )?minimum(?: of)?|min(?:imum)? length:?|min\.?:?"
)
_AT_MOST: Final = (
    rf"at most|no (?:more|longer|greater) than|{_NEGATED}(?:more than|longer than|exceed\w*|surpass|over)|"
    r"up to|(?:a )?maximum(?: of)?|max(?:imum)? length:?|max\.?:?|within|"
    r"(?:limit(?:ed)?|restrict(?:ed)?|keep|cap(?:ped)?)(?: \w+){0,4} (?:to|at)"
)
_BOUNDS: Final = (
    ("min", 0, _AT_LEAST),
    ("max", 0, _AT_MOST),
    ("min", 1, r"more than|over|above|exceeding|longer than"),
    ("max", -1, r"less than|fewer than|under|below|shorter than"),
    ("exactly", 0, r"exactly|precisely|a total of"),
    ("about", 0, r"about|around|approximately|roughly|approx\.?|~|circa|some|nearly"),
)
_AFTER: Final = (
    ("min", r"or (?:more|longer)|at least|minimum|min"),
    ("max", r"or (?:less|fewer|shorter)|at (?:the )?(?:most|maximum|outside)|maximum|max|tops|limit"),
)
_PRE: Final = "|".join(words for _, _, words in _BOUNDS)
_POST: Final = "|".join(words for _, words in _AFTER)
_UNITS: Final[Rows] = read_rows("units")
_ADJECTIVES: Final = r"(?:(?:full|short|long|different|total|separate|markdown|such) )*"
_UNIT: Final = "|".join(words for words, _ in _UNITS)
_COUNT: Final = re.compile(
    rf"(?:(?<![\w.$€£])|(?=n't ))(?:(?P<pre>{_PRE}|between|from|only|just|in|of|with) ?)?(?:an? )?"
    rf"(?<![\w.])(?P<low>{NUMBER})(?:\s?(?P<link>-|to|and|or)\s?(?P<high>{NUMBER}))?(?P<plus>\s?\+)?"
    rf"(?: (?P<early>or (?:more|fewer|less))\b)?(?P<gap>[ -]){_ADJECTIVES}(?P<unit>{_UNIT})(?![\w-])"
    rf"(?: (?:long|in (?:length|total)))?(?:,? ?\(?(?P<post>{_POST})\b\)?(?! {NUMBER}| than))?"
)
_TIMES: Final = re.compile(
    rf"(?:[^.;,\n{QUOTED}]{{0,45}}? )?(?P<pre>{_PRE}|between|only)? ?\b(?P<low>{NUMBER})(?: ?(?P<link>-|to"
    rf"|and|or) ?(?P<high>{NUMBER}))?(?P<plus>\+)?(?: (?P<early>or (?:more|fewer|less)))?(?P<times> times?)?"
    rf"(?: (?P<post>{_POST}))?(?!\w| or\b| (?:and|but) (?:at|no|not|less|fewer|more)\b)"
)
_MORE: Final = re.compile(
    rf"(?:,? (?:and|but)|,) (?P<pre>{_PRE}) (?P<low>{NUMBER})\b(?! ?-)(?! (?!on|in|for|about|of)\w)"
)
_PAIR: Final = re.compile(rf"\b(?P<pre>{_PRE}) (?P<low>{NUMBER}),? (?:and|but) $")
_LISTS: Final = {"number": "numbered", "bullet": "bullet", "any": "list"}
_OUTPUT_NOUN: Final = re.compile(rf"(?: [a-z]+)? (?:{OUTPUT}|limit)\b")
_SINGULARS: Final = frozenset({"word", "sentence", "paragraph", "line", "character"})
_NOT_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|no|none|nothing|without|nor|neither|cannot|dont|limit)|n't)\b[^,.;:]*$"
)
_THINGS: Final[Rows] = read_rows("things")
_THING: Final = "|".join(f"(?:{words})" for words, _ in _THINGS)
_BAN: Final = re.compile(
    r"(?:\b(?:no|without|avoid|avoiding|skip|omit|never|not|dont|refrain from|leave out)|n't)"
    r"(?: (?:use|using|include|including|contain|have|having|add|put|write|give me|the use of|any|an?"
    r"|single|to))*"
    rf" (?P<things>(?:{_THING})(?:(?:,| or| and| nor|,? and no|,? or any) (?:{_THING})(?!\w))*)(?!\w)"
    rf"|\b(?P<passive>{_THING}) (?:is|are|may|should|must) (?:not (?:be )?(?:allowed|used|appear)"
    rf"|forbidden|banned)\b"
)
_ROUNDED: Final = 20
"""Numbers of words from which a bare one allows a tenth more or less."""


def find_amounts(text: str, at: int) -> Iterator[Finding]:
    """Finds the numbers of things in a sentence; ``at`` is its place in the folded text."""
    matches = list(_COUNT.finditer(text))
    kinds = [_find_fields(match["unit"], _UNITS)["check"] for match in matches]
    for match in matches:
        unit = _name_marker(_find_fields(match["unit"], _UNITS), text)
        kind = str(unit["check"]) if unit else ""
        bounds = _read_bounds(match, kind)
        start, end = match.start(), match.end()
        if (pair := _PAIR.search(text[:start])) and bounds:
            bounds, start = {**_bound(pair, ""), **bounds}, pair.start()
        if (more := _MORE.match(text, end)) and bounds:
            bounds, end = {**bounds, **_bound(more, "")}, more.end()
        is_form = match["gap"] == "-" or (match["unit"] in _SINGULARS and 1 not in bounds.values())
        noun = _OUTPUT_NOUN.match(text, end) if is_form else None
        is_unsure = (is_form and noun is None) or ("exactly" in bounds and kinds.count(kind) > 1)
        check = {**unit, **bounds} if unit and bounds and not is_unsure else None
        yield Finding(at + start, at + (noun.end() if noun else end), check)


def find_bans(text: str, at: int) -> Iterator[Finding]:
    """Finds things that the output may not have; ``at`` is the place of the sentence."""
    for match in _BAN.finditer(text):
        group = "things" if match["things"] else "passive"
        for thing in re.finditer(rf"(?:{_THING})(?!\w)", match[group]):
            start = match.start() if thing.start() == 0 else match.start(group) + thing.start()
            end = match.start(group) + thing.end()
            yield Finding(at + start, at + end, _find_fields(thing.group(), _THINGS))


def read_times(text: str, place: int) -> tuple[Fields | None, int]:
    """Returns how often the words before a place have to occur, and where that is said; None if it is not."""
    match = _TIMES.match(text, place)
    if match is None or not (match["times"] or match["low"] in {"once", "twice", "thrice"}):
        return None, place
    return _read_bounds(match, "occurrences") or None, match.end()


def _find_fields(words: str, table: Rows) -> Fields:
    return next(fields for pattern, fields in table if re.fullmatch(pattern, words))


def _name_marker(unit: Fields, text: str) -> Fields | None:
    """Returns the fields of items of a list; None if nothing says that the items stand in a list."""
    if unit != {"check": "list_item_count"}:
        return unit
    marker = next((name for name, word in _LISTS.items() if word in text), None)
    return None if marker is None else {**unit, "marker": marker}


def _read_bounds(match: re.Match[str], kind: str) -> Fields:
    """Returns the bounds of a number; none if they are unsure."""
    if match["high"] is not None:
        low, high = read_number(match["low"]), read_number(match["high"])
        is_range = match["link"] != "and" or match["pre"] == "between"
        return {"min": low, "max": high} if is_range and low < high else {}
    after = match["early"] or match["post"] or ("or more" if match["plus"] else None)
    if after:
        return {next(name for name, words in _AFTER if re.fullmatch(words, after)): read_number(match["low"])}
    return _bound(match, kind)


def _bound(match: re.Match[str], kind: str) -> Fields:
    number, pre = read_number(match["low"]), (match["pre"] or "").strip()
    named = ((name, offset) for name, offset, words in _BOUNDS if re.fullmatch(words, pre))
    name, offset = next(named, ("bare", 0))
    before = match.string[: match.start("pre") if pre else match.start("low")]
    if offset and _NOT_BEFORE.search(before):
        return {"max": number} if name == "min" else {}
    if name == "about" or (name == "bare" and kind == "word_count" and number >= _ROUNDED):
        return {"min": number - number // 10, "max": number + number // 10} if kind == "word_count" else {}
    if name == "bare":
        is_limit = kind == "character_count" or (kind == "occurrences" and _NOT_BEFORE.search(before))
        return {"max" if is_limit else "exactly": number}
    return {name: number + offset} if number + offset > 0 else {}


_NOUN: Final = r"(?:key ?)?words?|phrases?|terms?|names?|sentences?|hash-?tags?|lines?|letters?|expressions?"
_NO_WORD: Final = (
    r"(?!(?:count|limit|length|order|choice|in|of|that|which|with|from|like|by|and|or|for|to|at|you|is|are"
    r"|must|should|may|can|below|above|list|exactly|less|more|than|not|used|i)\b)"
)
_PLAIN: Final = rf"{_NO_WORD}[a-z][\w'-]*"
_LITERAL: Final = re.compile(
    rf"(?:\b(?P<noun>{_NOUN})(?: of)?:? )?(?P<marks>[\[(]?{QUOTED}(?:(?:,? (?:and|or)|,"
    rf"|/)? ?{QUOTED})*[\])]?)"
    rf"|\b(?P<noun2>(?:key ?)?words?|terms?):? (?P<plain>{_PLAIN}(?:(?:, (?:and |or )?| and | or ){_PLAIN})*)"
    r"(?=\s*(?:[.!?;)\n]|$)|,? (?:in|at least|at most|exactly|more|less|anywhere|once|twice|must|should"
    r"|may|\d|but) )"
    r"|\bletters? (?P<letter>[a-z])(?!\w)"
)
_FILL: Final = (
    r"(?: (?:the|these|this|following|exact|single|all|both|of|any|an?|our|your|it|in|to|by|saying|up"
    r"|directly))*"
    rf"(?: {OUTPUT})?(?: (?:the|exact|in))*:? ?"
)
_DUTY: Final = rf" (?:{any_of('duties')}|to)"
_STATED: Final = rf"(?:words?|phrase|sentence|line|thing)\b[^.;:,]{{0,30}}{_DUTY}(?: be)?{_FILL}$"
_START: Final = rf"\b(?:start|begin|open|kick off)\w*{_FILL} ?(?:with|by saying){_FILL}$|\bfirst {_STATED}"
_END: Final = (
    rf"\b(?:end|finish|conclude|close|sign off|wrap up)\w*{_FILL} ?(?:with|by saying){_FILL}$"
    rf"|\b(?:last|final|closing) {_STATED}"
)
_NOT: Final = (
    r"(?:\b(?:not|never|dont|avoid|avoiding|without|refrain from|excluding|exclude|omit|leave out|no)|n't)"
    r"(?: (?:use|using|include|including|mention|mentioning|contain|containing|say|saying|write|have|put"
    r"|let|ever))*"
)
_FORBIDDEN: Final = (
    rf"{_DUTY} ?not\b(?: (?:be )?(?:appear|occur|used|in))?|,? (?:must|should|may|can)n't\b(?: (?:appear"
    rf"|be used))?"
    r"| never\b| (?:is|are) (?:forbidden|banned)"
)
_USE: Final = (
    r"\b(?:includ(?:e|es|ing)|contain(?:s|ing)?|mention(?:ing)?|us(?:e|es|ing)|incorporate|features?|add"
    rf"|has|have|with|insert){_FILL}$"
)
_USED: Final = (
    rf"{_DUTY} (?:all |both |each )?(?:appear|occur|be (?:used|included|mentioned|in|part)|show up)"
    rf"| appears?\b"
)
_KINDS: Final = tuple(
    (kind, re.compile(before), re.compile(after))
    for kind, before, after in (
        ("starts_with", _START, rf"{_DUTY} (?:be (?:the )?(?:first|opening)|come first)"),
        ("ends_with", _END, rf"{_DUTY} be (?:the )?(?:very )?(?:last|final|closing)"),
        ("excludes", rf"{_NOT}{_FILL}$", _FORBIDDEN),
        ("contains", _USE, _USED),
    )
)
_PART: Final = re.compile(
    r"\b(?:paragraphs?|sections?|bullets?|stanzas?|first one|last one|which|title|line)\b[^.;]*$"
)
_POSTSCRIPT: Final = re.compile(r"(?i)(?:p\. ?)+s\.?|p+s")
_PLACED: Final = frozenset({"starts_with", "ends_with"})


def find_literals(text: str, start: int, reading: Reading) -> Iterator[Finding]:
    """Finds the words that a sentence demands or forbids; ``start`` is its place in the folded text."""
    for match in _LITERAL.finditer(text):
        kind, first, end = _find_kind(match, text)
        bounds, last = read_times(text, end)
        if kind is None and bounds is None:
            continue
        words = _read_words(match, start, reading)
        check = _build_check(kind, words, bounds, match)
        is_part = kind in _PLACED and _PART.search(text[: match.start()])
        yield Finding(start + first, start + max(last, end), None if is_part else check)


def _find_kind(match: re.Match[str], text: str) -> tuple[str | None, int, int]:
    """Returns the demand on a literal, and where the words that say so start and end."""
    before = text[: match.start()].rstrip()
    for kind, front, back in _KINDS:
        found = front.search(before, max(0, len(before) - 100))
        # "Close with X" says where, which only "with the word X" does not.
        if found is not None and (match["noun"] or match["plain"] or not found.group().startswith("with")):
            return kind, found.start(), match.end()
        if (found := back.match(text, match.end())) is not None:
            return kind, match.start(), found.end()
    return None, match.start(), match.end()


def _build_check(
    kind: str | None, words: list[str], bounds: Fields | None, match: re.Match[str]
) -> Fields | None:
    if not words or not all(re.search(r"\w", word) for word in words):
        return None
    if match["letter"] or (match["noun"] or "").startswith("letter"):
        limit = bounds or ({"max": 0} if kind == "excludes" else None)
        is_letter = len(words) == 1 and len(words[0]) == 1
        letter = {"check": "occurrences", "text": words[0], "whole_words": False}
        return {**letter, **limit} if limit and is_letter else None
    if bounds is not None:
        return {"check": "occurrences", "text": words[0], **bounds} if len(words) == 1 else None
    if kind in _PLACED:
        is_text = len(words) == 1 and not _POSTSCRIPT.fullmatch(words[0])
        return {"check": kind, "text": words[0]} if is_text else None
    if kind is None or (kind == "contains" and re.search(r"\bor\b", match.group())):
        return None
    return {"check": kind, "texts": words}


def _read_words(match: re.Match[str], start: int, reading: Reading) -> list[str]:
    if match["marks"]:
        return reading.literals(start + match.start("marks"), start + match.end("marks"))
    if match["letter"]:
        return [match["letter"]]
    pieces = re.compile(r"[a-z][\w'-]*").finditer(match.string, *match.span("plain"))
    words = [piece for piece in pieces if piece[0] not in {"and", "or"}]
    return [reading.quote(start + word.start(), start + word.end()) for word in words]


_OPEN: Final = re.compile(
    rf"\b(?:(?:at least|at most|exactly|about|with|in|give me|list|include|name|write|use"
    rf"|add) )+{NUMBER} (?:\w+ )?\w+"
    r"|\b(?:no|without|avoid|avoiding|don't|do not|never) (?!one\b|matter\b|need\b|longer\b)\w+(?: \w+){0,3}"
    r"|\b(?:each|every) \w+(?: \w+){1,6}|\b(?:it|your \w+|the \w+) (?:must|should|has to"
    r"|needs to) [^.;\n]{3,80}"
    r"|\b(?:csv|xml|ya?ml|title|subject line|in the (?:first|second|third) person|columns? \w+"
    r"|sign it \w+ \w+)\b"
    r"|\b(?:only|nothing) (?:\w+ ){0,2}(?:else|code|number|list)\b|\b(?:start|begin|end"
    r"|finish) with [^.;,\n]{3,60}"
)
"""Words of a demand that no check says: a short list, which claims nothing of other words."""
_LONGEST_PHRASE: Final = 200
_MOST: Final = 300
"""Most sentences of a task that are read."""


@dataclass(frozen=True, slots=True)
class DerivedChecks:
    """Some of the requirements that a task states."""

    checks: tuple[Check, ...] = ()
    """Each has as ``quote`` the words that it rests on, literally as in the task."""
    unchecked: tuple[str, ...] = ()
    """Words of the task, literally, that seem to state a requirement for which there is no check. Others may
    be missing here, too."""


def derive_checks(task: str) -> DerivedChecks:
    """Derives the checks that a task states, in the order of their words; never raises for a text."""
    reading = read_task(task)
    if reading.language is None:
        lines = tuple(line.strip()[:_LONGEST_PHRASE] for line in task.splitlines() if len(line.split()) > 1)
        return DerivedChecks(unchecked=lines[:1])
    found: list[Finding] = []
    for sentence in islice(split_sentences(reading.text), _MOST):
        found += _read_sentence(sentence, reading)
    findings = sorted(settle(found, reading.text), key=lambda finding: (finding.start, finding.end))
    return _collect(findings, reading)


def _read_sentence(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Yields the demands of a sentence; demands of a text below the request are never checked."""
    text, start = sentence.text, sentence.start
    is_asked = reading.text.rstrip().endswith("?") and not text.endswith("?")
    findings = [*find_amounts(text, start), *find_bans(text, start)]
    findings += [*find_literals(text, start, reading), *find_forms(text, start, reading)]
    if not sentence.is_given:
        findings += [Finding(start + match.start(), start + match.end()) for match in _OPEN.finditer(text)]
    for finding in findings:
        if is_demand(text, finding.start - start, is_asked=is_asked):
            is_checked = not sentence.is_given
            yield abstain(finding, sentence, reading.text) if is_checked else replace(finding, check=None)


def _collect(findings: Sequence[Finding], reading: Reading) -> DerivedChecks:
    quotes = [reading.quote(each.start, each.end) for each in findings]
    pairs = [(quote, _build(each, quote, reading.task)) for each, quote in zip(findings, quotes, strict=True)]
    built = _drop_repeated([check for _, check in pairs if check is not None])
    disputed = [None, *_list_disputed(built)]
    checks = [check for check in built if check not in disputed]
    unchecked = (quote for quote, check in pairs if check in disputed)
    return DerivedChecks(tuple(checks), tuple(dict.fromkeys(filter(None, unchecked))))


def _build(finding: Finding, quote: str, task: str) -> Check | None:
    if finding.check is None or quote not in task or not quote:
        return None
    try:
        return read_checks([{**finding.check, "quote": quote}])[0]
    except ContractError:
        return None


def _list_disputed(checks: Sequence[Check]) -> list[Check]:
    """Returns the checks that want two exact numbers of one thing, of which only one can be meant."""
    exact = [check for check in checks if isinstance(check, CountCheck) and check.exactly is not None]
    things = Counter(map(_name_thing, exact))
    return [check for check in exact if things[_name_thing(check)] > 1]


def _name_thing(check: Check) -> str:
    return check.model_dump_json(exclude={"exactly", "quote", "severity"})


def _drop_repeated(checks: Sequence[Check]) -> list[Check]:
    """Returns the checks, each requirement once."""
    seen: dict[str, Check] = {}
    for check in checks:
        seen.setdefault(check.model_dump_json(exclude={"quote"}), check)
    return list(seen.values())
