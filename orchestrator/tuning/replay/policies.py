"""Retry policies and stored runs in the form that replay reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from orchestrator.judging.report import failed_kinds
from orchestrator.retry.attempts import FIRST, Attempt, read_attempts
from orchestrator.retry.decision import RetryDecision, decide
from orchestrator.retry.outcome import read_outcome
from orchestrator.retry.policy import RetryPolicy, check_rules
from orchestrator.retry.rules import BaseRule, FeedbackRule
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep

_CONDITIONS: Final = frozenset({"use", "after", "times", "n"})
"""Fields of a rule that say when it decides, and not how the step is executed."""
_SAMPLES: Final = frozenset({"resample", "parallel"})
_PLANNED_ANEW: Final = frozenset({"replan", "decompose", "ask_human"})
"""What follows a failure in ways that no attempt at the same step stands for."""


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A retry policy with its name, as replay asks it.

    Raises:
        ConfigurationError: A rule of the policy can never decide.
    """

    name: str
    policy: RetryPolicy

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_rules(self.policy)

    def next_strategy(self, attempts: Sequence[Attempt]) -> str | None:
        """Returns how the step is executed again after these failures; None if it is given up.

        A policy that plans the step anew, or asks a person, goes on in a way that nothing recorded stands
        for: once, by the strategy "replan", "decompose" or "ask_human".
        """
        if attempts[-1].strategy in _PLANNED_ANEW:
            return None
        decision = self._decide(attempts)
        if decision.use in _PLANNED_ANEW:
            return decision.use
        return describe_rule(decision.rule) if decision.is_retry and decision.rule else None

    def _decide(self, attempts: Sequence[Attempt]) -> RetryDecision:
        """Decides on a history whose attempts are those that this policy itself would have made."""
        history: list[Attempt] = []
        decision = RetryDecision(use="feedback", reason="", position=None)
        for number, attempt in enumerate(attempts, 1):
            made = FIRST if number == 1 else decision.use
            placed = replace(
                attempt, number=number, strategy=made, rule=decision.position, sample=decision.sample
            )
            history.append(placed)
            decision = decide(self.policy, history)
        return decision


def describe_rule(rule: BaseRule) -> str:
    """Returns how a rule executes a step, with the options that differ from the default."""
    return _describe(rule.model_dump(mode="json"), type(rule))


def read_run(state: OrchestratorState, name: str | None = None) -> RecordedRun:
    """Reads the attempts of a run from its final state.

    Args:
        state: The state as ``run`` returns it. The answer that was written from several results is its last
            step.
        name: Name of the task. Default: the task.
    """
    steps = [*_read_steps(state["results"]), *_read_steps(state["synthesis"])]
    planned = len(state["plan"]) + bool(state["synthesis"])
    return RecordedRun(name or state["task"], tuple(steps), planned)


def is_success(state: OrchestratorState) -> bool:
    """Returns whether a run succeeded without an output that was only the best of several refused ones."""
    records = [*state["results"], *state["synthesis"]]
    return state["status"] == "success" and not any(record["status"] == "warning" for record in records)


def _read_steps(records: Sequence[StepRecord]) -> list[RecordedStep]:
    def place(record: StepRecord) -> int:
        return record["step_index"]

    steps = [list(group) for _, group in groupby(sorted(records, key=place), key=place)]
    return [_read_step(sorted(step, key=lambda record: record["attempt"])) for step in steps]


def _read_step(records: Sequence[StepRecord]) -> RecordedStep:
    attempts = read_attempts(records)
    strategies = [FIRST, *(_read_strategy(record) for record in records)]
    named = [replace(attempt, strategy=name) for attempt, name in zip(attempts, strategies, strict=False)]
    return RecordedStep((*named[:-1], *_split_approval(named[-1], records[-1])))


def _split_approval(attempt: Attempt, record: StepRecord) -> list[Attempt]:
    """Returns an execution that a person approved as a refused one, and the approval as what followed it.

    Only a policy that asks a person gets the approval.
    """
    outcome = read_outcome(record)
    if record.get("basis") != "approved" or outcome == "validated":
        return [attempt]
    refused = replace(attempt, outcome=outcome, kinds=failed_kinds(record["report"] or {}))
    approved = replace(attempt, number=attempt.number + 1, strategy="ask_human", tool_calls=())
    return [refused, replace(approved, tokens=0, seconds=0.0, cost_usd=0.0)]


def _read_strategy(record: StepRecord) -> str:
    """Returns how the execution after this one was made."""
    decision = record.get("decision")
    # Runs of earlier versions have no decisions: they had one kind of feedback, at the model's temperature.
    if decision is None:
        return _describe({"use": "feedback", "last_output": "quoted", "temperature": None}, FeedbackRule)
    options = decision["options"]
    return _describe({"use": decision["use"], **options}, _find_rule(decision["use"]))


def _find_rule(use: str) -> type[BaseRule] | None:
    rules = [rule for rule in BaseRule.__subclasses__() if rule.model_fields["use"].default == use]
    return rules[0] if rules else None


def _describe(values: Mapping[str, object], rule: type[BaseRule] | None) -> str:
    use = str(values["use"])
    defaults = {} if rule is None else {name: field.default for name, field in rule.model_fields.items()}
    changed = {
        name: value
        for name, value in values.items()
        if name not in _CONDITIONS and (name not in defaults or value != defaults[name])
    }
    # A sample of several is executed as one that is drawn alone.
    name = "resample" if use in _SAMPLES else use
    options = ", ".join(f"{key}={json.dumps(changed[key], ensure_ascii=False)}" for key in sorted(changed))
    return f"{name}({options})" if options else name
