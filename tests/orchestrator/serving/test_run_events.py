import asyncio
import json
import threading

import httpx
from httpx_sse import aconnect_sse

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from tests.fakes.gated_replies import GatedReplies
from tests.orchestrator.serving.conftest import GOOD
from tests.orchestrator.serving.test_answers import ask_about_tool, wait_until

GREETING = ['{"plan": ["Greet"]}', "Hello", GOOD]
NAMES = ["RunStarted", "Planned", "StepExecuted", "StepJudged", "RunFinished", "end"]


async def read_events(address, thread, until="end", paused=None):
    events = []
    async with (
        httpx.AsyncClient(base_url=address, timeout=30, trust_env=False) as client,
        aconnect_sse(client, "GET", f"/api/runs/{thread}/events") as source,
    ):
        async for event in source.aiter_sse():
            events.append(event)
            if paused and event.event == "RunPaused":
                paused.set()
            if event.event == until:
                break
    return events


def names(events):
    return [event.event for event in events]


async def post(address, path, **body):
    async with httpx.AsyncClient(base_url=address, timeout=30, trust_env=False) as client:
        return await client.post(path, json=body)


async def test_a_run_is_started_and_followed_to_its_end(build, listening):
    address = await listening(build(*GREETING))

    started = await post(address, "/api/runs", task="Greet", thread_id="new")
    events = await read_events(address, "new")

    assert started.status_code == 201
    assert [name for name in names(events) if name in NAMES] == NAMES
    finished = json.loads(events[-2].data)
    assert (finished["status"], finished["state"]["output"]) == ("success", "Hello")


async def test_the_events_of_a_stored_run_are_rebuilt(build, listening):
    orchestrator = build(*GREETING)
    await orchestrator.arun("Greet", "stored")
    address = await listening(orchestrator)

    events = await read_events(address, "stored")

    assert names(events) == NAMES
    assert len({event.id for event in events}) == len(NAMES)


async def test_a_slash_in_a_name_is_part_of_the_name(build, serve):
    orchestrator = build(*GREETING * 2)
    await orchestrator.arun("Greet", "x")
    await orchestrator.arun("Shout", "x/y")
    client = await serve(orchestrator)

    shown = (await client.get("/api/runs/x%2Fy")).json()
    page = (await client.get("/run", params={"thread_id": "x/y"})).text
    deleted = await client.delete("/api/runs/x%2Fy")

    assert (shown["thread_id"], shown["task"]) == ("x/y", "Shout")
    assert "/api/runs/x%2Fy/events" in page
    assert deleted.status_code == 204
    assert [run.thread_id for run in client.store.history.runs()] == ["x"]


async def test_a_run_that_another_process_goes_on_with_is_followed(build, listening):
    orchestrator = await ask_about_tool(build, "Bob")
    address = await listening(orchestrator)
    paused = asyncio.Event()
    following = asyncio.create_task(read_events(address, "asking", paused=paused))
    await asyncio.wait_for(paused.wait(), 30)

    await orchestrator.aresume("asking", {"answer": "approve"})
    events = await asyncio.wait_for(following, 30)

    assert names(events)[-2:] == ["RunFinished", "end"]
    assert "RunPaused" in names(events)


async def test_pages_are_answered_while_a_run_holds_its_event_loop(store, serve):
    held, free, answered = threading.Event(), threading.Event(), []

    class Holding(ScriptedChatModel):
        async def _agenerate(self, *args, **named):
            held.set()
            answered.append(free.wait(10))
            return await super()._agenerate(*args, **named)

    orchestrator = LangGraphOrchestrator.from_model(Holding(GREETING), planning="always", checkpointer=store)
    client = await serve(orchestrator)
    starting = asyncio.create_task(client.post("/api/runs", json={"task": "Greet", "thread_id": "new"}))
    await asyncio.to_thread(held.wait, 10)

    page = await client.get("/start")
    free.set()
    await starting
    await wait_until(client, "success", "new")

    assert (page.status_code, answered[0]) == (200, True)


async def test_of_equal_requests_with_a_name_one_starts_the_run(build, serve):
    client = await serve(build(*GREETING * 3))
    body = {"task": "Greet", "thread_id": "order 7"}

    answers = await asyncio.gather(*(client.post("/api/runs", json=body) for _ in range(4)))

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    await wait_until(client, "success", "order 7")
    assert len(client.store.history.runs()) == 1


