"""Reads from recorded attempts what another retry policy would have given. Never estimates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import FIRST, Attempt, RetryPolicy, decide, read_attempts
from orchestrator.retry.retry_rules import BaseRule
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import StepRecord

_CONDITIONS: Final = {"after", "times"}
"""Fields of a rule that say when it decides, and not how the step is executed."""
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """The attempts of one step in their order. The strategy of each contains its options."""

    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a task.

    Attributes:
        task: Names the task.
        steps: The executed steps in their order; each has an attempt.
        planned_steps: Number of steps of the plan; 0 if it is the number of executed steps.
    """

    task: str
    steps: tuple[RecordedStep, ...]
    planned_steps: int = 0


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A retry policy with its name in results."""

    name: str
    policy: RetryPolicy


@dataclass(frozen=True, slots=True)
class Replayed:
    """The results of a policy on recorded runs.

    Attributes:
        policy: Its name.
        succeeded: Runs that succeed by the recorded attempts.
        failed: Runs that fail by the recorded attempts.
        not_recorded: Runs in which the policy makes an attempt that was not recorded.
        attempts: Executions in the runs that are known.
        tokens: Their tokens; None if an attempt reports none.
        cost_usd: Their cost; None if an attempt reports none.
        seconds: Their seconds of model calls.
    """

    policy: str
    succeeded: int
    failed: int
    not_recorded: int
    attempts: int
    tokens: int | None
    cost_usd: float | None
    seconds: float

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.succeeded + self.failed + self.not_recorded

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest possible rate of success of these runs; equal if all of them are known."""
        return self.succeeded / self.runs, (self.succeeded + self.not_recorded) / self.runs


def read_run(state: OrchestratorState, name: str | None = None) -> RecordedRun:
    """Reads the attempts of a run from its final state.

    Args:
        state: The state as ``run`` returns it. The answer that was written from several results is its last
            step.
        name: Name of the task. Default: the task.

    Raises:
        ConfigurationError: A step is missing, or an attempt of one.
    """
    places = {record["step_index"] for record in state["results"]}
    # Steps that run in parallel may begin in any order.
    if state["declared"]["needs"] is None and places != {*range(len(places))}:
        raise _refuse_gap(name or state["task"], "a step")
    steps = [*_read_steps(state["results"]), *_read_steps(state["synthesis"])]
    planned = len(state["plan"]) + bool(state["synthesis"])
    return RecordedRun(name or state["task"], tuple(steps), planned)


def replay(runs: Sequence[RecordedRun], policies: Sequence[NamedPolicy]) -> list[Replayed]:
    """Reads the results of each policy from recorded runs, without a model call.

    A run is known under a policy if the policy makes the same attempts as the recorded ones, up to its end:
    fewer retries, an earlier stop, other conditions. Any other run is counted as not recorded.

    Raises:
        ConfigurationError: There are no runs or no policies, or two policies have the same name.
    """
    names = Counter(policy.name for policy in policies)
    repeated = [name for name, count in names.items() if count > 1]
    if not runs or not names or repeated:
        wrong = f"two policies have the name {repeated[0]!r}" if repeated else "there is nothing to replay"
        raise ConfigurationError(f"{wrong}; give at least one run, and policies with different names")
    return [_sum_up(policy.name, [_follow_run(policy.policy, run) for run in runs]) for policy in policies]


@dataclass(frozen=True, slots=True)
class _Followed:
    """The attempts that a policy makes, and whether the run or step passes; None if that was not recorded."""

    passed: bool | None
    attempts: tuple[Attempt, ...]


def _follow_run(policy: RetryPolicy, run: RecordedRun) -> _Followed:
    made: tuple[Attempt, ...] = ()
    for step in run.steps:
        followed = _follow_step(policy, step.attempts)
        made += followed.attempts
        if not followed.passed:
            return _Followed(followed.passed, made)
    # The plan has steps that were never executed, because a step before them failed when it was recorded.
    return _Followed(None if run.planned_steps > len(run.steps) else True, made)


def _follow_step(policy: RetryPolicy, recorded: Sequence[Attempt]) -> _Followed:
    history: list[Attempt] = []
    made, place = FIRST, None
    for attempt in recorded:
        history.append(replace(attempt, strategy=made, rule=place))
        if attempt.outcome == "validated":
            return _Followed(True, tuple(history))
        decision = decide(policy, history)
        if decision.use in {"stop", "accept_best"}:
            return _Followed(False, tuple(history))
        following = recorded[attempt.number : attempt.number + 1]
        if [_describe_execution(decision.rule)] != [each.strategy for each in following]:
            break
        made, place = decision.use, decision.position
    return _Followed(None, tuple(history))


def _sum_up(name: str, runs: Sequence[_Followed]) -> Replayed:
    made = [attempt for run in runs if run.passed is not None for attempt in run.attempts]
    tokens, costs = [attempt.tokens for attempt in made], [attempt.cost_usd for attempt in made]
    return Replayed(
        policy=name,
        succeeded=sum(run.passed is True for run in runs),
        failed=sum(run.passed is False for run in runs),
        not_recorded=sum(run.passed is None for run in runs),
        attempts=len(made),
        tokens=None if None in tokens else sum(filter(None, tokens)),
        cost_usd=None if None in costs else sum(filter(None, costs)),
        seconds=sum(attempt.seconds for attempt in made),
    )


def describe_rule(values: Mapping[str, object]) -> str:
    """Returns a rule, given as plain data, as its use and the options that differ from the default."""
    use = str(values["use"])
    rule = next((each for each in BaseRule.__subclasses__() if each.model_fields["use"].default == use), None)
    defaults = {} if rule is None else {name: field.default for name, field in rule.model_fields.items()}
    changed = sorted(name for name in values if name not in defaults or values[name] != defaults[name])
    options = [f"{name}={json.dumps(values[name], ensure_ascii=False)}" for name in changed if name != "use"]
    return f"{use}({', '.join(options)})" if options else use


def _describe_execution(rule: BaseRule | None) -> str | None:
    """Returns how a rule executes a step: without the fields that say when it decides."""
    return None if rule is None else describe_rule(rule.model_dump(mode="json", exclude=_CONDITIONS))


def _read_steps(records: Sequence[StepRecord]) -> list[RecordedStep]:
    place = itemgetter("step_index")
    groups = [list(group) for _, group in groupby(sorted(records, key=place), key=place)]
    return [_read_step(sorted(group, key=itemgetter("attempt"))) for group in groups]


def _read_step(records: Sequence[StepRecord]) -> RecordedStep:
    attempts = read_attempts(records)
    _check_attempts(records[0]["step"], attempts)
    strategies = [FIRST, *(_read_strategy(record) for record in records)]
    return RecordedStep(
        tuple(replace(attempt, strategy=name) for attempt, name in zip(attempts, strategies, strict=False))
    )


def _read_strategy(record: StepRecord) -> str:
    """Returns how the execution after this one was made."""
    decision = record.get("decision")
    if decision is None:
        return _UNKNOWN
    options = {name: value for name, value in decision["options"].items() if name not in _CONDITIONS}
    return describe_rule({**options, "use": decision["use"]})


def _check_attempts(name: str, attempts: Sequence[Attempt]) -> None:
    if not attempts or [attempt.number for attempt in attempts] != [*range(1, len(attempts) + 1)]:
        raise _refuse_gap(name, "an attempt")


def _refuse_gap(name: str, missing: str) -> ConfigurationError:
    shown = format_repr(name, 80)
    return ConfigurationError(f"the record of {shown} lacks {missing}; give runs with all their attempts")
