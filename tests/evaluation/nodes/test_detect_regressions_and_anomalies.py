import pytest

from evaluation import evaluate
from evaluation.testing import DeterministicJudge, FailingJudge

LONG = {"final_output": "Order 12345 is in transit, and will be there by the end of this week."}
OUTPUT_LENGTH = {"max_words": 100}


def compared(baseline, drift=None, **case):
    given = {"agent_run": LONG, "output_length": OUTPUT_LENGTH, "drift": drift or {}, **case}
    return evaluate({**given, "baseline_metrics": baseline})


@pytest.mark.parametrize("metric", ["characters", "words"])
@pytest.mark.parametrize("before", [1, 1000], ids=["longer", "shorter"])
def test_a_length_that_moved_is_told_and_neither_better_nor_worse(metric, before):
    report = compared({metric: before})

    (signal,) = report.drift_signals["signals"]
    assert (signal["kind"], signal["direction"], signal["worse"]) == ("drift", None, None)
    assert (signal["severity"], report.status) == ("info", "passed")


def test_a_length_is_worse_where_its_tolerance_says_which_direction_is_better():
    tolerance = {"relative": 0.1, "better": "lower"}
    report = compared({"words": 1}, {"tolerances": {"words": tolerance}})

    (signal,) = report.drift_signals["signals"]
    assert (signal["kind"], signal["worse"], report.status) == ("regression", True, "warning")


def test_a_bare_number_bounds_a_length_from_above():
    report = evaluate({"agent_run": LONG, "thresholds": {"words": 3}})

    assert [(one["metric"], one["limit"]) for one in report.alerts] == [("words", 3.0)]


def test_the_score_of_a_judge_is_compared_as_any_other():
    case = {"agent_run": LONG, "subjective_criteria": ["clarity"]}
    before = evaluate(case, judge=DeterministicJudge(score=5)).model_dump(mode="json")

    report = evaluate(case, judge=DeterministicJudge(score=4), baseline=before)

    assert [(one["metric"], one["kind"]) for one in report.alerts] == [("judge_score", "regression")]


def test_a_judge_that_failed_has_no_score_to_compare():
    case = {"agent_run": LONG, "subjective_criteria": ["clarity"]}
    tolerances = {"tolerances": {"judge_score": {"absolute": 1.0}}}

    report = evaluate({**case, "drift": tolerances}, judge=FailingJudge(), baseline={"judge_score": 5})

    assert report.drift_signals["unscored"]["judge_score"]["status"] == "missing_data"
