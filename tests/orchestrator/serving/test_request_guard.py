"""Foreign and oversized requests are refused, and nothing changes."""

from __future__ import annotations

from base64 import b64encode

import pytest
from pydantic import ValidationError

from orchestrator.serving import ServerOptions
from tests.orchestrator.serving.conftest import GOOD

TOKEN = "a token of 24 characters"
START = {"task": "Greet"}
GIVEN = [
    *("Bearer wrong", "Basic #", f"Basic {b64encode(b'ann:wrong').decode()}"),
    *(f"Bearer {TOKEN}", f"Basic {b64encode(f'ann:{TOKEN}'.encode()).decode()}"),
]
"""Headers of requests; the last two have the token."""


HOSTS = [
    *("evil.example", "evil.example:8321", "127.0.0.1.evil.example", "192.168.1.2", "", "["),
    *("evil.example@127.0.0.1", "user:word@localhost:8321", "127.0.0.1/static/", "127.0.0.1#x"),
    *("127.0.0.1?x=", "evil@[::1]", "localhost:80:80", "localhost, evil.example", "[localhost]"),
]


async def test_a_foreign_host_is_refused_and_the_own_names_of_a_server_are_accepted(build, serve, subtests):
    client = await serve(build())
    own = dict.fromkeys(["localhost:8321", "127.0.0.1", "[::1]:8321"], 200)
    for host, status in {**dict.fromkeys(HOSTS, 421), **own}.items():
        with subtests.test(host=host):
            assert (await client.get("/api/runs", headers={"Host": host})).status_code == status


async def stream():
    yield b"{}"


JSON = {"Content-Type": "application/json"}
BAD_REQUESTS = [
    *(
        (403, {"json": START, "headers": headers})
        for headers in (
            *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:9999")),
            *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
        )
    ),
    *(
        (422, {"content": b'{"task": "Greet"}', "headers": {"Content-Type": kind}})
        for kind in ("text/plain", "application/x-www-form-urlencoded", "")
    ),
    *((400, {"content": body, "headers": JSON}) for body in (b"{", b'{"task": "\xff"}', b'{"task":' * 5_000)),
    *((413, {"content": b"{}", "headers": {"Content-Length": size}}) for size in ("256001", "-1")),
    (413, {"content": stream(), "headers": JSON}),
]


async def test_a_foreign_broken_or_large_request_changes_nothing(build, serve, subtests):
    client = await serve(build())
    for status, request in BAD_REQUESTS:
        with subtests.test(status=status, request=str(request)[:80]):
            answer = await client.post("/api/runs", **request)

            assert answer.status_code == status
            if status == 400:
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["detail"] == "the body is no JSON; give a JSON object"
    assert client.store.history.runs() == []


async def test_a_form_without_an_origin_is_refused(build, serve):
    client = await serve(build())

    answer = await client.post("/start", data=START)

    assert answer.status_code == 403
    assert "use a page of this server" in answer.text
    assert client.store.history.runs() == []


async def test_a_form_of_an_own_page_is_accepted(build, serve):
    client = await serve(build('{"plan": ["Greet"]}', "Hello", GOOD))

    answer = await client.send_form("/start", task="Greet", thread_id="new")

    assert (answer.status_code, answer.headers["location"]) == (303, "/run?thread_id=new")


async def test_pages_allow_only_their_own_scripts_and_styles(build, serve):
    answer = await (await serve(build())).get("/")

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text


async def test_read_only_refuses_changes_and_hides_their_forms(build, serve):
    client = await serve(build(), read_only=True)

    form, program = await client.send_form("/start", task="x"), await client.post("/api/runs", json=START)

    assert (form.status_code, program.status_code) == (403, 403)
    assert "<form" not in (await client.get("/start")).text


async def test_a_token_is_needed_by_programs_and_pages(build, serve):
    client = await serve(build(), token=TOKEN)

    answers = [
        await client.get(path, headers=headers)
        for path in ("/runs", "/api/runs")
        for headers in ({}, *({"Authorization": value} for value in GIVEN))
    ]

    assert [answer.status_code for answer in answers] == [401, 401, 401, 401, 200, 200] * 2
    assert "Basic realm" in answers[0].headers["www-authenticate"]


def test_an_address_for_other_machines_needs_a_long_token(subtests):
    for fields in [{"host": "0.0.0.0"}, {"host": "::"}, {"token": "short"}]:
        with subtests.test(fields=fields), pytest.raises(ValidationError):
            ServerOptions(**fields)


async def test_a_method_that_a_page_does_not_take_is_refused_in_one_sentence(build, serve, subtests):
    client = await serve(build())
    for path in ["/start", "/api/runs", "/api/runs/x", "/"]:
        with subtests.test(path=path):
            answer = await client.request("PUT" if path.startswith("/api") else "OPTIONS", path)

            assert (answer.status_code, "does not take this method" in answer.text) == (405, True)
