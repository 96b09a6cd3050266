"""Only a part: the task and a claim name several things, and the calls fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evaluation.defects.claims import find_claims, mentions_family, read_pattern
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Turn, list_objects, names_value
from evaluation.texts.normal import has_digit
from evaluation.values import as_list

_NAME: Final = r"#?(?:[\w.+-]+@[\w.-]+\w|[\w-]+\.[a-z]\w{1,4}|\w*\d\w*|[A-Z][\w-]+)"
_LISTED: Final = re.compile(
    rf"(?<![\w.,:$#-]){_NAME}(?:(?:, (?:and )?| and | & ){_NAME})+"
    r"(?![\w%-]|[.:]\w| (?:is|was|stays|remains|has|will|can)\b)"
)
"""Matches things that a sentence lists by their numbers or names, of which the last begins no clause."""
_ITEM: Final = re.compile(_NAME)
_ALL: Final = re.compile(r"\b(?:both|all (?:the )?(?:two|three|four|five|\d+|of them))\b", re.IGNORECASE)
_ONE: Final = re.compile(r"\b(?:first|second|former|latter|one|either|only)\b", re.IGNORECASE)
_OF_EACH: Final = frozenset({"cancel", "delete", "refund", "return", "resolve", "approve"})
"""Families of actions on each thing; others may bring two things together."""
_SUITE: Final = read_pattern("suite")


def find_partial_work(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the things that the task names and a turn claims, of which no call knows."""
    for turn in evidence.said:
        calls = evidence.calls[: turn.known]
        if any(call.acts for call in calls) and not any(call.is_open for call in calls):
            yield from _find_left_out(evidence, turn, calls)
        yield from _find_narrow_tests(evidence, turn, calls)


def _find_left_out(evidence: Evidence, turn: Turn, calls: Sequence[Call]) -> Iterator[DefectFinding]:
    claims = find_claims(turn.text)
    asked = evidence.asked_before(turn) if claims else ""
    for claim in claims:
        texts = (asked, claim.sentence) if _ALL.search(claim.sentence) else (claim.sentence,)
        listed = [_ITEM.findall(match[0]) for text in texts for match in _LISTED.finditer(text)]
        if not listed:
            continue
        acting = [call for call in calls if call.acts]
        args = " ".join(call.args_text for call in acting)
        known = " ".join([args, *(call.answer for call in acting)])
        is_each = claim.families & _OF_EACH and not _ONE.search(claim.sentence)
        is_each = is_each and len(acting) < max(map(len, listed))
        values = [call.value for call in calls if is_each and not call.acts]
        things = (str(each) for value in values for each in (*list_objects(value), *as_list(value)))
        # What was read to be so before needs no call.
        left = [each for each in things if not mentions_family(each, claim.families, is_past=True)]
        items = [item for each in listed if _are_known(each, asked, left) for item in each]
        missing = [item for item in items if not names_value(known, item)]
        if missing and any(names_value(args, item) for item in items):
            names = ", ".join(dict.fromkeys(call.name for call in acting))
            seen = f"no acting call names {missing[0]}; called: {names}"
            yield DefectFinding("only_a_part", "defect", claim.sentence, seen, turn.place, acting[-1].place)


def _are_known(names: Sequence[str], asked: str, things: Sequence[str]) -> bool:
    """Return whether the task has all names, or things that were read have them as their numbers."""
    # A call may pass the number of a thing in place of its name.
    texts = things if all(map(has_digit, names)) else ()
    return all(any(names_value(text, name) for text in (asked, *texts)) for name in names)


def _find_narrow_tests(evidence: Evidence, turn: Turn, calls: Sequence[Call]) -> Iterator[DefectFinding]:
    """Yield a claim about all tests if each run was of one file."""
    said = _SUITE.search(turn.text)
    if said and _SUITE.search(evidence.asked_before(turn)):
        tests = [call for call in calls if call.args and call.is_program and "tests" in call.programs]
        commands = [read_pattern("one_file").search(call.args_text) for call in tests]
        if commands and all(commands):
            seen = f"only one file was tested: {commands[-1][0] if commands[-1] else ''}"
            yield DefectFinding("only_a_part", "defect", said[0], seen, turn.place, tests[-1].place)
