"""EvaluationOptions: the plug-ins and the baseline of the evaluation reach every step of a run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, EvaluationReport, Price, evaluate
from evaluation.sensitive.spans import Span
from orchestrator import ConfigurationError, EvaluationOptions, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor

LATENCY = {"operational": {"latency_ms": 1e-6}}


def run(executor: object = None, **options: object) -> Mapping[str, object]:
    agents = FakePlanner(["one"]), executor or FakeExecutor(), FakeMonitor()
    return LangGraphOrchestrator(*agents, max_retries=0, **options).run("x")


def report_of(state: Mapping[str, object]) -> Mapping[str, object]:
    return state["results"][0]["report"]


def test_prices_compute_the_cost():
    llm = ScriptedChatModel(["the result"], usage=(1000, 0))
    prices = {
        "unknown": Price(input_usd=5.0, output_usd=5.0),
        "ScriptedChatModel": Price(input_usd=5.0, output_usd=5.0),
    }
    state = run(
        ExecutionAgent(llm),
        contract=EvaluationContract(thresholds={"cost_usd": {"max": 1.0}}),
        evaluation=EvaluationOptions(prices=prices),
    )

    assert report_of(state)["metrics"]["operational"]["cost_usd"] == pytest.approx(0.005)


class Names:
    """A recogniser that takes "Ada" at the start of a text for a name."""

    def find(self, text: str) -> list[Span]:
        return [Span(0, 3, "name", "personal")] if text.startswith("Ada") else []


def test_a_recogniser_finds_sensitive_data_in_the_output_of_a_step():
    contract = EvaluationContract(required_content=[{"text": "said"}])
    options = EvaluationOptions(recognizers=(Names(),))
    plain, searched = (
        report_of(run(FakeExecutor("Ada said so"), contract=contract, evaluation=evaluation))
        for evaluation in (None, options)
    )

    assert "personal_data.name" not in str(plain)
    assert "personal_data.name" in str(searched)


def build_report() -> EvaluationReport:
    return evaluate({"agent_run": {"final_output": "x", "latency_ms": 1e-6}, "keywords": ["x"]})


@pytest.mark.parametrize(
    "baseline",
    [LATENCY, build_report(), lambda task, step: LATENCY if (task, step) == ("x", "one") else None],
    ids=["metrics", "report", "function"],
)
def test_a_step_is_compared_with_the_baseline(baseline):
    state = run(evaluation=EvaluationOptions(baseline=baseline))

    assert "latency_ms" in str(report_of(state)["drift_signals"]["signals"])


def test_a_baseline_function_that_raises_ends_the_run_with_its_words():
    def read_nothing(task: str, step: str) -> None:
        raise OSError("the disk is gone")

    failure = run(evaluation=EvaluationOptions(baseline=read_nothing))["failure"]

    assert failure["kind"] == "contract_error"
    assert "the baseline function raised OSError: the disk is gone" in failure["message"]


@pytest.mark.parametrize("supervision", ["none", "llm"])
@pytest.mark.parametrize("needs", [None, []], ids=["alone", "parallel"])
def test_an_execution_that_raised_has_a_report(supervision, needs):
    step = "one" if needs is None else {"step": "one", "needs": needs}
    executor, monitor = SpeakingExecutor(ValueError("no network")), FakeMonitor()
    options = {"supervision": supervision, "supervisor": FakeSupervisor()}
    state = LangGraphOrchestrator(FakePlanner([step]), executor, monitor, **options).run("x")
    report = report_of(state)

    assert (state["failure"]["kind"], report["status"], monitor.calls) == ("executor_error", "failed", [])
    assert [alert["kind"] for alert in report["alerts"]] == ["execution"]
    assert report["alerts"][0]["reason"] == "The run ended in an error: ValueError: no network."
    assert report["metrics"]["operational"]["latency_ms"] >= 0


@pytest.mark.parametrize("baseline", ["stored", 3, ["report"]])
def test_a_baseline_of_another_type_is_refused(baseline):
    with pytest.raises(ConfigurationError, match="give an earlier report, metrics by name, or a function"):
        EvaluationOptions(baseline=baseline)


def test_options_of_another_type_are_refused():
    with pytest.raises(ConfigurationError, match=r"evaluation is .*; give EvaluationOptions"):
        run(evaluation={"baseline": LATENCY})
