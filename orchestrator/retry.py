"""What follows from a judged execution: a pure decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agents.transport import TransportRetry
from orchestrator.errors import ConfigurationError

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
        needs_review: What follows when the monitor still gave no verdict: "fail" ends the run for a
            person to look at; "retry" executes the step again, as if it had been refused.
        feedback: Give the monitor's feedback and the last output to the executor on a retry.
        transport: How passing faults are met.

    Raises:
        ConfigurationError: A value that is not accepted.
    """

    judge_attempts: int = 2
    needs_review: Literal["fail", "retry"] = "fail"
    feedback: bool = True
    transport: TransportRetry = field(default_factory=TransportRetry)

    def __post_init__(self) -> None:
        """Refuse values that are not accepted."""
        attempts = self.judge_attempts
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ConfigurationError(f"judge_attempts is {attempts!r}; give a whole number of at least 1")
        if self.needs_review not in ("fail", "retry"):
            raise ConfigurationError(f"needs_review is {self.needs_review!r}; give 'fail' or 'retry'")
        if not isinstance(self.feedback, bool):
            raise ConfigurationError(f"feedback is {self.feedback!r:.80}; give True or False")
        if not isinstance(self.transport, TransportRetry):
            raise ConfigurationError(f"transport is {self.transport!r:.80}; give a TransportRetry")

    def decide(self, outcome: Outcome, failed_executions: int, max_retries: int) -> RetryDecision:
        """Decide on an execution that was not validated.

        Args:
            outcome: How it was judged.
            failed_executions: Of this step, this one included.
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
