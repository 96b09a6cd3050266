"""Prints the results of ``orchestrator evaluate``: each run that is not accepted, then what they come to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from evaluation.evalset.baseline_file import Changes
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.pass_rates import describe_pass_rates
from orchestrator.cli.view.consoles import count_noun, one_line

_COLOURS: Final = {"passed": "green", "warning": "yellow", "needs_review": "yellow"}
_MOST_SHOWN: Final = 3
"""Most reasons to look at first, and most places of one problem, that are shown."""
_MOST_PROBLEMS: Final = 10


def draw_result(result: CaseResult, *, is_repeated: bool) -> Text:
    """Draws a result in one line: its status, its name with the number of the run, and the first reason."""
    number = f"[{result.trial + 1}]" if is_repeated else ""
    head = (result.status, _COLOURS.get(result.status, "red"))
    reason = one_line(result.reasons[0], 300) if result.reasons else ""
    return Text.assemble(head, f"  {one_line(result.name)}{number}  {reason}")


def draw_summary(results: Sequence[CaseResult], unread: Sequence[str], ignored: Sequence[str]) -> Text:
    """Draws the counts, the bases of the accepted runs, the rates of repeated ones, and what was not read."""
    lines = [*_list_counts(results), *_list_places("not read", unread), *_list_places("ignored", ignored)]
    return Text("\n".join(lines))


def draw_changes(changes: Changes) -> Text:
    """Draws the cases that are worse or better than in the baseline, or perhaps worse."""
    named = [("worse than in the baseline", changes.worse), ("better than in the baseline", changes.better)]
    if changes.unclear:
        unclear = (
            "passed less often than in the baseline, by no more than chance explains; --repeat shows more"
        )
        named.append((unclear, changes.unclear))
    lines = []
    for words, cases in named:
        lines.append(f"{count_noun(len(cases), 'case')} {words}")
        lines += [f"  {one_line(case)}" for case in cases]
    return Text("\n".join(lines))


def _list_counts(results: Sequence[CaseResult]) -> Iterator[str]:
    accepted = [result for result in results if result.accepted]
    statuses = _count(result.status for result in results)
    if results:
        yield f"{len(accepted)} of {count_noun(len(results), 'run')} accepted ({statuses})"
    else:
        yield "nothing was evaluated: there is no run that can be read"
    if accepted:
        yield f"what the accepted ones rest on: {_count(result.basis for result in accepted)}"
    yield from map(one_line, describe_pass_rates(results))
    # What is not accepted comes first, then what occurs most.
    reasons = Counter((result.accepted, each) for result in results for each in result.reasons)
    first = sorted(reasons.items(), key=lambda item: (item[0][0], -item[1]))[:_MOST_SHOWN]
    if first:
        yield "look at first:"
    for (_, reason), count in first:
        yield f"  {count_noun(count, 'run')}: {one_line(reason, 300)}"


def _list_places(label: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yields the problems with their places; of sentences that differ in their place alone, the first."""
    places: dict[str, list[str]] = defaultdict(list)
    for text in sentences:
        place, _, problem = text.partition(": ")
        places[problem].append(place)
    for problem, each in [*places.items()][:_MOST_PROBLEMS]:
        more = f", {len(each) - _MOST_SHOWN} more" if len(each) > _MOST_SHOWN else ""
        yield one_line(f"{label}: {', '.join(each[:_MOST_SHOWN])}{more}: {problem}")
    if (left := len(places) - _MOST_PROBLEMS) > 0:
        yield f"{label}: {left} more kinds of things"


def _count(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())
