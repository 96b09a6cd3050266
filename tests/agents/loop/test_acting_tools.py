import json
import sys
from functools import partial

import pytest

from agents import ActingTool
from agents.loop.acting_tools import describe_tool, read_acting_tools


def check(order: str, answer: str) -> bool:
    return answer == f"refunded {order}"


async def wait(answer: str) -> bool:
    return answer == "refunded"


def test_a_value_that_is_not_accepted_is_refused_in_one_sentence(subtests):
    for values, told in [
        ({"approve": "yes"}, "approve is 'yes'; give True or False"),
        ({"repeat": "once"}, "repeat is 'once'; give 'reuse', 'ask' or 'allow'"),
        ({"read_back": 3}, "read_back is 3; give the name of a tool, or a function"),
        ({"read_back": partial(check, "7")}, r"read_back is functools.partial\(.*; give the name of a tool"),
        ({"read_back": wait}, "read_back is <function wait .*; give .* a function with def"),
        ({"read_back": len}, "read_back is <built-in function len>; give the name of a tool, or a function"),
        ({"succeeded": ""}, "succeeded is ''; give values at JSON pointers"),
        ({"succeeded": {}}, r"succeeded is \{\}; give values at JSON pointers"),
        ({"succeeded": "refunded"}, "succeeded is 'refunded'; give values at JSON pointers"),
        ({"succeeded": {"/id": 7, "type": "object"}}, "or a function of the answer"),
    ]:
        with subtests.test(values=values):
            with pytest.raises(ValueError, match=told) as refused:
                ActingTool(**values)

            assert "\n" not in str(refused.value)


REFUNDED = {"/status": "refunded"}


def test_what_is_stated_about_the_answer_decides_the_outcome(subtests):
    for succeeded, answer, outcome in [
        (REFUNDED, '{"status": "refunded"}', "acted"),
        (REFUNDED, '{"status": "pending"}', "unknown"),
        (REFUNDED, '{"status": "failed"}', "refused"),
        (REFUNDED, "refunded", "unknown"),
        (REFUNDED, "[]", "unknown"),
        ({"/orders/0/a~1b": 1}, '{"orders": [{"a/b": 1.0}]}', "acted"),
        ({"/a~0b": None}, '{"a~b": null}', "acted"),
        ({"/ok": True}, '{"ok": 1}', "unknown"),
        ({"/orders/1": "x"}, '{"orders": ["x"]}', "unknown"),
        ({"/a": 1, "/b": 2}, '{"a": 1, "b": 2}', "acted"),
        ({"/a": 1, "/b": 2}, '{"a": 1, "b": 3}', "unknown"),
        (lambda answer: answer == "42", "42", "acted"),
        (lambda answer: answer == "42", "refunded", "refused"),
        (partial(check, "7"), "refunded 7", "acted"),
        (lambda _: None, "refunded", "unknown"),
        (lambda _: 1, "refunded", "unknown"),
        (lambda answer: json.loads(answer)["status"] == "done", '{"state": "refunded"}', "unknown"),
        (lambda answer: json.loads(answer)["status"] == "done", "refunded", "unknown"),
        (lambda answer: json.loads(answer)["status"] == "done", "Could not refund: card expired", "refused"),
        (lambda _: sys.exit(3), "refunded", "unknown"),
        (lambda _: None, "Could not refund: card expired", "refused"),
        (None, "refunded", "acted"),
        (None, "42", "unknown"),
        (None, None, "unknown"),
    ]:
        with subtests.test(succeeded=succeeded, answer=answer):
            assert ActingTool(succeeded=succeeded).tell_outcome("refund", answer) == outcome


def test_an_error_in_the_function_is_logged(caplog):
    ActingTool(succeeded=lambda answer: {}[answer]).tell_outcome("refund", "refunded")

    assert [each.getMessage() for each in caplog.records] == [
        "succeeded raised KeyError: 'refunded', so it is not known whether the call acted; mend the function"
    ]


def test_an_answer_with_the_status_of_an_error_never_says_that_the_call_acted(subtests):
    for succeeded in [REFUNDED, lambda _: True, None]:
        with subtests.test(succeeded=succeeded):
            tool = ActingTool(succeeded=succeeded)

            assert tool.tell_outcome("refund", '{"status": "refunded"}', is_error=True) != "acted"


def test_another_form_of_the_option_is_refused(subtests):
    told = r"acting_tools is .*; give a list of tool names, or a dict such as"
    for given in ["refund", 3, [3], {"refund": True}, {"refund": {"approve": True}}]:
        with subtests.test(given=given), pytest.raises(ValueError, match=told):
            read_acting_tools(given)


def test_what_is_stated_outweighs_annotations_and_annotations_outweigh_names():
    metadata = {"refund": {"readOnlyHint": True}, "get_order": {"readOnlyHint": False}}
    tools = read_acting_tools({"refund": ActingTool(repeat="ask")}, metadata)

    described = [describe_tool(tools, name) for name in ("refund", "get_order", "send_mail", "get_user")]
    assert [each.kind for each in described] == ["acting", "acting", "acting", "reading"]
    assert [each.is_guessed for each in described] == [False, False, True, False]
    assert describe_tool(read_acting_tools(None, metadata), "refund").kind == "reading"


def test_a_guessed_tool_and_an_idempotent_one_may_be_repeated_and_a_stated_one_is_not():
    idempotent = {"put": {"readOnlyHint": False, "idempotentHint": True}}
    stated, guessed = read_acting_tools(["refund"]), read_acting_tools(None)

    assert describe_tool(stated, "refund").treatment.repeat == "reuse"
    assert describe_tool(guessed, "refund").treatment.repeat == "allow"
    assert describe_tool(read_acting_tools(None, idempotent), "put").treatment.repeat == "allow"


def test_an_empty_list_turns_guesses_by_names_off_and_keeps_annotations():
    tools = read_acting_tools([], {"send": {"readOnlyHint": False}})

    kinds = [describe_tool(tools, name).kind for name in ("send", "refund", "get_order")]
    assert kinds == ["acting", "open", "open"]
    assert describe_tool(tools, "refund").treatment is None
