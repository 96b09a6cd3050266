"""Builds the planner, the executor and the monitor from models or their specifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from langchain_core.tools import BaseTool

from agents.execution import ExecutionAgent
from agents.models.model_call import Model
from agents.models.spec import load_model, timeout_option
from agents.monitoring import MonitoringAgent
from agents.planning import PlanningAgent
from agents.reply_types import DEFAULT_MAX_STEPS

_SMALL_PLAN: Final = 3
"""Maximum number of steps for the embedded model, which repeats itself in longer plans."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The agents of one orchestrator.

    Attributes:
        planner: Plans the task.
        executor: Carries out each step.
        monitor: Judges each step.
        supervisor_model: Model of the supervisor; None if the supervisor shares the monitor's model.
    """

    planner: PlanningAgent
    executor: ExecutionAgent
    monitor: MonitoringAgent
    supervisor_model: Model | None


def build_roles(
    model: str | Model = "local",
    *,
    planner_model: str | Model | None = None,
    executor_model: str | Model | None = None,
    monitor_model: str | Model | None = None,
    supervisor_model: str | Model | None = None,
    tools: Sequence[BaseTool | Callable[..., object]] | None = None,
    call_timeout: float | None = None,
) -> Roles:
    """Build the three agents. Each distinct specification is loaded once.

    Args:
        model: A specification that ``load_model`` reads, or a LangChain chat model.
        planner_model: Model of the planner. Default: ``model``.
        executor_model: Model of the executor. Default: ``model``.
        monitor_model: Model of the monitor. Default: ``model``.
        supervisor_model: Model of the supervisor. Default: the monitor's.
        tools: Tools of the executor.
        call_timeout: Timeout of one call of an agent in seconds: no client of a specification gives up
            before.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model's runtime, weights or key are missing; the message says what to do.
    """
    planner, executor, monitor = (
        model if own is None else own for own in (planner_model, executor_model, monitor_model)
    )

    @cache
    def load(spec: str) -> Model:
        return load_model(spec, **timeout_option(spec, call_timeout))

    def read_model(given: str | Model) -> Model:
        return load(given) if isinstance(given, str) else given

    return Roles(
        PlanningAgent(
            read_model(planner), max_steps=_SMALL_PLAN if planner == "local" else DEFAULT_MAX_STEPS
        ),
        ExecutionAgent(read_model(executor), tools),
        MonitoringAgent(read_model(monitor)),
        None if supervisor_model is None else read_model(supervisor_model),
    )
