"""From a model specification to an orchestrator."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ModelSpecError
from evaluation import EvaluationContract
from orchestrator import Budget, RetryPolicy, SupervisionPolicy
from orchestrator.settings import Settings
from orchestrator.wiring import build_orchestrator
from tests.fakes.chat_server import SUPERVISE, answers, assessment, serving, supervision

BY_NEED = ("orchestrator.wiring", "orchestrator.cli", "typer", "rich", "langchain_openai", "langchain_ollama")
HEAVY = ("langgraph", "langchain_core", "pydantic", "agents", "asyncio")


@pytest.fixture
def served(monkeypatch, environment):
    with serving(answers()) as chat:
        for name, value in chat.environment.items():
            monkeypatch.setenv(name, value)
        yield chat


def test_planning_executing_and_judging_all_ask_the_model_of_the_specification(served):
    state = build_orchestrator("openai:scripted").run("the task")

    assert state["status"] == "success"
    assert served.asked == ["plan", "step", "verdict"]
    assert set(served.models) == {"scripted"}


def test_each_role_can_have_a_model_of_its_own(served):
    build_orchestrator(
        "nonsense",
        planner_model="openai:large",
        executor_model="openai:small",
        monitor_model="openai:strict",
    ).run("the task")

    assert list(zip(served.asked, served.models, strict=True)) == [
        ("plan", "large"),
        ("step", "small"),
        ("verdict", "strict"),
    ]


def test_a_role_without_a_model_of_its_own_has_the_common_one(served):
    build_orchestrator("openai:common", monitor_model="openai:strict").run("the task")

    assert served.models == ["common", "common", "strict"]


@pytest.fixture
def doubted(monkeypatch, environment):
    """A model whose executor has a concern, and whose supervisor lets it stand."""
    with serving(
        answers(assessments=[assessment(True, "odd")], supervisions=[supervision("continue", "fine")])
    ) as chat:
        for name, value in chat.environment.items():
            monkeypatch.setenv(name, value)
        yield chat


@pytest.mark.parametrize(("own", "asked"), [("openai:boss", "boss"), (None, "strict")])
def test_the_supervisor_has_its_own_model_or_else_the_monitors(doubted, own, asked):
    settings = Settings(supervision="llm")

    state = build_orchestrator(
        "openai:common", settings, monitor_model="openai:strict", supervisor_model=own
    ).run("the task")

    assert state["status"] == "success"
    assert dict(zip(doubted.asked, doubted.models, strict=True))[SUPERVISE] == asked


ONE_ATTEMPT = Settings(retry_policy=RetryPolicy(max_retries=0))


def test_every_step_has_to_fulfil_the_contract(served):
    contract = EvaluationContract(required_content=[{"text": "a word that is not there"}])

    state = build_orchestrator("openai:scripted", ONE_ATTEMPT, contract=contract).run("the task")

    assert state["failure"]["kind"] == "attempts_exhausted"
    assert "a word that is not there" in state["results"][0]["verdict"]["feedback"]


class Strict:
    """A judge to whom nothing is good enough."""

    def judge(self, request):
        return {"score": 1, "rationale": "Not good enough"}


def test_a_judge_judges_in_place_of_the_monitor(served):
    contract = EvaluationContract(subjective_criteria=["clarity"])

    state = build_orchestrator(
        "openai:scripted",
        ONE_ATTEMPT,
        contract=contract,
        judge=Strict(),
    ).run("the task")

    assert "Not good enough" in state["failure"]["message"]
    assert "verdict" not in served.asked


@pytest.mark.parametrize("role", ["planner_model", "executor_model", "monitor_model", "supervisor_model"])
@pytest.mark.parametrize("spec", ["nonsense", ""])
def test_an_unknown_specification_of_a_role_is_refused(served, role, spec):
    with pytest.raises(ModelSpecError, match="names no model"):
        build_orchestrator("openai:common", **{role: spec})


def test_settings_hooks_and_checkpointer_are_passed_through(served):
    settings = Settings(
        max_plan_steps=9,
        call_timeout=20.0,
        step_timeout=30.0,
        retry_policy=RetryPolicy(max_retries=4, judge_attempts=3),
        budget=Budget(max_seconds=60.0),
        supervision="llm",
        supervision_policy=SupervisionPolicy(max_reorient_attempts=5, human=True),
        max_parallel_steps=3,
        human=True,  # since there is a checkpointer
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    events, saver = [], InMemorySaver()

    built = build_orchestrator("openai:scripted", settings, checkpointer=saver, hooks=[events.append])
    built.run("the task")

    assert built.settings == settings
    assert built.graph.checkpointer is saver
    assert events


def test_an_unknown_specification_is_refused():
    with pytest.raises(ModelSpecError, match="names no model"):
        build_orchestrator("nonsense")


def imported(environment, code, names):
    """Which of these modules some code imports, in an interpreter of its own."""
    script = (
        "import httpx, sys; before = set(sys.modules)\n"  # brings rich itself
        f"{code}; print([name for name in {names!r} if name in set(sys.modules) - before])"
    )
    return subprocess.check_output([sys.executable, "-c", script], env=environment, text=True)


def test_importing_the_orchestrator_imports_no_adapter_and_no_command_line(environment):
    assert imported(environment, "from orchestrator import LangGraphOrchestrator", BY_NEED) == "[]\n"


@pytest.mark.parametrize("package", ["orchestrator", "orchestrator.cli"])
def test_importing_a_package_alone_imports_nothing_heavy(environment, package):
    assert imported(environment, f"import {package}", HEAVY) == "[]\n"


def test_the_help_imports_nothing_that_a_run_needs(environment):
    assert imported(environment, "import orchestrator.cli.app", (*HEAVY[:-1], "platformdirs")) == "[]\n"


def test_a_run_imports_the_adapter_of_its_store_by_need(environment):
    assert imported(environment, "import orchestrator.cli.run", ("langgraph.checkpoint.sqlite",)) == "[]\n"
