"""Runs multi-step tasks with language-model agents, and has every step judged."""

from orchestrator.budget import Budget, ModelPrice
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import BudgetExceededError, ConfigurationError, DrawingError, OrchestratorError
from orchestrator.events import (
    Event,
    Planned,
    RunFinished,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepRetried,
    StepStarted,
)
from orchestrator.retry import RetryPolicy
from orchestrator.state import Failure, OrchestratorState, StepRecord, ToolCallRecord, Usage

__all__ = [
    "Budget",
    "BudgetExceededError",
    "ConfigurationError",
    "DrawingError",
    "Event",
    "Failure",
    "LangGraphOrchestrator",
    "ModelPrice",
    "OrchestratorError",
    "OrchestratorState",
    "Planned",
    "RetryPolicy",
    "RunFinished",
    "RunStarted",
    "StepExecuted",
    "StepJudged",
    "StepRecord",
    "StepRetried",
    "StepStarted",
    "ToolCallRecord",
    "Usage",
]
