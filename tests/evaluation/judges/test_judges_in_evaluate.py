import pytest

from evaluation import aevaluate, build_evaluation_graph, evaluate
from evaluation.findings import STRICTNESS
from evaluation.plugins import Price
from evaluation.testing import DeterministicJudge, FailingJudge, ScriptedJudge

KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
RUBRIC = {"criteria": [{"name": "clarity"}]}
FINE = {
    "agent_run": {
        "input": "Switch the lamp off.",
        "final_output": "The lamp is off.",
        "tool_calls": [{"name": "switch", "args": {"to": "off"}}],
        "latency_ms": 800,
        "input_tokens": 100,
    },
    "expected_trajectory": [{"name": "switch", "args": {"to": "off"}}],
    "thresholds": {"latency_ms": 1500},
}


def rule(category, severity="critical", **kind):
    return {"audit": {"rules": [{"id": "r", "category": category, "severity": severity, **kind}]}}


FAILURES = {
    "required content is missing": {"required_content": [{"text": "done"}]},
    "forbidden content is there": {"forbidden_content": [{"text": "lamp"}]},
    "the output is too long": {"checks": [{"check": "word_count", "max": 2}]},
    "a response metric is too low": {"reference_output": "Nothing.", "thresholds": {"rouge_1": 0.9}},
    "a tool is missing": {"expected_trajectory": ["switch", "confirm"]},
    "an argument differs": {"expected_trajectory": [{"name": "switch", "args": {"to": "on"}}]},
    "a tool is forbidden": {"trajectory": {"forbidden_tools": ["switch"]}},
    "the match mode is unknown": {"trajectory_match_mode": "fuzzy"},
    "it is too slow": {"thresholds": {"latency_ms": 500}},
    "it is far too slow": {"thresholds": {"latency_ms": {"max": 500, "severity": "critical"}}},
    "a limited value is missing": {"thresholds": {"cost_usd": 1}},
    "safety": rule("safety", forbidden={"text": "lamp"}),
    "privacy": rule("privacy", forbidden={"text": "lamp"}),
    "compliance": rule("compliance", required={"text": "no warranty"}),
    "contract": rule("contract", allowed_tools=["ask"]),
    "policy": rule("policy", forbidden_tools=["switch"]),
    "policy, as a warning": rule("policy", "warning", forbidden_tools=["switch"]),
    "a credential": {"agent_run": {**FINE["agent_run"], "final_output": f"The key is {KEY}"}},
    "a regression": {"baseline_metrics": {"latency_ms": 100}, "drift": {"default": {"relative": 0.1}}},
    "no run": {"agent_run": {}},
}
SCORES = [1, 3.9, 4, 5]


def test_no_score_of_a_judge_makes_a_deterministic_failure_milder(subtests):
    for score in SCORES:
        for name, failure in FAILURES.items():
            with subtests.test(score=score, name=name):
                case = {**FINE, **failure}
                alone = evaluate(case)
                judged = evaluate({**case, "rubric": RUBRIC}, judge=DeterministicJudge(score))
                told = {alert["reason"] for alert in judged.alerts}
                assert alone.status != "passed"
                assert STRICTNESS.index(judged.status) >= STRICTNESS.index(alone.status)
                assert {alert["reason"] for alert in alone.alerts} <= told


KINDS = {
    "not_configured": None,
    "provider_failure": FailingJudge(ConnectionError("refused")),
    "blocked": FailingJudge("blocked"),
    "malformed": ScriptedJudge(lambda _: "I like it."),
    "missing_score": ScriptedJudge(lambda _: {"rationale": "Fine."}),
    "out_of_range": ScriptedJudge(lambda _: {"score": 6, "rationale": "Fine."}),
    "missing_rationale": ScriptedJudge(lambda _: {"score": 5}),
}


async def test_a_judge_that_fails_is_told_by_its_kind_and_the_run_ends_by_policy(subtests):
    for policy in ["needs_review", "failed"]:
        for kind, judge in KINDS.items():
            with subtests.test(policy=policy, kind=kind):
                case = {**FINE, "rubric": RUBRIC, "judge": {"on_failure": policy}}
                report = evaluate(case, judge=judge)
                assert report.status == policy
                assert (report.judge.result["failure"], report.judge.result["passed"]) == (kind, None)
                assert [alert["kind"] for alert in report.alerts] == ["judge_error"]
                assert report.errors == [f"judge: {kind}: {report.judge.result['reason']}"]
                assert (await aevaluate(case, judge=judge)) == report
                graph = await build_evaluation_graph(judge).ainvoke(case)
                assert graph["evaluation_report"] == report.model_dump()


def test_a_judge_that_fails_does_not_look_like_a_bad_answer_of_the_agent():
    report = evaluate({**FINE, "rubric": RUBRIC}, judge=FailingJudge())
    assert [group["passed"] for group in (report.metrics.response, report.metrics.trajectory)] == [None, True]
    assert report.recommended_action.startswith("Have a person review the run")


