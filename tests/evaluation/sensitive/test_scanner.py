from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from evaluation.sensitive.scanner import find_sensitive, list_suspects
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS, KEYS, PASSWORDS, URLS
from tests.evaluation.sensitive.labelled.kinds import PREFIXED, fill
from tests.evaluation.sensitive.labelled.negatives import NEGATIVES
from tests.evaluation.sensitive.labelled.personal import PERSONAL
from tests.evaluation.sensitive.labelled.score import score

OTHER_NAMES = {
    "1password": "onepassword", "openrouter": "openai", "htpasswd": "password_hash", "weights": "wandb",
    "wi-fi": "wifi", "new": "newrelic",
}  # fmt: skip
"""The names of providers that a kind does not begin with."""
LOOKS_LIKE_DATA = st.text(
    st.sampled_from("0123456789 .-/()+@:=\"'\\ABCabcpswordtken_{}[]é\u2011\u0661王\ud800\n") | st.characters()
)


def searched(text):
    return [(span.start, span.end, span.category) for span in find_sensitive(text)]


def found_values(text):
    return [(text[span.start : span.end], span.kind) for span in find_sensitive(text)]


def test_recall_and_precision_on_the_labelled_set_hold(subtests):
    for category, positives, others, recall, precision in [
        ("credential", CREDENTIALS, PERSONAL, 0.97, 0.97),
        ("personal", PERSONAL, CREDENTIALS, 0.95, 0.97),
    ]:
        with subtests.test(category=category):
            result = score(searched, positives, [*NEGATIVES, *others], category)

            assert result.expected > 100
            assert result.recall >= recall, result.missed
            assert result.precision >= precision, result.false_alarms


def test_a_credential_is_named_by_its_kind(subtests):
    for sample in [*KEYS, *URLS, *PASSWORDS[:4]]:
        with subtests.test(sample=sample):
            assert {span.kind for span in find_sensitive(sample.text)} == {sample.kind}
    for provider, template in PREFIXED.items():
        with subtests.test(provider=provider):
            [span] = find_sensitive(f"Use {fill(template, 'token')} for the upload.")
            first = provider.split()[0]
            assert span.kind.startswith(OTHER_NAMES.get(first, first))


def test_the_prefilter_settles_most_clean_texts():
    hits = [sample.text for sample in NEGATIVES if list_suspects(to_json([sample.text]).decode())]

    assert len(hits) < len(NEGATIVES) / 2


@given(LOOKS_LIKE_DATA)
def test_spans_lie_in_the_text_in_order_and_apart_and_pass_the_prefilter(text):
    end = 0
    for span in find_sensitive(text):
        assert end <= span.start < span.end <= len(text)
        assert list_suspects(to_json([text.encode("utf-8", "replace").decode()]).decode())
        end = span.end


def test_a_value_that_could_be_read_in_two_ways_is_found_once_and_as_a_whole(subtests):
    for text, value, kind in [
        # A password in an address goes before the mail address that it looks like.
        ("https://me:word9@host.org/x", "word9", "url_password"),
        # Personal data that overlaps a credential is a part of it.
        ("password: 4111 1111 1111 1111 ok", "4111 1111 1111 1111", "password"),
        # What follows an account number in groups does not belong to it.
        ("DE89 3704 0044 0532 0130 00 EUR", "DE89 3704 0044 0532 0130 00", "iban"),
        ("+49\u2011170\u20111234567", "+49\u2011170\u20111234567", "phone"),
        # A value without quotes ends where the next parameter begins.
        ("?password=a&b9&user=joe", "a&b9", "password"),
    ]:
        with subtests.test(text=text):
            assert found_values(text) == [(value, kind)]


def test_what_has_only_the_look_of_a_number_is_none():
    for text in ["01 23456789 23456789 12345678", "DE89 3704 0044 0532 0130 01", "XDE89370400440532013000"]:
        assert found_values(text) == []
