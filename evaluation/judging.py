"""The seam to whoever scores what no program can: a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from evaluation.inputs.rules import Rubric
from evaluation.results.state import Action


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a judge is shown."""

    rubric: Rubric
    input: str
    output: str
    reference: str | None = None
    actions: tuple[Action, ...] = ()


@runtime_checkable
class Judge(Protocol):
    """Scores one run by a rubric.

    The answer is an object of JSON values, or its text: ``score`` (a number on the rubric's scale),
    ``rationale`` (text), and optionally ``criteria`` (a score by criterion name), ``concerns`` (texts),
    ``recommended_action`` (text), ``usage`` (input_tokens, output_tokens, cost_usd, model) and ``repaired``
    (true where the text had to be made JSON first: such an answer cannot approve). What else it holds is
    kept as details. It is checked by ``validate_judge_result``; whatever a judge raises is recorded as a
    judge error, a ``JudgeError`` by its kind.
    """

    def judge(self, request: JudgeRequest) -> object:
        """Score ``request``."""
        ...


@runtime_checkable
class AsyncJudge(Protocol):
    """A judge that is awaited; one object may be both."""

    async def ajudge(self, request: JudgeRequest) -> object:
        """Score ``request``; the answer is that of ``Judge.judge``."""
        ...


AnyJudge: TypeAlias = Judge | AsyncJudge
