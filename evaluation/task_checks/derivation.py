"""Derives the checks that a task states, without a model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Final

from evaluation.checks import Check, read_checks
from evaluation.checks.kinds.wording import CountCheck
from evaluation.errors import ContractError
from evaluation.task_checks.amounts import NUMBER, find_amounts, find_bans, read_times
from evaluation.task_checks.demands import (
    OUTPUT,
    Fields,
    Finding,
    Sentence,
    abstain,
    is_demand,
    settle,
    split_sentences,
)
from evaluation.task_checks.forms import find_forms
from evaluation.task_checks.reading import QUOTED, Reading, any_of, read_task

_NOUN: Final = r"(?:key ?)?words?|phrases?|terms?|names?|sentences?|hash-?tags?|lines?|letters?|expressions?"
_NO_WORD: Final = (
    r"(?!(?:count|limit|length|order|choice|in|of|that|which|with|from|like|by|and|or|for|to|at|you|is|are"
    r"|must|"
    r"should|may|can|below|above|list|exactly|less|more|than|not|used|i)\b)"
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
    r"|has|have|"
    rf"with|insert){_FILL}$"
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
        return {"check": "letter_count", "letter": words[0], **limit} if limit and is_letter else None
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
    first = start + match.start("plain")
    pieces = [
        piece for piece in re.finditer(r"[a-z][\w'-]*", match["plain"]) if piece.group() not in {"and", "or"}
    ]
    return [reading.quote(first + piece.start(), first + piece.end()) for piece in pieces]


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
_NAMES: Final = frozenset({"quote", "severity"})
_SINGLE: Final = frozenset({"letter_case", "language", "starts_with", "ends_with"})
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
    findings = [*_shift(find_amounts(text), start), *_shift(find_bans(text), start)]
    findings += [*find_literals(text, start, reading), *find_forms(text, start, reading)]
    if not sentence.is_given:
        findings += [Finding(start + match.start(), start + match.end()) for match in _OPEN.finditer(text)]
    for finding in findings:
        if is_demand(text, finding.start - start, is_asked=is_asked):
            is_checked = not sentence.is_given
            yield abstain(finding, sentence, reading.text) if is_checked else replace(finding, check=None)


def _shift(findings: Iterator[Finding], start: int) -> Iterator[Finding]:
    for finding in findings:
        yield Finding(finding.start + start, finding.end + start, finding.check)


def _collect(findings: Sequence[Finding], reading: Reading) -> DerivedChecks:
    pairs = [(finding, _build(finding, reading)) for finding in findings]
    built = _drop_repeated([check for _, check in pairs if check is not None])
    dropped = [check for group in find_conflicts(built) for check in group]
    checks = [check for check in built if check not in dropped]
    quotes = [
        reading.quote(finding.start, finding.end)
        for finding, check in pairs
        if check is None or check in dropped
    ]
    return DerivedChecks(tuple(checks), tuple(dict.fromkeys(filter(None, quotes))))


def _build(finding: Finding, reading: Reading) -> Check | None:
    quote = reading.quote(finding.start, finding.end)
    if finding.check is None or quote not in reading.task or not quote:
        return None
    try:
        return read_checks([{**finding.check, "quote": quote}])[0]
    except ContractError:
        return None


def _drop_repeated(checks: Sequence[Check]) -> list[Check]:
    """Returns the checks, each requirement once."""
    seen: dict[str, Check] = {}
    for check in checks:
        seen.setdefault(check.model_dump_json(exclude={"quote"}), check)
    return list(seen.values())


def find_conflicts(checks: Sequence[Check]) -> list[list[Check]]:
    """Returns the sets of checks that contradict each other."""
    groups: dict[object, list[Check]] = defaultdict(list)
    for check in checks:
        is_count = isinstance(check, CountCheck)
        subject = check.model_dump_json(exclude={*_NAMES, "min", "max", "exactly"} if is_count else set())
        groups[check.check if check.check in _SINGLE else subject].append(check)
    opposites = [[first, second] for first, second in combinations(checks, 2) if _oppose(first, second)]
    return [*(group for group in groups.values() if not _can_agree(group)), *opposites]


def _can_agree(group: Sequence[Check]) -> bool:
    if group[0].check in _SINGLE:
        return len({check.model_dump_json(exclude={*_NAMES}) for check in group}) == 1
    counts = [check for check in group if isinstance(check, CountCheck)]
    least = [check.min if check.exactly is None else check.exactly for check in counts]
    most = [check.max if check.exactly is None else check.exactly for check in counts]
    lowest = max((bound for bound in least if bound is not None), default=0)
    return all(bound is None or lowest <= bound for bound in most)


def _oppose(first: Check, second: Check) -> bool:
    """Returns whether one check forbids the words that the other requires."""
    required = {word for check in (first, second) if check.check == "contains" for word in check.texts}
    required |= {check.text for check in (first, second) if check.check == "occurrences" and check.max != 0}
    forbidden = {word for check in (first, second) if check.check == "excludes" for word in check.texts}
    return bool({word.casefold() for word in required} & {word.casefold() for word in forbidden})
