"""The rules of defects, in order, and the search of a run by all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from evaluation.defects.claimed_not_done import find_undone_claims
from evaluation.defects.contradicted_fact import find_contradicted_facts
from evaluation.defects.evidence import Evidence
from evaluation.defects.failed_told_done import find_failures_told_as_done, find_untold_failures
from evaluation.defects.findings import DefectFinding
from evaluation.defects.not_there import find_missing_effects
from evaluation.defects.only_a_part import find_partial_work
from evaluation.defects.other_value import find_other_values
from evaluation.defects.unfit_texts import find_no_answer, find_reviewer_words

Rule = Callable[[Evidence], Iterator[DefectFinding]]
RULES: Final[Sequence[Rule]] = (
    find_undone_claims,
    find_failures_told_as_done,
    find_untold_failures,
    find_other_values,
    find_missing_effects,
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
    """Return the findings of all rules, each rule and sentence once."""
    found = {(each.rule, each.said, each.seen): each for rule in rules for each in rule(evidence)}
    return [*found.values()]
