"""A recorded run as a case, and the seam of formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from evaluation.values import JsonObject


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that was read from a file.

    Attributes:
        case: The case without a contract, or with the contract of the file: the fields of an EvaluationCase.
        warnings: Parts of the file that the case does not have, one sentence each.
        trial: Number of the run among those of its case, from 0.
        arm: The model or the policy under comparison, if the file names one.
        score: A score that the file recorded, such as a reward.
        approved_by: Who approved the output, if our own store says so; a file never does.
    """

    case: JsonObject
    warnings: tuple[str, ...] = ()
    trial: int = 0
    arm: str = ""
    score: float | None = None
    approved_by: str | None = None


@runtime_checkable
class RunFormat(Protocol):
    """A format of recorded runs."""

    name: str
    """The name in messages, such as "ATIF trajectory"."""

    def recognises(self, value: object) -> bool:
        """Returns whether a JSON value is in this format, by its fields."""
        ...

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the runs of a value.

        Raises:
            ContractError: The value is in this format and cannot be read; one sentence says why.
        """
        ...


def list_ignored(value: JsonObject, read: frozenset[str], where: str) -> tuple[str, ...]:
    """Names the fields of an object that are not read and not empty; no sentence if there are none."""
    names = sorted(
        name for name, field in value.items() if name not in read and field not in (None, [], {}, "", False)
    )
    return (f"{where}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} not read",) if names else ()
