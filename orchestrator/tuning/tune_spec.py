"""TuneSpec: what is tuned, on which tasks, for which objective, and how much it may cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import Field, model_validator

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.budget import ModelPrice
from orchestrator.runtime.settings_model import (
    Count,
    Flag,
    PositiveCount,
    Seconds,
    SettingsModel,
    read_object,
)

Quantity = Literal["success", "attempts", "model_calls", "tokens", "cost_usd", "seconds"]
Resource = Literal["attempts", "model_calls", "tokens", "cost_usd", "seconds"]
_Number: TypeAlias = Annotated[float | int, Field(gt=-math.inf, lt=math.inf, description="a finite number")]


class Objective(SettingsModel):
    """What makes a policy better: the rate of success. The front is success against ``against``.

    Attributes:
        limits: Greatest mean of a quantity per run; a policy above it is not recommended.
        against: The cost that the front shows success against, and by which equal policies differ.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    limits: Annotated[
        Mapping[Resource, _Number],
        Field(description=f"an object such as {{tokens: 2000}}, of {', '.join(get_args(Resource))}"),
    ] = Field(default_factory=dict)
    against: Resource = "tokens"

    @property
    def quantities(self) -> list[Quantity]:
        """The quantities that every run has to report."""
        return sorted({"success", self.against, *self.limits})


class SearchBudget(SettingsModel):
    """How much a search may spend. It ends when a bound is reached, and keeps what it has found.

    Attributes:
        trials: Policies to try, besides the default one.
        model_calls: Calls of models, without those that were answered from recorded replies.
        seconds: Time on the clock.
        cost_usd: US dollars; needs ``prices``.

    Raises:
        ConfigurationError: A bound is not positive.
    """

    trials: PositiveCount = 20
    model_calls: Annotated[
        int | None, Field(ge=1, description="a whole number of at least 1, or leave it out for no bound")
    ] = None
    seconds: Seconds = None
    cost_usd: Annotated[
        float | int | None, Field(gt=0, lt=math.inf, description="US dollars above 0, or leave it out")
    ] = None


class TuneSpec(SettingsModel):
    """A search for a retry policy.

    Attributes:
        name: Name of the study; its folder has the same name.
        tasks: Path of a file of cases, whose tasks are run.
        models: Model specifications to choose from; the first one is the default's.
        space: For fields of RetryPolicy, the values to choose from.
        policies: Policies by name, each with its fields, in place of ``space`` or besides it.
        objective: What makes a policy better.
        budget: How much the search may spend.
        planning: Whether the planner splits the tasks; if False, each task is a single step.
        repeats: Runs of each task, with different seeds.
        hold_out: Share of the tasks that only the recommended policy and the default are run on, at the end.
        seed: Of the split of the tasks, the search and the intervals.
        prices: US dollars by model name, for ``cost_usd``.

    Raises:
        ConfigurationError: A value is not accepted; the message says what is.
    """

    name: Annotated[
        str, Field(pattern=r"^[\w.-]*\w$", description="a name of letters, digits, '.', '-' and '_'")
    ] = "tuning"
    tasks: Annotated[str, Field(description="the path of a file of cases, as a text")]
    models: Annotated[Sequence[str], Field(min_length=1, description="a list of model specifications")] = (
        "local",
    )
    space: Annotated[
        Mapping[str, Sequence[object]],
        Field(description="an object such as {max_retries: [1, 2, 3]}, a list of values for each field"),
    ] = Field(default_factory=dict)
    policies: Annotated[
        Mapping[str, Mapping[str, object]],
        Field(description="an object such as {patient: {max_retries: 5}}, the fields of each policy"),
    ] = Field(default_factory=dict)
    objective: Annotated[Objective, Field(description="an object with limits or against")] = Field(
        default_factory=Objective
    )
    budget: Annotated[SearchBudget, Field(description="an object such as {trials: 10}")] = Field(
        default_factory=SearchBudget
    )
    planning: Flag = True
    repeats: PositiveCount = 1
    hold_out: Annotated[float, Field(gt=0, lt=1, description="a number between 0 and 1, such as 0.4")] = 0.4
    seed: Count = 0
    prices: Annotated[
        Mapping[str, ModelPrice],
        Field(description="an object {model: {input_usd: ..., output_usd: ...}}"),
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        if not self.space and not self.policies:
            raise ConfigurationError(
                "there is nothing to search: give space, such as {max_retries: [1, 2, 3]}, or policies"
            )
        if empty := [name for name, values in self.space.items() if not values]:
            raise ConfigurationError(f"space.{empty[0]} is empty; give at least one value")
        needs_prices = "cost_usd" in self.objective.quantities or self.budget.cost_usd is not None
        if needs_prices and not self.prices:
            raise ConfigurationError(
                "the objective or the budget needs cost_usd, which no run reports without prices; "
                "add prices: {model: {input_usd: ..., output_usd: ...}}"
            )
        return self


def read_spec(path: str | Path) -> TuneSpec:
    """Reads a specification from a YAML file. Paths in it are relative to its folder.

    Raises:
        ConfigurationError: The file cannot be read, or a value in it is not accepted.
    """
    file = Path(path)
    values: dict[str, Any] = read_object(file, "the specification", "{tasks: tasks.yaml, space: ...}")
    version = values.pop("version", 1)
    if isinstance(version, bool) or version != 1:
        raise ConfigurationError(f"{file.name}: only version 1 is known; give version: 1, or leave it out")
    if isinstance(tasks := values.get("tasks"), str):
        values["tasks"] = str(file.parent / tasks)
    return TuneSpec(**{"name": file.stem, **values})
