"""Runs that are evaluated over HTTP."""

from __future__ import annotations

import pytest

from tests.orchestrator.serving.conftest import GOOD

BAD = '{"success": false, "feedback": "too short"}'
RECORDED = {"input": "Name a number", "final_output": "The number is 12."}


@pytest.mark.parametrize(("number", "status"), [(12, "passed"), (13, "failed")])
async def test_a_recorded_run_is_evaluated_against_a_contract(build, serve, number, status):
    client = await serve(build())
    contract = {"required_content": [{"number": number}]}

    answer = await client.post("/api/evaluations", json={"run": RECORDED, "contract": contract})

    assert (answer.status_code, answer.json()["status"]) == (200, status)


async def test_a_stored_run_is_evaluated_against_a_contract(build, serve):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet", "good")
    client = await serve(build())
    contract = {"required_content": [{"text": "Goodbye"}]}

    answer = await client.post("/api/evaluations", json={"thread_id": "good", "contract": contract})

    assert answer.json()["status"] == "failed"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"run": RECORDED, "thread_id": "good"},
        {"run": RECORDED, "contract": {"nonsense": 1}},
        {"run": RECORDED, "contract": {"checks": [{"check": "command", "command": ["touch", "/tmp/x"]}]}},
        {"run": {}},
        {"run": "text"},
    ],
)
async def test_an_evaluation_that_is_not_accepted_is_one_sentence(build, serve, body):
    client = await serve(build())

    answer = await client.post("/api/evaluations", json=body)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


async def test_a_large_run_may_be_evaluated_and_a_huge_one_not(build, serve):
    client = await serve(build())
    large, huge = ({**RECORDED, "final_output": "word " * count} for count in (100_000, 3_000_000))

    answers = [await client.post("/api/evaluations", json={"run": run}) for run in (large, huge)]

    assert [answer.status_code for answer in answers] == [200, 413]
