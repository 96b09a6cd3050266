"""RetryPolicy: what decides whether and how a step that was not accepted is executed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from agents.models.transport_retry import TransportRetry
from evaluation.evalset.yaml_text import format_yaml
from orchestrator.errors import ConfigurationError
from orchestrator.retry.rules import AskHumanRule, ExecutingRule, FeedbackRule, RetryRule
from orchestrator.runtime.settings_model import Count, PositiveCount, SettingsModel, read_object
from orchestrator.state.plain_values import format_repr

_USES: Final = ", ".join(
    rule.model_fields["use"].default for rule in (*get_args(ExecutingRule), AskHumanRule)
)


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
        strategies: Rules for what is done after a failed execution; the first that matches decides.
        judge_attempts: How often the monitor is asked about one execution if its answers cannot be read.
            The execution itself is not repeated for that.
        needs_review: What happens if there still is no verdict, and no rule names "unverified": "fail" ends
            the run for a person to look at; "retry" follows the rules, as after a refusal; "human" asks a
            person, which needs a checkpointer.
        transport: How often and how patiently a call is repeated after a transient error.
        max_replans: How often the planner replans the rest of the task after a step has no retries left.
        exhausted: What happens when no retry and no replan is left: "fail" ends the run; "accept_best"
            keeps the attempt with the best report, as a warning, and goes on. An output that is blank, was
            cut off, exposes a key or breaks a critical audit rule is never kept.
        seed: The seeds of retries are derived from it, from the step and from the number of the attempt.

    Raises:
        ConfigurationError: A value is not accepted, or a rule can never decide.
    """

    max_retries: Count = 2
    strategies: Annotated[
        Sequence[RetryRule],
        BeforeValidator(_read_list),
        Field(
            min_length=1, description=f"a list of rules, such as [FeedbackRule()]; 'use' is one of {_USES}"
        ),
    ] = (FeedbackRule(),)
    judge_attempts: PositiveCount = 2
    needs_review: Literal["fail", "retry", "human"] = "fail"
    transport: Annotated[
        TransportRetry,
        BeforeValidator(_read_transport),
        Field(description="a TransportRetry, or an object with its fields"),
    ] = Field(default_factory=TransportRetry)
    max_replans: Count = 0
    exhausted: Literal["fail", "accept_best"] = "fail"
    seed: Count = 0

    @model_validator(mode="after")
    def _check_strategies(self) -> Self:
        for place, rule in enumerate(self.strategies):
            if (earlier := _find_earlier(self.strategies[:place], rule)) is not None:
                raise ConfigurationError(
                    f"strategies[{place}] can never decide, because strategies[{earlier}] decides before it "
                    f"and has no end; give that one times or after, or leave out strategies[{place}]"
                )
        return self

    @property
    def asks_human(self) -> bool:
        """Whether a person may be asked about an execution."""
        return self.needs_review == "human" or any(rule.use == "ask_human" for rule in self.strategies)

    @classmethod
    def from_yaml(cls, source: str | Path) -> Self:
        """Reads a policy from YAML or JSON.

        Args:
            source: The text, or the ``Path`` of a file in UTF-8.

        Raises:
            ConfigurationError: The file cannot be read, the text is no YAML or no object, or a value in it is
                not accepted.
        """
        if not isinstance(source, str | Path):
            raise ConfigurationError(
                f"the retry policy is {format_repr(source, 80)}; give a text, or the Path of a file"
            )
        return cls(**read_object(source, "the retry policy", "{max_retries: 3}"))

    def to_yaml(self) -> str:
        """Writes the policy as YAML that ``from_yaml`` reads: the values that differ from the default."""
        return format_yaml(self.model_dump(mode="json", exclude_defaults=True))


def _find_earlier(before: Sequence[RetryRule], rule: RetryRule) -> int | None:
    """Returns the place of an earlier rule that always decides first."""
    for place, earlier in enumerate(before):
        covers = earlier.after is None or (rule.after is not None and {*rule.after} <= {*earlier.after})
        # A person is still asked after the last retry. A missing verdict matches only rules that name it.
        is_reached = rule.use == "ask_human" != earlier.use
        is_reached |= earlier.after is None and rule.after is not None and "unverified" in rule.after
        if covers and earlier.times is None and not is_reached:
            return place
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
