"""A recorded conversation becomes a run that can be evaluated."""

import pytest

from evaluation import ContractError
from evaluation.importers.conversation import run_from_messages

CALL = {"id": "1", "function": {"name": "lookup", "arguments": '{"order": 7}'}}
LOG = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Where is order 7?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "Error: no such order"},
    {"role": "assistant", "content": "There is no order 7."},
]


def test_the_caller_says_which_answers_are_errors(subtests):
    for failed, error in [(lambda text: text.startswith("Error"), True), (bool, True)]:
        with subtests.test(failed=failed):
            assert run_from_messages(LOG, failed=failed)["tool_calls"][0]["error"] is error


def test_a_call_without_an_answer_has_none_and_is_no_error():
    (call,) = run_from_messages(LOG[:3], failed=lambda _: True)["tool_calls"]

    assert (call["result"], call["error"]) == (None, False)


def test_calls_of_another_shape_are_refused(subtests):
    for calls in ["lookup", {"id": "1"}, ["lookup", 3, None]]:
        with (
            subtests.test(calls=calls),
            pytest.raises(ContractError, match=r"messages\[0\] has tool_calls that are no list"),
        ):
            run_from_messages([{"role": "assistant", "tool_calls": calls}])


def test_a_call_without_a_name_is_refused(subtests):
    for function in [None, 3, {}, {"title": "lookup"}, {"name": None}]:
        with (
            subtests.test(function=function),
            pytest.raises(ContractError, match=r"messages\[0\] has a tool call without a name"),
        ):
            run_from_messages([{"role": "assistant", "tool_calls": [{"function": function}]}])


def test_a_call_whose_name_a_model_left_empty_is_still_one():
    message = {"role": "assistant", "tool_calls": [{"function": {"name": ""}}]}

    assert run_from_messages([message])["tool_calls"][0]["name"] == ""


PARTS = [{"type": "text", "text": "Where is "}, {"type": "image_url"}, {"type": "text", "text": "it?"}]


def test_the_texts_of_a_message_in_parts_are_joined():
    run = run_from_messages([{"role": "user", "content": PARTS}])

    assert run["input"] == "Where is it?"
