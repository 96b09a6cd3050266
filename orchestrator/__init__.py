"""Runs multi-step tasks with language-model agents, and has every step judged.

Each name is imported when it is first asked for: LangGraph and LangChain take seconds, and the command
line has to be ready for Ctrl-C before them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.budget import Budget, ModelPrice
    from orchestrator.engine import LangGraphOrchestrator
    from orchestrator.errors import (
        BrokenRunError,
        BudgetExceededError,
        ConfigurationError,
        ContractFunctionError,
        DrawingError,
        OrchestratorError,
        ResumeError,
        StoreError,
        StoreLostError,
    )
    from orchestrator.events import (
        Event,
        Planned,
        Replanned,
        RunFinished,
        RunPaused,
        RunResumed,
        RunStarted,
        StepExecuted,
        StepJudged,
        StepRetried,
        StepStarted,
    )
    from orchestrator.retry import RetryPolicy
    from orchestrator.stalls import StallRules
    from orchestrator.state import (
        Failure,
        JudgeCalls,
        OrchestratorState,
        Question,
        Retries,
        StepRecord,
        ToolCallRecord,
        Usage,
    )
    from orchestrator.supervision.agents import ModelSupervisor
    from orchestrator.supervision.policy import SupervisionPolicy
    from orchestrator.supervision.ports import Supervisor
    from orchestrator.supervision.records import HumanAnswer, SupervisionRecord
else:
    _HOMES = {
        "Budget": "budget",
        "BrokenRunError": "errors",
        "BudgetExceededError": "errors",
        "ConfigurationError": "errors",
        "ContractFunctionError": "errors",
        "DrawingError": "errors",
        "Event": "events",
        "Failure": "state",
        "HumanAnswer": "supervision.records",
        "JudgeCalls": "state",
        "LangGraphOrchestrator": "engine",
        "ModelPrice": "budget",
        "ModelSupervisor": "supervision.agents",
        "OrchestratorError": "errors",
        "OrchestratorState": "state",
        "Planned": "events",
        "Question": "state",
        "Replanned": "events",
        "ResumeError": "errors",
        "Retries": "state",
        "RetryPolicy": "retry",
        "RunFinished": "events",
        "RunPaused": "events",
        "RunResumed": "events",
        "RunStarted": "events",
        "StallRules": "stalls",
        "StepExecuted": "events",
        "StepJudged": "events",
        "StepRecord": "state",
        "StepRetried": "events",
        "StepStarted": "events",
        "StoreError": "errors",
        "StoreLostError": "errors",
        "SupervisionPolicy": "supervision.policy",
        "SupervisionRecord": "supervision.records",
        "Supervisor": "supervision.ports",
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
    "BrokenRunError",
    "Budget",
    "BudgetExceededError",
    "ConfigurationError",
    "ContractFunctionError",
    "DrawingError",
    "Event",
    "Failure",
    "HumanAnswer",
    "JudgeCalls",
    "LangGraphOrchestrator",
    "ModelPrice",
    "ModelSupervisor",
    "OrchestratorError",
    "OrchestratorState",
    "Planned",
    "Question",
    "Replanned",
    "ResumeError",
    "Retries",
    "RetryPolicy",
    "RunFinished",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "StallRules",
    "StepExecuted",
    "StepJudged",
    "StepRecord",
    "StepRetried",
    "StepStarted",
    "StoreError",
    "StoreLostError",
    "SupervisionPolicy",
    "SupervisionRecord",
    "Supervisor",
    "ToolCallRecord",
    "Usage",
]
