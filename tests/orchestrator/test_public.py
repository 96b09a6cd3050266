"""The public methods of the orchestrator, and its errors."""

import inspect

import orchestrator

METHODS = inspect.getmembers(orchestrator.LangGraphOrchestrator, inspect.isfunction)


def test_every_public_method_is_documented():
    undocumented = [name for name, method in METHODS if not (name.startswith("_") or inspect.getdoc(method))]

    assert undocumented == []


def test_the_documented_arguments_come_first_and_in_this_order():
    parameters = inspect.signature(orchestrator.LangGraphOrchestrator).parameters.values()
    positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]

    assert positional == ["planner", "executor", "monitor", "compressor", "max_retries"]
