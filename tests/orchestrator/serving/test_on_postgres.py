"""The server over a PostgreSQL store: everything that it does with a run."""

import asyncio
import json

import pytest

from orchestrator.persistence import open_store
from tests.fakes.gated_replies import GatedReplies
from tests.orchestrator.serving.test_answers import ask_about_tool, give, wait_until
from tests.orchestrator.serving.test_run_events import GREETING, names, post, read_events

pytestmark = pytest.mark.thorough


@pytest.fixture
def store(postgres_url):
    with open_store(postgres_url) as opened:
        yield opened


async def test_a_question_is_listed_answered_and_its_run_shown_listed_and_deleted(build, serve):
    client = await serve(await ask_about_tool(build, "Bob"))

    inbox = (await client.get("/")).text
    answer = await give(client, "approve")
    run = await wait_until(client, "success")
    page, listed = (await client.get("/run?thread_id=asking")).text, await client.get("/api/runs?text=INVITE")
    deleted = await client.delete("/api/runs/asking")

    assert ("May the tool send run?" in inbox, ">Inbox (1)</a>" in inbox, answer.status_code) == (
        True,
        True,
        202,
    )
    assert run["state"]["results"][0]["tool_calls"][0]["answer"]["answered_by"] == "Ada"
    assert "<strong>Ada</strong> answered" in page
    assert [each["thread_id"] for each in listed.json()["runs"]] == ["asking"]
    assert (deleted.status_code, (await client.get("/api/runs")).json()["runs"]) == (204, [])


async def test_a_run_is_started_and_followed_live_to_its_end(build, listening):
    gate = GatedReplies(*GREETING)
    address = await listening(build(gate))
    await post(address, "/api/runs", task="Greet", thread_id="new")

    following = asyncio.create_task(read_events(address, "new"))
    before = await read_events(address, "new", until="StepStarted")
    gate.opened.set()
    events = await following

    assert names(events)[: len(before)] == names(before)
    assert json.loads(events[-2].data)["status"] == "success"
