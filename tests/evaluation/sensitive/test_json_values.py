import json

from evaluation.sensitive.scanner import encode_json, find_at_places
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS
from tests.evaluation.sensitive.labelled.personal import PERSONAL


def find_in_json(value, *search):
    return [match for _, match in find_at_places([("", value)], *search)]


def literals(value):
    return {match.literal for match in find_in_json(value)}


def test_a_value_is_known_by_the_name_it_stands_under(subtests):
    for value, expected in [
        ({"password": "correct horse battery"}, {"correct horse battery"}),
        ({"passwords": ["alpha-1", "beta-2"]}, {"alpha-1", "beta-2"}),
        ({"db": {"Passwd": "open"}}, {"open"}),
        ({"pin": 1234}, {"1234"}),
        ({"cvv": "123"}, {"123"}),
        ({"phone": 4155552671}, {"4155552671"}),
        ({"card": 4111111111111111}, {"4111111111111111"}),
        ({"ssn": 123456789}, {"123456789"}),
        ({"env": [{"name": "API_KEY", "value": "abc12345x"}]}, {"abc12345x"}),
        ({"env": [{"value": "abc12345x", "name": "API_KEY"}]}, {"abc12345x"}),
        ({"env": [{"value": "1234", "name": "pin"}]}, {"1234"}),
        ({"token": {"value": "abc12345x"}}, {"abc12345x"}),
        ({"joe.smith@example.com": 1}, {"joe.smith@example.com"}),
        ({"args": '{"pin": 1234}'}, {"1234"}),
        ({"args": '{"p\\u0061ssword": "hunt\\u0065r2"}'}, {"hunter2"}),
        ({"a": json.dumps({"b": json.dumps({"password": 'quo"te7'})})}, {'quo"te7'}),
        ({"Authorization": "Bearer abcdef1234567890"}, {"abcdef1234567890"}),
    ]:
        with subtests.test(value=value):
            assert expected <= literals(value)


def test_values_without_anything_sensitive_give_nothing(subtests):
    for value in [
        {},
        None,
        3.5,
        True,
        {"password": None, "secret": True, "token": "word", "api_key": 12},
        {"password": "********"},
        {"password": ""},
        {"password": "", "next": "abcdef"},
        {"shipping": "tomorrow", "spin": "around", "compass": "north"},
        {"score": 0.30000000000000004, "id": 10**40},
        {"big": 10**5000},
        {"user": "mia_li_3668", "dob": ""},
        {"args": '{"broken": '},
    ]:
        with subtests.test(value=value):
            assert literals(value) == set()


def test_what_two_fields_hold_is_not_read_as_one(subtests):
    for value in [
        {"a": "password:", "b": "sunshine1"},
        {"a": "password", "b": "is hunter2"},
        {"a": "phone", "b": 4155552671},
        {"a": "-----BEGIN CERTIFICATE-----", "b": "-----END PRIVATE KEY-----"},
    ]:
        with subtests.test(value=value):
            assert literals(value) == set()


def test_a_private_key_that_is_cut_off_ends_with_its_field():
    begun = "-----BEGIN " + "PRIVATE KEY-----\nabcd"

    assert literals({"a": begun, "b": "-----END " + "PRIVATE KEY-----"}) == {begun}


def test_every_labelled_value_is_found_among_others_in_one_object(subtests):
    for samples in [CREDENTIALS, PERSONAL]:
        with subtests.test(samples=samples):
            found = "\n".join(literals({f"field{at}": sample.text for at, sample in enumerate(samples)}))

            assert [each for each in samples for value in each.values if value not in found] == []


def test_what_no_json_text_can_hold_is_written_all_the_same(subtests):
    for value in ["\ud800", ["a\ud800", {"k\udfff": 1}], 10**5000]:
        with subtests.test(value=value):
            assert isinstance(encode_json(value), bytes)


def test_a_value_beside_half_a_surrogate_pair_is_found():
    assert literals({"a": "\ud800", "b": "joe@example.com"}) == {"joe@example.com"}


def test_a_value_nested_deeper_than_json_is_written_is_found():
    value = "joe@example.com"
    for _ in range(5000):
        value = [value]

    assert literals(value) == {"joe@example.com"}
