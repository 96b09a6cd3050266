"""The public surface, listed."""

from __future__ import annotations

import inspect

import pytest

import orchestrator

PUBLIC = [
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

METHODS = [
    "run",
    "arun",
    "stream",
    "astream",
    "resume",
    "aresume",
    "stream_resumed",
    "astream_resumed",
    "fork",
    "afork",
    "astream_forked",
    "cancel",
    "model_call_bound",
    "draw_mermaid",
    "draw_png",
]


def test_the_public_names_are_these():
    assert orchestrator.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    assert inspect.getdoc(getattr(orchestrator, name))


def test_a_name_that_is_not_public_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'orchestrator' has no attribute 'Nonsense'"):
        _ = orchestrator.Nonsense


def test_every_public_name_is_listed():
    assert set(PUBLIC) <= set(dir(orchestrator))


@pytest.mark.parametrize("name", METHODS)
def test_every_public_method_is_documented(name):
    assert inspect.getdoc(getattr(orchestrator.LangGraphOrchestrator, name))


def test_the_orchestrator_has_no_other_public_methods():
    methods = inspect.getmembers(orchestrator.LangGraphOrchestrator, inspect.isfunction)

    assert sorted(name for name, _ in methods if not name.startswith("_")) == sorted(METHODS)


def test_the_documented_arguments_come_first_and_in_this_order():
    parameters = inspect.signature(orchestrator.LangGraphOrchestrator).parameters.values()
    positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]

    assert positional == ["planner", "executor", "monitor", "compressor", "max_retries"]


@pytest.mark.parametrize("error", ["BudgetExceededError", "ConfigurationError", "DrawingError"])
def test_every_error_has_one_root(error):
    assert issubclass(getattr(orchestrator, error), orchestrator.OrchestratorError)
