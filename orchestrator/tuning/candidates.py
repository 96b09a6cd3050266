"""The policies that a search chooses from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.retry.rules import EscalateRule
from orchestrator.tuning.tune_spec import TuneSpec

DEFAULT: Final = "default"
_MODEL: Final = "model"
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy with the model that executes it.

    Attributes:
        name: Names it in results.
        model: The model specification.
        policy: The policy.
        choices: Index of its value in each dimension of the space; empty outside of the space.
    """

    name: str
    model: str
    policy: RetryPolicy
    choices: Mapping[str, int] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Names the candidate in stored results; equal for equal policies and models."""
        text = json.dumps([self.model, self.policy.model_dump(mode="json")], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Space:
    """The candidates of a search.

    Attributes:
        default: The default policy with the first model.
        named: The policies with names, with every model.
        dimensions: Number of values of each dimension of the space.
        combinations: The candidates of the space by their choices, without those that RetryPolicy refuses.
    """

    default: Candidate
    named: Sequence[Candidate]
    dimensions: Mapping[str, int]
    combinations: Mapping[tuple[int, ...], Candidate]

    def find(self, choices: Mapping[str, int]) -> Candidate | None:
        """Returns the candidate with these choices; None if RetryPolicy refuses the combination."""
        return self.combinations.get(tuple(choices[name] for name in self.dimensions))

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
        ConfigurationError: A field is unknown, a policy is not accepted, no combination is, a policy asks a
            person, or there is nothing besides the default.
    """
    values: dict[str, Sequence[object]] = dict(spec.space)
    if len(spec.models) > 1 and values:
        values[_MODEL] = spec.models
    _check_space(values)
    default = Candidate(DEFAULT, spec.models[0], RetryPolicy())
    named = [
        Candidate(_join(name, model, spec), model, _build_policy(f"policies.{name}", fields))
        for name, fields in spec.policies.items()
        for model in spec.models
    ]
    combinations = dict(_combine(values, spec)) if values else {}
    space = Space(default, named, {name: len(each) for name, each in values.items()}, combinations)
    if not space.everything:
        raise ConfigurationError("the space holds only the default policy; add values or policies to compare")
    for candidate in space.everything:
        _check_candidate(candidate)
    return space


def _check_candidate(candidate: Candidate) -> None:
    """Refuses, before anything is spent, a policy that cannot be run."""
    if candidate.policy.asks_human:
        raise ConfigurationError(
            f"{candidate.name} asks a person, and a search asks nobody; "
            "leave out ask_human and needs_review: human"
        )


def _check_space(values: Mapping[str, Sequence[object]]) -> None:
    for name in values:
        if name not in RetryPolicy.model_fields and name != _MODEL:
            known = ", ".join(RetryPolicy.model_fields)
            raise ConfigurationError(f"space.{name} is no field of RetryPolicy; give any of {known}")
    size = math.prod(len(each) for each in values.values())
    if size > _MOST:
        raise ConfigurationError(f"the space has {size} combinations, and {_MOST} are accepted; narrow it")


def _combine(
    values: Mapping[str, Sequence[object]], spec: TuneSpec
) -> Iterator[tuple[tuple[int, ...], Candidate]]:
    refusal: ConfigurationError | None = None
    accepted = 0
    for indices in product(*(range(len(each)) for each in values.values())):
        choices = dict(zip(values, indices, strict=True))
        chosen = {name: values[name][index] for name, index in choices.items()}
        model = str(chosen.pop(_MODEL, spec.models[0]))
        try:
            policy = _build(chosen)
        except ConfigurationError as error:
            # Some values only go together with others: three samples need three retries.
            refusal = error
            continue
        accepted += 1
        yield indices, Candidate(_join(_describe(chosen), model, spec), model, policy, choices)
    if not accepted and refusal is not None:
        raise ConfigurationError(f"space: no combination is accepted; {refusal}")


def _build(fields: Mapping[str, Any]) -> RetryPolicy:
    return RetryPolicy(**fields)


def _build_policy(where: str, fields: Mapping[str, object]) -> RetryPolicy:
    try:
        return _build(fields)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None


def _join(name: str, model: str, spec: TuneSpec) -> str:
    return f"{name}, {model}" if len(spec.models) > 1 else name


def _describe(fields: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_shorten(value)}" for name, value in fields.items())


def _shorten(value: object) -> str:
    """Returns a rule as its use and its other fields, and anything else as JSON."""
    if isinstance(value, list | tuple):
        return f"[{' then '.join(map(_shorten, value))}]"
    if isinstance(value, dict) and "use" in value:
        rest = ", ".join(f"{name}={_shorten(each)}" for name, each in value.items() if name != "use")
        return f"{value['use']}({rest})" if rest else str(value["use"])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
