"""Prints the results of ``orchestrator evaluate``: each run that is not accepted, then what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.pass_rates import describe_pass_rates
from orchestrator.cli.view.consoles import count_noun, one_line

_COLOURS: Final = {"passed": "green", "warning": "yellow", "needs_review": "yellow"}
_MOST_SHOWN: Final = 3
"""Most unread parts, and most runs to look at first, that are shown."""


def draw_result(result: CaseResult) -> Text:
    """Draws a result in one line: its status, its name, and the first reason."""
    head = (result.status, _COLOURS.get(result.status, "red"))
    reason = one_line(result.reasons[0], 300) if result.reasons else ""
    return Text.assemble(head, f"  {one_line(result.name)}  {reason}")


def draw_summary(results: Sequence[CaseResult], unread: Sequence[str]) -> Text:
    """Draws the counts, the bases of the accepted runs, the rates of repeated ones, and the unread parts."""
    return Text("\n".join(_list_lines(results, unread)))


def _list_lines(results: Sequence[CaseResult], unread: Sequence[str]) -> Iterator[str]:
    accepted = [result for result in results if result.accepted]
    statuses = _count(result.status for result in results)
    yield f"{len(accepted)} of {count_noun(len(results), 'run')} accepted ({statuses})"
    if accepted:
        yield f"what the accepted ones rest on: {_count(result.basis for result in accepted)}"
    yield from map(one_line, describe_pass_rates(results))
    refused = Counter(result.reasons[:1] for result in results if not result.accepted)
    if refused:
        yield "look at first:"
    for reason, count in refused.most_common(_MOST_SHOWN):
        yield f"  {count_noun(count, 'run')}: {one_line(' '.join(reason), 300)}"
    yield from (f"not read: {one_line(text)}" for text in unread[:_MOST_SHOWN])
    if (more := len(unread) - _MOST_SHOWN) > 0:
        yield f"and {more} more that were not read"


def _count(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())
