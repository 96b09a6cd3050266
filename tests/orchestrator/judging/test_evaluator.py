from functools import reduce

import pytest

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate
from evaluation.testing import ScriptedJudge
from orchestrator import ConfigurationError, RetryPolicy
from orchestrator.judging.evaluator import MAX_CONTEXT, build_agent_run
from orchestrator.judging.feedback import list_kinds
from tests.fakes.executor import CorrectingExecutor, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.records import record, usage
from tests.fakes.runs import agent, build, failure_kind, run, statuses
from tests.fakes.runs import call as tool_call

DONE = EvaluationContract(required_content=[{"text": "done"}])
ABSENT = EvaluationContract(required_content=[{"text": "absent"}])
CLEAR = EvaluationContract(subjective_criteria=["clarity"])
BOTH = EvaluationContract(required_content=[{"text": "done"}], subjective_criteria=["clarity"])
TOO_DEEP = EvaluationContract(
    expected_trajectory=[{"name": "pay", "args": reduce(lambda inner, _: {"in": inner}, range(120), {})}]
)
UNCLEAR = EvaluationContract(required_content=[{"text": "absent"}], subjective_criteria=["c"])
MILD = EvaluationContract(required_content=[{"text": "please", "severity": "warning"}, {"text": "done"}])


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
    for contract, said, success in [
        (DONE, refuse("I do not like it"), True),
        (ABSENT, accept(), False),
        (BOTH, refuse("unclear"), False),
        (UNCLEAR, accept(), False),
        (None, accept(), True),
        (None, refuse(), False),
    ]:
        with subtests.test(contract=contract, said=said):
            state = run(monitor=FakeMonitor(said), plan=["one"], contract=contract, max_retries=0)

            [record] = state["results"]
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
    executor = agent(tool_call("log_in", password="hunter2hunter2"), "logged in", tools=[log_in])
    state = run(executor, plan=["one"])

    [alert] = state["results"][0]["report"]["alerts"]
    assert (state["status"], alert["severity"]) == ("success", "info")


# What it costs


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


# The run that a step is judged as: the end of a long context, and nothing that the step was given


def test_an_execution_is_told_by_what_was_asked_said_done_and_spent():
    call = {"name": "search", "args": {"q": "haiku"}, "result": "found", "error": None, "latency_ms": 3.5}
    made = record(1, 2, tool_calls=[call], usage=usage(150), model="qwen3", transport_retries=1)
    run = build_agent_run(made, "Step 1: Read")
    spent = {"latency_ms": 1000.0, "input_tokens": 150, "output_tokens": 0, "total_tokens": 150}

    assert [message["content"] for message in run.pop("messages")] == ["Step 1: Read", "step 2", "the result"]
    assert run.pop("metadata") == {"step_index": 1, "attempt": 2, "timestamp": made["started_at"]}
    said = {"input": "step 2", "final_output": "the result", "model": "qwen3", "retries": 1, "model_calls": 1}
    assert run == {**said, **spent, "tool_calls": [call]}


def test_a_longer_context_shows_its_end_and_says_how_much_is_left_out():
    shown = build_agent_run(record(), "old" + "n" * MAX_CONTEXT)["messages"][0]["content"]

    assert shown == "[the first 3 characters of the context are left out]\n" + "n" * MAX_CONTEXT


def test_a_credential_in_what_a_step_was_given_is_no_finding_against_it():
    run = build_agent_run(record(step="log in with password=hunter2"), "api_key=sk-abcdefghijklmnop1234")

    assert evaluate({"agent_run": run, "required_content": [{"text": "r"}]})["audit_findings"] == []


# A reply that repeats the fences of our own prompt is a failed check, never a result


MARK = "=====0123456789ab"


def test_a_model_that_repeats_its_prompt_has_not_done_the_step():
    state = run(ExecutionAgent(ScriptedChatModel(lambda messages: messages[-1].text)), max_retries=0)

    assert (state["status"], state["failure"]["kind"]) == ("failed", "attempts_exhausted")
    assert "repeated_prompt" in state["failure"]["message"]
    assert "without the marked lines of the request" in state["results"][0]["verdict"]["feedback"]


def test_other_rules_and_hashes_are_ordinary_text(subtests):
    for text in [
        "Title\n=====\nText",
        "<<<<<<< ours\n=======\n>>>>>>> theirs",
        "=================0123456789ab",
        "sha 0123456789ab of =====",
        "=====0123456789abcdef",
        "a == b, a === b, x=====1",
        "== BEGIN your last output ==",
    ]:
        with subtests.test(text=text):
            assert run(FakeExecutor(text), plan=["one"])["status"] == "success"


def test_a_mark_that_the_user_wrote_may_be_quoted(subtests):
    text = f"Explain the line {MARK} notes"
    # A step that reads a log may quote it, and the next one may quote the step.
    for task, plan in [(text, ["one"]), ("x", [text]), ("x", [text, "two"])]:
        with subtests.test(task=task, plan=plan):
            assert run(FakeExecutor(f"{MARK} notes", "second"), plan=plan, task=task)["status"] == "success"
