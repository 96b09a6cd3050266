"""Writes the results of many runs as JUnit XML, and counts them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ElementTree, SubElement

from evaluation.cases.case_result import UNVERIFIED, CaseResult
from evaluation.sensitive.scanner import shorten
from evaluation.texts.normal import remove_unseen
from evaluation.values import as_list, as_object

_SUITE: Final = "evaluation"


def _name_runs(results: Sequence[CaseResult]) -> list[tuple[str, CaseResult]]:
    """Returns the results with the names of their runs: those of a repeated case have numbers, from 1."""
    repeated = {(each.name, each.arm) for each in results if each.trial}
    return [
        (f"{each.name}[{each.trial + 1}]" if (each.name, each.arm) in repeated else each.name, each)
        for each in results
    ]


def write_junit(path: str | Path, results: Sequence[CaseResult]) -> None:
    """Writes a JUnit report: a test for each run. Raises OSError if the file cannot be written."""
    failed = [each for each in results if not each.accepted]
    counts = {"tests": str(len(results)), "failures": str(len(failed))}
    suite = Element("testsuite", {"name": _SUITE, **counts})
    for name, each in _name_runs(results):
        case = SubElement(suite, "testcase", {"classname": _SUITE, "name": _to_xml(name)})
        if each.accepted and each.is_clean:
            SubElement(case, "system-out").text = UNVERIFIED
        if not each.accepted:
            reasons = [_to_xml(reason) for reason in each.reasons]
            message = reasons[0] if reasons else each.status
            SubElement(case, "failure", {"message": message, "type": each.status}).text = "\n".join(reasons)
    ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _to_xml(text: str) -> str:
    # XML 1.0 has no control characters and no half surrogates.
    return remove_unseen(text).encode("utf-8", "replace").decode("utf-8")


def describe_counts(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yields the number of verified runs, of those in which nothing was found, and of the refused ones."""
    runs = "1 run" if len(results) == 1 else f"{len(results)} runs"
    verified = [each.basis for each in results if each.accepted and each.verified]
    bases = f" ({_count(verified)})" if verified else ""
    yield f"{len(verified)} of {runs} verified{bases}"
    if clean := sum(each.accepted and each.is_clean for each in results):
        yield f"{clean} of {runs}: {UNVERIFIED}"
    if left := [each.status for each in results if not (each.accepted and (each.verified or each.is_clean))]:
        yield f"{len(left)} of {runs} not: {_count(left)}"


def _count(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())


def clean_line(text: str) -> str:
    """Returns a text on one line, without what a terminal obeys or hides."""
    return " ".join(_to_xml(text).split())


_MOST_CALLS: Final = 20
_LONGEST_CALL: Final = 70
_LONGEST_TEXT: Final = 400


def describe_failure(result: CaseResult) -> str:
    """Returns the status and the reasons, the calls of a result with its run, and the answer, in lines."""
    run = result.agent_run
    first, *others = map(_shorten_line, result.reasons or ("",))
    calls = [
        f"{number}. {_format_call(call)}" for number, call in enumerate(as_list(run.get("tool_calls")), 1)
    ]
    more = [f"and {left} more"] if (left := len(calls) - _MOST_CALLS) > 0 else []
    answer = run.get("final_output")
    told = "no answer" if answer is None else f"answer: {_shorten_line(str(answer))}"
    lines = [*others, *calls[:_MOST_CALLS], *more, told]
    return "\n  ".join([f"{result.status}: {first}", *lines])


def _shorten_line(text: str, limit: int = _LONGEST_TEXT) -> str:
    return shorten(clean_line(text), limit)


def _format_call(call: object) -> str:
    fields = as_object(call) or {"name": call}
    args = as_object(fields.get("args")).items()
    written = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args)
    error = f" -> {fields['error']}" if fields.get("error") else ""
    return _shorten_line(f"{fields.get('name')}({written}){error}", _LONGEST_CALL)
