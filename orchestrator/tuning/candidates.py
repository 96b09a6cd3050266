"""The policies that a search chooses from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.retry.retry_rules import EscalateRule
from orchestrator.tuning.replay import NamedPolicy, describe_rule
from orchestrator.tuning.tune_spec import TuneSpec

DEFAULT: Final = NamedPolicy("default", RetryPolicy())
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Space:
    """The policies of a search, by the index of their value in each dimension.

    Attributes:
        sizes: Number of values of each field.
        combinations: The policies.
    """

    sizes: Mapping[str, int]
    combinations: Mapping[tuple[int, ...], NamedPolicy]

    @property
    def everything(self) -> list[NamedPolicy]:
        """All policies but the default, each once."""
        every = {each.policy: each for each in self.combinations.values()}
        every.pop(DEFAULT.policy, None)
        return list(every.values())

    @property
    def escalations(self) -> list[str]:
        """The models that rules of the policies escalate to."""
        rules = (rule for each in self.everything for rule in each.policy.strategies)
        return list(dict.fromkeys(rule.model for rule in rules if isinstance(rule, EscalateRule)))


def build_space(spec: TuneSpec) -> Space:
    """Builds all policies of a specification.

    Raises:
        ConfigurationError: A field is unknown, a policy is not accepted or asks a person, the space is too
            large, or there is nothing besides the default.
    """
    if unknown := [name for name in spec.space if name not in RetryPolicy.model_fields]:
        names = ", ".join(RetryPolicy.model_fields)
        raise ConfigurationError(f"space.{unknown[0]} is no field of RetryPolicy; give any of {names}")
    sizes = {name: len(values) for name, values in spec.space.items()}
    if math.prod(sizes.values()) > _MOST:
        raise ConfigurationError(f"the space has more than {_MOST} combinations; narrow it")
    every = product(*map(range, sizes.values()))
    space = Space(sizes, {indices: _build(spec.space, indices) for indices in every})
    if not space.everything:
        raise ConfigurationError("the space holds only the default policy; add values to compare")
    return space


def _build(space: Mapping[str, Sequence[Any]], indices: Sequence[int]) -> NamedPolicy:
    """Builds a policy, which is called after its fields."""
    fields = {name: values[place] for (name, values), place in zip(space.items(), indices, strict=True)}
    try:
        policy = RetryPolicy(**fields)
    except ConfigurationError as error:
        raise ConfigurationError(f"space: {error}") from None
    name = ", ".join(f"{each}={_describe_field(policy, each)}" for each in fields)
    if policy.asks_human:
        raise ConfigurationError(f"{name} asks a person, and a search asks nobody; leave out ask_human")
    return NamedPolicy(name, policy)


def _describe_field(policy: RetryPolicy, name: str) -> str:
    if name == "strategies":
        rules = (describe_rule(rule.model_dump(mode="json")) for rule in policy.strategies)
        return f"[{' then '.join(rules)}]"
    value = policy.model_dump(mode="json", include={name})[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
