from base64 import b64encode

import pytest

from orchestrator.errors import ConfigurationError
from orchestrator.events import StepExecuted
from orchestrator.serving import ServerOptions
from tests.fakes.acting import approve
from tests.fakes.hook import RecordingHook
from tests.orchestrator.runs.test_runs import cut_off_at
from tests.orchestrator.serving.conftest import GOOD, Elsewhere, invite, send
from tests.orchestrator.serving.test_answers import wait_until

BAD = '{"success": false, "feedback": "too short"}'
HOSTILE = "<script>window.owned=1</script>\"'><img src=x onerror=window.owned=1>"


async def run_three(build):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet the world", "good")
    await build('{"plan": ["Shout"]}', *["Hi", BAD] * 3).arun("Shout loudly", "bad")
    asking = build(*invite("Ada"), tools=[send], acting_tools=approve("send"))
    await asking.arun("Invite Ada", "asking")
    return asking


QUERIES = {
    "": ["asking", "bad", "good"],
    "?status=failed": ["bad"],
    "?status=waiting": ["asking"],
    "?basis=unverified": ["good"],
    "?text=LOUD": ["bad"],
    "?text=nothing": [],
    "?limit=2": ["asking", "bad"],
    "?status=&text=&basis=": ["asking", "bad", "good"],
}


async def test_runs_are_filtered_and_paged(build, serve, subtests):
    client = await serve(await run_three(build))
    for query, listed in QUERIES.items():
        with subtests.test(query=query):
            page = (await client.get(f"/runs{query}")).text
            found = (await client.get(f"/api/runs{query}")).json()["runs"]

            shown = [name for name in ("asking", "bad", "good") if f"thread_id={name}" in page]
            assert ([run["thread_id"] for run in found], shown) == (listed, sorted(listed))
    first = (await client.get("/api/runs?limit=2")).json()
    rest = (await client.get("/api/runs", params={"limit": 2, "cursor": first["next"]})).json()
    page = await client.get("/runs", params={"limit": 2, "cursor": first["next"]})

    assert ([run["thread_id"] for run in rest["runs"]], rest["next"]) == (["good"], None)
    assert "First page" in page.text


async def test_a_run_is_shown_with_its_plan_attempts_calls_and_basis(build, serve):
    client = await serve(await run_three(build))

    good, bad = [(await client.get(f"/run?thread_id={name}")).text for name in ("good", "bad")]

    assert [each for each in ("Greet the world", "1. Greet", "success, unverified") if each not in good] == []
    assert [each for each in ("Attempt 3", "too short", "attempts_exhausted") if each not in bad] == []


async def test_effects_are_in_the_events_on_the_page_and_in_the_question_of_the_next_call(build, serve):
    def send(to: str) -> str:
        """Send an invitation."""
        return "hm"

    hook = RecordingHook()
    asking = build(*invite("Ada", "Bob"), tools=[send], acting_tools=approve("send"), hooks=[hook])
    await asking.arun("Invite both", "t")
    asked = await asking.aresume("t", {"answer": "approve", "answered_by": "Eve"})
    client = await serve(asking)
    inbox, page = (await client.get("/")).text, (await client.get("/run?thread_id=t")).text
    before = "Before: send {&#34;to&#34;: &#34;Ada&#34;} answered &#39;hm&#39; (unknown)"
    await asking.aresume("t", {"answer": "deny", "text": "no", "answered_by": "Eve"})
    ended = (await client.get("/run?thread_id=t")).text
    record = next(event.record for event in hook.events if isinstance(event, StepExecuted))

    assert [effect["outcome"] for effect in asked["effects"]] == ["unknown"]
    assert (before in inbox, ">unknown</span>" in page) == (True, True)
    assert [badge in ended for badge in (">unknown</span>", ">denied</span>")] == [True, True]
    assert [call["outcome"] for call in record["tool_calls"]] == ["unknown", "denied"]


async def test_an_unknown_run_is_not_found_in_one_sentence(build, serve, subtests):
    client = await serve(build())
    for path in ["/run?thread_id=none", "/api/runs/none", "/api/runs/none/events"]:
        with subtests.test(path=path):
            answer = await client.get(path)

            assert (answer.status_code, "there is no run" in answer.text) == (404, True)
            assert ("problem+json" in answer.headers["content-type"]) == path.startswith("/api")


