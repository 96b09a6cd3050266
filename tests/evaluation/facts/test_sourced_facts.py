"""Facts of an output that have no source, and actions that it only claims."""

import json

import pytest

from evaluation import evaluate
from evaluation.checks import read_checks
from evaluation.checks.check_model import CheckContext, ToolUse
from evaluation.checks.kinds.tools import find_claimed_actions
from evaluation.facts.sourced_facts import MAX_SOURCES, Source, find_unsourced

ORDER = '{"id": "ORD-7781", "price": 12.5, "placed": "2026-03-05", "at": "15:00", "mail": "ada@example.org"}'
STOCK = '[{"item": "lamp", "count": 12}, {"item": "desk", "count": 30}, {"item": "chair", "count": 48}]'
NOTE = "The customer said that the parcel never arrived at the door. About 1287.4 km."
OPEN = json.dumps([{"pages": 300 + 140 * at, "state": "open" if at % 2 == 0 else "shut"} for at in range(5)])
SOURCES = [
    Source("How much are 3 of them?"),
    Source(ORDER, "get_order"),
    Source(STOCK, "stock"),
    Source(NOTE),
]


@pytest.mark.parametrize(
    "text",
    [
        "It costs 12.50 euros.",
        "Er kostet 12,50 €.",
        "It was placed on 5 March 2026 at 3 pm.",
        "Placed on March 5th; write to Ada@Example.org about ORD-7781.",
        "Three of them cost 37.50.",
        "There are twelve lamps and 30 desks, 42 in all.",
        "90 pieces in total, 30 on average, in 3 kinds.",
        "Chairs are 60 % more than desks.",
        "That is about 1,300 km, or roughly 1000.",
        "13 euros, rounded.",
        "12½ euros.",
        "42 of 90, or 46.7 %.",
        "It is the larger of the two.",
        "1. lamp\n2. desk\n3. chair\n4. nothing else",
        "- lamp\n- desk\nThese 2 are left.",
        'She said "the parcel never arrived".',
        "It was in 2026, on a Thursday.",
        "Nothing in it is a number.",
        "",
    ],
)
def test_a_fact_with_a_source_is_known(text):
    assert find_unsourced(text, SOURCES) == []


@pytest.mark.parametrize(
    ("text", "shown", "stated"),
    [
        ("It costs 99 euros.", "99", "says"),
        ("It costs 12.60 euros.", "12.60", "says"),
        ("It was placed on 6 March 2026.", "6 March 2026", "get_order says 2026-03-05"),
        ("It was placed at 16:00.", "16:00", "get_order says 15:00"),
        ("Write to ida@example.org.", "ida@example.org", "get_order says ada@example.org"),
        ("There are 91 pieces.", "91", "stock says 12, 30, 48"),
        ('She said "the parcel was stolen yesterday".', '"the parcel was stolen yesterday"', ""),
        ("That is exactly 1299.7 km.", "1299.7", "stock says"),
    ],
)
def test_a_fact_without_a_source_is_named_with_what_the_results_say(text, shown, stated):
    [fact] = find_unsourced(text, SOURCES)

    assert fact.shown.startswith(shown)
    assert stated in fact.stated


