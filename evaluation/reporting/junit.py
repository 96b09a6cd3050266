"""Writes a JUnit report of many results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ElementTree, SubElement

from evaluation.cases.case_result import CaseResult
from evaluation.findings import UNVERIFIED
from evaluation.reporting.summaries import clean_text

_SUITE: Final = "evaluation"


def _name_runs(results: Sequence[CaseResult]) -> list[tuple[str, CaseResult]]:
    """Returns the results with the names of their runs: the runs of a repeated case have numbers, from 1."""
    repeated = {(each.name, each.arm) for each in results if each.trial}
    return [
        (f"{each.name}[{each.trial + 1}]" if (each.name, each.arm) in repeated else each.name, each)
        for each in results
    ]


def write_junit(path: str | Path, results: Sequence[CaseResult]) -> None:
    """Writes a JUnit report: a test for each run. Raises OSError if the file cannot be written."""
    failures = sum(not each.accepted for each in results)
    suite = Element("testsuite", {"name": _SUITE, "tests": str(len(results)), "failures": str(failures)})
    for name, each in _name_runs(results):
        case = SubElement(suite, "testcase", {"classname": _SUITE, "name": clean_text(name)})
        if each.accepted and each.is_clean:
            SubElement(case, "system-out").text = UNVERIFIED
        if not each.accepted:
            reasons = [clean_text(reason) for reason in each.reasons]
            message = reasons[0] if reasons else each.status
            SubElement(case, "failure", {"message": message, "type": each.status}).text = "\n".join(reasons)
    ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
