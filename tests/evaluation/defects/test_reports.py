import json
from pathlib import Path
from time import process_time

import pytest

from evaluation import evaluate
from evaluation.recordings.default_contract import hold_own_audit
from tests.evaluation.defects.builders import judge_answer, run

SLOTS = ("find_slots", {"day": "2026-05-04"}, {"slots": ["10:00", "11:00"]})
BOOKED = ("book_room", {"room": "Fjord", "day": "2026-05-04"}, {"status": "confirmed", "id": "bk_7712"})
TASK = "Book the room Fjord on 2026-05-04 and mail the confirmation to ada@example.com."


def _call(name, args):
    function = {"name": name, "arguments": json.dumps(args)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}


def _answer(text):
    return {"role": "tool", "tool_call_id": "1", "content": text}


def test_every_turn_is_judged_against_what_was_known_then():
    early = run(TASK, "I booked the room Fjord.", SLOTS, BOOKED, "Anything else?")

    assert [(each.rule, each.message) for each in early if each.level == "defect"] == [
        ("claimed_not_done", 1)
    ]


def test_a_run_without_recorded_calls_abstains_and_says_so():
    case = {"agent_run": {"input": TASK, "final_output": "I booked the room."}, "audit": {"defects": "fail"}}
    silent = evaluate(case)
    known = evaluate({**case, "agent_run": {**case["agent_run"], "tool_calls": []}})

    assert (silent.status, known.status) == ("passed", "failed")
    assert [each["id"] for each in silent.audit_findings] == ["defects.no_calls"]


def test_a_message_with_an_empty_list_of_calls_says_that_none_was_made():
    asked, claimed = {"role": "user", "content": TASK}, {"role": "assistant", "content": "I booked the room."}
    settings = {"audit": {"defects": "fail"}}
    silent, known = (
        evaluate({"agent_run": {"messages": [asked, {**claimed, **calls}]}, **settings})
        for calls in ({}, {"tool_calls": []})
    )

    assert (silent.status, known.status) == ("passed", "failed")


def test_the_report_says_what_the_rules_could_not_compare(subtests):
    call = {"name": "annuler_commande", "args": {"numero": 7}}
    for calls, answer, names in [
        ([call], "The order was open.", ["defects.no_results"]),
        (
            [{**call, "result": "ok"}],
            "Votre commande numéro sept vient d'être annulée à l'instant.",
            ["defects.no_language"],
        ),
        ([{**call, "result": "ok"}], "The order is open.", []),
    ]:
        with subtests.test(answer=answer):
            run_ = {"input": "?", "final_output": answer, "tool_calls": calls}
            report = evaluate({"agent_run": run_, "audit": {"defects": "fail"}})

            assert [each["id"] for each in report.audit_findings] == names


def test_both_sides_and_their_places_are_in_the_report():
    call = {"name": "get_order", "args": {"order": 7}, "result": '{"status": "pending"}'}
    run_ = {"input": "Cancel order 7.", "final_output": "I have cancelled it.", "tool_calls": [call]}
    report = evaluate({"agent_run": run_, "audit": {"defects": "fail"}})

    assert report.status == "failed"
    assert report.audit_findings[0]["evidence"] == {
        "said": "I have cancelled it.",
        "seen": "no call did that; calls: get_order",
    }


def test_a_report_tells_two_hidden_values_apart():
    call = {"name": "send_mail", "args": {"to": "bob@example.com"}, "result": '{"ok": true}'}
    run_ = {
        "input": "Mail ada@example.com.",
        "final_output": "I have mailed ada@example.com.",
        "tool_calls": [call],
    }
    report = evaluate({"agent_run": run_, "audit": {"defects": "fail"}})

    found = [each["evidence"] for each in report.audit_findings if each["id"] == "defects.other_value"]
    assert found[-1]["said"] == "I have mailed [email]."
    assert found[-1]["seen"] == "send_mail was called with [another email], and no acting call with [email]"


def test_what_a_file_says_of_itself_does_not_weaken_the_search(subtests):
    for audit in [{"defects": "off"}, {"credentials": "off"}, {"personal_data": "off"}]:
        with subtests.test(audit=audit):
            call = {"name": "get_order", "args": {}, "result": "pending"}
            run_ = {"input": "Cancel it.", "final_output": "I have cancelled it.", "tool_calls": [call]}
            case, ignored = hold_own_audit(
                {
                    "agent_run": run_,
                    "audit": audit,
                    "fake_judge_response": {"score": 5},
                    "keywords": ["cancelled"],
                }
            )

            assert (evaluate(case).status, ignored) == (
                "failed",
                ["fake_judge_response", f"audit.{next(iter(audit))}"],
            )


def test_a_conversation_that_ends_with_the_user_a_hand_over_or_a_finish_call_has_an_end(subtests):
    for ending, answer in [
        ([{"role": "user", "content": "Thanks."}], "It is open."),
        ([_call("transfer_to_human_agents", {}), _answer("done")], "It is open."),
        ([_call("finish", {"final_answer": "It is closed."}), _answer("ok")], "It is closed."),
    ]:
        with subtests.test(ending=ending):
            messages = [
                {"role": "user", "content": "Is it open?"},
                {"role": "assistant", "content": "It is open."},
            ]
            report = evaluate(
                {"agent_run": {"messages": [*messages, *ending]}, "required_content": [{"text": answer}]}
            )

            assert report.status == "passed"


def test_a_conversation_of_hundreds_of_turns_and_calls_is_searched_in_seconds():
    answers = [{"status": "cancelled"}, {"error": "declined"}]
    parts = [
        part
        for order in range(500)
        for part in (
            ("cancel_order", {"order": order}, answers[order % 2]),
            f"I cancelled order {order} for {order}.50 euros.",
        )
    ]
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


def count_defects(lines, *, right):
    answers = [answer for answer in map(json.loads, lines) if answer["right"] is right]
    found = [judge_answer(each["task"], each["tool_calls"], each["answer"]) for each in answers]
    return sum("defect" in levels for levels in found) / len(found)


@ANSWERS
def test_right_answers_are_not_refused(lines):
    assert count_defects(lines, right=True) <= 0.01


@ANSWERS
def test_wrong_answers_are_found(lines):
    assert count_defects(lines, right=False) >= 0.06
