"""The bounds of supervision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from orchestrator.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class SupervisionPolicy:
    """How far supervision may go.

    Attributes:
        max_reorient_attempts: How often the supervisor may have one step done again with a correction.
        max_corrections: How often people may; after that they can only approve or deny.
        max_assumptions: More assumptions than this in a commitment are a trigger; None is no bound.
        human: Whether a person can be asked; needs a checkpointer. Where nobody can, a step about which
            the supervisor wants to ask fails with the question as its reason.
        answer_deadline_s: Seconds that there are for an answer; None is no bound.
        on_deadline: What stands in for an answer that did not come in time.

    Raises:
        ConfigurationError: A value that is not accepted.
    """

    max_reorient_attempts: int = 2
    max_corrections: int = 3
    max_assumptions: int | None = None
    human: bool = True
    answer_deadline_s: float | None = None
    on_deadline: Literal["approve", "deny"] = "deny"

    def __post_init__(self) -> None:
        """Refuse values that are not accepted."""
        _check_count("max_reorient_attempts", self.max_reorient_attempts, 1)
        _check_count("max_corrections", self.max_corrections, 1)
        if self.max_assumptions is not None:
            _check_count("max_assumptions", self.max_assumptions, 0)
        if not isinstance(self.human, bool):
            raise ConfigurationError(f"human is {self.human!r:.80}; give True or False")
        _check_seconds(self.answer_deadline_s)
        if self.on_deadline not in ("approve", "deny"):
            raise ConfigurationError(f"on_deadline is {self.on_deadline!r:.80}; give 'approve' or 'deny'")


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name} is {value!r:.80}; give a whole number of at least {least}")


def _check_seconds(value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ConfigurationError(f"answer_deadline_s is {value!r:.80}; give seconds above 0, or None")
