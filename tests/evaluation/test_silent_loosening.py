import pytest

from evaluation import ContractError, evaluate
from tests.evaluation.messages import calling, said, user

WRITES = {"expected_trajectory": ["cancel_order"], "trajectory": {"acting_tools": ["cancel_order"]}}


def judge_status(run, **fields):
    return evaluate({"agent_run": {"final_output": "done", **run}, **fields})["status"]


def judge_number(text, number):
    return judge_status({"final_output": f"It is {text}"}, required_content=[{"number": number}])


SPELLINGS = [
    *("CANCEL_ORDER", "cancel_order ", "cancel\u200b_order", "mcp__shop__cancel_order"),
    *("functions.cancel_order", "cancelOrder", "ｃancel_order", "c\u0430ncel_order"),
    *("mcp_shop_cancel_order", "shop/cancel_order", "cancel-order"),
]
BROKEN_BY_ANOTHER_SPELLING = [
    (["cancel_order"], WRITES),
    (["cancel_order"], {"checks": [{"check": "tool_calls", "tool": "cancel_order", "exactly": 1}]}),
    (["cancel_order"], {"checks": [{"check": "tool_calls", "tool": "cancel_order", "max": 1}]}),
    (["look"], {"trajectory": {"forbidden_tools": ["cancel_order"]}}),
    (["look"], {"audit": {"rules": [{"id": "no", "forbidden_tools": ["cancel_order"]}]}}),
    (["look"], {"checks": [{"check": "tool_calls", "tool": "cancel_order", "max": 0}]}),
]


def test_another_spelling_of_a_tool_needs_a_review_if_a_call_of_it_breaks_the_contract(subtests):
    for name in SPELLINGS:
        for before, contract in BROKEN_BY_ANOTHER_SPELLING:
            with subtests.test(name=name, contract=contract):
                assert judge_status({"tool_calls": [*before, name]}, **contract) == "needs_review"


def test_another_spelling_of_a_tool_is_never_the_expected_one_and_another_tool_is_no_spelling(subtests):
    for name in SPELLINGS:
        with subtests.test(name=name):
            assert judge_status({"tool_calls": [name]}, **WRITES) != "passed"
    for name in ("cancel_orders_list", "mcp_shop_cancel_order_list"):
        assert judge_status({"tool_calls": ["cancel_order", name]}, **WRITES) == "passed"


def test_a_demanded_tool_that_was_not_called_is_told_beside_a_called_one_of_a_similar_name(subtests):
    for called, told in [
        (["get_users"], '0 times; a tool of a similar name was called: "get_users".'),
        (["send_mail"], "0 times."),
        ([], "0 times."),
    ]:
        with subtests.test(called=called):
            case = {"agent_run": {"final_output": "done", "tool_calls": called}, "must_call": ["get_user"]}
            assert evaluate(case)["failures"][0].endswith(f"it was called {told}")


def test_a_write_whose_answer_refuses_it_did_not_happen(subtests):
    for answer, status in [
        ({"status": "failed"}, "failed"),
        ({"success": "false"}, "failed"),
        ({"status_code": 500}, "failed"),
        ({"is_error": True}, "failed"),
        ({"Error": "no"}, "failed"),
        ("Traceback (most recent call last):\n  ...", "failed"),
        ('```json\n{"error": "no"}\n```', "failed"),
        ([{"type": "text", "text": "ok"}, {"type": "text", "text": "Error: no"}], "failed"),
        ({"result": {"status": "failed"}}, "failed"),
        ({"content": [{"type": "text", "text": "Error: no"}]}, "failed"),
        ({"error_message": "no funds"}, "failed"),
        ({"http_status": "500"}, "failed"),
        ({"failed": True}, "failed"),
        ({"success": 0}, "failed"),
        ("{'status': 'failed'}", "failed"),
        ("ValueError: no", "failed"),
        ("Declined.", "failed"),
        ({"data": {"id": 7, "status": "failed", "total": 12}}, "failed"),
        ({"error": "n/a", "failed": 0}, "passed"),
        ("The error was corrected, and the order cancelled.", "passed"),
        ({"id": 7, "status": "failed", "total": 12}, "failed"),
        ({"id": 7, "total": 12}, "passed"),
        ({"status_code": 200, "error": None}, "passed"),
        ("It was cancelled, without errors.", "passed"),
    ]:
        with subtests.test(answer=answer):
            calls = [{"name": "cancel_order", "args": {}, "result": answer}]

            assert judge_status({"tool_calls": calls}, **WRITES) == status
            # Without a list of the acting tools, the name tells that this one acts.
            assert judge_status({"tool_calls": calls}, must_call=["cancel_order"]) == status


def test_a_write_that_no_message_answers_needs_a_review():
    messages = [user("q"), calling("cancel_order"), said("done")]

    assert evaluate({"agent_run": {"messages": messages}, **WRITES})["status"] == "needs_review"


def test_a_required_number_is_no_part_of_another_one(subtests):
    for text in [
        *("42 million", "42k", "minus 42", "42 x 10^3", "42 × 10^3", "1/42", "42/100", "2026-11-42"),
        *("**42** million", "42million", "42M", "42 Tsd.", "42,000", "negative 42", "(minus 42)"),
        *("$42m", "42 / 100", "12:42", "42_000", "EUR 42b", "€ 42m", "12:42:10"),
        *("minus forty-two", "42 × 10³", r"42 \times 10^{3}", "10^42", "42.11.2026", "2026/11/42"),
    ]:
        with subtests.test(text=text):
            assert judge_number(f"{text}.", 42) == "failed"


