"""Ranks the kinds of problems of many runs, for a reader who looks at a few of them first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from evaluation.cases.case_result import CaseResult
from evaluation.values import as_list, as_object

_LEVELS: Final = {"critical": "defect", "warning": "suspicion"}
_MOST: Final = 5
_NO_KIND: Final = "other"


class Problem(NamedTuple):
    """A kind of problem: its rule or metric, its level, the number of its runs, and one example."""

    kind: str
    level: str
    runs: int
    example: str


def rank_problems(results: Sequence[CaseResult], most: int = _MOST) -> list[Problem]:
    """Rank the kinds of problems by their level, then by the number of runs that have them."""
    examples: defaultdict[tuple[str, str], dict[tuple[str, str, int], str]] = defaultdict(dict)
    for result in results:
        for alert in map(as_object, as_list(result.report.get("alerts"))):
            level = _LEVELS.get(str(alert.get("severity")))
            if level:
                kind = str(alert["limit"] if alert["metric"] == "audit" else alert["metric"])
                examples[level, kind.removeprefix("defects.")].setdefault(result.key, str(alert["reason"]))
        if result.reasons and not result.report:
            examples["defect" if not result.accepted else "suspicion", _NO_KIND][result.key] = result.reasons[
                0
            ]
    ranked = sorted(examples.items(), key=lambda item: (item[0][0] != "defect", -len(item[1]), item[0][1]))
    return [
        Problem(kind, level, len(runs), next(iter(runs.values()))) for (level, kind), runs in ranked[:most]
    ]
