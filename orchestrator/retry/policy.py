"""RetryPolicy: decides whether a step that was not accepted is executed again."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, InstanceOf

from agents.models.transport_retry import TransportRetry
from orchestrator.errors import ConfigurationError
from orchestrator.retry.stalls import StallRules
from orchestrator.runtime.settings_model import Count, Flag, PositiveCount, SettingsModel

Outcome = Literal["validated", "failed", "needs_review"]


class RetryPolicy(SettingsModel):
    """What happens after a step was not accepted. Transient errors of a server are apart, in ``transport``.

    Attributes:
        max_retries: Executions of a step after its first, before the run fails.
        judge_attempts: How often the monitor is asked about one execution if its answers cannot be read.
            The execution itself is not repeated for that.
        needs_review: What happens if there still is no verdict: "fail" ends the run for a person to
            look at; "retry" executes the step again, as after a refusal; "human" asks a person,
            which needs a checkpointer.
        feedback: Give the monitor's feedback and the last output to the executor on a retry.
        reveal: "task" masks in that feedback what only the contract knows: the reference, required texts and
            numbers, expected actions. A retry could only repeat them. "all" quotes them.
        transport: How often and how patiently a call is repeated after a transient error.
        stall: Rules that end the retries early if they make no progress; None for no rules.
        max_replans: How often the planner replans the rest of the task after a step has no retries left.
        exhausted: What happens when no retry and no replan is left: "fail" ends the run; "accept_best"
            keeps the attempt with the best report, as a warning, and goes on.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_retries: Count = 2
    judge_attempts: PositiveCount = 2
    needs_review: Annotated[
        Literal["fail", "retry", "human"], Field(description="'fail', 'retry' or 'human'")
    ] = "fail"
    feedback: Flag = True
    reveal: Annotated[Literal["task", "all"], Field(description="'task' or 'all'")] = "task"
    transport: Annotated[InstanceOf[TransportRetry], Field(description="a TransportRetry")] = Field(
        default_factory=TransportRetry
    )
    stall: Annotated[StallRules | None, Field(description="StallRules, or None")] = None
    max_replans: Count = 0
    exhausted: Annotated[Literal["fail", "accept_best"], Field(description="'fail' or 'accept_best'")] = (
        "fail"
    )

    def find_stop(self, outcome: Outcome, failed_executions: int, max_retries: int) -> str | None:
        """Returns why an execution that was not validated is not repeated; None if it is.

        Args:
            outcome: How the execution was judged.
            failed_executions: Refused executions of this step, this one included. Those that were redone
                with a correction do not count.
            max_retries: Bound of this run. It is stored with the run, so a resumed run keeps its bound
                if the policy has changed.
        """
        if outcome == "needs_review" and self.needs_review == "fail":
            return "there is no verdict"
        if failed_executions > max_retries:
            return f"refused {failed_executions} times, max_retries is {max_retries}"
        return None


def merge_max_retries(policy: RetryPolicy | None, max_retries: int | None) -> RetryPolicy:
    """Returns the policy with ``max_retries``, which can be given in the policy or beside it.

    Raises:
        ConfigurationError: It is not accepted, or the policy was built with another value.
    """
    policy = RetryPolicy() if policy is None else policy
    if max_retries is None or not isinstance(policy, RetryPolicy):  # ``Settings`` refuses another type
        return policy
    merged = type(policy)(**{**dict(policy), "max_retries": max_retries})
    # Only a value that the caller wrote is in conflict; the policy's default is not.
    if "max_retries" in policy.model_fields_set and policy != merged:
        raise ConfigurationError(
            f"max_retries is {max_retries} and retry_policy.max_retries is {policy.max_retries}; "
            "give only one of them, or the same value"
        )
    return merged
