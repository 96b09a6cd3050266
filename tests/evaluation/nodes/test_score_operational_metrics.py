from evaluation import evaluate

RUN = {"final_output": "x", "resources": {"gpu_seconds": 3}}


def test_a_threshold_without_a_value_says_whether_it_is_a_metric(subtests):
    for name, bound, hint in [
        ("gpu_hours", {"max": 1}, "no resource of this name."),
        ("balance", {"min": -5}, "no resource of this name."),
        ("latency_ms", {"max": 1}, "the run does not record it."),
    ]:
        with subtests.test(name=name):
            report = evaluate({"agent_run": RUN, "thresholds": {name: bound}})

            assert report.status == "needs_review"
            assert report.alerts[0]["reason"].endswith(hint)


def test_a_resource_of_the_run_has_a_bound_with_a_direction(subtests):
    for bound, status in [
        ({"max": 5}, "passed"),
        ({"max": 3}, "passed"),
        ({"min": 3}, "passed"),
        ({"min": 5}, "warning"),
        ({"min": 5, "max": 9}, "warning"),
    ]:
        with subtests.test(bound=bound):
            assert evaluate({"agent_run": RUN, "thresholds": {"gpu_seconds": bound}}).status == status


def test_a_plain_number_needs_a_metric_whose_better_direction_is_known(subtests):
    for bound in [1, 0.5, True]:
        for name, hint in [
            ("gpu_seconds", "is no metric; if it"),
            ("tokens", "is no metric; did you mean 'total_tokens'? If it"),
            ("score", "is no metric; did you mean 'judge_score'? If it"),
            ("latency_limit_ms", "is no metric; did you mean 'latency_ms'? If it"),
        ]:
            with subtests.test(bound=bound, name=name):
                run = {**RUN, "resources": {name: 0.1, "gpu_seconds": 0.1}}
                report = evaluate({"agent_run": run, "thresholds": {name: bound}})

                assert report.status == "invalid"
                assert report.errors[0].startswith(f"thresholds.{name}: {hint}")
                assert report.errors[0].endswith(
                    """is a resource of the run, give {"min": ...} or {"max": ...}"""
                )


def test_the_name_of_a_threshold_is_redacted_in_its_problem():
    key = "AKIA" + "Q3EGRT5X" + "ZV7LMWPA"
    report = evaluate({"agent_run": RUN, "thresholds": {key: 1}})

    assert report.status == "invalid"
    assert key not in report.model_dump_json()
