"""The pages of runs, and the same as JSON."""

from __future__ import annotations

import pytest

from orchestrator.serving import OneOrchestrator
from tests.fakes.acting import approve
from tests.orchestrator.runs.test_runs import cut_off
from tests.orchestrator.serving.conftest import GOOD, invite, send
from tests.orchestrator.serving.test_answers import wait_until

BAD = '{"success": false, "feedback": "too short"}'
HOSTILE = "<script>window.owned=1</script>\"'><img src=x onerror=window.owned=1>"


async def run_three(build):
    """A success, a failure and a run that waits, the oldest first."""
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

            assert [run["thread_id"] for run in found] == listed
            assert [name for name in ("asking", "bad", "good") if f"thread_id={name}" in page] == sorted(
                listed
            )
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
    class Elsewhere(OneOrchestrator):
        def find_problem(self, thread_id):
            return f"its tools are missing; type: orchestrator resume {thread_id}"

    await cut_off(store, "x", "stopped")
    here, elsewhere = await serve(build()), await serve(Elsewhere(build()))

    pages = [(await client.get("/run?thread_id=stopped")).text for client in (here, elsewhere)]

    assert ["/run/resume" in page for page in pages] == [True, False]
    assert "its tools are missing" in pages[1]
    assert "type: orchestrator resume stopped" in pages[1]


async def test_a_run_of_another_version_is_a_conflict_in_one_sentence(build, serve, store):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet", "old")
    with store.saver.cursor() as cursor:
        cursor.execute(
            "UPDATE checkpoints SET metadata = replace(metadata, '\"orchestrator_schema\"', '\"x\"')"
        )
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
