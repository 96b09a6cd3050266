"""The model that every arm uses: the embedded one, with a seed for each call; its calls are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from typing import Any, Final

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from agents import load_model
from agents.models.embedded import locate_weights

ModelSource = Callable[[int], BaseChatModel]
"""Returns a new model whose replies depend on the seed and on the number of its calls so far."""
_CALLS: Final = 1000
"""More calls than a run makes, so that no two runs share a seed."""


class SeededChat(ChatOpenAI):
    """A chat model that gives each call a seed of its own.

    With one seed for all calls, a blind retry would repeat the same reply at any temperature.
    """

    _seeds: count[int] = PrivateAttr()

    @classmethod
    def of(cls, model: ChatOpenAI, seed: int) -> SeededChat:
        """Return a copy of ``model``, whose calls have the seeds after ``seed`` * 1000."""
        seeded = cls(**{name: getattr(model, name) for name in model.model_fields_set})
        seeded._seeds = count(seed * _CALLS)
        return seeded

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return super()._generate(*args, **{"seed": next(self._seeds), **kwargs})

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return await super()._agenerate(*args, **{"seed": next(self._seeds), **kwargs})


def load_source(temperature: float, max_tokens: int) -> ModelSource:
    """Return the source of the embedded model."""
    model = load_model(
        "local", temperature=temperature, max_tokens=max_tokens, disable_streaming=True, timeout=600.0
    )
    assert isinstance(model, ChatOpenAI)
    return lambda seed: SeededChat.of(model, seed)


def name_weights() -> str:
    """Return the name and the SHA-256 of the embedded model's weights."""
    path = locate_weights()
    return f"{path.name} {sha256(path.read_bytes()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Totals:
    """The calls of one run; ``tokens`` is None if a reply reported none."""

    calls: int = 0
    cut: int = 0
    tokens: int | None = 0


class Meter(BaseCallbackHandler):
    """Counts the calls of a model. Give it to the model, so that every arm is counted in the same way."""

    # In the thread of the call, also within asyncio; the totals are read right after the last one.
    run_inline = True

    def __init__(self) -> None:
        self.totals = Totals()

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Count a reply with its tokens."""
        generation = response.generations[0][0]
        message = generation.message if isinstance(generation, ChatGeneration) else None
        usage = getattr(message, "usage_metadata", None)
        reason = getattr(message, "response_metadata", {}).get("finish_reason")
        self._count(usage["total_tokens"] if usage else None, is_cut=reason == "length")

    def on_llm_error(self, error: BaseException, **_: Any) -> None:
        """Count a call that failed; a structured reply that was cut off fails, and has tokens."""
        usage = getattr(getattr(error, "completion", None), "usage", None)
        self._count(getattr(usage, "total_tokens", 0), is_cut=usage is not None)

    def _count(self, tokens: int | None, *, is_cut: bool) -> None:
        totals = self.totals
        added = None if tokens is None or totals.tokens is None else totals.tokens + tokens
        self.totals = Totals(totals.calls + 1, totals.cut + is_cut, added)
