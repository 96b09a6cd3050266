"""Lists every metric, with the group that checks it and the direction that is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from evaluation.contract.contract import AUDIT_METRICS, EvaluationContract, Threshold
from evaluation.validation import OTHER_NAMES, find_similar, format_path

Direction = Literal["higher", "lower"]

WORD_METRICS: Final = ("token_jaccard", "rouge_1")
REFERENCE_METRICS: Final = (
    "exact_match",
    "normalized_exact_match",
    "levenshtein_similarity",
    *WORD_METRICS,
)
"""Metrics that compare an output with a reference and need no other input."""
QUALITY_METRICS: Final = frozenset({*REFERENCE_METRICS, "keyword_coverage"})
"""Metrics of quality: a threshold on one of them replaces the default check."""
LENGTHS: Final = ("characters", "words")

RESPONSE_METRICS: Final[Mapping[str, Direction | None]] = {
    **dict.fromkeys(REFERENCE_METRICS, "higher"),
    "keyword_coverage": "higher",
    "required_content": "higher",
    "forbidden_content": "lower",
    **dict.fromkeys(LENGTHS, None),
}
"""Every metric of a response, with the direction that is better; None for lengths, which have none."""

QUANTITIES: Final = (
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cost_usd",
    "model_calls",
    "tool_calls",
    "tool_errors",
    "retries",
)
"""The values that every report lists, as a number or as missing."""
OPERATIONAL_METRICS: Final[Mapping[str, Direction]] = dict.fromkeys(
    (*QUANTITIES, "call_latency_max_ms", "tool_latency_max_ms"), "lower"
)


SHARES: Final = ("score", "precision", "recall", "f1")
"""The metrics of a trajectory, as its group names them."""
METRICS: Final[Mapping[str, Direction | None]] = {
    **RESPONSE_METRICS,
    **OPERATIONAL_METRICS,
    **dict.fromkeys([f"trajectory_{name}" for name in SHARES], "higher"),
    "agent_accuracy": "higher",
    "plan_adherence": "higher",
    "collaboration_confidence": "higher",
    "stuck_runs": "lower",
    "judge_score": "higher",
    **dict.fromkeys(AUDIT_METRICS, "higher"),
}
"""Every metric, with the direction that is better; None if neither is."""
DIRECTIONS: Final[Mapping[str, Direction]] = {
    metric: direction for metric, direction in METRICS.items() if direction is not None
}


def find_threshold_problems(contract: EvaluationContract) -> Iterator[str]:
    """Describe each plain number for no metric.

    Whether such a number is a minimum or a maximum is not known.
    """
    for name, bound in contract.thresholds.items():
        if name not in METRICS and not isinstance(bound, Threshold):
            similar = OTHER_NAMES.get(name, "").removeprefix("thresholds.") or find_similar(name, METRICS)
            hint = f"did you mean {similar!r}? If" if similar else "if"
            yield (
                f"{format_path(('thresholds', name))}: is no metric; {hint} it is a resource of the run, "
                'give {"min": ...} or {"max": ...}'
            )
