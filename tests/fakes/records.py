"""What one attempt at a step left in the state, and what it cost."""

from collections.abc import Sequence

from orchestrator.state.records import Attempt, Usage


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


def record(step_index: int = 0, attempt: int = 1, **changes: object) -> Attempt:
    made = Attempt(
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


def judged(status: str = "failed", kinds: Sequence[str] = ("content",), **changes: object) -> Attempt:
    """A judged attempt whose failed checks have these kinds; with a ``score`` from 0 to 1 of its judge."""
    score = changes.pop("score", None)
    checks = [{"passed": False, "severity": "critical", "kind": kind} for kind in kinds]
    scale = {"status": "scored", "score": score, "scale": {"min": 0, "max": 1}}
    report = {"checks": checks, **({} if score is None else {"judge": {"result": scale}})}
    return record(status=status, report=report, **changes)


def followed_by(made: Attempt, use: str, rule: int | None = None, **options: object) -> Attempt:
    return {**made, "decision": {"use": use, "reason": "", "rule": rule, "options": options}}


def corrected(made: Attempt) -> Attempt:
    answer = {"answer": "correct", "text": "so", "answered_by": "Ada", "answered_at": ""}
    return {**made, "supervision": {"verdict": None, "answer": answer}}
