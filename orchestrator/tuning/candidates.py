"""The policies that a search chooses from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.retry.rules import EscalateRule
from orchestrator.tuning.replay import describe_rule
from orchestrator.tuning.tune_spec import TuneSpec

DEFAULT: Final = "default"
_MODEL: Final = "model"
_MOST: Final = 100_000


def digest_value(value: object) -> str:
    """Returns a short digest of plain values, equal in every process."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy with the model that executes it.

    Attributes:
        name: Names it in results.
        model: The model specification.
        policy: The policy.
    """

    name: str
    model: str
    policy: RetryPolicy

    @property
    def digest(self) -> str:
        """Names the candidate in stored results; equal for equal policies and models."""
        return digest_value([self.model, self.policy.model_dump(mode="json")])


@dataclass(frozen=True, slots=True)
class Space:
    """The candidates of a search.

    Attributes:
        default: The default policy with the first model.
        named: The policies with names, with every model.
        dimensions: Number of values of each dimension of the space.
        combinations: The candidates of the space, by the index of their value in each dimension.
    """

    default: Candidate
    named: Sequence[Candidate]
    dimensions: Mapping[str, int]
    combinations: Mapping[tuple[int, ...], Candidate]

    @property
    def everything(self) -> list[Candidate]:
        """All candidates but the default, each policy once."""
        every = {each.digest: each for each in (*self.combinations.values(), *self.named)}
        every.pop(self.default.digest, None)
        return list(every.values())

    @property
    def escalations(self) -> list[str]:
        """The models that rules of the candidates escalate to."""
        rules = (rule for each in (self.default, *self.everything) for rule in each.policy.strategies)
        return list(dict.fromkeys(rule.model for rule in rules if isinstance(rule, EscalateRule)))


def build_space(spec: TuneSpec) -> Space:
    """Builds all candidates of a specification.

    Raises:
        ConfigurationError: A field is unknown, a policy is not accepted or asks a person, the space is too
            large, or there is nothing besides the default.
    """
    _check_fields(spec)
    named = [
        _build(spec, f"policies.{name}", name, model, fields)
        for name, fields in spec.policies.items()
        for model in spec.models
    ]
    dimensions = {name: len(values) for name, values in spec.space.items()}
    if len(spec.models) > 1 and dimensions:
        dimensions[_MODEL] = len(spec.models)
    combinations = dict(_combine(spec, dimensions)) if dimensions else {}
    default = Candidate(DEFAULT, spec.models[0], RetryPolicy())
    space = Space(default, named, dimensions, combinations)
    if not space.everything:
        raise ConfigurationError("the space holds only the default policy; add values or policies to compare")
    return space


def _check_fields(spec: TuneSpec) -> None:
    known = RetryPolicy.model_fields
    if unknown := [name for name in spec.space if name not in known]:
        names = ", ".join(known)
        raise ConfigurationError(f"space.{unknown[0]} is no field of RetryPolicy; give any of {names}")
    size = math.prod(len(values) for values in (*spec.space.values(), spec.models))
    if size > _MOST:
        raise ConfigurationError(f"the space has {size} combinations, and {_MOST} are accepted; narrow it")


def _combine(spec: TuneSpec, dimensions: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], Candidate]]:
    for indices in product(*map(range, dimensions.values())):
        places = dict(zip(dimensions, indices, strict=True))
        model = spec.models[places.pop(_MODEL, 0)]
        fields = {name: spec.space[name][place] for name, place in places.items()}
        yield indices, _build(spec, "space", None, model, fields)


def _build(spec: TuneSpec, where: str, name: str | None, model: str, fields: Mapping[str, Any]) -> Candidate:
    """Builds a candidate; without a name, it is called after its fields."""
    try:
        policy = RetryPolicy(**fields)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    own = name or ", ".join(f"{each}={_describe_field(policy, each)}" for each in fields)
    if policy.asks_human:
        hint = "leave out ask_human and needs_review: human"
        raise ConfigurationError(f"{own} asks a person, and a search asks nobody; {hint}")
    return Candidate(f"{own}, {model}" if len(spec.models) > 1 else own, model, policy)


def _describe_field(policy: RetryPolicy, name: str) -> str:
    if name == "strategies":
        rules = (describe_rule(rule.model_dump(mode="json")) for rule in policy.strategies)
        return f"[{' then '.join(rules)}]"
    value = policy.model_dump(mode="json", include={name})[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
