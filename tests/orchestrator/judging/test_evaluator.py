"""The monitor delegates: every execution is evaluated against its contract, and the report decides."""

from functools import reduce

import pytest
from langchain_core.messages import AIMessage

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from evaluation.testing import ScriptedJudge
from orchestrator import ConfigurationError, RetryPolicy
from orchestrator.judging.feedback import list_kinds
from tests.fakes.executor import CorrectingExecutor, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build, failure_kind, run, statuses
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, met

DONE = EvaluationContract(required_content=[{"text": "done"}])
ABSENT = EvaluationContract(required_content=[{"text": "absent"}])
CLEAR = EvaluationContract(subjective_criteria=["clarity"])
BOTH = EvaluationContract(required_content=[{"text": "done"}], subjective_criteria=["clarity"])
TOO_DEEP = EvaluationContract(
    expected_trajectory=[{"name": "pay", "args": reduce(lambda inner, _: {"in": inner}, range(120), {})}]
)
MILD = EvaluationContract(required_content=[{"text": "please", "severity": "warning"}, {"text": "done"}])
LOG_IN = {"name": "log_in", "args": {"password": "hunter2hunter2"}, "id": "1"}


def log_in(password: str) -> str:
    """Log in."""
    return "ok"


GOOD = {"score": 5, "rationale": "clear"}
POOR = {"score": 1, "rationale": "muddled"}


# Deterministic first


def test_the_totals_count_the_judge_calls_that_were_made_and_saved(subtests):
    for contract, calls in [
        (None, {"made": 2, "saved": 0}),
        (DONE, {"made": 0, "saved": 2}),
        (CLEAR, {"made": 2, "saved": 0}),
        (BOTH, {"made": 2, "saved": 0}),
        (lambda step, index: DONE if index else None, {"made": 1, "saved": 1}),
    ]:
        with subtests.test(contract=contract):
            assert run(step_contract=contract)["judge_calls"] == calls


# What decides


def test_the_verdict_is_that_of_the_report(subtests):
    for contract, monitor, success in [
        (DONE, refuse("I do not like it"), True),
        (ABSENT, accept(), False),
        (BOTH, refuse("unclear"), False),
        (
            EvaluationContract(required_content=[{"text": "absent"}], subjective_criteria=["c"]),
            accept(),
            False,
        ),
        (None, accept(), True),
        (None, refuse(), False),
    ]:
        with subtests.test(contract=contract, monitor=monitor):
            record = run(monitor=FakeMonitor(monitor), plan=["one"], contract=contract, max_retries=0)[
                "results"
            ][0]

            assert record["verdict"]["success"] is success
            assert record["status"] == ("validated" if success else "failed")


def test_a_step_passes_with_its_warnings_kept():
    state = run(step_contract=MILD)

    assert statuses(state) == ["validated", "validated"]
    assert all(record["report"]["status"] == "warning" for record in state["results"])
    assert all("please" in record["warnings"][0] for record in state["results"])
    assert [warning.split(":")[0] for warning in state["warnings"]] == ["step 1", "step 2"]


def test_a_contract_that_cannot_be_evaluated_is_our_error_and_says_so():
    state = run(plan=["one"], contract=TOO_DEEP)

    assert (failure_kind(state), statuses(state)) == ("evaluation_error", ["needs_review"])
    assert "cannot be evaluated" in state["failure"]["message"]


def broken_at(step_index, result):
    def contract(step, index):
        if index < step_index:
            return None
        if isinstance(result, BaseException):
            raise result
        return result

    return contract


def test_a_contract_function_that_gives_no_contract_fails_that_step_with_its_cause(subtests):
    for at in [0, 1]:
        for result, sentence in [
            (ValueError("no idea"), "the contract function raised ValueError: no idea"),
            (SystemExit(3), "the contract function raised SystemExit: 3"),
            ({"no_field": 1}, "the contract function: no_field: no field has this name"),
            (True, "the contract function: contract: give an object, not True"),
        ]:
            with subtests.test(at=at, result=result):
                state = run(step_contract=broken_at(at, result))

                assert (failure_kind(state), state["failure"]["step_index"]) == ("contract_error", at)
                assert state["failure"]["message"].startswith(f"step {at + 1}: {sentence}")
                assert statuses(state) == ["validated"] * at


# A judge in place of the monitor


def test_a_judge_decides_in_place_of_the_monitor(subtests):
    judges = [(ScriptedJudge([GOOD] * 3), True), (ScriptedJudge([POOR] * 3), False), (judge_slowly, True)]
    for judge, success in judges:
        for contract in [None, CLEAR, BOTH]:
            with subtests.test(judge=judge, contract=contract):
                monitor = FakeMonitor(accept() if not success else refuse())
                state = run(monitor=monitor, plan=["one"], judge=judge, contract=contract, max_retries=0)

                assert state["results"][0]["verdict"]["success"] is success
                assert monitor.calls == []


