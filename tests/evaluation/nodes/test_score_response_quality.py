from evaluation import evaluate
from evaluation.measures.metric_table import REFERENCE_METRICS, RESPONSE_METRICS

REFERENCE = "Order 12345 is in transit."
NEAR = "Order 12345 is currently in transit."
PARAPHRASE = "Your parcel 12345 is on its way to you."


def metrics(run, **contract):
    return evaluate({"agent_run": run, **contract})["metrics"]["response"]


def said(output, **contract):
    return metrics({"final_output": output}, **contract)


def answers(found):
    return [(check["kind"], check["metric"], check["passed"], check["severity"]) for check in found["checks"]]


def test_an_output_against_a_reference_has_every_reference_metric():
    found = said(NEAR, reference_output=REFERENCE)

    assert {name: round(found[name], 3) for name in (*REFERENCE_METRICS, "keyword_coverage")} == {
        "exact_match": False,
        "normalized_exact_match": False,
        "levenshtein_similarity": 0.722,
        "token_jaccard": 0.833,
        "rouge_1": 0.909,
        "keyword_coverage": 1.0,
    }


def test_nothing_asked_is_not_applicable():
    found = said("an answer")

    assert (found["status"], found["passed"], found["checks"]) == ("not_applicable", None, [])
    unasked = {"scored": 0, "not_applicable": len(RESPONSE_METRICS), "missing_data": 0, "error": 0}
    assert found["counts"] == unasked


def test_without_a_threshold_a_reference_is_judged_by_the_default(subtests):
    undecided, met = ("inconclusive", "rouge_1", None, "warning"), ("response", "rouge_1", True, "warning")
    for output, reference, expected in [
        (NEAR, REFERENCE, undecided),
        (REFERENCE, REFERENCE, met),
        ("order 12345  is in TRANSIT!", REFERENCE, met),
        (PARAPHRASE, REFERENCE, undecided),
        ("", "Hello.", undecided),
        ("\U0001f44d", "\U0001f44d", met),
        ("\U0001f44e", "\U0001f44d", undecided),
    ]:
        with subtests.test(output=output):
            assert answers(said(output, reference_output=reference)) == [expected]


def test_a_threshold_that_demands_no_similarity_settles_nothing(subtests):
    for bound in [{"max": 0.9}, {"min": 0}, {"min": 0.9, "severity": "info"}]:
        with subtests.test(bound=bound):
            found = said(PARAPHRASE, reference_output=REFERENCE, thresholds={"rouge_1": bound})

            assert ("inconclusive", "rouge_1", None, "warning") in answers(found)


def test_a_fact_that_differs_from_the_reference_is_named_and_never_passes(subtests):
    for output, named in [
        ("Order 12346 is in transit.", "the number 12345"),
        ("Order 12345 is not in transit.", "the negations (in the reference none, in the output not)"),
        ("Your parcel is in transit.", "the number 12345"),
    ]:
        for thresholds in [{}, {"rouge_1": 0.1}]:
            with subtests.test(output=output, thresholds=thresholds):
                found = said(output, reference_output=REFERENCE, thresholds=thresholds)

                assert ("lost_fact", "reference_facts", False, "warning") in answers(found)
                assert named in found["checks"][-1]["reason"]
                assert found["passed"] is False


def test_a_threshold_on_the_quality_takes_the_place_of_the_default_and_another_does_not(subtests):
    for metric in ["token_jaccard", "rouge_1", "keyword_coverage", "words", "required_content"]:
        with subtests.test(metric=metric):
            found = said(PARAPHRASE, reference_output=REFERENCE, thresholds={metric: 0.5})
            default = ["rouge_1"] if metric in {"words", "required_content"} else []
            assert [check["metric"] for check in found["checks"]] == [metric, *default]


def test_a_threshold_is_checked(subtests):
    for thresholds, expected in [
        ({"rouge_1": 0.5}, [("response", "rouge_1", True, "critical")]),
        ({"rouge_1": 0.95}, [("response", "rouge_1", False, "critical")]),
        ({"rouge_1": {"min": 0.95, "severity": "info"}}, [("response", "rouge_1", False, "info")]),
        ({"exact_match": True}, [("response", "exact_match", False, "critical")]),
        ({"exact_match": {"max": 0}}, [("response", "exact_match", True, "critical")]),
        ({"words": 5}, [("response", "words", False, "critical")]),
    ]:
        with subtests.test(thresholds=thresholds):
            found = said(NEAR, reference_output=REFERENCE, thresholds=thresholds)
            checked = [each for each in answers(found) if each[0] == "response" and each[1] in thresholds]

            assert checked == expected


def test_a_breach_names_what_was_observed_the_limit_and_the_owner():
    thresholds = {"words": {"max": 1, "owner": "editors"}}

    (check,) = said("two words", thresholds=thresholds)["checks"]

    assert (check["observed"], check["limit"], check["owner"]) == (2, 1, "editors")
    assert "has 2 words; it must have at most 1" in check["reason"]


def test_the_bounds_on_a_value_stand_beside_it(subtests):
    for contract, bounds in [
        ({"thresholds": {"words": {"max": 9}}}, {"words_limit": 9.0}),
        ({"keywords": ["transit"]}, {}),
    ]:
        with subtests.test(contract=contract):
            found = said(REFERENCE, **contract)

            assert {name: found[name] for name in found if name.endswith(("_limit", "_minimum"))} == bounds


def test_without_an_output_what_is_asked_is_missing():
    found = metrics(
        {"tool_calls": ["search"]},
        reference_output=REFERENCE,
        checks=[{"check": "word_count", "max": 3}],
        forbidden_content=[{"text": "a"}],
    )

    assert (found["status"], found["passed"]) == ("missing_data", None)
    assert {found["unscored"][name]["status"] for name in (*REFERENCE_METRICS, "words")} == {"missing_data"}
    assert found["unscored"]["required_content"]["status"] == "not_applicable"
    assert {check["kind"] for check in found["checks"]} == {"missing_data", "undecided"}
    asked = ["rouge_1", "checks.word_count", "forbidden_content"]
    assert [check["metric"] for check in found["checks"]] == asked


def test_a_reference_without_words_has_no_word_metrics():
    found = said("fine", reference_output="\U0001f44d")

    assert found["unscored"]["rouge_1"] == {
        "status": "not_applicable",
        "reason": "the reference has no words",
    }
    assert found["levenshtein_similarity"] == 0.0
