import json
import math
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from evaluation.contract.contract import DriftRules
from evaluation.measures.drift_signals import compare_with_baseline

DIRECTIONS = {"latency_ms": "lower", "token_f1": "higher", "exact_match": "higher"}
EARLIER = [{"latency_ms": 100.0 + step} for step in (-4, -2, -1, 0, 1, 2, 4)]


def compare(current, baseline, **rules):
    return compare_with_baseline(current, baseline, DriftRules.model_validate(rules), DIRECTIONS)


def signals(current, baseline, **rules):
    return compare(current, baseline, **rules)[0]["signals"]


def only(current, baseline, **rules):
    (signal,) = signals(current, baseline, **rules)
    return signal


def checks(current, baseline, **rules):
    return [(one.kind, one.name, one.passed, one.severity) for one in compare(current, baseline, **rules)[1]]


def test_a_change_of_more_than_a_tenth_from_a_single_run_is_information(subtests):
    for metric, now, kind, worse in [
        ("latency_ms", 1101.0, "regression", True),
        ("latency_ms", 899.0, "improvement", False),
        ("token_f1", 899.0, "regression", True),
        ("token_f1", 1101.0, "improvement", False),
        ("custom", 1101.0, "drift", None),
        ("custom", 899.0, "drift", None),
    ]:
        for listed in [False, True]:
            with subtests.test(metric=metric, now=now, listed=listed):
                before = {metric: 1000.0}
                signal = only({metric: now}, {"runs": [before]} if listed else before)
                assert (signal["kind"], signal["worse"], signal["severity"]) == (kind, worse, "info")


def test_a_signal_says_what_changed_and_which_bound_it_passed():
    signal = only({"latency_ms": 1200.0}, {"latency_ms": 1000.0})
    assert {key: signal[key] for key in ("metric", "observed", "baseline", "change", "limit")} == {
        "metric": "latency_ms",
        "observed": 1200.0,
        "baseline": 1000.0,
        "change": 200.0,
        "limit": 1100.0,
    }
    assert signal["reason"] == "latency_ms: 1200 is worse than the accepted 1100; the baseline: 1000"


def test_the_comparisons_that_can_be_more_than_information_are_counted(subtests):
    for baseline, rules, decisive in [
        ({"latency_ms": 100.0}, {}, 0),
        ({"latency_ms": 100.0}, {"default": {"relative": 0.1}}, 1),
        ({"token_f1": 0.9}, {"default": {"relative": 0.1}}, 1),
        # No score is below 0.
        ({"token_f1": 0.0}, {"default": {"relative": 0.1}}, 0),
        ({"token_f1": 0.9}, {"default": {"relative": 1.0}}, 0),
        ({"runs": [{"token_f1": 0.0}, {"token_f1": 1.0}]}, {}, 0),
        # A length has no bad side without a tolerance.
        ({"runs": [{"words": 3}, {"words": 5}, {"words": 4}]}, {}, 0),
        ({"runs": [{"words": 3}, {"words": 5}, {"words": 4}]}, {"default": {"relative": 0.1}}, 1),
        ({"runs": EARLIER[:4]}, {}, 0),
        ({"runs": EARLIER}, {}, 1),
    ]:
        with subtests.test(baseline=baseline, rules=rules):
            summary, _ = compare({"latency_ms": 1.0, "token_f1": 0.5, "words": 4}, baseline, **rules)
            assert (summary["compared"], summary["decisive"]) == (1, decisive)


def test_a_metric_that_the_run_lacks_is_counted_as_missing():
    summary, outcomes = compare({"latency_ms": 1.0}, {"latency_ms": 1.0, "token_f1": 1.0})
    assert summary["unscored"] == {
        "token_f1": {"status": "missing_data", "reason": "the run has no number for it"}
    }
    assert (summary["counts"]["scored"], summary["counts"]["missing_data"], outcomes) == (1, 1, [])


REPORT = {
    "response": {"exact_match": True, "status": "scored", "counts": {"scored": 1}},
    "operational": {
        "latency_ms": 1000,
        "latency_limit_ms": 1500,
        "gpu_seconds": 2.0,
        "cost_usd": None,
        "sources": {"gpu_seconds": "measured", "cost_usd": "missing"},
    },
    "trajectory": {"recall": 1.0, "match_mode": "exact"},
}
NOW = {"exact_match": 1.0, "latency_ms": 1000.0, "gpu_seconds": 2.0, "trajectory_recall": 1.0}


