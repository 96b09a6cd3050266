"""Runs multi-step tasks with language-model agents, and has every step judged.

Each name is imported when it is first asked for: LangGraph and LangChain take seconds, and the command
line has to be ready for Ctrl-C before them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
else:
    _HOMES = {
        "Budget": "budget",
        "BudgetExceededError": "errors",
        "ConfigurationError": "errors",
        "DrawingError": "errors",
        "Event": "events",
        "Failure": "state",
        "LangGraphOrchestrator": "engine",
        "ModelPrice": "budget",
        "OrchestratorError": "errors",
        "OrchestratorState": "state",
        "Planned": "events",
        "RetryPolicy": "retry",
        "RunFinished": "events",
        "RunStarted": "events",
        "StepExecuted": "events",
        "StepJudged": "events",
        "StepRecord": "state",
        "StepRetried": "events",
        "StepStarted": "events",
        "ToolCallRecord": "state",
        "Usage": "state",
    }

    # Out of a type checker's sight, for which any name would be there otherwise.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
