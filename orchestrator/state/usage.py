"""Adds up the usage of model calls: pure functions."""

from __future__ import annotations

from typing import Literal, TypeVar

from orchestrator.state.graph_state import Usage

N = TypeVar("N", int, float)


def add_usage(first: Usage, second: Usage) -> Usage:
    """Adds two usages. If one of them lacks a number, the sum lacks it, too."""
    total = _sum_tokens(first, second, "total_tokens")
    return Usage(
        model_calls=first["model_calls"] + second["model_calls"],
        failed_model_calls=first["failed_model_calls"] + second["failed_model_calls"],
        input_tokens=_sum_tokens(first, second, "input_tokens"),
        output_tokens=_sum_tokens(first, second, "output_tokens"),
        total_tokens=total,
        token_source="missing" if total is None else "measured",
        cost_usd=_sum_known([usage["cost_usd"] for usage in _with_replies(first, second)]),
        latency_ms=first["latency_ms"] + second["latency_ms"],
    )


def _with_replies(*usages: Usage) -> list[Usage]:
    # A usage without any reply has no tokens to report, so that its None says nothing about the sum.
    return [usage for usage in usages if usage["model_calls"] > usage["failed_model_calls"]]


def _sum_tokens(
    first: Usage, second: Usage, name: Literal["input_tokens", "output_tokens", "total_tokens"]
) -> int | None:
    return _sum_known([usage[name] for usage in _with_replies(first, second)])


def _sum_known(values: list[N | None]) -> N | None:
    """Adds the values, or returns None if one of them is missing or there are none."""
    total: N | None = None
    for value in values:
        if value is None:
            return None
        total = value if total is None else total + value
    return total