def test_the_metrics_of_a_report_are_a_baseline(subtests):
    for baseline in [REPORT, {"metrics": REPORT, "status": "passed"}]:
        with subtests.test(baseline=baseline):
            summary, _ = compare(NOW, baseline)
            assert (summary["compared"], summary["unscored"], summary["passed"]) == (4, {}, True)


def test_the_limit_of_several_runs_is_their_highest_value_and_the_tolerance():
    assert only({"latency_ms": 200.0}, {"runs": EARLIER})["limit"] == 114.0
    assert only({"latency_ms": 200.0}, {"runs": EARLIER}, default={"relative": 0.5})["limit"] == 154.0


def test_what_is_no_number_counts_as_missing(subtests):
    for baseline in [
        *({"latency_ms": value} for value in (math.nan, math.inf, 10**400, 1e200, "900", None, [900])),
        *({"runs": value} for value in ("x", {}, [1, {}, "x"], [{"latency_ms": "slow"}])),
    ]:
        with subtests.test(baseline=baseline):
            summary, outcomes = compare({"latency_ms": 1.0}, baseline, tolerances={"latency_ms": {}})

            assert summary["unscored"]["latency_ms"]["reason"] == "the baseline does not have it"
            assert (summary["status"], summary["passed"]) == ("missing_data", None)
            assert outcomes[0].kind == "missing_data"


NUMBERS = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=3) | st.just(10**400)
NAMES = st.sampled_from(["latency_ms", "token_f1", "custom", "operational", "metrics", "runs", "recent"])
JSON = st.recursive(
    NUMBERS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(NAMES, JSON, max_size=5), st.integers(1, 3))
def test_no_baseline_raises_and_what_is_told_is_json(baseline, sustained):
    current = {"latency_ms": 1.0, "token_f1": 0.5, "custom": 3.0}
    summary, outcomes = compare(current, baseline, sustained=sustained)
    json.dumps([summary, [*map(asdict, outcomes)]], allow_nan=False)
    assert summary["status"] in {"scored", "missing_data"}


LATENCY = {"latency_ms": 1000.0}
TENTH = {"relative": 0.1}


def test_the_larger_of_the_two_tolerances_counts(subtests):
    for where in ["own", "default"]:
        for before, now, tolerance, breaches in [
            (1000.0, 1101.0, {"relative": 0.1}, True),
            (1000.0, 1060.0, {"absolute": 50.0}, True),
            (1000.0, 1060.0, {"absolute": 60.0}, False),
            (1000.0, 1060.0, {"relative": 0.01, "absolute": 60.0}, False),
            (1000.0, 1060.0, {"relative": 0.06, "absolute": 1.0}, False),
            (1000.0, 1060.0, {}, True),
            (0.3, 0.1 + 0.2, {"relative": 0.0}, False),
        ]:
            with subtests.test(where=where, before=before, now=now, tolerance=tolerance):
                own = {"tolerances": {"latency_ms": tolerance}, "default": {"relative": 0.0}}
                rules = own if where == "own" else {"default": tolerance}
                earlier = {"latency_ms": before}
                for baseline in (earlier, {"runs": [earlier]}):
                    found = signals({"latency_ms": now}, baseline, **rules)
                    assert [each["severity"] for each in found] == ["warning"] * breaches


def runs(*values, metric="latency_ms"):
    return [{metric: value} for value in values]


FLAG, SCORE = "exact_match", "token_f1"
ONE_FLAG_FAILED = runs(*[True] * 9, False, metric=FLAG)
REPORTS = [{"metrics": {"operational": run}} for run in EARLIER]
CRITICAL = {"tolerances": {FLAG: {"severity": "critical"}}}
TWICE = {"sustained": 2, "default": TENTH}


