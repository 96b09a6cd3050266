"""Content that an output must or must not contain."""

import pytest

from evaluation.inputs.messages import assistant_texts
from evaluation.metrics.response.content import (
    AgentTexts,
    content_checks,
    content_score,
)
from evaluation.texts.json_texts import read_json_values

AGE = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}
WRONG_AGE = '"#/properties/age/type" is not fulfilled'
SLOW_RULE = {"pattern": "b{1000}"}
SAID_ANYWHERE = {"text": "a", "where": "assistant_messages"}

FOUND = [
    ({"text": "in transit"}, "Order is IN\n transit.", True),
    ({"text": "in transit", "ignore_case": False}, "Order is In transit.", False),
    ({"text": "in transit", "ignore_case": False}, "Order is in transit.", True),
    ({"text": "caf\u00e9"}, "Cafe\u0301", True),
    ({"text": "password"}, "pass\u200bword", True),
    ({"text": "\u200b"}, "pass\u200bword", True),
    ({"text": "\u200b"}, "password", False),
    ({"pattern": r"\b\d{5}\b"}, "order 12345", True),
    ({"pattern": r"\b\d{5}\b"}, "order 123456", False),
    ({"number": 1786.0}, "It costs $1,786.", True),
    ({"number": 1786.0}, "It costs $1,787.", False),
    ({"number": 1786.0, "tolerance": 1.0}, "It costs $1,787.", True),
    ({"json_schema": AGE}, '{"age": 5}', True),
    ({"json_schema": AGE}, '{"age": "5"}', False),
    ({"json_schema": AGE}, 'Here you are:\n```json\n{"age": 5}\n```\nBye', True),
    ({"json_schema": AGE}, 'Here you are: ```{"age": 5}```', True),
    ({"json_schema": True}, "no JSON", False),
    ({"json_schema": False}, "{}", False),
    ({"json_schema": {"type": "number"}}, "NaN", False),
    ({"json_schema": {"type": "array"}}, "[" * 100_000, False),
    ({"json_schema": {"type": "string"}}, r'"\ud800"', True),
]


@pytest.mark.parametrize(("rule", "text", "is_found"), FOUND)
def test_a_rule_is_met_where_it_is_required_and_broken_where_it_is_forbidden(rule, text, is_found):
    (required,) = content_checks("required_content", [rule], AgentTexts(text))
    (forbidden,) = content_checks("forbidden_content", [rule], AgentTexts(text))

    assert (required["passed"], forbidden["passed"]) == (is_found, not is_found)


def test_json_in_prose_is_not_what_a_rule_requires_but_is_what_it_forbids():
    texts = AgentTexts('Here you are: {"age": 5}')
    demands = ("required_content", "forbidden_content")
    checks = [check for demand in demands for check in content_checks(demand, [{"json_schema": AGE}], texts)]

    assert [check["passed"] for check in checks] == [False, False]


def test_a_check_has_the_severity_of_its_rule():
    (check,) = content_checks("required_content", [{"text": "a", "severity": "info"}], AgentTexts("b"))

    assert (check["kind"], check["severity"]) == ("response", "info")


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ({"text": "refund"}, 'The output lacks the text "refund"; include it'),
        (
            {"pattern": "x{3}", "where": "assistant_messages"},
            'The assistant\'s side of the conversation lacks a match of the pattern "x{3}"; include it',
        ),
        ({"number": 2.5}, "The output lacks the number 2.5; include it"),
        ({"number": 3, "tolerance": 0.5}, "The output lacks the number 3.0 +/- 0.5; include it"),
        (
            {"json_schema": AGE},
            "The output lacks JSON that matches the JSON Schema (not JSON); include it",
        ),
    ],
)
def test_a_reason_says_what_to_include_and_quotes_nothing_of_the_output(rule, shown):
    (check,) = content_checks("required_content", [rule], AgentTexts("secret words"))

    assert check["reason"] == shown


@pytest.mark.parametrize(
    ("rule", "output", "expected", "observed"),
    [
        ({"text": "refund"}, "x", 'text "refund"', "not found"),
        ({"text": "r" * 200}, "x", f'text "{"r" * 200}"', "not found"),
        (SAID_ANYWHERE, "x", 'text "a" in the assistant\'s messages', "not found"),
        ({"number": 2.5}, "2.5", "number 2.5", "found"),
        ({"json_schema": AGE}, "x", "json_schema", "not JSON"),
        ({"json_schema": AGE}, '{"age": "5"}', "json_schema", f"JSON in which {WRONG_AGE}"),
        ({"json_schema": AGE}, '{"age": 5}', "json_schema", "found"),
    ],
)
def test_a_check_says_what_was_looked_for_and_what_was_seen(rule, output, expected, observed):
    (check,) = content_checks("required_content", [rule], AgentTexts(output))

    assert (check["limit"], check["observed"]) == (expected, observed)


