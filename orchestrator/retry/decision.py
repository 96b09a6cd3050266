"""Chooses the next action after an execution: a pure function of the policy and the step's history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.retry.attempts import Attempt, best_attempt
from orchestrator.retry.policy import RetryPolicy
from orchestrator.retry.retry_rules import ExecutingRule, RetryRule
from orchestrator.state.evaluation_report import RefusalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDecision:
    """The next action after an execution.

    Attributes:
        use: "accept"; a strategy of the policy; or, if none is left, "replan", "accept_best" or "stop".
        reason: Why, in one clause.
        rule: The rule that decides; None if the bounds of the policy do.
        position: Place of that rule in ``RetryPolicy.strategies``.
    """

    use: str
    reason: str
    rule: RetryRule | None = None
    position: int | None = None

    @property
    def is_retry(self) -> bool:
        """Whether the step is executed again."""
        return isinstance(self.rule, ExecutingRule)


def decide(policy: RetryPolicy, history: Sequence[Attempt]) -> RetryDecision:
    """Chooses the next action after the last execution of a step.

    ``max_retries`` decides first. Then the first rule of ``strategies`` decides that matches the failure and
    was not used ``times`` times. ``ask_human``, which executes nothing, decides also after the last retry. A
    missing verdict ends the run, unless a rule names "unverified".

    Args:
        policy: The policy. ``max_retries`` and ``max_replans`` are those that the run has left in all.
        history: The executions of the step, in order; not empty.
    """
    last = history[-1]
    if last.outcome == "validated":
        return RetryDecision(use="accept", reason="the evaluation accepted the output")
    names_it = any("unverified" in (rule.after or ()) for rule in policy.strategies)
    if last.outcome == "needs_review" and not names_it:
        return RetryDecision(use="stop", reason="there is no verdict")
    end = _find_end(policy, history)
    by_rule = _apply_rules(policy, history, can_execute=end is None)
    return by_rule or _give_up(policy, history, end or f"no strategy is left for: {_describe(last.kinds)}")


def _find_end(policy: RetryPolicy, history: Sequence[Attempt]) -> str | None:
    """Returns why the step is not executed again under any rule; None if it may be."""
    refusals = sum(attempt.outcome != "validated" and not attempt.corrected for attempt in history)
    if refusals <= policy.max_retries:
        return None
    times = "once" if refusals == 1 else f"{refusals} times"
    return f"refused {times}, max_retries is {policy.max_retries}"


def _apply_rules(
    policy: RetryPolicy, history: Sequence[Attempt], *, can_execute: bool
) -> RetryDecision | None:
    """Returns the decision of the first rule that matches; None if none does."""
    last = history[-1]
    for position, rule in enumerate(policy.strategies):
        is_possible = can_execute or rule.use == "ask_human"
        if is_possible and _matches(rule, last) and not _is_used_up(rule, position, history):
            reason = f"{_describe(last.kinds)} failed at attempt {last.number}"
            return RetryDecision(use=rule.use, reason=reason, rule=rule, position=position)
    return None


def _matches(rule: RetryRule, last: Attempt) -> bool:
    if last.outcome == "needs_review":
        return "unverified" in (rule.after or ())
    kinds: set[RefusalKind] = {*last.kinds} or {"other"}
    return rule.after is None or not kinds.isdisjoint(rule.after)


def _is_used_up(rule: RetryRule, position: int, history: Sequence[Attempt]) -> bool:
    # A correction is what a rule that asks a person led to.
    uses = {rule.use, "correct"}
    used = sum(attempt.rule == position and attempt.strategy in uses for attempt in history)
    return rule.times is not None and used >= rule.times


def _give_up(policy: RetryPolicy, history: Sequence[Attempt], reason: str) -> RetryDecision:
    """Decides how a step ends that is not executed again."""
    keeps_best = policy.exhausted == "accept_best" and best_attempt(history) is not None
    use = "replan" if policy.max_replans else "accept_best" if keeps_best else "stop"
    return RetryDecision(use=use, reason=reason)


def _describe(kinds: Sequence[RefusalKind]) -> str:
    return ", ".join(kinds) or "other"
