from agents.credentials.masking import mask_keys

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5gH7j"

HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

LEAKS = [
    (f"401: hf_{LETTERS[:34]} is not valid", LETTERS[:34]),
    ("AKIA" + "Q2W3E4R5T6Y7U5I2 has no rights", "Q2W3E4R5"),
    ("cannot connect to postgres://app:n0t-So-S3cret@db/x", "n0t-So-S3cret"),
    (f"Headers({{'api-key': '{LETTERS[:32]}'}})", LETTERS[:32]),
    (f"Bearer {LETTERS[:24]} was refused", LETTERS[:24]),
    ("Authorization: Basic YWxpY2U6aHVudGVyMg==", "YWxpY2U6aHVudGVyMg"),
    ("Incorrect API key provided: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a"),
    (f"GET /v1?key={LETTERS[:20]} failed", LETTERS[:20]),
    (f"invalid token '{LETTERS[:32]}'", LETTERS[:32]),
    ("Invalid API key " + HEX, HEX),
    (f"key={LETTERS[:24]}", LETTERS[:24]),
    (f'the key "{HEX}" is not known', HEX),
    (f"{LETTERS[:24]} was refused", LETTERS[:24]),
    (f"acme_live_{LETTERS[:24]} has expired", LETTERS[:24]),
    ("(vBa8-hZ6tWqP3xN0rK5mJ2cF_9dL)", "hZ6tWqP3xN0rK5mJ2cF_9dL"),
    (f"https://s3.test/k?X-Amz-Expires=3600&X-Amz-Signature={HEX}{HEX} failed", HEX),
    (f"https://storage.test/b/o?X-Goog-Signature={HEX * 8}", HEX),
    (f"https://a.blob.test/c/b?sv=2022&sig={LETTERS[:40]}%3D", LETTERS),
    (f"https://c.test/x?Signature={LETTERS}__&Key-Pair-Id=K1", LETTERS),
    (f'{{"url": "https://h/p?x=1\\u0026signature={HEX}"}}', HEX),
    (f"<a href='https://h/p?x=1&amp;sig={LETTERS[:20]}'>", LETTERS[:20]),
    (f"?X-Amz-Signature={HEX}", HEX),
    ("mysql -u root -phunter22x failed", "hunter22x"),
]  # fmt: skip


def test_a_credential_in_an_error_is_masked(subtests):
    for text, secret in LEAKS:
        with subtests.test(text=text, secret=secret):
            assert secret not in mask_keys(text)


def test_an_error_without_a_credential_stays_as_it_is(subtests):
    for text in [
        "a plain risk-free sentence",
        "task-oriented, desk-bound",
        "key-value-pairs are missing",
        "max_tokens is too large: 4096",
        "API key provided: none",
        "see https://docs.example.com:8080/errors#code-401",
        "no run 7f4e6a52-5f0c-4f2c-9a37-0c1d2e3f4a5b",
        f"the image sha256:{HEX}{HEX} is not there",
        f"the hash sha256-{LETTERS}cdE= differs",
        f'etag "{HEX}"',
        f"trace {HEX}",
        "(request id: req_011CSHoEeqs5C35K2UUqR7Fy)",
        f"x-request-id: {LETTERS[:22]}",
        f'{{"requestId": "{LETTERS[:22]}"}}',
        f"no message chatcmpl-{LETTERS[:29]}",
        f"call_{LETTERS[:24]} has no answer",
        "order ORD-2024-000123 is closed, parcel 1Z999AA10123456784",
        "no model meta-llama/Llama-3.3-70B-Instruct-Turbo-FP8",
        "getUserByIdV2WithRolesAndPermissions3 is not defined",
        "the key user_id is not in the table",
        "https://h/p?page=2&sort=asc&token_count=4096",
        "signature=invalid",
    ]:
        with subtests.test(text=text):
            assert mask_keys(text) == text


def test_a_known_secret_is_masked_whatever_it_looks_like():
    assert mask_keys("the word is swordfish!", ["swordfish"]) == "the word is [secret]!"
