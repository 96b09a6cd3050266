"""The usage of model calls, and the sum of several."""

from __future__ import annotations

from typing import Final, Literal, TypeVar

from typing_extensions import TypedDict

N = TypeVar("N", int, float)


class Usage(TypedDict):
    """Model calls with their tokens, costs and time, as LangChain's callbacks reported them.

    If a model call reported no tokens, the tokens are None and ``token_source`` is "missing", because a sum
    would be too small. ``cost_usd`` is None unless there is a price for every model called.
    """

    model_calls: int
    failed_model_calls: int
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    token_source: Literal["measured", "missing"]
    cost_usd: float | None
    latency_ms: float


NO_USAGE: Final = Usage(
    model_calls=0,
    failed_model_calls=0,
    input_tokens=None,
    output_tokens=None,
    total_tokens=None,
    token_source="missing",  # noqa: S106 - tokens of text
    cost_usd=None,
    latency_ms=0.0,
)


def add_usage(first: Usage, second: Usage) -> Usage:
    """Adds two usages. If one of them lacks a number, the sum lacks it, too."""
    # A usage without any reply has no tokens to report, so that its None says nothing about the sum.
    known = [usage for usage in (first, second) if usage["model_calls"] > usage["failed_model_calls"]]
    total = _sum_known([usage["total_tokens"] for usage in known])
    return Usage(
        model_calls=first["model_calls"] + second["model_calls"],
        failed_model_calls=first["failed_model_calls"] + second["failed_model_calls"],
        input_tokens=_sum_known([usage["input_tokens"] for usage in known]),
        output_tokens=_sum_known([usage["output_tokens"] for usage in known]),
        total_tokens=total,
        token_source="missing" if total is None else "measured",
        cost_usd=_sum_known([usage["cost_usd"] for usage in known]),
        latency_ms=first["latency_ms"] + second["latency_ms"],
    )


def _sum_known(values: list[N | None]) -> N | None:
    """Adds the values, or returns None if one of them is missing or there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
