"""Builds an orchestrator from model specifications and settings."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from agents.roles import build_roles
from evaluation import EvaluationContract
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import AnyJudge, JudgeFunction
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.judging.contracts import ContractSource
from orchestrator.judging.options import EvaluationOptions
from orchestrator.runtime.events import Hook
from orchestrator.settings import Settings
from orchestrator.task_contracts.writers import ContractWriter


def build_orchestrator(
    model: str = "local",
    settings: Settings | None = None,
    *,
    planner_model: str | None = None,
    executor_model: str | None = None,
    monitor_model: str | None = None,
    supervisor_model: str | None = None,
    contract: ContractSource = "from_task",
    contract_writer: ContractWriter | None = None,
    judge: AnyJudge | JudgeFunction | None = None,
    evaluation: EvaluationOptions | None = None,
    checks: Sequence[CustomCheck] = (),
    output_contract: EvaluationContract | None = None,
    output_type: type[BaseModel] | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    hooks: Sequence[Hook] = (),
) -> LangGraphOrchestrator:
    """Builds an orchestrator whose three agents share one chat model, or have one model each.

    Args:
        model: The model specification that ``agents.load_model`` reads.
        settings: Retries, bounds and supervision. Default: ``Settings()``.
        planner_model: Model of the planner. Default: ``model``.
        executor_model: Model of the executor. Default: ``model``.
        monitor_model: Model of the monitor. Default: ``model``.
        supervisor_model: Model of the supervisor. Default: the monitor's.
        contract: Contract of every step, or a function that returns it; see ``LangGraphOrchestrator``.
            Default: checks are derived from the task and the steps; None derives none.
        contract_writer: Derives the checks. Default: rules, without a model.
        judge: Scores what no program can, in place of the monitor; see ``LangGraphOrchestrator``.
        evaluation: What the evaluation of each step uses besides.
        checks: Functions with ``@check`` and ``CommandCheck`` objects that the final output has to pass.
        output_contract: Contract of the final output.
        output_type: A pydantic model whose JSON text the final output is.
        checkpointer: Any LangGraph saver.
        hooks: Functions that are called with every event.

    Raises:
        ModelSpecError: A specification names no model.
        ConfigurationError: The contract, the judge or the supervision is not accepted.
        ModelSetupError: The model's runtime, weights or key are missing; the message says how to get them.
    """
    chosen = Settings() if settings is None else settings
    # Each other setting has the name of an argument of the constructor.
    options = {name: value for name, value in chosen if name != "human"}
    roles = build_roles(
        model,
        planner_model=planner_model,
        executor_model=executor_model,
        monitor_model=monitor_model,
        supervisor_model=supervisor_model,
    )
    return LangGraphOrchestrator(
        roles.planner,
        roles.executor,
        roles.monitor,
        contract=contract,
        contract_writer=contract_writer,
        judge=judge,
        evaluation=evaluation,
        checks=checks,
        output_contract=output_contract,
        output_type=output_type,
        supervisor=roles.supervisor_model,
        checkpointer=checkpointer,
        hooks=hooks,
        **options,
    )
