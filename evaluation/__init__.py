"""Measures recorded runs of agents; imports neither of the other two packages.

``evaluate`` takes one run with its contract and returns a report; ``evaluate_many`` a stream of them;
``build_evaluation_graph`` gives the same as a LangGraph. Each name is imported when it is first asked for:
the metrics need no LangGraph.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.alerts import Alert
    from evaluation.case_files import read_cases
    from evaluation.chat_log import run_from_messages
    from evaluation.comparison import compare
    from evaluation.contracts import EvaluationCase, EvaluationContract
    from evaluation.errors import ContractError, EvaluationError, JudgeError, MissingExtraError
    from evaluation.graph import build_evaluation_graph
    from evaluation.injected import Price
    from evaluation.judges.caching import CachedJudge
    from evaluation.judges.calibration import calibrate
    from evaluation.judges.model_judge import RubricJudge
    from evaluation.judges.panel import JudgePanel
    from evaluation.judges.stores import FileStore, MemoryStore
    from evaluation.judging import AsyncJudge, Judge, JudgeRequest
    from evaluation.reports import EvaluationReport
    from evaluation.rules import Rubric
    from evaluation.runner import aevaluate, evaluate, evaluate_many
    from evaluation.runs import AgentRun, RunMetadata, ToolCall
    from evaluation.state import EvaluationState
else:
    _HOMES = {
        "AgentRun": "runs",
        "Alert": "alerts",
        "AsyncJudge": "judging",
        "CachedJudge": "judges.caching",
        "ContractError": "errors",
        "EvaluationCase": "contracts",
        "EvaluationContract": "contracts",
        "EvaluationError": "errors",
        "EvaluationReport": "reports",
        "EvaluationState": "state",
        "FileStore": "judges.stores",
        "Judge": "judging",
        "JudgeError": "errors",
        "JudgePanel": "judges.panel",
        "JudgeRequest": "judging",
        "MemoryStore": "judges.stores",
        "MissingExtraError": "errors",
        "Price": "injected",
        "Rubric": "rules",
        "RubricJudge": "judges.model_judge",
        "RunMetadata": "runs",
        "ToolCall": "runs",
        "aevaluate": "runner",
        "build_evaluation_graph": "graph",
        "calibrate": "judges.calibration",
        "compare": "comparison",
        "evaluate": "runner",
        "evaluate_many": "runner",
        "read_cases": "case_files",
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
    "CachedJudge",
    "ContractError",
    "EvaluationCase",
    "EvaluationContract",
    "EvaluationError",
    "EvaluationReport",
    "EvaluationState",
    "FileStore",
    "Judge",
    "JudgeError",
    "JudgePanel",
    "JudgeRequest",
    "MemoryStore",
    "MissingExtraError",
    "Price",
    "Rubric",
    "RubricJudge",
    "RunMetadata",
    "ToolCall",
    "aevaluate",
    "build_evaluation_graph",
    "calibrate",
    "compare",
    "evaluate",
    "evaluate_many",
    "read_cases",
    "run_from_messages",
]
