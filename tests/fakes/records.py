"""What one attempt at a step left in the state, and what it cost."""

from __future__ import annotations

from orchestrator.state.records import StepRecord
from orchestrator.state.usage import Usage


def usage(tokens: int | None = 10, seconds: float = 1.0, calls: int = 1) -> Usage:
    return Usage(
        model_calls=calls,
        failed_model_calls=0,
        input_tokens=tokens,
        output_tokens=0 if tokens is not None else None,
        total_tokens=tokens,
        token_source="missing" if tokens is None else "measured",
        cost_usd=None,
        latency_ms=1000 * seconds,
    )


def record(step_index: int = 0, attempt: int = 1, **changes: object) -> StepRecord:
    made = StepRecord(
        step_index=step_index,
        step=f"step {step_index + 1}",
        attempt=attempt,
        result="the result",
        status="pending_validation",
        verdict=None,
        report=None,
        warnings=[],
        supervision=None,
        tool_calls=[],
        usage=usage(),
        judge_usage=None,
        model=None,
        transport_retries=0,
        replan=0,
        started_at="2025-01-01T00:00:00+00:00",
        error=None,
    )
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]
