"""The public methods of the orchestrator, and its errors."""

import inspect

import orchestrator

METHODS = [
    "run",
    "arun",
    "arun_once",
    "stream",
    "astream",
    "resume",
    "aresume",
    "stream_resumed",
    "astream_resumed",
    "fork",
    "astream_forked",
    "interrupt",
    "cancel",
    "acancel",
    "draw_mermaid",
]


def test_every_public_method_is_documented(subtests):
    for name in METHODS:
        with subtests.test(name=name):
            assert inspect.getdoc(getattr(orchestrator.LangGraphOrchestrator, name))


def test_the_orchestrator_has_no_other_public_methods():
    methods = inspect.getmembers(orchestrator.LangGraphOrchestrator, inspect.isfunction)

    assert sorted(name for name, _ in methods if not name.startswith("_")) == sorted(METHODS)


def test_the_documented_arguments_come_first_and_in_this_order():
    parameters = inspect.signature(orchestrator.LangGraphOrchestrator).parameters.values()
    positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]

    assert positional == ["planner", "executor", "monitor", "compressor", "max_retries"]
