"""The only place that picks adapters: from a model specification to an orchestrator that is ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from langgraph.checkpoint.base import BaseCheckpointSaver

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from agents.contracts import DEFAULT_MAX_STEPS
from evaluation import AsyncJudge, Judge
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.judging.contracts import ContractSource
from orchestrator.runtime.protocols import Hook
from orchestrator.settings import Settings

_SMALL_PLAN: Final = 3
"""Steps that the embedded model can plan before it repeats itself."""


def build_orchestrator(
    model: str = "local",
    settings: Settings | None = None,
    *,
    planner_model: str | None = None,
    executor_model: str | None = None,
    monitor_model: str | None = None,
    supervisor_model: str | None = None,
    contract: ContractSource = None,
    judge: Judge | AsyncJudge | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    hooks: Sequence[Hook] = (),
) -> LangGraphOrchestrator:
    """Put three agents over one chat model, or over one for each role, into an orchestrator.

    Args:
        model: A model specification, as ``agents.load_model`` takes it.
        settings: How runs go; None stands for the defaults.
        planner_model: The specification of the planner's model; None stands for ``model``.
        executor_model: That of the executor's.
        monitor_model: That of the monitor's.
        supervisor_model: That of the supervisor's; None stands for the monitor's.
        contract: What every step has to fulfil, as ``LangGraphOrchestrator`` takes it.
        judge: Scores what no program can, in place of the monitor.
        checkpointer: Any LangGraph saver.
        hooks: Are told of every event.

    Raises:
        ModelSpecError: The specification names no model.
        ConfigurationError: The contract, the judge or the supervision is not accepted.
        ModelSetupError: The model's runtime, weights or key are missing; the message says what mends it.
    """
    wanted = Settings() if settings is None else settings
    planner, executor, monitor = (
        model if own is None else own for own in (planner_model, executor_model, monitor_model)
    )
    supervisor = monitor if supervisor_model is None else supervisor_model
    llms = {spec: load_model(spec) for spec in dict.fromkeys((planner, executor, monitor, supervisor))}
    return LangGraphOrchestrator(
        PlanningAgent(llms[planner], max_steps=_SMALL_PLAN if planner == "local" else DEFAULT_MAX_STEPS),
        ExecutionAgent(llms[executor]),
        MonitoringAgent(llms[monitor]),
        max_retries=wanted.max_retries,
        retry_policy=wanted.retry_policy,
        budget=wanted.budget,
        call_timeout=wanted.call_timeout,
        step_timeout=wanted.step_timeout,
        max_plan_steps=wanted.max_plan_steps,
        contract=contract,
        judge=judge,
        supervision=wanted.supervision,
        supervisor=None if supervisor_model is None else llms[supervisor],
        supervision_policy=wanted.supervision_policy,
        max_parallel_steps=wanted.max_parallel_steps,
        clock=wanted.clock,
        checkpointer=checkpointer,
        hooks=hooks,
    )
