from evaluation import evaluate
from evaluation.testing import DeterministicJudge

LONG = {"final_output": "Order 12345 is in transit, and will be there by the end of this week."}
LENGTH = [{"check": "word_count", "max": 100}]


def test_a_length_that_moved_is_told_and_neither_better_nor_worse(subtests):
    for metric in ["characters", "words"]:
        for before in [1, 1000]:
            with subtests.test(metric=metric, before=before):
                report = evaluate({"agent_run": LONG, "checks": LENGTH, "baseline_metrics": {metric: before}})

                (signal,) = report.drift_signals["signals"]
                assert (signal["kind"], signal["direction"], signal["worse"]) == ("drift", None, None)
                assert (signal["severity"], report.status) == ("info", "passed")


def test_a_bare_number_bounds_a_length_from_above():
    report = evaluate({"agent_run": LONG, "thresholds": {"words": 3}})

    assert [(one["metric"], one["limit"]) for one in report.alerts] == [("words", 3.0)]


def test_the_score_of_a_judge_is_compared_as_any_other():
    case = {"agent_run": LONG, "subjective_criteria": ["clarity"]}
    before = evaluate(case, judge=DeterministicJudge(score=5)).model_dump(mode="json")

    report = evaluate(case, judge=DeterministicJudge(score=4), baseline=before)

    assert [(one["metric"], one["kind"]) for one in report.alerts] == [("judge_score", "regression")]


def compared(latency_ms, baseline, **case):
    return evaluate({"agent_run": {**LONG, "latency_ms": latency_ms}, "baseline_metrics": baseline, **case})


def test_a_threshold_of_the_contract_decides_whatever_the_baseline_shows():
    report = compared(1300.0, {"latency_ms": 1000.0}, thresholds={"latency_ms": 1200}, checks=LENGTH)

    assert (report.status, report.alerts[0]["kind"]) == ("warning", "operational")


EARLIER = [{"latency_ms": value} for value in (1000.0, 1150.0, 870.0, 990.0, 1010.0)]
INFORMS = {"relative": 0.1, "severity": "info"}


def test_a_baseline_that_can_only_inform_decides_nothing(subtests):
    for baseline, drift in [
        ({"latency_ms": 1000.0}, {}),
        ({"runs": EARLIER[:1]}, {}),
        ({"runs": EARLIER[:4]}, {}),
        ({"latency_ms": 1000.0}, {"default": INFORMS}),
        ({"latency_ms": 1000.0}, {"tolerances": {"words": {"relative": 0.1}}}),
        ({"latency_ms": 1000.0, "recent": EARLIER}, {"sustained": 7, "default": INFORMS}),
    ]:
        for latency_ms in [900.0, 9000.0]:
            with subtests.test(baseline=baseline, drift=drift, latency_ms=latency_ms):
                report = compared(latency_ms, baseline, drift=drift)

                assert (report.status, report.drift_signals["decisive"]) == ("needs_review", 0)


def test_a_baseline_that_could_have_failed_the_run_decides(subtests):
    for baseline, drift in [
        ({"runs": EARLIER}, {}),
        ({"latency_ms": 1000.0}, {"default": {"relative": 0.1}}),
        ({"latency_ms": 1000.0}, {"tolerances": {"latency_ms": {"relative": 0.1}}}),
        ({"latency_ms": 1000.0, "recent": EARLIER}, {"sustained": 3, "default": INFORMS}),
    ]:
        with subtests.test(baseline=baseline, drift=drift):
            report = compared(1000.0, baseline, drift=drift)

            assert (report.status, report.drift_signals["decisive"]) == ("passed", 1)


def test_what_only_informs_says_what_would_decide():
    reason = compared(1000.0, {"latency_ms": 1000.0}).alerts[0]["reason"]

    assert "only informs" in reason
    assert "give a tolerance" in reason
