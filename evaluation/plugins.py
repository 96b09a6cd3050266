"""The seam to whoever scores what no program can: a judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeAlias, TypedDict, runtime_checkable

from evaluation.errors import ContractError
from evaluation.inputs.rules import Rubric
from evaluation.results.state import Action
from evaluation.sensitive.spans import Recognizer
from evaluation.values import JsonObject


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


ArgumentFunction = Callable[[JsonObject, JsonObject], bool]
"""Takes the expected and the observed arguments of one call; says whether they agree."""


class Embedder(Protocol):
    """What turns texts into vectors; LangChain's ``Embeddings`` is one."""

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, all of one length."""
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of one model.

    Raises:
        ContractError: A price is negative or no finite number.
    """

    input_usd: float
    output_usd: float

    def __post_init__(self) -> None:
        """Refuse what no cost can be computed from."""
        if not all(math.isfinite(price) and price >= 0 for price in (self.input_usd, self.output_usd)):
            raise ContractError(f"a price is 0 or more, not {self.input_usd} and {self.output_usd}")


def utc_now() -> datetime:
    """Give the time, with its zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Plugins:
    """The parts of an evaluation that are not data."""

    judge: Judge | AsyncJudge | None = None
    """Who scores what no program can; without one, what needs a judge ends as ``needs_review``."""
    embedder: Embedder | None = None
    """Turns texts into vectors for ``semantic_similarity``."""
    argument_functions: Mapping[str, ArgumentFunction] = field(default_factory=dict)
    """What an argument rule with ``match="custom"`` names."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model, for ``cost_usd`` where it is not recorded."""
    include_raw: bool = False
    """Whether the report may quote prompts, outputs and payloads as they are."""
    recognizers: tuple[Recognizer, ...] = ()
    """Searches for sensitive data beside the built-in one."""
    clock: Callable[[], datetime] = utc_now
    """Gives the time, with its zone, by which the retention of a run is judged."""


class PluginOptions(TypedDict, total=False):
    """What a caller may plug in by name, beside the judge; the fields of ``Injected``."""

    embedder: Embedder | None
    argument_functions: Mapping[str, ArgumentFunction]
    prices: Mapping[str, Price]
    include_raw: bool
    recognizers: tuple[Recognizer, ...]
    clock: Callable[[], datetime]
