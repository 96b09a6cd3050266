"""Measures recorded runs of agents; imports neither of the other two packages.

``evaluate`` takes one run with its contract and returns a report; ``evaluate_many`` a stream of them;
``build_evaluation_graph`` gives the same as a LangGraph. Each name is imported when it is first asked for:
the metrics need no LangGraph.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.alerts import Alert
    from evaluation.chat_log import run_from_messages
    from evaluation.contracts import EvaluationCase, EvaluationContract
    from evaluation.errors import ContractError, EvaluationError, JudgeError, MissingExtraError
    from evaluation.graph import build_evaluation_graph
    from evaluation.injected import Price
    from evaluation.judging import AsyncJudge, Judge, JudgeRequest
    from evaluation.reports import EvaluationReport
    from evaluation.runner import aevaluate, evaluate, evaluate_many
    from evaluation.runs import AgentRun, RunMetadata, ToolCall
    from evaluation.state import EvaluationState
else:
    _HOMES = {
        "AgentRun": "runs",
        "Alert": "alerts",
        "AsyncJudge": "judging",
        "ContractError": "errors",
        "EvaluationCase": "contracts",
        "EvaluationContract": "contracts",
        "EvaluationError": "errors",
        "EvaluationReport": "reports",
        "EvaluationState": "state",
        "Judge": "judging",
        "JudgeError": "errors",
        "JudgeRequest": "judging",
        "MissingExtraError": "errors",
        "Price": "injected",
        "RunMetadata": "runs",
        "ToolCall": "runs",
        "aevaluate": "runner",
        "build_evaluation_graph": "graph",
        "evaluate": "runner",
        "evaluate_many": "runner",
        "run_from_messages": "chat_log",
    }

    # Out of a type checker's sight, for which any name would be there otherwise.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "AgentRun",
    "Alert",
    "AsyncJudge",
    "ContractError",
    "EvaluationCase",
    "EvaluationContract",
    "EvaluationError",
    "EvaluationReport",
    "EvaluationState",
    "Judge",
    "JudgeError",
    "JudgeRequest",
    "MissingExtraError",
    "Price",
    "RunMetadata",
    "ToolCall",
    "aevaluate",
    "build_evaluation_graph",
    "evaluate",
    "evaluate_many",
    "run_from_messages",
]