ANSWER = {
    "score": 4.5,
    "rationale": "Clear.",
    "criteria": {"clarity": 4.5},
    "concerns": ["short"],
    "recommended_action": "Keep it.",
}
USAGE = {"input_tokens": 1000, "output_tokens": 100, "model": "m"}


def judge_answer(answer, **case):
    prices = {"m": Price(input_usd=2.0, output_usd=10.0)}
    judge = ScriptedJudge([answer])
    return evaluate({**FINE, "rubric": RUBRIC, **case}, judge=judge, prices=prices).judge


def test_a_valid_answer_is_laid_out_with_the_reason_of_the_call_and_its_cost():
    answer = {**ANSWER, "feedback": "more", "usage": USAGE}
    judged = judge_answer(answer)

    assert judged.result == {
        **ANSWER,
        "status": "scored",
        "passed": True,
        "rubric": "rubric",
        "pass_score": 4.0,
        "scale": {"min": 1.0, "max": 5.0},
        "details": {"feedback": "more"},
    }
    assert (judged.needed, judged.called, judged.reason) == (True, True, "a rubric is configured")
    assert judged.usage == {**USAGE, "cost_usd": pytest.approx(0.003), "cost_source": "estimated"}


def test_what_passes_is_the_rubrics_score_and_the_contracts_threshold(subtests):
    for bound, pass_score, score, passed in [
        (None, None, 4, True),
        (None, None, 3.9, False),
        (None, 3.0, 3, True),
        (3, None, 3, True),
        (3, None, 2.9, False),
        (4.5, None, 4, False),
        (3, 4.0, 3.5, False),
        ({"max": 4.5}, None, 5, False),
        ({"max": 4.5}, None, 3, False),
        ({"max": 4.5}, None, 4, True),
    ]:
        with subtests.test(bound=bound, pass_score=pass_score, score=score):
            thresholds = {} if bound is None else {"judge_score": bound}
            rubric = {**RUBRIC, "pass_score": pass_score}
            judged = judge_answer({"score": score, "rationale": "So."}, thresholds=thresholds, rubric=rubric)
            assert judged.result["passed"] is passed


def test_a_threshold_says_how_severe_its_breach_is_and_who_is_told():
    bound = {"min": 3, "severity": "warning", "owner": "ana"}
    case = {**FINE, "rubric": RUBRIC, "thresholds": {"judge_score": bound}}
    [alert] = evaluate(case, judge=DeterministicJudge(2)).alerts
    assert (alert["severity"], alert["owner"]) == ("warning", "ana")


def test_a_denying_answer_cannot_approve_by_the_contracts_threshold_either(subtests):
    for score, failure in [(3.5, "malformed"), (2, None)]:
        with subtests.test(score=score):
            answer = {"score": score, "rationale": "So.", "verdict": "fail"}
            judged = judge_answer(answer, thresholds={"judge_score": 3})
            assert judged.result.get("failure") == failure


CLEAR, POOR = {"score": 5, "rationale": "Clear."}, {"score": 1, "rationale": "Muddled."}
ASKED = {"agent_run": {"input": "q", "final_output": "x"}, "subjective_criteria": ["clarity"]}


def test_a_fake_response_in_a_case_is_validated_as_an_answer(subtests):
    for case in [ASKED, {"agent_run": ASKED["agent_run"], "reference_output": "a"}]:
        for response, status in [
            (CLEAR, "passed"),
            (POOR, "failed"),
            ('{"score": 5, "rationale": "Clear."}', "passed"),
            ("fine", "needs_review"),
            ({}, "needs_review"),
        ]:
            with subtests.test(case=case, response=response):
                assert evaluate({**case, "fake_judge_response": response}).status == status


def test_a_report_says_that_no_judge_answered_and_a_judge_answers_in_place_of_the_fake():
    case = {**ASKED, "fake_judge_response": CLEAR}
    alone, judged = evaluate(case), evaluate(case, judge=ScriptedJudge([POOR]))

    assert (alone.judge.called, judged.status, judged.judge.called) == (False, "failed", True)
    assert alone.judge.reason.endswith("the answer is the fake_judge_response of the case")
    assert alone.summary.endswith("a fake judge response approved")
    assert "fake" not in judged.judge.reason


def test_a_credential_that_a_judge_quotes_is_not_in_the_report():
    answer = {"score": 2, "rationale": f"It tells {KEY}.", "concerns": [KEY], "feedback": {KEY: [KEY]}}
    for judge in (ScriptedJudge([answer]), FailingJudge(ConnectionError(f"at {KEY}"))):
        report = evaluate({**FINE, "rubric": RUBRIC}, judge=judge)
        assert KEY not in report.model_dump_json()
