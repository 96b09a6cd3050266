"""Strategies of installed packages."""

from __future__ import annotations

import pytest

from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.retry.custom import load_strategy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner

CODE = """
from dataclasses import replace

def louder(step):
    mark = step.options["mark"] * len(step.history)
    return replace(step.request, instruction=f"{step.request.instruction}{mark} {step.feedback}")

def broken(step):
    raise ValueError("no idea")

def empty(step):
    return None
"""


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """An installed package with three strategies."""
    folder = tmp_path / "louder_strategies-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: louder-strategies\nVersion: 1\n")
    names = "".join(f"{name} = louder_strategies:{name}\n" for name in ("louder", "broken", "empty"))
    (folder / "entry_points.txt").write_text(f"[orchestrator.retry_strategies]\n{names}")
    (tmp_path / "louder_strategies.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    load_strategy.cache_clear()
    yield
    load_strategy.cache_clear()


def run(name, executor):
    rule = {"use": "custom", "name": name, "options": {"mark": "!"}}
    monitor = FakeMonitor(refuse("too quiet"), accept())
    policy = RetryPolicy(strategies=[rule])
    return LangGraphOrchestrator(FakePlanner(["speak"]), executor, monitor, retry_policy=policy).run("x")


def test_a_strategy_says_how_the_step_is_executed_again():
    executor = FakeExecutor()

    assert run("louder", executor)["status"] == "success"
    assert executor.calls[1].step == "speak! too quiet"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("broken", "the retry strategy 'broken' raised ValueError: no idea"),
        ("empty", "the retry strategy 'empty' returned a NoneType; it has to return a StepRequest"),
    ],
)
def test_a_strategy_that_fails_ends_the_run_with_its_reason(name, problem):
    state = run(name, FakeExecutor())

    assert (state["status"], state["failure"]["kind"]) == ("failed", "executor_error")
    assert problem in state["failure"]["message"]
    assert len(state["results"]) == 1