def test_what_was_looked_for_is_shown_with_at_most_500_characters():
    (check,) = content_checks("required_content", [{"pattern": "x" * 5000}], AgentTexts("y"))

    assert len(check["limit"]) < 520


def test_a_reason_quotes_at_most_500_characters_of_a_rule():
    (check,) = content_checks("forbidden_content", [{"text": "x" * 5000}], AgentTexts("x" * 5000))

    assert len(check["reason"]) < 560


def test_the_checks_follow_the_order_of_the_rules():
    checks = content_checks("required_content", [{"text": "a"}, {"text": "b"}], AgentTexts("b"))

    assert [check["passed"] for check in checks] == [False, True]


def test_what_a_run_without_an_output_said_is_not_judged():
    for demand in ("required_content", "forbidden_content"):
        (check,) = content_checks(demand, [{"text": "a"}], AgentTexts(None))

        assert (check["kind"], check["passed"], check["severity"]) == ("missing_data", None, "warning")


def test_a_rule_marked_as_information_stays_that_when_it_is_not_judged():
    (check,) = content_checks("required_content", [{"text": "a", "severity": "info"}], AgentTexts(None))

    assert check["severity"] == "info"


def test_an_empty_output_is_judged():
    (check,) = content_checks("forbidden_content", [{"text": "a"}], AgentTexts(""))

    assert check["passed"] is True


def test_a_text_too_long_for_a_rule_is_an_error_of_the_metric_and_not_of_the_agent():
    output = AgentTexts("a" * 1_000_000)

    (check,) = content_checks("forbidden_content", [SLOW_RULE], output)

    assert (check["kind"], check["passed"], check["severity"]) == ("metric_error", None, "warning")
    assert content_score([check]) == {"status": "error", "reason": check["reason"]}


MESSAGES = [
    {"role": "user", "content": "from the user"},
    {"role": "assistant", "content": "first"},
    {"role": "assistant", "content": [{"type": "text", "text": "second"}, {"type": "image"}, "third"]},
    {"role": "assistant", "content": None},
    {"role": "assistant"},
    {"role": "assistant", "content": ""},
    "no message",
]


def test_the_assistants_texts_are_read_from_strings_and_parts():
    assert list(assistant_texts(MESSAGES)) == ["first", "second", "third"]


def test_what_is_no_conversation_has_no_texts():
    assert not list(assistant_texts({"role": "assistant"}))


@pytest.mark.parametrize(
    ("text", "is_found"),
    [("first", True), ("third", True), ("the end", True), ("from the user", False), ("first second", False)],
)
def test_a_rule_for_messages_looks_at_each_of_the_assistants_and_at_the_output(text, is_found):
    rule = {"text": text, "where": "assistant_messages"}

    (check,) = content_checks("required_content", [rule], AgentTexts("the end", MESSAGES))

    assert check["passed"] is is_found


def test_a_rule_for_messages_is_judged_without_a_final_output():
    rule = {"text": "first", "where": "assistant_messages"}

    (check,) = content_checks("required_content", [rule], AgentTexts(None, MESSAGES))

    assert check["passed"] is True


def test_an_output_that_is_a_message_is_looked_at_once():
    assert AgentTexts("first", MESSAGES).texts_in("assistant_messages") == ["first", "second", "third"]


def test_a_found_text_outweighs_one_that_is_too_long():
    long = {"role": "assistant", "content": "a" * 1_000_000}
    rule = {**SLOW_RULE, "where": "assistant_messages"}

    (check,) = content_checks("required_content", [rule], AgentTexts("b" * 1000, [long]))

    assert check["passed"] is True


def test_a_text_is_read_as_one_value_or_by_its_fenced_blocks():
    assert read_json_values(" [1, 2]\n") == [[1, 2]]
    assert read_json_values("a ```1``` b ```json\n2\n``` c ```text\nx\n```") == [1, 2]
    assert read_json_values("```python\n```") == []


def test_a_falsy_value_is_a_value():
    assert read_json_values("null") == [None]
    assert read_json_values("```\n0\n```") == [0]


def test_required_content_scores_the_share_that_is_there():
    checks = content_checks("required_content", [{"text": text} for text in "abcx"], AgentTexts("a b c"))

    assert content_score(checks) == 0.75


def test_forbidden_content_scores_the_number_found():
    checks = content_checks("forbidden_content", [{"text": text} for text in "abcx"], AgentTexts("a b c"))

    assert content_score(checks) == 3


def test_rules_of_which_one_is_open_have_no_score():
    rules = [{"text": "first", "where": "assistant_messages"}, {"text": "a"}]
    checks = content_checks("required_content", rules, AgentTexts(None, MESSAGES))

    assert content_score(checks) == {"status": "missing_data", "reason": checks[1]["reason"]}
