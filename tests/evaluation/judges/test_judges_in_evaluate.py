"""Judges within a whole evaluation: what they say and how they fail is in the report, and never more."""

from evaluation import aevaluate, build_evaluation_graph, evaluate
from evaluation.findings import STRICTNESS
from evaluation.testing import DeterministicJudge, FailingJudge, ScriptedJudge

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
    "a credential": {
        "agent_run": {**FINE["agent_run"], "final_output": "The key is AKIA" + "QYLPMN5HHHFPZAM2"}
    },
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
                assert alone.status != "passed"
                assert STRICTNESS.index(judged.status) >= STRICTNESS.index(alone.status)
                assert {alert["reason"] for alert in alone.alerts} <= {
                    alert["reason"] for alert in judged.alerts
                }


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


def test_the_report_says_why_the_judge_was_called_and_what_it_cost():
    usage = {"input_tokens": 10, "output_tokens": 3, "model": "m"}
    answer = {"score": 5, "rationale": "Clear.", "usage": usage}
    judged = evaluate({**FINE, "rubric": RUBRIC}, judge=ScriptedJudge([answer])).judge
    assert (judged.needed, judged.called, judged.reason) == (True, True, "a rubric is configured")
    assert judged.usage == usage


def test_a_credential_that_a_judge_quotes_is_not_in_the_report():
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    answer = {"score": 2, "rationale": f"It tells {key}.", "concerns": [key], "feedback": {key: [key]}}
    for judge in (ScriptedJudge([answer]), FailingJudge(ConnectionError(f"at {key}"))):
        report = evaluate({**FINE, "rubric": RUBRIC}, judge=judge)
        assert key not in report.model_dump_json()