def test_a_departure_is_as_severe_as_the_baseline_shows(subtests):
    for metric, now, baseline, rules, severities in [
        # one run: a tenth at the most is no change, and without a tolerance a change only informs
        ("latency_ms", 1100.0, LATENCY, {}, []),
        ("latency_ms", 900.0, LATENCY, {}, []),
        ("custom", 5.0, {"custom": 10.0}, {"default": {"severity": "critical"}}, ["critical"]),
        # many runs
        ("latency_ms", 120.0, {"runs": EARLIER}, {}, ["warning"]),
        ("latency_ms", 10.0, {"runs": EARLIER}, {}, ["info"]),
        ("latency_ms", 120.0, {"runs": EARLIER}, {"default": {"relative": 0.2}}, []),
        ("latency_ms", 200.0, {"runs": REPORTS}, {}, ["warning"]),
        # few runs inform
        ("latency_ms", 109.0, {"runs": runs(*[100.0] * 5)}, {}, []),
        ("latency_ms", 111.0, {"runs": runs(*[100.0] * 4)}, {}, ["info"]),
        ("latency_ms", 111.0, {"runs": runs(*[100.0] * 5)}, {}, ["warning"]),
        ("latency_ms", 111.0, {"runs": runs(*[100.0] * 2)}, {"default": {"relative": 0.05}}, ["warning"]),
        (FLAG, 0.0, {"runs": runs(*[True] * 10, metric=FLAG)}, {}, ["warning"]),
        (FLAG, 0.0, {"runs": ONE_FLAG_FAILED}, {}, []),
        (FLAG, 0.0, {"runs": runs(True, True, metric=FLAG)}, CRITICAL, ["critical"]),
        # sustained
        ("latency_ms", 200.0, {"runs": EARLIER, "recent": runs(200.0)}, {"sustained": 2}, ["critical"]),
        ("latency_ms", 1200.0, {**LATENCY, "recent": runs(*[1200.0] * 9)}, {"sustained": 3}, ["info"]),
        ("latency_ms", 1200.0, {**LATENCY, "recent": runs(*[1200.0] * 9)}, {"default": TENTH}, ["warning"]),
        (SCORE, 0.5, {SCORE: 1.0, "recent": runs(0.9, metric=SCORE)}, TWICE, ["warning"]),
        (SCORE, 0.5, {SCORE: 1.0, "recent": runs(0.89, metric=SCORE)}, TWICE, ["critical"]),
    ]:
        with subtests.test(metric=metric, now=now, baseline=baseline):
            assert [signal["severity"] for signal in signals({metric: now}, baseline, **rules)] == severities


def test_a_breach_is_critical_if_the_newest_runs_all_breach(subtests):
    for recent, severity in [
        ([], "warning"),
        ([1200, 1000], "warning"),
        ([1000, 1200], "warning"),
        ([1200, 1200], "critical"),
        ([1200, None], "warning"),
        ([1100, 1200], "warning"),
    ]:
        for configured in ["warning", "critical"]:
            with subtests.test(recent=recent, configured=configured):
                rules = {"sustained": 3, "default": {**TENTH, "severity": configured}}
                signal = only({"latency_ms": 1200.0}, {**LATENCY, "recent": runs(*recent)}, **rules)
                assert (signal["severity"], signal["sustained"]) == (severity, severity == "critical")
                assert signal["reason"].endswith("; a single breach") is (severity == "warning")


def test_a_departure_for_the_worse_and_a_value_that_cannot_be_used_are_outcomes(subtests):
    for now, baseline, passed, outcomes in [
        ({"latency_ms": 10.0}, LATENCY, True, []),
        ({**LATENCY, "token_f1": 0.0}, LATENCY, True, []),
        ({"latency_ms": 1200.0}, LATENCY, False, [("regression", "latency_ms", False, "info")]),
        (LATENCY, {}, None, [("missing_data", "baseline", None, "info")]),
        (LATENCY, {**LATENCY, "a": "x", "b": "y"}, True, []),
    ]:
        with subtests.test(now=now, baseline=baseline):
            assert compare(now, baseline)[0]["passed"] is passed
            assert checks(now, baseline) == outcomes


def test_a_tolerance_that_cannot_be_applied_is_a_finding(subtests):
    for baseline in [{"token_f1": 1.0}, LATENCY]:
        with subtests.test(baseline=baseline):
            tolerances = {"latency_ms": {"severity": "critical"}}
            outcomes = checks({"token_f1": 1.0}, baseline, tolerances=tolerances)
            assert ("missing_data", "latency_ms", None, "critical") in outcomes
