from collections.abc import Mapping

import pytest

from agents import ExecutionAgent
from agents.credentials.detector import Span
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, Price
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.runs import failure_kind
from tests.fakes.runs import run as run_agents
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor


def run(executor: object = None, **options: object) -> Mapping[str, object]:
    return run_agents(executor, plan=["one"], max_retries=0, **options)


def report_of(state: Mapping[str, object]) -> Mapping[str, object]:
    return state["results"][0]["report"]


def test_prices_compute_the_cost():
    llm = ScriptedChatModel(["the result"], usage=(1000, 0))
    prices = dict.fromkeys(["unknown", "ScriptedChatModel"], Price(input_usd=5.0, output_usd=5.0))
    contract = EvaluationContract(thresholds={"cost_usd": {"max": 1.0}})
    state = run(ExecutionAgent(llm), contract=contract, evaluation={"prices": prices})

    assert report_of(state)["metrics"]["operational"]["cost_usd"] == pytest.approx(0.005)


class Names:
    """A recogniser that takes "Ada" at the start of a text for a name."""

    def find(self, text: str) -> list[Span]:
        return [Span(0, 3, "name", "personal")] if text.startswith("Ada") else []


def test_a_recogniser_finds_sensitive_data_in_the_output_of_a_step():
    contract = EvaluationContract(required_content=[{"text": "said"}])
    options = {"recognizers": (Names(),)}
    plain, searched = (
        report_of(run(FakeExecutor("Ada said so"), contract=contract, evaluation=evaluation))
        for evaluation in (None, options)
    )

    assert "personal_data.name" not in str(plain)
    assert "personal_data.name" in str(searched)


def test_an_execution_that_raised_has_a_report(subtests):
    for supervision in ["none", "llm"]:
        with subtests.test(supervision=supervision):
            executor, monitor = SpeakingExecutor(ValueError("no network")), FakeMonitor()
            options = {"supervision": supervision, "supervisor": FakeSupervisor()}
            state = run_agents(executor, monitor, ["one"], **options)
            report = report_of(state)

            assert (failure_kind(state), report["status"]) == ("executor_error", "failed")
            assert monitor.calls == []
            assert [alert["kind"] for alert in report["alerts"]] == ["execution"]
            assert report["alerts"][0]["reason"] == "The run ended in an error: ValueError: no network."
            assert report["metrics"]["operational"]["latency_ms"] >= 0
