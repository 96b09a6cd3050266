"""The checks that the groups of a state hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from evaluation.results.findings import Check
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject


def groups_of(state: EvaluationState) -> dict[str, JsonObject]:
    """Give the metric groups by name, in the order of the report."""
    return {
        "response": state["response_metrics"],
        "operational": state["operational_metrics"],
        "trajectory": state["trajectory_metrics"],
    }


def checks_of(state: EvaluationState) -> Iterator[Check]:
    """Yield every check of the three metric groups."""
    for group in groups_of(state).values():
        yield from _checks(group)


def judge_checks(state: EvaluationState) -> Iterator[Check]:
    """Yield what the judge settled, or failed to."""
    return iter(_checks(state["judge_result"] or {}))


def _checks(group: JsonObject) -> Iterable[Check]:
    return cast("Iterable[Check]", group.get("checks") or ())


NOTHING_ASKED: Final = "nothing was asked of this run"
NOTHING_ANSWERED: Final = "nothing that was asked of this run could be answered"
_ASKING: Final = (
    "reference_output",
    "keywords",
    "required_content",
    "forbidden_content",
    "output_length",
    "thresholds",
    "rubric",
    "subjective_criteria",
)


def asks_something(state: EvaluationState) -> bool:
    """Say whether the contract asks anything: a run of which nothing was asked has not passed."""
    contract = state["contract"]
    rules = (contract.get("trajectory"), contract.get("audit"))
    return (
        "expected_trajectory" in contract
        or bool(state["baseline_metrics"])
        or any(contract.get(name) not in (None, [], {}) for name in _ASKING)
        or any(isinstance(rule, Mapping) and _demands(rule) for rule in rules)
    )


def _demands(rules: JsonObject) -> bool:
    return bool(rules.get("rules") or rules.get("forbidden_tools") or rules.get("failed_calls") == "fail")


def critical_policy(state: EvaluationState) -> bool:
    """Say whether an audit finding fails the run whatever else is found."""
    return any(finding["severity"] == "critical" for finding in state["audit_findings"])