async def test_text_of_models_and_tools_is_escaped_on_every_page(build, serve):
    asking = build(*invite(HOSTILE), tools=[send], acting_tools=approve("send"))
    await asking.arun(HOSTILE, HOSTILE)
    await build('{"plan": ["' + "<script>alert(1)</script>" + '"]}', HOSTILE, GOOD).arun(HOSTILE, "done")
    client = await serve(asking)

    pages = [await client.get(path) for path in ("/", "/runs", "/run?thread_id=done")]
    pages.append(await client.get("/run", params={"thread_id": HOSTILE}))

    assert [page.status_code for page in pages] == [200] * 4
    hostile = ("<script>window", "<script>alert", "<img src=x")
    assert not [part for part in hostile for page in pages if part in page.text]


async def test_an_interrupted_run_that_cannot_go_on_here_names_the_command(build, serve, store):
    await cut_off_at(store, "x", "stopped")
    here, elsewhere = await serve(build()), await serve(Elsewhere(build()))

    pages = [(await client.get("/run?thread_id=stopped")).text for client in (here, elsewhere)]

    assert ["/run/resume" in page for page in pages] == [True, False]
    assert "its tools are missing" in pages[1]
    assert "type: orchestrator resume stopped" in pages[1]


async def test_a_run_of_another_version_is_a_conflict_in_one_sentence(build, serve, store):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet", "old")
    other = "replace(metadata, '\"orchestrator_schema\"', '\"x\"')"
    with store.saver.cursor() as cursor:
        cursor.execute(f"UPDATE checkpoints SET metadata = {other}")
    client = await serve(build())

    page, program = await client.get("/run?thread_id=old"), await client.get("/api/runs/old")

    assert (page.status_code, program.status_code) == (409, 409)
    assert "another version" in program.json()["detail"]
    assert "unreadable" in (await client.get("/runs")).text


@pytest.mark.parametrize("is_page", [True, False])
async def test_a_run_that_could_not_be_judged_is_judged_again_from_its_page_and_by_the_api(
    build, serve, is_page
):
    orchestrator = build('{"plan": ["Greet"]}', "Hello", "?", "?", GOOD)
    await orchestrator.arun("Greet the world", "t")
    client = await serve(orchestrator)
    page = await client.get("/run?thread_id=t")

    if is_page:
        await client.send_form("/run/resume", thread_id="t")
    else:
        await client.post("/api/runs/t/resume", headers={"Content-Type": "application/json"})

    assert ("judges it again" in page.text, "/run/resume" in page.text) == (True, True)
    assert (await wait_until(client, "success", "t"))["judged_again"] is False


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
    (422, {"content": b"{", "headers": JSON}),
    *((400, {"content": body, "headers": JSON}) for body in (b'{"task": "\xff"}', b'{"task":' * 5_000)),
    *((413, {"content": b"{}", "headers": {"Content-Length": size}}) for size in ("256001", "-1")),
    (413, {"content": stream(), "headers": JSON}),
]


async def test_a_foreign_broken_or_large_request_changes_nothing(build, serve, subtests):
    client = await serve(build())
    for status, request in BAD_REQUESTS:
        with subtests.test(status=status, request=str(request)[:80]):
            answer = await client.post("/api/runs", **request)

            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
    assert client.store.history.runs() == []


async def test_a_form_without_an_origin_is_refused(build, serve):
    client = await serve(build())

    answer = await client.post("/start", data=START)

    assert answer.status_code == 403
    assert "use a page of this server" in answer.text
    assert client.store.history.runs() == []


async def test_the_form_of_a_new_run_takes_a_name_or_none_and_not_who_is_asked(build, serve):
    client = await serve(build(*['{"plan": ["Greet"]}', "Hello", GOOD] * 2))

    named = await client.send_form("/start", task="Greet", thread_id="new")
    unnamed = await client.send_form("/start", task="Greet", thread_id="")
    asked = await client.send_form("/start", task="Greet", acting_tools="all:approve", supervise="human")

    assert (named.status_code, named.headers["location"]) == (303, "/run?thread_id=new")
    assert (unnamed.status_code, asked.status_code) == (303, 422)
    assert "acting_tools, supervise cannot be chosen here" in asked.text


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
        with subtests.test(fields=fields), pytest.raises(ConfigurationError):
            ServerOptions(**fields)


async def test_a_method_that_a_page_does_not_take_is_refused(build, serve, subtests):
    client = await serve(build())
    for path in ["/start", "/api/runs", "/api/runs/x", "/"]:
        with subtests.test(path=path):
            answer = await client.request("PUT" if path.startswith("/api") else "OPTIONS", path)

            assert (answer.status_code, "Method Not Allowed" in answer.text) == (405, True)
