"""The search of a run by all rules of defects, and the rules about texts that are no answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from evaluation.defects.claimed_actions import find_undone_claims, find_unrun_programs
from evaluation.defects.claims import find_claims, read_pattern, read_words
from evaluation.defects.contradicted_fact import find_contradicted_facts
from evaluation.defects.evidence import DefectFinding, Evidence, Turn
from evaluation.defects.failed_calls import find_failures_told_as_done, find_untold_failures
from evaluation.defects.later_reads import find_contradicted_states, find_missing_effects
from evaluation.defects.other_value import find_other_values
from evaluation.defects.partial_work import find_partial_work
from evaluation.patterns import matches_pattern
from evaluation.sensitive.scanner import shorten
from evaluation.texts.numbers import count_function_words

_WHO: Final = rf"(?i)\b(?:{'|'.join(read_words('who'))})\b"
_ADDRESSED: Final = read_pattern("addressed", read_words("who"))
_CUT_ENDS: Final = frozenset({"the", "a", "an", "and", "or", "my", "your", "its", "their", "because"})
"""The last words of texts that stop within a sentence."""
_MOST_EQUAL: Final = 5
_LEAST_LETTERS: Final = 40
_COMMON: Final = read_words("determiners") | read_words("modal") | read_words("blocks") | {"is", "of", "at"}
_MARKS: Final = {"control_token": read_pattern("control"), "citation_mark": read_pattern("citation")}
_ORDER: Final = f"(?i){read_pattern('agent_orders').pattern}"
_LONGEST: Final = 500


def find_reviewer_words(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the addresses to an evaluator, and orders to the agent; in a result, they are notes."""
    for turn in evidence.said:
        # What is hidden from a reader may be meant for a program that judges.
        if said := _find_address(turn.raw):
            seen = "this tells an evaluator what to conclude, and is no part of an answer"
            yield DefectFinding("reviewer_words", "suspicion", said, seen, turn.place)
    for call in (each for each in evidence.calls if each.answer):
        order = re.search(_ORDER, call.answer) if matches_pattern(_ORDER, call.answer) else None
        found = {"reviewer_words": _find_address(call.answer), "agent_orders": order and order[0].strip()}
        for rule, said in found.items():
            if said:
                seen = f"{call.name} gave it"
                yield DefectFinding(rule, "note", said, seen, None, call.place, "result")


def _find_address(text: str) -> str | None:
    # RE2 tells in a fraction of the time that most texts have no such word.
    found = _ADDRESSED.finditer(text) if matches_pattern(_WHO, text) else ()
    return next((match[0].strip() for match in found if read_pattern("conclusion").search(match[0])), None)


def find_no_answer(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the answers that a reader cannot use."""
    answer = evidence.answer
    if seen := _find_fault(answer):
        yield DefectFinding("no_answer", "note", answer.text or answer.raw, seen, answer.place)
    names = Counter(call.name for call in evidence.calls)
    often = (call for call in evidence.calls if names[call.name] >= _MOST_EQUAL)
    made = Counter((call.name, call.args_text, call.answer) for call in often)
    for (name, *_), times in made.items():
        if times >= _MOST_EQUAL:
            seen = f"{name} was called {times} times with the same arguments, and answered the same"
            yield DefectFinding("loop", "note", answer.text, seen)
    for turn, (rule, pattern) in product(evidence.said, _MARKS.items()):
        if leaked := pattern.search(turn.raw):
            yield DefectFinding(rule, "note", turn.raw, f"{leaked[0]} is a mark for a program", turn.place)


def _find_fault(answer: Turn) -> str | None:
    if not answer.text:
        return "a reader sees nothing of it"
    if error := read_pattern("provider_error").search(answer.text):
        return f"{error[0].strip()} is the error of a provider"
    *before, last = answer.text.split()
    return f"it ends with {last!r}" if before and last.lower() in _CUT_ENDS else None


def list_abstentions(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the evidence that the rules lack, each with a name and a sentence."""
    if not evidence.has_calls:
        yield "no_calls", "The run does not record its calls, so no claim was compared with them"
    elif evidence.calls and not any(call.answer for call in evidence.calls):
        yield "no_results", "No call has a recorded answer, so no fact was compared with one"
    text = evidence.answer.text
    is_known = not _COMMON.isdisjoint(text.lower().split()) or any(count_function_words(text))
    if sum(map(str.isalpha, text)) >= _LEAST_LETTERS and not (is_known or find_claims(text)):
        yield "no_language", "The answer has no common word of English or German, so no claim was found in it"


Rule = Callable[[Evidence], Iterator[DefectFinding]]
RULES: Final[Sequence[Rule]] = (
    find_undone_claims,
    find_unrun_programs,
    find_failures_told_as_done,
    find_untold_failures,
    find_other_values,
    find_missing_effects,
    find_contradicted_states,
    find_partial_work,
    find_contradicted_facts,
    find_reviewer_words,
    find_no_answer,
)
FACT_RULES: Final[Sequence[Rule]] = (find_other_values, find_contradicted_facts)
"""The rules of the check ``sourced_facts``."""
CLAIM_RULES: Final[Sequence[Rule]] = (find_undone_claims, find_failures_told_as_done)
"""The rules that the check adds if it names tools."""


def find_defects(evidence: Evidence, rules: Sequence[Rule] = RULES) -> list[DefectFinding]:
    """Return the findings of all rules, each rule and sentence once, and of each failed call the worst."""
    every = (replace(each, seen=shorten(each.seen, _LONGEST)) for rule in rules for each in rule(evidence))
    found = {(each.rule, each.said, each.seen): each for each in every}
    told = {each.call for each in found.values() if each.rule == "failed_told_done"}
    return [each for each in found.values() if each.rule != "failure_untold" or each.call not in told]
