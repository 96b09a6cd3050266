"""Two runs or two evaluations side by side, and runs that are evaluated over HTTP."""

from __future__ import annotations

import pytest

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import EvaluationEnd, EvaluationHeader, append_results
from tests.orchestrator.serving.conftest import GOOD

BAD = '{"success": false, "feedback": "too short"}'
RECORDED = {"input": "Name a number", "final_output": "The number is 12."}


def write_evaluation(path, *verdicts, arm=""):
    with append_results(path, EvaluationHeader()) as (_, append):
        for name, is_accepted in verdicts:
            status = "passed" if is_accepted else "failed"
            reasons = () if is_accepted else (f"{name} <script>alert(1)</script>",)
            append(
                CaseResult(
                    name=name, arm=arm, status=status, basis="checked", accepted=is_accepted, reasons=reasons
                )
            )
        append(EvaluationEnd(unread=()))


@pytest.fixture
def folder(tmp_path):
    """Evaluations of two models: one case became better, one worse, and one is new."""
    write_evaluation(tmp_path / "a.jsonl", ("one", True), ("two", False), ("three", True), arm="small")
    write_evaluation(
        tmp_path / "b.jsonl", ("one", True), ("two", True), ("three", False), ("four", False), arm="large"
    )
    return tmp_path


async def test_the_steps_of_two_runs_that_changed_sides_are_shown(build, serve):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet", "good")
    await build('{"plan": ["Greet"]}', *["Hi", BAD] * 3).arun("Greet", "bad")
    client = await serve(build())

    compared = (await client.get("/api/compare?kind=runs&left=good&right=bad")).json()
    page = await client.get("/compare?kind=runs&left=good&right=bad")

    assert [
        (row["name"], row["left"]["is_accepted"], row["right"]["is_accepted"]) for row in compared["rows"]
    ] == [
        ("The run", True, False),
        ("Step 1", True, False),
    ]
    assert "2 of 2 changed sides" in page.text


async def test_a_run_and_itself_have_nothing_that_changed_sides(build, serve):
    await build('{"plan": ["Greet"]}', "Hello", GOOD).arun("Greet", "good")
    client = await serve(build())

    changed = (await client.get("/api/compare?left=good&right=good")).json()
    everything = (await client.get("/api/compare?left=good&right=good&show=all")).json()

    assert (changed["rows"], changed["total"], len(everything["rows"])) == ([], 2, 2)


async def test_the_cases_of_two_evaluations_that_changed_sides_are_shown(build, serve, folder):
    client = await serve(build(), evaluations=folder)

    compared = (await client.get("/api/compare?kind=evaluations&left=a.jsonl&right=b.jsonl")).json()
    page = (await client.get("/compare?kind=evaluations&left=a.jsonl&right=b.jsonl")).text

    assert [row["name"] for row in compared["rows"]] == ["two", "three"]
    assert (compared["accepted_left"], compared["accepted_right"], compared["total"]) == (2, 2, 4)
    assert "<script>alert" not in page


async def test_an_evaluation_that_has_not_ended_is_refused(build, serve, folder):
    lines = (folder / "a.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "a.jsonl").write_bytes(b"".join(lines[:-2]))  # it was killed
    client = await serve(build(), evaluations=folder)

    answer = await client.get("/api/compare?kind=evaluations&left=a.jsonl&right=b.jsonl")

    assert (answer.status_code, "a.jsonl: the evaluation has not ended" in answer.text) == (422, True)


@pytest.mark.parametrize("name", ["../runs.sqlite", "/etc/passwd", "none.jsonl", "a.jsonl/"])
async def test_only_files_of_the_folder_are_read(build, serve, folder, name):
    client = await serve(build(), evaluations=folder)

    answer = await client.get(
        "/api/compare", params={"kind": "evaluations", "left": name, "right": "a.jsonl"}
    )

    assert answer.status_code == 404


async def test_a_file_that_is_no_evaluation_is_one_sentence(build, serve, folder):
    (folder / "c.jsonl").write_text("{}\n")
    client = await serve(build(), evaluations=folder)

    answer = await client.get("/api/compare?kind=evaluations&left=a.jsonl&right=c.jsonl")

    assert (answer.status_code, "no stored evaluation" in answer.json()["detail"]) == (422, True)


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
