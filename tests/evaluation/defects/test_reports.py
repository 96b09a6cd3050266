import json
from pathlib import Path
from statistics import mean
from time import process_time

import pytest

from evaluation import evaluate
from evaluation.recordings.default_contract import hold_own_audit
from tests.evaluation.defects.builders import BOOKED, SLOTS, STRICT, TASK, judge_answer, report_on, run
from tests.evaluation.messages import answered, calling, said, user


def test_every_turn_is_judged_against_what_was_known_then():
    early = run(TASK, "I booked the room Fjord.", SLOTS, BOOKED, "Anything else?")

    assert [(each.rule, each.message) for each in early if each.level == "defect"] == [
        ("claimed_not_done", 1)
    ]


def test_a_run_without_recorded_calls_abstains_and_says_so_and_one_with_an_empty_list_does_not():
    answer, none = "I booked the room.", {"tool_calls": []}
    silent, known = (report_on(TASK, answer, **calls) for calls in ({}, none))
    unsaid, stated = (
        evaluate({"agent_run": {"messages": [user(TASK), said(answer, **calls)]}, **STRICT})
        for calls in ({}, none)
    )

    assert [each.status for each in (silent, known, unsaid, stated)] == ["passed", "failed"] * 2
    assert [each["id"] for each in silent.audit_findings] == ["defects.no_calls"]


def test_the_report_says_what_the_rules_could_not_compare(subtests):
    french = "Votre commande numéro sept vient d'être annulée à l'instant."
    for ending, answer, names in [
        ({}, "The order was open.", ["defects.no_results"]),
        ({"result": "ok"}, french, ["defects.no_language"]),
        ({"result": "ok"}, "The order is open.", []),
    ]:
        with subtests.test(answer=answer):
            call = {"name": "annuler_commande", "args": {"numero": 7}, **ending}

            assert [each["id"] for each in report_on("?", answer, tool_calls=[call]).audit_findings] == names


def test_both_sides_and_their_places_are_in_the_report():
    call = {"name": "get_order", "args": {"order": 7}, "result": '{"status": "pending"}'}
    report = report_on("Cancel order 7.", "I have cancelled it.", tool_calls=[call])

    assert report.status == "failed"
    assert report.audit_findings[0]["evidence"] == {
        "said": "I have cancelled it.",
        "seen": "no call did that; calls: get_order",
    }


def test_a_report_tells_two_hidden_values_apart():
    call = {"name": "send_mail", "args": {"to": "bob@example.com"}, "result": '{"ok": true}'}
    report = report_on("Mail ada@example.com.", "I have mailed ada@example.com.", tool_calls=[call])

    found = [each["evidence"] for each in report.audit_findings if each["id"] == "defects.other_value"]
    assert found[-1]["said"] == "I have mailed [email]."
    assert found[-1]["seen"] == "send_mail was called with [another email], and no acting call with [email]"


def test_what_a_file_says_of_itself_does_not_weaken_the_search(subtests):
    for audit in [{"defects": "off"}, {"credentials": "off"}, {"personal_data": "off"}]:
        with subtests.test(audit=audit):
            call = {"name": "get_order", "args": {}, "result": "pending"}
            run_ = {"input": "Cancel it.", "final_output": "I have cancelled it.", "tool_calls": [call]}
            own = {"audit": audit, "fake_judge_response": {"score": 5}, "keywords": ["cancelled"]}
            case, ignored = hold_own_audit({"agent_run": run_, **own})

            assert (evaluate(case).status, ignored) == (
                "failed",
                ["fake_judge_response", f"audit.{next(iter(audit))}"],
            )


def test_a_contract_of_a_file_that_is_wrong_or_demands_nothing_does_not_pass(subtests):
    run_ = {"input": "Hi", "final_output": "Hello.", "tool_calls": []}
    for own, status in [
        ({}, "passed"),
        ({"audit": {"defects": "off"}}, "passed"),
        ({"keywords": []}, "needs_review"),
        ({"audit": {}}, "needs_review"),
        ({"audit": None}, "invalid"),
        ({"audit": [{"id": "r", "forbidden_tools": ["rm"]}]}, "invalid"),
    ]:
        with subtests.test(own=own):
            assert evaluate(hold_own_audit({"agent_run": run_, **own})[0]).status == status


def test_a_conversation_that_ends_with_the_user_a_hand_over_or_a_finish_call_has_an_end(subtests):
    for ending, answer in [
        ([user("Thanks.")], "It is open."),
        ([calling("transfer_to_human_agents"), answered("transfer_to_human_agents")], "It is open."),
        ([calling("finish", final_answer="It is closed."), answered("finish")], "It is closed."),
    ]:
        with subtests.test(ending=ending):
            run_ = {"messages": [user("Is it open?"), said("It is open."), *ending]}

            assert evaluate({"agent_run": run_, "required_content": [{"text": answer}]}).status == "passed"


def test_a_conversation_of_hundreds_of_turns_and_calls_is_searched_in_seconds():
    answers = [{"status": "cancelled"}, {"error": "declined"}]
    parts = []
    for order in range(500):
        call = ("cancel_order", {"order": order}, answers[order % 2])
        parts += [call, f"I cancelled order {order} for {order}.50 euros."]
    start = process_time()
    found = run("Cancel the orders 0 to 499.", *parts)

    assert process_time() - start < 10
    assert len({each.message for each in found if each.rule == "failed_told_done"}) == 250


def test_a_name_of_repeated_letters_is_compared_with_a_long_login_at_once():
    assign = ("update_ticket", {"ticket": "T-9", "assignee": "a aa"}, {"ok": True})
    read = ("get_ticket", {"ticket": "T-9"}, {"ticket": "T-9", "assignee": f"{'a' * 200}b"})
    start = process_time()
    run("Assign T-9.", assign, read, "T-9 is assigned.")

    assert process_time() - start < 5


LINES = (Path(__file__).parent / "answers.jsonl").read_text("utf-8").splitlines()


ANSWERS = pytest.mark.parametrize("lines", [LINES[::2], pytest.param(LINES, marks=pytest.mark.soak)])


@ANSWERS
def test_wrong_answers_are_found_and_right_ones_not_refused(lines):
    found = {True: [], False: []}
    for each in map(json.loads, lines):
        levels = judge_answer(each["task"], each["tool_calls"], each["answer"])
        found[each["right"]].append("defect" in levels)

    assert mean(found[True]) <= 0.01
    assert mean(found[False]) >= 0.06
