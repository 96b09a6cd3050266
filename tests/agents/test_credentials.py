"""Credentials in the texts of errors are masked."""

from agents.credentials.masking import mask_keys

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5gH7j"

LEAKS = {
    "a key with a known prefix": (f"401: hf_{LETTERS[:34]} is not valid", LETTERS[:34]),
    "a key of a cloud": ("AKIA" + "Q2W3E4R5T6Y7U5I2 has no rights", "Q2W3E4R5"),
    "a password in an address": ("cannot connect to postgres://app:n0t-So-S3cret@db/x", "n0t-So-S3cret"),
    "a header": (f"Headers({{'api-key': '{LETTERS[:32]}'}})", LETTERS[:32]),
    "a bearer": (f"Bearer {LETTERS[:24]} was refused", LETTERS[:24]),
    "a login in base64": ("Authorization: Basic YWxpY2U6aHVudGVyMg==", "YWxpY2U6aHVudGVyMg"),
    "a key of no known form, in the words of a server": (
        "Incorrect API key provided: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a",
    ),
    "a query": (f"GET /v1?key={LETTERS[:20]} failed", LETTERS[:20]),
    "a command": ("mysql -u root -phunter22x failed", "hunter22x"),
}  # fmt: skip


def test_a_credential_in_an_error_is_masked(subtests):
    for text, secret in LEAKS.values():
        with subtests.test(text=text, secret=secret):
            assert secret not in mask_keys(text)


def test_an_error_without_a_credential_stays_as_it_is(subtests):
    for text in [
        "a plain risk-free sentence",
        "task-oriented, desk-bound",
        "key-value-pairs are missing",
        "max_tokens is too large: 4096",
        "API key provided: none",
        "the key user_id is not in the table",
        "see https://docs.example.com:8080/errors#code-401",
    ]:
        with subtests.test(text=text):
            assert mask_keys(text) == text


def test_a_known_secret_is_masked_whatever_it_looks_like():
    assert mask_keys("the word is swordfish!", ["swordfish"]) == "the word is [secret]!"
