"""Only a part: the task and a claim name several things, and the calls fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evaluation.defects.claims import find_claims, read_pattern
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Turn, names_value

_NAME: Final = r"#?(?:[\w.+-]+@[\w.-]+\w|[\w-]+\.[a-z]\w{1,4}|\w*\d\w*|[A-Z][\w-]+)"
_LISTED: Final = re.compile(rf"(?<![\w.,:$#-]){_NAME}(?:(?:, (?:and )?| and | & ){_NAME})+(?![\w%-]|[.:]\w)")
"""Matches things that a sentence lists by their numbers or names."""
_ITEM: Final = re.compile(_NAME)
_ALL: Final = read_pattern("all")
_SUITE: Final = read_pattern("suite")
_SUITE_WORDS: Final = ("suite", "tests", "all green", "all passing")


def find_partial_work(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the things that the task names and a turn claims, of which no call knows."""
    for turn in evidence.said:
        calls = evidence.calls[: turn.known]
        acting = [call for call in calls if call.acts]
        if acting and not any(call.is_open for call in calls):
            yield from _find_left_out(evidence, turn, acting)
        yield from _find_narrow_tests(evidence, turn, calls)


def _find_left_out(evidence: Evidence, turn: Turn, calls: Sequence[Call]) -> Iterator[DefectFinding]:
    claims = find_claims(turn.text)
    asked = evidence.asked_before(turn) if claims else ""
    for claim in claims:
        text = asked if _ALL.search(claim.sentence) else claim.sentence
        listed = [_ITEM.findall(match[0]) for match in _LISTED.finditer(text)]
        if not listed:
            continue
        args = " ".join(call.args_text for call in calls)
        known = f"{args} {' '.join(call.answer for call in calls)}"
        items = [item for each in listed if all(names_value(asked, name) for name in each) for item in each]
        missing = [item for item in items if not names_value(known, item)]
        if missing and any(names_value(args, item) for item in items):
            names = ", ".join(dict.fromkeys(call.name for call in calls))
            seen = f"no acting call names {missing[0]}; called: {names}"
            yield DefectFinding("only_a_part", "defect", claim.sentence, seen, turn.place, calls[-1].place)


def _find_narrow_tests(evidence: Evidence, turn: Turn, calls: Sequence[Call]) -> Iterator[DefectFinding]:
    """Yield a claim about all tests if each run was of one file."""
    # The first test is far cheaper than the search.
    may_say = any(map(turn.text.lower().__contains__, _SUITE_WORDS))
    said = _SUITE.search(turn.text) if may_say else None
    if said and _SUITE.search(evidence.asked_before(turn)):
        tests = [call for call in calls if call.args and call.is_program and "tests" in call.programs]
        commands = [read_pattern("one_file").search(call.args_text) for call in tests]
        if commands and all(commands):
            seen = f"only one file was tested: {commands[-1][0] if commands[-1] else ''}"
            yield DefectFinding("only_a_part", "defect", said[0], seen, turn.place, tests[-1].place)
