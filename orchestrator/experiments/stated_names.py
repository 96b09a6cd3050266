"""Finds metrics and checks that do not exist in the contracts of a file, before anything is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from evaluation import ContractError, EvaluationContract
from evaluation.evalset.files import CaseSet
from evaluation.evalset.value_files import compose_yaml, find_line
from evaluation.metrics.metric_table import find_threshold_problems
from evaluation.validation.problems import limit_problems
from orchestrator.judging.plain_contracts import find_unknown_check, plain_contract

Place: TypeAlias = tuple[str | int, ...]
_FIELD: Final = re.compile(r"(\w+)(?:\.(\w+)|\[([0-9]+)\])?")
"""The field, and the name or the position in it, with which a problem begins."""


def check_cases(cases: CaseSet, file: Path) -> None:
    """Checks the contracts of the cases; raises as ``check_names`` does."""
    contracts = {("cases", place, "contract"): case.contract for place, case in enumerate(cases.cases)}
    check_names({place: each for place, each in contracts.items() if not isinstance(each, str)}, file)


def check_names(contracts: Mapping[Place, EvaluationContract], file: Path) -> None:
    """Checks that each metric of a threshold, and each check by name, exists.

    Args:
        contracts: The contracts by their places in the file.
        file: The file.

    Raises:
        ContractError: One does not; a sentence for each, with the file, the line, and the nearest name.
    """
    problems = [(place, each) for place, contract in contracts.items() for each in _list_problems(contract)]
    if not problems:
        return
    root = compose_yaml(file.read_text("utf-8-sig"))
    lines = [find_line(root, (*place, *_read_place(problem))) for place, problem in problems]
    sentences = [f"{file.name}:{line}: {each}" for line, (_, each) in zip(lines, problems, strict=True)]
    raise ContractError("; ".join(limit_problems(sentences)))


def _list_problems(contract: EvaluationContract) -> Iterator[str]:
    yield from find_threshold_problems(contract)
    if (unknown := find_unknown_check(plain_contract(contract), ())) is not None:
        yield unknown


def _read_place(problem: str) -> Iterator[str | int]:
    if (match := _FIELD.match(problem)) is not None:
        yield match[1]
        yield from [match[2]] if match[2] else [int(match[3])] if match[3] else []