async def test_a_key_starts_one_run_whatever_task_or_thread_a_request_names(build, serve):
    client = await serve(build(*GREETING * 4))
    others = ({}, {"task": "Greet Ada"}, {"thread_id": "other"})
    bodies = [{"task": "Greet"}, *({"task": "Greet", **other} for other in others)]

    answers = [await client.post("/api/runs", json=body, headers={"Idempotency-Key": "k"}) for body in bodies]

    assert [answer.status_code for answer in answers] == [201, 409, 409, 422]
    assert len(client.store.history.runs()) == 1


async def test_a_taken_name_and_a_task_that_is_no_text_are_refused(build, serve, subtests):
    orchestrator = build(*GREETING)
    await orchestrator.arun("Greet", "taken")
    client = await serve(orchestrator)
    bodies = [(422, {"task": task}) for task in ("", "  ", 7, None)]
    for status, body in [*bodies, (409, {"task": "Greet", "thread_id": "taken"})]:
        with subtests.test(body=body):
            assert (await client.post("/api/runs", json=body)).status_code == status
    assert [run.thread_id for run in client.store.history.runs()] == ["taken"]


async def test_a_run_that_waits_is_cancelled(build, serve):
    client = await serve(await ask_about_tool(build, "Bob"))

    answer = await client.post("/api/runs/asking/cancel", json={"cancelled_by": "Ada"})
    run = await wait_until(client, "failed")
    again = await client.post("/api/runs/asking/cancel")

    assert (answer.status_code, again.status_code) == (202, 409)
    assert run["state"]["failure"]["message"] == "step 1: cancelled by Ada"


async def test_a_run_that_is_executed_is_cancelled(build, serve):
    gate = GatedReplies(*GREETING)
    client = await serve(build(gate))
    await client.post("/api/runs", json={"task": "Greet", "thread_id": "new"})

    deleted = await client.delete("/api/runs/new")
    answer = await client.post("/api/runs/new/cancel")
    gate.opened.set()
    run = await wait_until(client, "failed", "new")

    assert (deleted.status_code, answer.status_code) == (409, 202)
    assert run["state"]["failure"]["kind"] == "cancelled"


async def test_a_run_is_interrupted_at_the_end_of_the_server_and_resumed(build, serve, store):
    gate = GatedReplies(*GREETING)
    client = await serve(build(gate))
    await client.post("/api/runs", json={"task": "Greet", "thread_id": "new"})
    await asyncio.to_thread(gate.reached.wait, 30)
    await client._transport.app.state.service.sessions.close()
    gate.opened.set()
    client = await serve(build("Hello", GOOD))

    assert (await client.get("/api/runs/new")).json()["status"] == "interrupted"
    answer = await client.send_form("/run/resume", thread_id="new")
    await wait_until(client, "success", "new")

    assert answer.status_code == 303


async def test_a_run_is_forked_from_a_step(build, serve):
    orchestrator = build(*GREETING, "Hello again", GOOD)
    await orchestrator.arun("Greet", "old")
    client = await serve(orchestrator)

    answer = await client.post("/api/runs/old/fork", json={"step": 1, "new_thread_id": "new"})
    run = await wait_until(client, "success", "new")
    unknown = await client.post("/api/runs/old/fork", json={"step": 7})
    misspelt = await client.post("/api/runs/old/fork", json={"step": 1, "thread_id": "new"})

    assert [each.status_code for each in (answer, unknown, misspelt)] == [201, 409, 422]
    assert run["state"]["output"] == "Hello again"


async def test_a_run_is_deleted_only_by_its_form(build, serve):
    orchestrator = build(*GREETING)
    await orchestrator.arun("Greet", "old")
    client = await serve(orchestrator)

    before = await client.get("/run/delete?thread_id=old")
    answer = await client.send_form("/run/delete", thread_id="old")
    again = await client.delete("/api/runs/old")

    assert (before.status_code, answer.headers["location"], again.status_code) == (405, "/runs", 404)
    assert client.store.history.runs() == []


async def test_each_operation_is_named_by_what_it_does(build, serve):
    client = await serve(build())

    paths = (await client.get("/api/openapi.json")).json()["paths"]

    names = [each["operationId"] for operations in paths.values() for each in operations.values()]
    assert {"list_runs", "start_run", "read_run", "answer_question"} <= {*names}
    assert all(name.isidentifier() and "api" not in name for name in names)
