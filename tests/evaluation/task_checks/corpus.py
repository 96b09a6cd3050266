"""The labelled tasks, divided into those that the rules may be written with and those that only measure them.

Each line of a file has ``task``, the ``checks`` that it states, and in some files ``unchecked``, the words of
requirements that no check covers. A row of ``mentions.jsonl`` states nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from zlib import crc32

from evaluation.checks import CHECKS, Check, read_checks
from evaluation.errors import ContractError
from evaluation.task_checks.derivation import derive_checks
from tests.evaluation.checks.ifeval import PROMPTS, to_checks
from tests.evaluation.task_checks.labels import JUDGED
from tests.evaluation.task_checks.scoring import Score, add, compare

Half: TypeAlias = Literal["dev", "held-out"]
SETS: Final = ("demands", "wordings", "requests", "users", "mentions")
_DEVELOPED: Final = 120
"""Prompts of IFEval, from the first, that the rules may be written with."""


@dataclass(frozen=True)
class LabelledTask:
    text: str
    checks: tuple[Check, ...]
    accepted: frozenset[str] = frozenset()
    """Kinds of checks that readers found right although no label has them."""


@dataclass(frozen=True)
class Figures:
    score: Score
    refusing: int
    """Tasks with a check that is not among the labels: it may refuse a right output."""


def read_set(name: str, half: Half) -> list[LabelledTask]:
    """Reads a half of a set by its name; ``ifeval`` needs the folder EVALUATION_DATA."""
    if name == "ifeval":
        return list(_read_ifeval(half))
    path = Path(__file__).with_name(f"{name}.jsonl")
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [_read_row(row) for row in rows if _find_half(row) == half]


def measure(tasks: Iterable[LabelledTask]) -> Figures:
    scores = [compare(task.checks, derive_checks(task.text).checks, task.accepted) for task in tasks]
    refusing = sum(bool(score.wrong or score.beyond) for score in scores)
    return Figures(reduce(add, scores, Score()), refusing)


def _find_half(row: Mapping[str, Any]) -> Half:
    part = row.get("part")
    if part in {"seen", "unseen", "joined"}:
        return "dev" if part == "seen" else "held-out"
    return "dev" if crc32(row["task"].encode()) % 2 else "held-out"


def _read_row(row: Mapping[str, Any]) -> LabelledTask:
    # Labels of kinds or fields that the vocabulary no longer has are demands that no check can cover.
    known = [check for check in row.get("checks", []) if _is_known(check)]
    return LabelledTask(row["task"], tuple(read_checks(known)))


def _is_known(check: Mapping[str, Any]) -> bool:
    try:
        return bool(read_checks([check]))
    except ContractError:
        return False


def _read_ifeval(half: Half) -> Iterator[LabelledTask]:
    bounds = (0, _DEVELOPED) if half == "dev" else (_DEVELOPED, None)
    with PROMPTS.open(encoding="utf-8") as file:
        for prompt in map(json.loads, islice(file, *bounds)):
            pairs = zip(prompt["instruction_id_list"], prompt["kwargs"], strict=True)
            stated = [check for name, fields in pairs for check in to_checks(name, fields)]
            checks = read_checks([check for check in stated if check["check"] in CHECKS])
            accepted = frozenset(JUDGED.get(prompt["key"], ()))
            yield LabelledTask(prompt["prompt"], tuple(checks), accepted)
