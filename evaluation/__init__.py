"""Measures recorded runs of agents; imports neither of the other two packages.

``evaluate`` takes one run with its contract and returns a report; ``evaluate_many`` a stream of them;
``build_evaluation_graph`` gives the same as a LangGraph. Each name is imported when it is first asked for:
the metrics need no LangGraph.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.comparison import compare
    from evaluation.errors import ContractError, EvaluationError, JudgeError, MissingExtraError
    from evaluation.graph import build_evaluation_graph
    from evaluation.inputs.case_files import read_cases
    from evaluation.inputs.contract import EvaluationCase, EvaluationContract
    from evaluation.inputs.messages import run_from_messages
    from evaluation.inputs.rules import Rubric
    from evaluation.inputs.run import AgentRun, RunMetadata, ToolCall
    from evaluation.judges.cache import CachedJudge, FileStore, MemoryStore
    from evaluation.judges.calibration import calibrate
    from evaluation.judges.model_judge import RubricJudge
    from evaluation.judges.panel import JudgePanel
    from evaluation.plugins import AsyncJudge, Judge, JudgeRequest, Price
    from evaluation.results.alerts import Alert
    from evaluation.results.report import EvaluationReport
    from evaluation.results.state import EvaluationState
    from evaluation.runner import aevaluate, evaluate, evaluate_many
else:
    _HOMES = {
        "AgentRun": "evaluation.inputs.run",
        "Alert": "evaluation.results.alerts",
        "AsyncJudge": "evaluation.plugins",
        "CachedJudge": "evaluation.judges.cache",
        "ContractError": "evaluation.errors",
        "EvaluationCase": "evaluation.inputs.contract",
        "EvaluationContract": "evaluation.inputs.contract",
        "EvaluationError": "evaluation.errors",
        "EvaluationReport": "evaluation.results.report",
        "EvaluationState": "evaluation.results.state",
        "FileStore": "evaluation.judges.cache",
        "Judge": "evaluation.plugins",
        "JudgeError": "evaluation.errors",
        "JudgePanel": "evaluation.judges.panel",
        "JudgeRequest": "evaluation.plugins",
        "MemoryStore": "evaluation.judges.cache",
        "MissingExtraError": "evaluation.errors",
        "Price": "evaluation.plugins",
        "Rubric": "evaluation.inputs.rules",
        "RubricJudge": "evaluation.judges.model_judge",
        "RunMetadata": "evaluation.inputs.run",
        "ToolCall": "evaluation.inputs.run",
        "aevaluate": "evaluation.runner",
        "build_evaluation_graph": "evaluation.graph",
        "calibrate": "evaluation.judges.calibration",
        "compare": "evaluation.comparison",
        "evaluate": "evaluation.runner",
        "evaluate_many": "evaluation.runner",
        "read_cases": "evaluation.inputs.case_files",
        "run_from_messages": "evaluation.inputs.messages",
    }

    # Out of a type checker's sight, for which any name would be there otherwise.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


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
