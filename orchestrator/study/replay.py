"""Reads from recorded attempts what another retry policy would have given. Never estimates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import BaseRule, RetryPolicy, decide
from orchestrator.retry.verdict_updates import with_decision
from orchestrator.state.graph_state import OrchestratorState, sum_usage
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Attempt

_CONDITIONS: Final = {"after", "times"}
"""Fields of a rule that say when it decides, and not how the step is executed."""
Steps: TypeAlias = Sequence[Sequence[Attempt]]
"""The attempts of each executed step in their order."""


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


def replay(runs: Sequence[OrchestratorState], policies: Mapping[str, RetryPolicy]) -> list[Replayed]:
    """Reads the results of each policy from recorded runs, without a model call.

    A run is known under a policy if the policy makes the same attempts as the recorded ones, up to its end:
    fewer retries, an earlier stop, other conditions. Any other run is counted as not recorded.

    Args:
        runs: The states of the runs, as ``run`` returns them or a store has them.
        policies: The policies by their names in the results.

    Raises:
        ConfigurationError: There are no runs or no policies, or a run lacks a step, or an attempt of one.
    """
    if not runs or not policies:
        raise ConfigurationError("there is nothing to replay; give at least one run and one policy")
    recorded = [(read_steps(state), len(state["plan"]) + bool(state["synthesis"])) for state in runs]
    return [replay_policy(name, policy, recorded) for name, policy in policies.items()]


def replay_policy(name: str, policy: RetryPolicy, runs: Sequence[tuple[Steps, int]]) -> Replayed:
    """Reads the results of a policy from the steps of runs, each with the number of its planned steps."""
    followed = [_follow_run(policy, steps, planned) for steps, planned in runs]
    made = [attempt for passed, attempts in followed if passed is not None for attempt in attempts]
    usages = [*map(sum_usage, made)]
    tokens, costs = [each["total_tokens"] for each in usages], [each["cost_usd"] for each in usages]
    return Replayed(
        policy=name,
        succeeded=sum(passed is True for passed, _ in followed),
        failed=sum(passed is False for passed, _ in followed),
        not_recorded=sum(passed is None for passed, _ in followed),
        attempts=len(made),
        tokens=None if None in tokens else sum(filter(None, tokens)),
        cost_usd=None if None in costs else sum(filter(None, costs)),
        seconds=sum(each["latency_ms"] for each in usages) / 1000,
    )


def _follow_run(policy: RetryPolicy, steps: Steps, planned: int) -> tuple[bool | None, list[Attempt]]:
    """Returns whether the run passes, None if that was not recorded, and the attempts of the policy."""
    made: list[Attempt] = []
    for step in steps:
        passed, attempts = _follow_step(policy, step)
        made += attempts
        if not passed:
            return passed, made
    # The plan has steps that were never executed, because a step before them failed when it was recorded.
    return (None if planned > len(steps) else True), made


def _follow_step(policy: RetryPolicy, recorded: Sequence[Attempt]) -> tuple[bool | None, list[Attempt]]:
    history: list[Attempt] = []
    for record in recorded:
        history.append(record)
        if record["status"] == "validated":
            return True, history
        decision = decide(policy, history)
        if decision.use == "stop":
            return False, history
        if record is recorded[-1] or _describe_execution(decision.rule) != _read_strategy(record):
            break
        history[-1] = with_decision(record, decision)
    return None, history


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


def read_steps(state: OrchestratorState) -> Steps:
    """Reads the steps of a run; the answer that was written from several results is the last one.

    Raises:
        ConfigurationError: The run lacks a step, or an attempt of one.
    """
    places = {record["step_index"] for record in state["results"]}
    if not places or places != {*range(len(places))}:
        raise _refuse_gap(state["task"], "a step")
    place = itemgetter("step_index")
    records = [*sorted(state["results"], key=place), *state["synthesis"]]
    steps = [sorted(group, key=itemgetter("attempt")) for _, group in groupby(records, key=place)]
    gap = next((each for each in steps if each[-1]["attempt"] != len(each)), None)
    if gap is not None:
        raise _refuse_gap(gap[0]["step"], "an attempt")
    return steps


def _read_strategy(record: Attempt) -> str:
    """Returns how the execution after this one was made."""
    decision = record.get("decision")
    if decision is None:
        return "unknown"
    options = {name: value for name, value in decision["options"].items() if name not in _CONDITIONS}
    return describe_rule({**options, "use": decision["use"]})


def _refuse_gap(name: str, missing: str) -> ConfigurationError:
    shown = format_repr(name, 80)
    return ConfigurationError(f"the record of {shown} lacks {missing}; give runs with all their attempts")
