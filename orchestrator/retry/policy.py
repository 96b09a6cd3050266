"""What follows from a judged execution: a pure decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agents.models.transport_retry import TransportRetry
from orchestrator.errors import ConfigurationError
from orchestrator.retry.stalls import StallRules

Outcome = Literal["validated", "refused", "needs_review"]


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Whether the step is executed again, and why not where it is not."""

    again: bool
    reason: str


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failures of meaning are met; passing faults of a server are apart, in ``transport``.

    Attributes:
        judge_attempts: How often the monitor is asked about one execution while its answers cannot
            be read; the execution is not repeated for it.
        needs_review: What follows when there still is no verdict: "fail" ends the run for a person to
            look at; "retry" executes the step again, as if it had been refused; "human" asks a person,
            which needs a checkpointer.
        feedback: Give the monitor's feedback and the last output to the executor on a retry.
        transport: How passing faults are met.
        stall: When executions that lead nowhere end the retries early; None: never.
        max_replans: How often a step that is out of retries sends the rest of the task back to the planner.
        exhausted: What follows when nothing is left to try: "fail" ends the run; "accept_best" keeps the
            attempt with the best report, as a warning, and goes on.

    Raises:
        ConfigurationError: A value that is not accepted.
    """

    judge_attempts: int = 2
    needs_review: Literal["fail", "retry", "human"] = "fail"
    feedback: bool = True
    transport: TransportRetry = field(default_factory=TransportRetry)
    stall: StallRules | None = None
    max_replans: int = 0
    exhausted: Literal["fail", "accept_best"] = "fail"

    def __post_init__(self) -> None:
        """Refuse values that are not accepted."""
        attempts = self.judge_attempts
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ConfigurationError(f"judge_attempts is {attempts!r}; give a whole number of at least 1")
        if self.needs_review not in ("fail", "retry", "human"):
            raise ConfigurationError(
                f"needs_review is {self.needs_review!r:.80}; give 'fail', 'retry' or 'human'"
            )
        if not isinstance(self.feedback, bool):
            raise ConfigurationError(f"feedback is {self.feedback!r:.80}; give True or False")
        if not isinstance(self.transport, TransportRetry):
            raise ConfigurationError(f"transport is {self.transport!r:.80}; give a TransportRetry")
        self._check_limits()

    def _check_limits(self) -> None:
        replans = self.max_replans
        if self.stall is not None and not isinstance(self.stall, StallRules):
            raise ConfigurationError(f"stall is {self.stall!r:.80}; give StallRules, or None")
        if isinstance(replans, bool) or not isinstance(replans, int) or replans < 0:
            raise ConfigurationError(f"max_replans is {replans!r:.80}; give a whole number of at least 0")
        if self.exhausted not in ("fail", "accept_best"):
            raise ConfigurationError(f"exhausted is {self.exhausted!r:.80}; give 'fail' or 'accept_best'")

    def decide(self, outcome: Outcome, failed_executions: int, max_retries: int) -> RetryDecision:
        """Decide on an execution that was not validated.

        Args:
            outcome: How it was judged.
            failed_executions: Of this step, this one included; those redone with a correction apart.
            max_retries: Executions allowed after the first.
        """
        if outcome == "validated":
            return RetryDecision(again=False, reason="validated")
        if outcome == "needs_review" and self.needs_review == "fail":
            return RetryDecision(again=False, reason="the monitor gave no verdict")
        if failed_executions > max_retries:
            return RetryDecision(
                again=False, reason=f"refused {failed_executions} times, max_retries is {max_retries}"
            )
        return RetryDecision(again=True, reason=f"retry {failed_executions} of {max_retries}")
