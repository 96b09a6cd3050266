"""Derives the checks that a task states, without a model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Final

from evaluation.checks import Check, read_checks
from evaluation.checks.check_model import join_quoted
from evaluation.checks.kinds.counts import CountCheck
from evaluation.errors import ContractError
from evaluation.task_checks.abstention import Finding, abstain, settle
from evaluation.task_checks.amounts import NUMBER, find_amounts, find_bans
from evaluation.task_checks.demands import Sentence, is_demand, split_sentences
from evaluation.task_checks.forms import find_forms
from evaluation.task_checks.literals import find_literals
from evaluation.task_checks.reading import LONGEST, Reading, read_task

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
    warnings: tuple[str, ...] = ()
    """One sentence for each set of checks that was dropped, because no output can fulfil it."""


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
    return _collect(findings, reading, is_shortened=len(task) > LONGEST)


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


def _collect(findings: Sequence[Finding], reading: Reading, *, is_shortened: bool) -> DerivedChecks:
    pairs = [(finding, _build(finding, reading)) for finding in findings]
    built = _drop_repeated([check for _, check in pairs if check is not None])
    conflicts = find_conflicts(built)
    dropped = [check for group in conflicts for check in group]
    checks = [check for check in built if check not in dropped]
    quotes = [
        reading.quote(finding.start, finding.end)
        for finding, check in pairs
        if check is None or check in dropped
    ]
    warnings = [describe_conflict(group) for group in conflicts]
    if is_shortened:
        warnings.append(f"Only the first {LONGEST} characters of the task were read for requirements.")
    return DerivedChecks(tuple(checks), tuple(dict.fromkeys(filter(None, quotes))), tuple(warnings))


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


def describe_conflict(group: Iterable[Check]) -> str:
    """Returns one sentence about checks that contradict each other."""
    quotes = list(dict.fromkeys(check.quote or check.check for check in group))
    return f"No output can fulfil {join_quoted(quotes)}; the task is not checked for them."


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
