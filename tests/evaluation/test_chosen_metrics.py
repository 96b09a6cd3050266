"""The caller chooses the metric groups that are computed, and the report says what it leaves out."""

import pytest

from evaluation import ContractError, evaluate, evaluate_many

RUN = {"final_output": "It costs 12 euros.", "tool_calls": ["price_of"], "latency_ms": 900}
CASE = {
    "agent_run": RUN,
    "reference_output": "It costs 99 euros.",
    "expected_trajectory": ["price_of"],
    "thresholds": {"latency_ms": 100, "token_f1": 0.9, "trajectory_recall": 1.0},
}
LEFT_OUT = {
    "trajectory": "latency_ms, reference_output, token_f1",
    "operational": "expected_trajectory, reference_output, token_f1, trajectory_recall",
    "response": "expected_trajectory, latency_ms, trajectory_recall",
}


@pytest.mark.parametrize(
    ("group", "status"), [("trajectory", "passed"), ("operational", "warning"), ("response", "failed")]
)
def test_one_group_decides_and_the_rest_of_the_contract_is_named(group, status):
    report = evaluate(CASE, metrics=group)
    scored = [name for name, values in report["metrics"].items() if values["status"] == "scored"]
    assert (report.status, group in scored) == (status, True)
    assert (
        report.alerts[-1]["reason"]
        == f"metrics='{group}' leaves out what the contract asks: {LEFT_OUT[group]}."
    )


def test_a_contract_that_asks_nothing_of_the_group_does_not_pass():
    case = {"agent_run": RUN, "required_content": [{"text": "12"}]}
    assert [evaluate(case).status, evaluate(case, metrics="trajectory").status] == ["passed", "needs_review"]


def test_checks_and_the_search_for_credentials_run_for_any_group():
    run = {**RUN, "final_output": "The password is hunter2-Xy9."}
    case = {
        "agent_run": run,
        "checks": [{"check": "word_count", "max": 1}],
        "expected_trajectory": ["price_of"],
    }
    report = evaluate(case, metrics="trajectory")
    assert (report["checks"][0]["passed"], bool(report.audit_findings)) == (False, True)
    assert "hunter2" not in report.model_dump_json()


@pytest.mark.parametrize("thresholds", [{}, {"latency_ms": 100}, {"latency_ms": 1000, "token_f1": 0.1}])
def test_the_metrics_that_are_asked_give_the_verdict_of_all(thresholds):
    case = {**CASE, "thresholds": thresholds}
    every, asked = evaluate(case), evaluate(case, metrics="asked")
    assert (asked.status, asked.alerts) == (every.status, every.alerts)
    assert (asked.metrics.operational["status"] == "scored") is ("latency_ms" in thresholds)


def test_an_unknown_choice_is_refused_before_the_first_case():
    with pytest.raises(ContractError, match="metrics is 'speed'; give one of all, asked, response"):
        evaluate_many([CASE], metrics="speed")
