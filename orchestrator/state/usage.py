"""Adding up what was spent: pure functions."""

from __future__ import annotations

from typing import Literal

from orchestrator.state.graph_state import Usage


def add_usage(first: Usage, second: Usage) -> Usage:
    """What two parts spent together; tokens that one of them misses are missing in the sum."""
    total = _sum(first, second, "total_tokens")
    return Usage(
        model_calls=first["model_calls"] + second["model_calls"],
        failed_model_calls=first["failed_model_calls"] + second["failed_model_calls"],
        input_tokens=_sum(first, second, "input_tokens"),
        output_tokens=_sum(first, second, "output_tokens"),
        total_tokens=total,
        token_source="missing" if total is None else "measured",
        cost_usd=_sum_cost(first, second),
        latency_ms=first["latency_ms"] + second["latency_ms"],
    )


def _answered(*parts: Usage) -> list[Usage]:
    """The parts in which a model answered; the others have no tokens to report."""
    return [part for part in parts if part["model_calls"] > part["failed_model_calls"]]


def _sum(
    first: Usage, second: Usage, name: Literal["input_tokens", "output_tokens", "total_tokens"]
) -> int | None:
    values = [part[name] for part in _answered(first, second)]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _sum_cost(first: Usage, second: Usage) -> float | None:
    values = [part["cost_usd"] for part in _answered(first, second)]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
