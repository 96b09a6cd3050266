"""Evaluations over HTTP, and the description of the interface that other programs make tools of."""

import pytest

from tests.orchestrator.serving.conftest import GOOD

GREETING = ['{"plan": ["Greet"]}', "Hello", GOOD]
RECORDED = {"input": "Where is order 7?", "final_output": "On its way.", "tool_calls": []}


@pytest.mark.parametrize("given", [RECORDED, "greeting"])
async def test_a_recorded_and_a_stored_run_are_evaluated_against_a_contract(build, serve, given):
    orchestrator = build(*GREETING)
    await orchestrator.arun("Greet", "greeting")
    client = await serve(orchestrator)

    answer = await client.post("/api/evaluations", json={"run": given, "contract": {"must_call": ["find"]}})

    report = answer.json()
    assert (answer.status_code, report["status"]) == (200, "failed")
    assert [(check["check"], check["passed"]) for check in report["checks"]] == [("must_call", False)]


@pytest.mark.parametrize(
    ("status", "body", "part"),
    [
        (404, {"run": "none"}, "there is no run 'none'"),
        (422, {"run": RECORDED, "contract": {"must_cal": []}}, "must_cal"),
        (422, {"run": {"final_output": 7}}, "final_output"),
        (422, {"run": RECORDED, "judge": "openai:x"}, "judge"),
    ],
)
async def test_an_evaluation_that_cannot_be_made_is_one_sentence(build, serve, status, body, part):
    client = await serve(build())

    answer = await client.post("/api/evaluations", json=body)

    assert (answer.status_code, part in answer.json()["detail"]) == (status, True)


async def test_each_operation_is_named_by_what_it_does(build, serve):
    client = await serve(build())

    paths = (await client.get("/api/openapi.json")).json()["paths"]

    names = [each["operationId"] for operations in paths.values() for each in operations.values()]
    assert {"list_runs", "start_run", "read_run", "answer_question", "evaluate_run"} <= {*names}
    assert all(name.isidentifier() and "api" not in name for name in names)
