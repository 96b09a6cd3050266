"""Reads the token counts of model calls, and sums calls to the usage of a step or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult

from orchestrator.runtime.budget import ModelPrice
from orchestrator.state.usage import Usage

_TOKEN_LIMIT: Final = 2**40
"""Counts from here on are not credible. Below it, a 64-bit column holds the sum of millions of calls."""


@dataclass(slots=True)
class ModelCall:
    """A call of a model, from its start on. ``tokens`` is None until it reports credible counts."""

    model: str
    is_running: bool = True
    tokens: UsageMetadata | None = None
    failed: bool = False


def sum_calls(calls: Sequence[ModelCall], prices: Mapping[str, ModelPrice], latency_ms: float) -> Usage:
    """Sums calls. Tokens and cost are None if one answered call does not report them."""
    answered = [call for call in calls if not call.failed]
    counts = [call.tokens for call in answered if call.tokens is not None]
    # A sum of the calls that report their tokens would look like the total.
    is_known = bool(counts) and len(counts) == len(answered)
    return Usage(
        model_calls=len(calls),
        failed_model_calls=len(calls) - len(answered),
        input_tokens=sum(tokens["input_tokens"] for tokens in counts) if is_known else None,
        output_tokens=sum(tokens["output_tokens"] for tokens in counts) if is_known else None,
        total_tokens=sum(tokens["total_tokens"] for tokens in counts) if is_known else None,
        token_source="measured" if is_known else "missing",
        cost_usd=_sum_cost(answered, prices) if is_known else None,
        latency_ms=round(latency_ms, 3),
    )


def _sum_cost(calls: Sequence[ModelCall], prices: Mapping[str, ModelPrice]) -> float | None:
    total = 0.0
    for call in calls:
        # An unknown price makes the whole cost unknown: a partial sum would pass under the budget.
        if call.tokens is None or call.model not in prices:
            return None
        total += prices[call.model].cost(call.tokens["input_tokens"], call.tokens["output_tokens"])
    return total


def read_tokens(response: LLMResult) -> UsageMetadata | None:
    """Reads the token counts of a reply; None if it has none or they are not credible."""
    generations = [generation for batch in response.generations for generation in batch]
    messages = [item.message for item in generations if isinstance(item, ChatGeneration)]
    reports = [message.usage_metadata for message in messages if isinstance(message, AIMessage)]
    usage = next((report for report in reports if report is not None), None)
    if usage is None:
        return None
    return _check_counts(usage.get("input_tokens"), usage.get("output_tokens"), usage.get("total_tokens"))


def read_error_tokens(error: BaseException) -> UsageMetadata | None:
    """Reads the token counts of an error that contains a reply; None if it contains none."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    names = "prompt_tokens", "completion_tokens", "total_tokens"
    return _check_counts(*(getattr(usage, name, None) for name in names))


def _check_counts(*counts: object) -> UsageMetadata | None:
    # Some servers send null, text or negative numbers instead of counts.
    numbers = [count for count in counts if type(count) is int and 0 <= count < _TOKEN_LIMIT]
    if len(numbers) < len(counts):
        return None
    sent, received, total = numbers
    return UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=total)
