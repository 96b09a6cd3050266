"""Runs multi-step tasks with language-model agents, and has every step judged.

Each name is imported when it is first asked for: LangGraph and LangChain take seconds, and the command
line has to be ready for Ctrl-C before them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from orchestrator.retry.policy import RetryPolicy
    from orchestrator.retry.stalls import StallRules
    from orchestrator.runtime.budget import Budget, ModelPrice
    from orchestrator.runtime.events import (
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
    from orchestrator.state.graph_state import (
        Failure,
        JudgeCalls,
        OrchestratorState,
        Question,
        Retries,
        StepRecord,
        ToolCallRecord,
        Usage,
    )
    from orchestrator.state.records import HumanAnswer, SupervisionRecord
    from orchestrator.supervision.agents import ModelSupervisor
    from orchestrator.supervision.policy import SupervisionPolicy
    from orchestrator.supervision.protocols import Supervisor
else:
    _HOMES = {
        "Budget": "orchestrator.runtime.budget",
        "BrokenRunError": "orchestrator.errors",
        "BudgetExceededError": "orchestrator.errors",
        "ConfigurationError": "orchestrator.errors",
        "ContractFunctionError": "orchestrator.errors",
        "DrawingError": "orchestrator.errors",
        "Event": "orchestrator.runtime.events",
        "Failure": "orchestrator.state.graph_state",
        "HumanAnswer": "orchestrator.state.records",
        "JudgeCalls": "orchestrator.state.graph_state",
        "LangGraphOrchestrator": "orchestrator.engine",
        "ModelPrice": "orchestrator.runtime.budget",
        "ModelSupervisor": "orchestrator.supervision.agents",
        "OrchestratorError": "orchestrator.errors",
        "OrchestratorState": "orchestrator.state.graph_state",
        "Planned": "orchestrator.runtime.events",
        "Question": "orchestrator.state.graph_state",
        "Replanned": "orchestrator.runtime.events",
        "ResumeError": "orchestrator.errors",
        "Retries": "orchestrator.state.graph_state",
        "RetryPolicy": "orchestrator.retry.policy",
        "RunFinished": "orchestrator.runtime.events",
        "RunPaused": "orchestrator.runtime.events",
        "RunResumed": "orchestrator.runtime.events",
        "RunStarted": "orchestrator.runtime.events",
        "StallRules": "orchestrator.retry.stalls",
        "StepExecuted": "orchestrator.runtime.events",
        "StepJudged": "orchestrator.runtime.events",
        "StepRecord": "orchestrator.state.graph_state",
        "StepRetried": "orchestrator.runtime.events",
        "StepStarted": "orchestrator.runtime.events",
        "StoreError": "orchestrator.errors",
        "StoreLostError": "orchestrator.errors",
        "SupervisionPolicy": "orchestrator.supervision.policy",
        "SupervisionRecord": "orchestrator.state.records",
        "Supervisor": "orchestrator.supervision.protocols",
        "ToolCallRecord": "orchestrator.state.graph_state",
        "Usage": "orchestrator.state.graph_state",
    }

    # Out of a type checker's sight, for which any name would be there otherwise.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


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
