"""RetryPolicy: what decides whether and how a step that was not accepted is executed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError

from agents.models.transport_retry import TransportRetry
from evaluation.evalset.yaml_text import format_yaml
from orchestrator.errors import ConfigurationError
from orchestrator.retry.retry_rules import FeedbackRule, RetryRule
from orchestrator.runtime.settings_model import Count, PositiveCount, SettingsModel, read_object


def _read_list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _read_transport(value: object) -> object:
    """Reads the retries of a transport from plain data."""
    if not isinstance(value, Mapping):
        return value
    try:
        return TransportRetry(**value)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"{first['loc'][0]} is {first['input']!r}; {first['msg']}") from None


class RetryPolicy(SettingsModel):
    """What happens after a step was not accepted: one value that can be stored, compared and varied.

    Transient errors of a server are apart, in ``transport``.

    Attributes:
        max_retries: Executions of a step after its first, before the run fails.
        strategies: Rules for the action after a failed execution; the first that matches decides. If there
            is no verdict, only a rule that names "unverified" does; without one, the run ends for a person to
            look at.
        judge_attempts: How often the monitor is asked about one execution if its answers cannot be read.
            The execution itself is not repeated for that.
        transport: How often and how patiently a call is repeated after a transient error.
        max_replans: How often the planner replans the rest of the task after a step has no retries left.
        exhausted: What happens when no retry and no replan is left: "fail" ends the run; "accept_best"
            keeps the attempt with the best report, as a warning, and goes on. An output that is blank, was
            cut off, exposes a key or breaks a critical audit rule is never kept.
        seed: The seeds of retries are derived from it, from the step and from the number of the attempt.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_retries: Count = 2
    strategies: Annotated[
        Sequence[RetryRule],
        BeforeValidator(_read_list),
        Field(min_length=1, description="a list of rules, such as [FeedbackRule()]"),
    ] = (FeedbackRule(),)
    judge_attempts: PositiveCount = 2
    transport: Annotated[
        TransportRetry,
        BeforeValidator(_read_transport),
        Field(description="a TransportRetry, or an object with its fields"),
    ] = Field(default_factory=TransportRetry)
    max_replans: Count = 0
    exhausted: Literal["fail", "accept_best"] = "fail"
    seed: Count = 0

    @property
    def asks_human(self) -> bool:
        """Whether a person may be asked about an execution."""
        return any(rule.use == "ask_human" for rule in self.strategies)

    @classmethod
    def from_yaml(cls, source: str | Path) -> Self:
        """Reads a policy from YAML or JSON.

        Args:
            source: The text, or the ``Path`` of a file in UTF-8.

        Raises:
            ConfigurationError: The file cannot be read, the text is no YAML or no object, or a value in it is
                not accepted.
        """
        return cls(**read_object(source, "the retry policy", "{max_retries: 3}"))

    def to_yaml(self) -> str:
        """Writes the policy as YAML that ``from_yaml`` reads: the values that differ from the default."""
        return format_yaml(self.model_dump(mode="json", exclude_defaults=True))


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