def test_a_number_is_read_in_its_notation(subtests):
    for text, number in [
        *(("minus 42", -42), ("42 million", 42e6), ("4.2 x 10^1", 42), ("1/4", 0.25), ("42.", 42)),
        *(("0.042 x 10^3", 42), ("420 × 10⁻¹", 42), (r"4.2 \times 10^{1}", 42)),
        *(("minus forty-two", -42), ("10⁵", 1e5), ("**42** million", 42e6), ("42 m", 42), ("42 MB", 42)),
        *(("$42m", 42e6), ("42m", 42), ("42 / 100", 0.42), ("42_000", 42_000), ("at 12:30, 42", 42)),
        *(("7:1", 7), ("42 mnemonics", 42), ("7 minus 42", 42), ("42.000", 42), ("1,786", 1786)),
    ]:
        with subtests.test(text=text, number=number):
            assert judge_number(text, number) == "passed"


def test_equality_keeps_the_operators_of_words(subtests):
    for reference, output in [
        *(("!x", "x"), ("/a/b", "/ab"), ("C#", "C"), ("rm -rf", "rm rf"), ("5'", '5"'), ("-rf", "rf")),
        *(("x != y", "x = y"), ("--force", "force"), ("a -> b", "a > b"), ("x := y", "x = y")),
    ]:
        with subtests.test(reference=reference, output=output):
            assert judge_status({"final_output": output}, reference_output=reference) != "passed"
            assert judge_status({"final_output": reference}, reference_output=reference) == "passed"


def test_equality_drops_punctuation_around_words(subtests):
    for output in ["Paris.", '"Paris"', "**Paris**", "- Paris", "(Paris)", "paris!", "'Paris'"]:
        with subtests.test(output=output):
            assert judge_status({"final_output": output}, reference_output="Paris") == "passed"


def test_a_thought_about_a_write_and_a_handoff_are_none(subtests):
    for kind in ["reasoning", "handoff"]:
        with subtests.test(kind=kind):
            calls = [{"name": "cancel_order", "kind": kind}]
            assert judge_status({"tool_calls": calls}, **WRITES) == "failed"


def test_a_reply_that_was_blocked_or_refused_is_no_output(subtests):
    for end in [
        {"finish_reason": "content_filter"},
        {"finish_reason": "content-filter"},
        {"finish_reason": "abort"},
        {"stop_reason": "refusal"},
        {"refusal": "I will not."},
        {"finish_reason": "insufficient_system_resource"},
        {"additional_kwargs": {"refusal": "I will not."}},
    ]:
        with subtests.test(end=end):
            run = {"messages": [user("q"), said("It is 42.", **end)]}
            report = evaluate({"agent_run": run, "required_content": [{"number": 42}]})

            assert report.status == "needs_review"


def test_reports_that_were_returned_are_a_baseline(subtests):
    for convert in [lambda report: report, lambda report: report.model_dump(mode="json")]:
        with subtests.test(convert=convert):
            case = {"agent_run": {"final_output": "x", "latency_ms": 100}, "keywords": ["x"]}
            report = evaluate(case)

            reports = [convert(report)] * 3
            listed = {"runs": reports}, {"runs": tuple(reports)}, {"runs": reports, "recent": reports}
            for baseline in (*listed, reports):
                assert evaluate(case, baseline=baseline)["status"] == "passed"


OF_RUNS = [
    *(("tokens", "total_tokens"), ("model_name", "model"), ("actual_tools", "tool_calls")),
    *(("answer", "final_output"), ("tools", "tool_calls"), ("prompt", "input")),
    *(("result", "final_output"), ("tool_uses", "tool_calls"), ("total_cost", "cost_usd")),
]
"""Names of other tools for fields of a run, and ours."""
OF_DEMANDS = [
    *(("latency_limit_ms", "thresholds.latency_ms"), ("token_limit", "thresholds.total_tokens")),
    *(("required_tool", "must_call"), ("expected_final_response", "reference_output")),
]
"""Names of demands in the document's sketch, and ours."""


def test_the_name_of_another_tool_or_of_the_documents_sketch_is_told_ours_at_its_place(subtests):
    case = {"agent_run": {"final_output": "x"}, "trajectory": {}}
    for place, names in [("agent_run", OF_RUNS + OF_DEMANDS), ("trajectory", OF_DEMANDS), ("", OF_DEMANDS)]:
        for name, meant in names:
            with subtests.test(place=place, name=name):
                wrong = {place: {**case[place], name: 1}} if place else {name: 1}
                [error] = evaluate({**case, **wrong})["errors"]

                assert f"write '{meant}' instead" in error


def test_prices_of_another_form_are_refused(subtests):
    for prices in [*({"m": each} for each in ({"input": 1}, (1, 2), 3)), [("m", 3)], 3]:
        with subtests.test(prices=prices), pytest.raises(ContractError, match=r"prices.* is .*; give Price"):
            evaluate({"agent_run": {"final_output": "x"}}, prices=prices)
