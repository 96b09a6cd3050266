import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from evaluation.sensitive.detector import MAX_CANDIDATES
from evaluation.sensitive.json_values import find_in_json
from evaluation.sensitive.scanner import find_sensitive, may_contain_sensitive
from evaluation.sensitive.spans import MAX_VALUES, Span, merge_spans
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS, KEYS, PASSWORDS, TOKENS, URLS
from tests.evaluation.sensitive.labelled.negatives import NEGATIVES
from tests.evaluation.sensitive.labelled.personal import PERSONAL
from tests.evaluation.sensitive.labelled.score import score

LOOKS_LIKE_DATA = st.text(
    st.sampled_from("0123456789 .-/()+@:=\"'\\ABCabcpswordtken_{}[]é\u2011\u0661王\ud800\n") | st.characters()
)

PRIVATE_PART = "AbCdEfGh1234567890-_" * 3


def searched(text):
    return [(span.start, span.end, span.category) for span in find_sensitive(text)]


def found_values(text):
    return [(text[span.start : span.end], span.kind) for span in find_sensitive(text)]


@pytest.mark.parametrize(
    ("category", "positives", "others", "recall", "precision"),
    [("credential", CREDENTIALS, PERSONAL, 0.97, 0.97), ("personal", PERSONAL, CREDENTIALS, 0.95, 0.97)],
)
def test_recall_and_precision_on_the_labelled_set_hold(category, positives, others, recall, precision):
    result = score(searched, positives, [*NEGATIVES, *others], category)

    assert result.expected > 100
    assert result.recall >= recall, result.missed
    assert result.precision >= precision, result.false_alarms


@pytest.mark.parametrize("sample", [*TOKENS, *KEYS, *URLS, *PASSWORDS[:4]], ids=lambda one: one.kind)
def test_a_credential_is_named_by_its_kind(sample):
    assert {span.kind for span in find_sensitive(sample.text)} == {sample.kind}


@pytest.mark.parametrize("lead", ["", "\n", "\t", "é", "王", '"'])
def test_the_prefilter_lets_no_labelled_value_pass_in_any_json_text(lead):
    texts = [lead + sample.text for sample in [*CREDENTIALS, *PERSONAL]]

    assert [text for text in texts if not may_contain_sensitive(to_json({"field": text}))] == []


def test_the_prefilter_settles_most_clean_texts():
    hits = [sample.text for sample in NEGATIVES if may_contain_sensitive(to_json([sample.text]))]

    assert len(hits) < len(NEGATIVES) / 2


@pytest.mark.parametrize(
    ("value", "may_hold_key"),
    [
        ({"d": 3, "inner": {"d": "a short text"}}, False),
        ({"kty": "EC", "d": PRIVATE_PART}, True),
        (json.dumps({"kty": "EC", "d": PRIVATE_PART}), True),
        (json.dumps({"kty": "EC", "d": PRIVATE_PART}, indent=1), True),
        ({"args": json.dumps({"key": json.dumps({"d": PRIVATE_PART})})}, True),
    ],
)
def test_a_field_d_is_searched_if_its_value_is_as_long_as_a_key(value, may_hold_key):
    assert may_contain_sensitive(to_json({"field": value})) is may_hold_key
    assert {match.kind for match in find_in_json({"field": value})} == (
        {"private_key"} if may_hold_key else set()
    )


@given(LOOKS_LIKE_DATA)
def test_spans_lie_in_the_text_in_order_and_apart(text):
    end = 0
    for span in find_sensitive(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end


@given(LOOKS_LIKE_DATA)
def test_what_is_found_in_a_text_passes_the_prefilter_in_its_json(text):
    if find_sensitive(text):
        assert may_contain_sensitive(to_json([text.encode("utf-8", "replace").decode()]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tel \uff0b\uff14\uff19 170 1234567", "\uff0b\uff14\uff19 170 1234567"),
        ("phone: \u0660\u0661\u0665\u0661 \u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669", None),
        ("+49\u2011170\u20111234567", "+49\u2011170\u20111234567"),
        ("joe\uff20example.com", "joe\uff20example.com"),
    ],
)
def test_digits_dashes_and_spaces_of_other_scripts_are_read(text, value):
    assert [literal for literal, _ in found_values(text)] == [value or text.removeprefix("phone: ")]


def test_a_password_in_an_address_goes_before_the_mail_address_it_looks_like():
    assert found_values("https://me:word9@host.org/x") == [("word9", "url_password")]


def test_what_a_credential_leaves_of_a_number_is_found_too():
    assert found_values("password: 4111 1111 1111 1111 ok") == [
        ("4111", "password"),
        (" 1111 1111 1111", "payment_card"),
    ]


def test_what_follows_an_account_number_in_groups_does_not_belong_to_it():
    assert found_values("DE89 3704 0044 0532 0130 00 EUR") == [("DE89 3704 0044 0532 0130 00", "iban")]


def test_a_value_without_quotes_ends_where_the_next_parameter_begins():
    assert found_values("?password=a&b9&user=joe") == [("a&b9", "password")]


@pytest.mark.parametrize(
    "text",
    [
        "+999 1234567890",
        "+1 23456789",
        "01 23456789 23456789 12345678",
        "phone: 99 99 99 99 99 99",
        "telefono 2024-05-15 12",
        "DE89 3704 0044 0532 0130 01",
        "XDE89370400440532013000",
    ],
)
def test_what_has_only_the_look_of_a_number_is_none(text):
    assert found_values(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "123-45-6789 ",
        "ssn 123456789 ",
        "4111 1111 1111 1112 ",
        "DE89 3704 0044 0532 0130 01, ",
        "+1 23456789, ",
        "0999 9999999, ",
    ],
)
def test_a_text_with_too_many_numbers_to_check_is_unsearched(text):
    assert "unsearched" in {span.kind for span in find_sensitive(text * 20_000)}


def test_a_text_of_nothing_but_candidates_takes_time_in_proportion():
    assert len(find_sensitive("joe@example.com " * 20_000)) == 20_000


def test_personal_data_is_left_on_both_sides_of_a_credential_within():
    spans = [
        Span(0, 10, "phone", "personal"),
        Span(4, 6, "pin", "credential"),
        Span(8, 12, "iban", "personal"),
    ]

    assert merge_spans(spans) == (
        Span(0, 4, "phone", "personal"),
        Span(4, 6, "pin", "credential"),
        Span(6, 12, "phone", "personal"),
    )


def test_a_span_says_what_it_is():
    assert find_sensitive("mail joe@example.com") == (Span(5, 20, "email", "personal"),)


def test_a_text_with_too_many_values_is_unsearched_where_no_credential_stands():
    text = "".join(f"password=s{place:05}x " for place in range(MAX_VALUES + 1))

    spans = find_sensitive(text)

    assert {span.category for span in spans} == {"credential", "unsearched"}
    assert sum(span.end - span.start for span in spans) == len(text)


def test_as_many_values_as_are_given_are_searched():
    text = "me@example.org " * MAX_VALUES

    assert {span.kind for span in find_sensitive(text)} == {"email"}


def test_a_text_with_too_many_places_that_look_like_a_value_is_unsearched():
    text = "password=null " * (MAX_CANDIDATES + 1)

    assert find_sensitive(text) == (Span(0, len(text), "unsearched", "unsearched"),)
