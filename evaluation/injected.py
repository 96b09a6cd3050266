"""What a caller plugs in: code, where a contract is data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypedDict

from evaluation.errors import ContractError
from evaluation.judging import AsyncJudge, Judge
from evaluation.sensitive.spans import Recognizer
from evaluation.values import JsonObject

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
class Injected:
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


class Options(TypedDict, total=False):
    """What a caller may plug in by name, beside the judge; the fields of ``Injected``."""

    embedder: Embedder | None
    argument_functions: Mapping[str, ArgumentFunction]
    prices: Mapping[str, Price]
    include_raw: bool
    recognizers: tuple[Recognizer, ...]
    clock: Callable[[], datetime]