async def judge_slowly(request):
    return GOOD if "done" in request.output else POOR


def test_what_is_no_judge_is_refused(subtests):
    for judge, problem in [
        ("judge", "judge is a str; give .* a function"),
        (GOOD, "judge is a dict; give "),
        (ScriptedJudge, "judge is the class ScriptedJudge; give an instance of it"),
    ]:
        with subtests.test(judge=judge), pytest.raises(ConfigurationError, match=problem):
            build(judge=judge)


def test_a_threshold_without_a_metric_and_without_a_direction_is_refused_before_a_run():
    contract = EvaluationContract(thresholds={"tokens": 300})

    with pytest.raises(ConfigurationError, match=r"contract\.thresholds\.tokens: .* 'total_tokens'"):
        build(step_contract=contract)
    state = run(plan=["one"], step_contract=lambda step, index: contract)

    assert failure_kind(state) == "evaluation_error"
    assert "thresholds.tokens: is no metric" in state["failure"]["message"]


# What the monitor is told


def test_the_monitor_is_told_what_else_the_contract_wants_judged():
    monitor = FakeMonitor()
    contract = EvaluationContract(subjective_criteria=["neutrality"], reference_output="a fine answer")
    run(monitor=monitor, plan=["one"], contract=contract)
    [(objective, _)] = monitor.calls

    assert objective.startswith("one\n")
    assert "- neutrality" in objective
    assert objective.endswith("A good answer would be:\na fine answer")


def test_an_output_with_a_credential_is_refused_although_the_monitor_approves():
    executor = FakeExecutor("password=hunter2hunter2")
    state = run(executor, plan=["one"], retry_policy=RetryPolicy(max_retries=0))

    assert (state["status"], list_kinds(state["results"][0]["report"])) == ("failed", ["content"])


def test_without_contracts_a_credential_in_a_tool_call_is_only_noted():
    model = ScriptedChatModel([AIMessage("", tool_calls=[LOG_IN]), "logged in"])
    state = run(ExecutionAgent(model, tools=[log_in]), plan=["one"])

    [alert] = state["results"][0]["report"]["alerts"]
    assert (state["status"], alert["severity"]) == ("success", "info")


# An executor that lies


def test_an_executor_that_praises_its_work_is_caught_by_the_evaluation():
    executor = SpeakingExecutor("bad work", "it is done", said=[met()])
    supervisor = FakeSupervisor()
    state = run(executor, plan=["one"], contract=DONE, supervision="llm", supervisor=supervisor)

    assert statuses(state) == ["failed", "validated"]
    assert state["results"][0]["supervision"]["assessment"]["met_commitment"] is True
    assert any("is missing" in finding for finding in supervisor.requests[0]["findings"])


# What it costs


def test_what_judging_spent_counts_for_the_run_and_the_execution():
    model = ScriptedChatModel(lambda messages: '{"success": true, "feedback": "good"}', usage=(7, 2))
    state = run(monitor=MonitoringAgent(model), plan=["one"])

    assert state["results"][0]["judge_usage"]["total_tokens"] == 9
    assert (state["usage"]["model_calls"], state["usage"]["total_tokens"]) == (1, 9)


class WrappingMonitor:
    def __init__(self, *replies):
        self.inner = MonitoringAgent(ScriptedChatModel(list(replies)))

    def evaluate(self, objective, result):
        return dict(self.inner.evaluate(objective, result))


PROSE = 'It asks me to say {"success": true, "feedback": "met"}.'
CLEAN = '{"success": true, "feedback": "met"}'


def test_an_approval_within_prose_passes_no_step(subtests):
    for replies, expected in [
        ((PROSE, CLEAN), "validated"),
        ((PROSE,) * 4, "needs_review"),
        ((CLEAN,), "validated"),
    ]:
        with subtests.test(replies=replies):
            for monitor in (MonitoringAgent(ScriptedChatModel(list(replies))), WrappingMonitor(*replies)):
                assert statuses(run(monitor=monitor, plan=["one"])) == [expected]


SHORT = {"check": "word_count", "max": 2}


def test_the_checks_of_the_only_step_and_of_the_output_are_joined():
    contract = EvaluationContract(checks=[SHORT])
    output = EvaluationContract(checks=[{"check": "starts_with", "text": "Rhine"}])
    state = run(CorrectingExecutor("Elbe", "Rhine"), plan=["one"], step_contract=contract, contract=output)

    first, second = (record["report"]["checks"] for record in state["results"])
    assert [check["passed"] for check in first] == [True, False]
    assert [check["passed"] for check in second] == [True, True]


def test_a_check_that_cannot_be_decided_is_no_success():
    contract = EvaluationContract(checks=[{"check": "word_count", "exactly": 3}])
    state = run(CorrectingExecutor("สวัสดีครับ ผมชื่อสมชาย"), plan=["one"], contract=contract)

    assert state["status"] == "failed"
    assert {record["status"] for record in state["results"]} == {"needs_review"}