def test_parts_of_dates_and_identifiers_are_no_operands():
    assert find_unsourced("8 days", [Source("from 2026-03-05, order A-3", "get")])


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("It lasts 84 hours.", "From 16 June 2025, 06:00, until 19 June 2025, 18:00."),
        ("It takes 3 h 15 min.", '{"start": "09:10", "end": "12:25"}'),
        ("It takes an hour and a half.", '{"start": "2026-02-03T23:00", "end": "2026-02-04T00:30"}'),
        ("It is open from 7:30-9 pm.", '{"from": "19:30", "to": "21:00"}'),
        ("Two weeks.", '{"days": 14}'),
        ("1.2 kg.", '{"weight_g": 1200}'),
        ("It ends at 11:05.", '{"at": "10:40", "duration_min": 25}'),
        ("7 places are left.", '{"places": 18, "booked": 11}'),
        ("They cost 25.00 together.", '{"qty": 2, "price": 12.5}'),
        ("The goal difference is +28.", '{"goals": "47:19"}'),
        ("It stays 4 nights, from 8 to 12 June.", '{"from": "2026-06-08", "to": "2026-06-12"}'),
        ("It lasts 1 day, 2 hours and 5 minutes.", '{"from": "2026-06-08 08:00", "to": "2026-06-09 10:05"}'),
        ("5,180.15 stay.", '[{"balance": 6480.15}, {"error": "Limit exceeded. Remaining: 1300.00 EUR"}]'),
        ("12 guests at €25 and 7 members at €20 make 440.", "25 EUR, members 20 EUR, 12 guests, 7 members"),
        ("Pay to DE12370400440532013088.", '{"iban": "DE12 3704 0044 0532 0130 88"}'),
        ("Call 0711/555 01 88.", '{"phone": "0711 555-0188"}'),
        ("It costs €12.50.", '{"amount": 1250}'),
        ("Together they cost 30.75.", '[{"amount_cents": 1250}, {"amount_cents": 1825}]'),
        ("It began on 5 March 2024 at noon, at 12:00.", '{"created": 1709640000}'),
        ("It began on 5 March 2024.", '{"created": 1709640000000}'),
        ("It answers within 142 ms.", '{"seconds": {"p50": 0.142}}'),
        ("The night shift lasts 9 h 15 min.", '{"from": "21:15", "to": "06:30"}'),
        ("It took 15 months.", '{"from": "2024-02-02", "to": "2025-05-14"}'),
        ("January 2151, February 2163.", '[{"month": 1, "rating": 2151}, {"month": 2, "rating": 2163}]'),
        ("It takes eight and a half hours, or 510 minutes.", "It takes achteinhalb Stunden."),
        ("Roughly three times as much: 5600 and 1850.", '{"opening": 1850, "closing": 5600}'),
        ("It fell by about a third.", '{"before": 14.2, "now": 9.3}'),
        ("86 % of them succeeded.", '{"total": 48200, "responses": {"2xx": 41370}}'),
        ("3 are open, and 2 are not.", OPEN),
        ("The open ones have 1,740 pages.", OPEN),
    ],
)
def test_one_operation_follows_the_units_of_its_values(text, result):
    assert find_unsourced(text, [Source("How much?"), Source(result, "get")]) == []


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("It is 35 minutes.", '{"price_eur": 20, "wait_min": 15}'),
        ("There are 783 pieces.", '{"item": "LP-779", "left": 4}'),
        ("It lasts 80 hours.", "From 16 June 2025, 06:00, until 19 June 2025, 18:00."),
        ("It weighs 1.3 kg.", '{"weight_g": 1200}'),
        ("It costs €12.60.", '{"amount": 1250}'),
        ("It costs €12.50.", '{"eur": 1250}'),
        ("It began on 6 March 2024.", '{"created": 1709640000}'),
    ],
)
def test_values_that_do_not_belong_together_make_no_number(text, result):
    assert find_unsourced(text, [Source("How much?"), Source(result, "get")])


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("5,810.15 stay.", '[{"balance": 6480.15}, {"error": "Limit exceeded. Remaining: 1300.00 EUR"}]'),
        ("It was 3,217.", '{"a": 3127, "b": 45, "c": 2}'),
        ("Pay to DE12370400440532013068.", '{"iban": "DE12 3704 0044 0532 0130 88"}'),
    ],
)
def test_a_number_with_changed_digits_has_no_source(text, result):
    assert find_unsourced(text, [Source("How much?"), Source(result, "get")])


def test_the_number_of_a_step_in_the_context_is_no_operand():
    sources = [Source("Step 4: search for it"), Source('{"total": 12}', "get")]

    assert find_unsourced("It is 48.", sources)


def test_an_infinite_number_in_a_result_breaks_nothing():
    assert find_unsourced("It is 5.", [Source('{"a": 1e400, "b": -1e400, "c": 1e308}', "get")])


def test_many_numbers_make_no_number_by_chance():
    numbers = " ".join(str(number) for number in range(1000, 1100, 2))

    assert find_unsourced("2222", [Source(numbers, "list")])


def test_sources_that_are_too_long_leave_it_open():
    check = read_checks([{"check": "sourced_facts"}])[0]

    assert check.evaluate(CheckContext("It is 5.", "x" * (MAX_SOURCES + 1))).passed is None


@pytest.mark.parametrize(
    ("output", "claimed"),
    [
        ("I refunded the order.", ["refund_order"]),
        ("I've successfully sent the mail.", ["sendMail"]),
        ("The order has been refunded.", ["refund_order"]),
        ("Your trip was cancelled.", ["cancel_trip"]),
        ("We have applied the coupon, and I paid the bill.", ["apply_coupon", "pay"]),
        ("The order has not been refunded.", []),
        ("I could not refund it. A refunded order is final.", []),
        ("I booked nothing.", []),
    ],
)
def test_an_action_is_claimed_in_the_past_of_the_verb_of_its_tool(output, claimed):
    tools = ["refund_order", "sendMail", "cancel_trip", "apply_coupon", "pay", "book_room", "do"]

    assert find_claimed_actions(output, tools, ["book_flight"]) == claimed


def test_an_answered_call_of_the_tool_bears_the_claim():
    assert find_claimed_actions("I refunded it.", ["refund_order"], ["refund_order"]) == []


def test_a_recorded_run_is_judged_by_its_sources():
    calls = [{"name": "get_order", "args": {}, "result": ORDER}]
    contract = {"checks": [{"check": "sourced_facts", "tools": ["refund_order"]}]}

    def judge(output, **run):
        return evaluate({"agent_run": {"final_output": output, "tool_calls": calls, **run}, **contract})[
            "status"
        ]

    assert judge("It costs 12.50.") == "passed"
    assert judge("It costs 99.") == "failed"
    assert judge("It costs 99.", sources=["99 euros"]) == "passed"
    assert judge("It costs 99.", messages=[{"role": "user", "content": "Is it 99?"}]) == "passed"
    assert judge("I refunded 12.50.") == "failed"


def test_an_answer_that_failed_is_no_source():
    context = CheckContext("It is 5.", tool_calls=(ToolUse("get", {}, "5", "error"),))

    assert read_checks([{"check": "sourced_facts"}])[0].evaluate(context).passed is False
