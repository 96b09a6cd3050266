from evaluation import evaluate, run_from_state
from evaluation.recordings.default_contract import hold_own_audit
from tests.evaluation.contract.test_run_state import call, record, state

ACTING = {"trajectory": {"acting_tools": ["ship"]}}
EXPECTED = {"expected_trajectory": ["ship"], **ACTING}
DONE, NO, OPEN = {"result": "shipped"}, {"result": "Parcel not found"}, {"result": "ok?"}


def bound(**limits):
    return {"checks": [{"check": "tool_calls", "tool": "ship", **limits}]}


def judge(*endings, tool="ship", output="Shipped.", **contract):
    calls = [{"name": tool, "args": {"n": place}, **ending} for place, ending in enumerate(endings)]
    return evaluate({"agent_run": {"final_output": output, "tool_calls": calls}, **contract})


def test_effects_of_stated_tools_are_counted(subtests):
    for endings, contract, status in [
        ([DONE], EXPECTED, "passed"),
        ([NO], EXPECTED, "failed"),
        ([OPEN], EXPECTED, "needs_review"),
        ([NO, DONE], EXPECTED, "passed"),
        ([OPEN, DONE], EXPECTED, "needs_review"),
        ([DONE, DONE, OPEN], EXPECTED, "failed"),
        ([OPEN, OPEN], EXPECTED, "needs_review"),
        ([{"error": "boom"}], EXPECTED, "failed"),
        ([NO, NO, DONE], {**bound(max=1), **ACTING}, "passed"),
        ([DONE, OPEN], {**bound(max=1), **ACTING}, "needs_review"),
        ([DONE, DONE, OPEN], {**bound(max=1), **ACTING}, "failed"),
        ([DONE, OPEN], {**bound(exactly=1), **ACTING}, "needs_review"),
        ([NO, DONE], {**bound(exactly=1), **ACTING}, "passed"),
        ([OPEN], {**bound(min=1), **ACTING}, "needs_review"),
        ([NO], {"must_call": ["ship"], **ACTING}, "failed"),
        ([OPEN], {"must_call": ["ship"], **ACTING}, "needs_review"),
        ([DONE, OPEN], {"must_call": ["ship"], **ACTING}, "passed"),
        # A record of the names alone says nothing of what the calls did.
        ([{}], EXPECTED, "passed"),
    ]:
        with subtests.test(endings=endings, contract=contract):
            assert judge(*endings, **contract).status == status


def test_a_recorded_outcome_weighs_more_than_the_answer(subtests):
    for outcomes, contract, status in [
        (["stated"], EXPECTED, "passed"),
        (["denied"], EXPECTED, "failed"),
        (["denied", "stated"], {**bound(max=1), **ACTING}, "passed"),
        (["acted", "acted"], {**bound(max=1), **ACTING}, "failed"),
        (["unknown"], EXPECTED, "needs_review"),
        (["reused"], EXPECTED, "passed"),
        (["refused"], {"must_call": ["ship"]}, "failed"),
    ]:
        with subtests.test(outcomes=outcomes):
            endings = [{"result": "ok?", "outcome": each} for each in outcomes]
            assert judge(*endings, **contract).status == status


def test_a_reused_answer_is_no_further_effect():
    shipped = {"name": "ship", "args": {"n": 1}, "result": "shipped"}
    calls = [{**shipped, "outcome": each} for each in ("acted", "reused")]
    run = {"tool_calls": calls, "final_output": "x"}

    for contract in (EXPECTED, {**bound(exactly=1), **ACTING}):
        assert evaluate({"agent_run": run, **contract}).status == "passed"


def test_a_refused_call_is_no_effect_of_a_tool_that_may_not_act():
    assert judge(NO, output="It was not shipped.", **bound(max=0), **ACTING).status == "passed"


def test_an_unknown_effect_is_named_with_what_to_give():
    for report in (judge(OPEN, **EXPECTED), judge(OPEN, **bound(max=0), **ACTING)):
        reasons = " ".join(alert["reason"] for alert in report.alerts)
        assert (
            'ship answered "ok?": whether it acted is not known; check succeeded= or read_back= of' in reasons
        )


def test_a_tool_that_only_its_name_tells_keeps_the_count_of_calls(subtests):
    for endings, contract, status in [
        ([NO], {"must_call": ["send_parcel"]}, "failed"),
        ([NO], {"expected_trajectory": ["send_parcel"]}, "failed"),
        # Whether it acted is a note: only stated effects decide.
        ([OPEN], {"must_call": ["send_parcel"]}, "passed"),
        ([OPEN], {"expected_trajectory": ["send_parcel"]}, "passed"),
        # Calls are counted: only stated effects free a call of a limit.
        ([NO, DONE], {"checks": [{"check": "tool_calls", "tool": "send_parcel", "max": 1}]}, "failed"),
    ]:
        with subtests.test(endings=endings, contract=contract):
            assert judge(*endings, tool="send_parcel", **contract).status == status


def test_the_answer_of_another_tool_may_tell_of_failures(subtests):
    for tool in ["find_parcel", "run_shell"]:
        with subtests.test(tool=tool):
            assert judge(NO, tool=tool, must_call=[tool]).status == "passed"


def test_what_a_run_says_of_its_tools_frees_no_call_of_a_limit():
    calls = [{"name": "ship", **NO}, {"name": "ship", **DONE}]
    run = {"tool_calls": calls, "acting_tools": ["ship"], "final_output": "x"}

    assert evaluate({"agent_run": run, **bound(max=1)}).status == "failed"


def test_a_call_of_a_state_that_had_not_ended_may_have_acted():
    run = run_from_state(state(record(0, call("ship", result=None))))

    assert evaluate({"agent_run": run, **EXPECTED}).status == "needs_review"


def test_a_recorded_run_that_claims_what_an_answer_denies_does_not_pass(subtests):
    for answer, output, status in [
        ("Publishing failed", "I published the page.", "failed"),
        ("<error>locked</error>", "The page is online.", "failed"),
        # What no answer tells is a note.
        ("maybe", "I published the page.", "passed"),
        ("Publishing failed", "Unfortunately the page is locked.", "passed"),
        ("published", "I published the page.", "passed"),
    ]:
        with subtests.test(answer=answer, output=output):
            calls = [{"name": "publish_page", "result": answer}]
            run = {"input": "Publish it", "final_output": output, "tool_calls": calls}

            assert evaluate(hold_own_audit({"agent_run": run})[0]).status == status
