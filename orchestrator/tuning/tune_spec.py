"""TuneSpec: the tasks, the space and the budget of a search; and the policies of the space."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.settings_model import Count, Flag, PositiveCount, SettingsModel, read_object
from orchestrator.tuning.replay import NamedPolicy, describe_rule


class SearchBudget(SettingsModel):
    """How much a search may spend. It ends when a bound is reached, and keeps what it has found.

    Attributes:
        trials: Policies to try, besides the default one.
        model_calls: Calls of models, without those that were answered from recorded replies.

    Raises:
        ConfigurationError: A bound is not positive.
    """

    trials: PositiveCount = 20
    model_calls: Annotated[
        int | None, Field(ge=1, description="a whole number of at least 1, or leave it out for no bound")
    ] = None


class TuneSpec(SettingsModel):
    """A search for a retry policy.

    Attributes:
        name: Name of the study; its folder has the same name.
        tasks: Path of a file of cases, whose tasks are run.
        model: The specification of the model.
        space: For fields of RetryPolicy, the values to choose from.
        budget: How much the search may spend.
        planning: Whether the planner splits the tasks; if False, each task is a single step.
        hold_out: Share of the tasks that only the recommended policy and the default are run on, at the end.
        seed: Of the split of the tasks and the search.

    Raises:
        ConfigurationError: A value is not accepted; the message names the accepted ones.
    """

    name: Annotated[
        str,
        Field(
            pattern=r"^[\w.-]{0,59}\w$",
            description="a name of at most 60 letters, digits, '.', '-' and '_'",
        ),
    ] = "tuning"
    tasks: Annotated[str, Field(description="the path of a file of cases, as a text")]
    model: Annotated[str, Field(description="a model specification")] = "local"
    space: Annotated[
        Mapping[str, Annotated[Sequence[object], Field(min_length=1)]],
        Field(
            min_length=1,
            description="an object such as {max_retries: [1, 2, 3]}, with values for each field",
        ),
    ]
    budget: Annotated[SearchBudget, Field(description="an object such as {trials: 10}")] = Field(
        default_factory=SearchBudget
    )
    planning: Flag = True
    hold_out: Annotated[float, Field(gt=0, lt=1, description="a number between 0 and 1, such as 0.4")] = 0.4
    seed: Count = 0


def read_spec(path: str | Path) -> TuneSpec:
    """Reads a specification from a YAML file. Paths in it are relative to its folder.

    Raises:
        ConfigurationError: The file cannot be read, or a value in it is not accepted.
    """
    if not path:
        raise ConfigurationError("the path of the specification is empty; give that of a YAML file")
    file = Path(path)
    values: dict[str, Any] = read_object(file, "the specification", "{tasks: tasks.yaml, space: ...}")
    if isinstance(tasks := values.get("tasks"), str):
        values["tasks"] = str(file.parent / tasks)
    return TuneSpec(**{"name": file.stem, **values})


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
        return list(dict.fromkeys(model for each in self.everything for model in each.policy.escalations))


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
