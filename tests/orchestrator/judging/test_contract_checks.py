"""Contracts with checks in a run: of the planner, of the caller, and of the final output."""

from __future__ import annotations

from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import CorrectingExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

SHORT = {"check": "word_count", "max": 2}


def run(executor, plan=("Name a river",), **options):
    return LangGraphOrchestrator(FakePlanner([*plan]), executor, FakeMonitor(), **options).run("Rivers")


def test_the_checks_of_the_only_step_and_of_the_output_are_joined():
    contract = EvaluationContract(checks=[SHORT])
    output = EvaluationContract(checks=[{"check": "starts_with", "text": "Rhine"}])
    state = run(CorrectingExecutor("Elbe", "Rhine"), step_contract=contract, contract=output)

    first, second = (record["report"]["checks"] for record in state["results"])
    assert [check["passed"] for check in first] == [True, False]
    assert [check["passed"] for check in second] == [True, True]


def test_a_check_that_cannot_be_decided_is_no_success():
    contract = EvaluationContract(checks=[{"check": "word_count", "exactly": 3}])
    state = run(CorrectingExecutor("สวัสดีครับ ผมชื่อสมชาย"), contract=contract)

    assert state["status"] == "failed"
    assert {record["status"] for record in state["results"]} == {"needs_review"}
