import json
from pathlib import Path

from evaluation import evaluate
from evaluation.contract.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import UnknownFormat
from tests.evaluation.messages import answered, calling, said, user
from tests.fakes.runs import run as run_task

DATA = Path(__file__).parent / "data"
QUESTION = "What does Moby Dick cost?"
CALL = calling("price_of", title="Moby Dick")
OPENAI = [user(QUESTION), CALL, answered("price_of", "12.5"), said("Moby Dick costs 99 euros.")]
FORMATS = {
    "messages": OPENAI,
    "object with messages": {"id": "c", "messages": OPENAI},
    "tau-bench": {"task_id": 1, "trial": 0, "reward": 0.0, "traj": OPENAI},
    "ATIF": json.loads((DATA / "atif-1.8.json").read_text()),
}


def test_a_loss_of_a_tau_bench_result_is_named(read_written):
    [run] = read_written({**FORMATS["tau-bench"], "traj": [*OPENAI[:2], OPENAI[3]]})

    assert "1 of 1 calls have no answer: price_of" in " ".join(run.warnings)


def test_the_same_run_in_every_format_has_the_same_question_call_and_verdict(subtests, read_written):
    for name, value in FORMATS.items():
        for lines in [1, 2]:
            with subtests.test(name=name, lines=lines):
                first, *others = read_written(*[value] * lines)

                assert len(others) == lines - 1
                run = first.case["agent_run"]
                [call] = run["tool_calls"]
                args = call["args"]
                assert (run["input"], call["name"]) == (QUESTION, "price_of")
                assert (json.loads(args) if isinstance(args, str) else args) == {"title": "Moby Dick"}
                report = evaluate({**first.case, "checks": [{"check": "sourced_facts"}]})
                assert report.status == "failed"
                assert "from which 99 does not follow" in report.summary


def test_a_state_of_ours_and_a_case_are_read_as_they_are(read_written):
    case = {"case_id": "mine", "agent_run": {"input": "x", "final_output": "y"}, "reference_output": "y"}

    runs = read_written(run_task(plan=["one"], task="the task"), case)

    assert [run.case["case_id"] for run in runs] == ["run.data:1", "mine"]
    assert runs[0].case["agent_run"]["input"] == "the task"
    assert runs[1].case == case


def test_messages_in_lines_are_one_conversation(read_written):
    [run] = read_written(*OPENAI)

    assert len(run.case["agent_run"]["messages"]) == len(OPENAI)


def test_an_empty_list_of_calls_beside_messages_says_that_none_was_made(subtests, read_written):
    messages = [user("Cancel it."), said("I cancelled it.")]
    for fields, status in [({}, "passed"), ({"tool_calls": []}, "failed")]:
        with subtests.test(fields=fields):
            [run] = read_written({"messages": messages, **fields})

            assert evaluate({**run.case, "audit": {"defects": "fail"}}).status == status


def test_what_cannot_be_read_is_told_with_its_place_and_the_others_are_read(read_written):
    good, newer = {"messages": OPENAI}, {"schema_version": "ATIF-v2.0", "steps": []}

    runs = read_written(good, "{broken", {"foo": 1}, newer, "", good)

    assert [isinstance(run, UnreadableCase) for run in runs] == [False, True, True, True, False]
    assert [run.where for run in runs[1:4]] == ["run.data:2", "run.data:3", "run.data:4"]
    assert "no known format has these fields: foo; known are: case with agent_run" in runs[2].problem
    assert "ATIF-v2.0 is not known; give ATIF-v1.0 or ATIF-v1.1" in runs[3].problem
    assert runs[4].case["case_id"] == "run.data:6"


def test_subagents_of_a_trajectory_are_runs_and_copied_steps_are_no_work(read_written):
    parent = FORMATS["ATIF"]
    copied = [{**step, "is_copied_context": True} for step in parent["steps"]]
    child = {**parent, "trajectory_id": "child", "steps": copied}

    runs = read_written({**parent, "subagent_trajectories": [child]})

    assert [run.case["case_id"] for run in runs] == ["s1", "child"]
    assert runs[1].case["agent_run"]["tool_calls"] == []


def test_a_file_without_runs_says_so(subtests, read_written):
    for content in ["", "\n \n", "[]", "3"]:
        with subtests.test(content=content):
            assert [type(run) for run in read_written(content)] in ([UnreadableCase], [UnknownFormat])


def test_a_broken_first_line_is_named_and_the_others_are_read(read_written):
    broken, run = read_written("{broken", {"messages": OPENAI})

    assert (broken.where, type(run)) == ("run.data:1", RecordedRun)
