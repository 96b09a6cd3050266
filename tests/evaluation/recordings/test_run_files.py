import json
from pathlib import Path

from evaluation import evaluate
from evaluation.contract.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs
from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner, steps

DATA = Path(__file__).parent / "data"
QUESTION, ANSWER = "What does Moby Dick cost?", "Moby Dick costs 99 euros."
FUNCTION = {"name": "price_of", "arguments": '{"title": "Moby Dick"}'}
CALL = {"id": "1", "type": "function", "function": FUNCTION}
OPENAI = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "12.5"},
    {"role": "assistant", "content": ANSWER},
]
FORMATS = {
    "messages": OPENAI,
    "object with messages": {"id": "c", "messages": OPENAI},
    "tau-bench": {"task_id": 1, "trial": 0, "reward": 0.0, "traj": OPENAI},
    "ATIF": json.loads((DATA / "atif-1.8.json").read_text()),
}


def test_a_loss_of_a_tau_bench_result_is_named(tmp_path):
    [run] = read_runs(write(tmp_path, {**FORMATS["tau-bench"], "traj": [*OPENAI[:2], OPENAI[3]]}))

    assert "1 of 1 calls have no answer: price_of" in " ".join(run.warnings)


def write(folder, *values, lines=False):
    file = folder / "runs.data"
    file.write_text("\n".join(map(json.dumps, values)) if lines else json.dumps(values[0]))
    return file


def test_the_same_run_in_every_format_has_the_same_question_call_and_verdict(subtests, tmp_path):
    for name, value in FORMATS.items():
        for lines in [False, True]:
            with subtests.test(name=name, lines=lines):
                first, *others = read_runs(write(tmp_path, value, *([value] if lines else []), lines=lines))

                assert len(others) == lines
                run = first.case["agent_run"]
                [call] = run["tool_calls"]
                args = call["args"]
                assert (run["input"], call["name"]) == (QUESTION, "price_of")
                assert (json.loads(args) if isinstance(args, str) else args) == {"title": "Moby Dick"}
                report = evaluate({**first.case, "checks": [{"check": "sourced_facts"}]})
                assert report.status == "failed"
                assert "from which 99 does not follow" in report.summary


def test_a_state_of_ours_and_a_case_are_read_as_they_are(tmp_path):
    state = LangGraphOrchestrator(FakePlanner(steps(1)), FakeExecutor(), FakeMonitor()).run("the task")
    case = {"case_id": "mine", "agent_run": {"input": "x", "final_output": "y"}, "reference_output": "y"}

    runs = list(read_runs(write(tmp_path, state, case, lines=True)))

    assert [run.case["case_id"] for run in runs] == ["runs.data:1", "mine"]
    assert runs[0].case["agent_run"]["input"] == "the task"
    assert runs[1].case == case


def test_messages_in_lines_are_one_conversation(tmp_path):
    [run] = read_runs(write(tmp_path, *OPENAI, lines=True))

    assert len(run.case["agent_run"]["messages"]) == len(OPENAI)


def test_an_empty_list_of_calls_beside_messages_says_that_none_was_made(subtests, tmp_path):
    messages = [
        {"role": "user", "content": "Cancel it."},
        {"role": "assistant", "content": "I cancelled it."},
    ]
    for fields, status in [({}, "passed"), ({"tool_calls": []}, "failed")]:
        with subtests.test(fields=fields):
            path = tmp_path / f"{status}.json"
            path.write_text(json.dumps({"messages": messages, **fields}))
            [run] = read_runs(path)

            assert evaluate({**run.case, "audit": {"defects": "fail"}}).status == status


def test_what_cannot_be_read_is_told_with_its_place_and_the_others_are_read(tmp_path):
    file = tmp_path / "runs.jsonl"
    good = json.dumps({"messages": OPENAI})
    file.write_text(
        "\n".join([good, "{broken", '{"foo": 1}', '{"schema_version": "ATIF-v2.0", "steps": []}', "", good])
    )

    runs = list(read_runs(file))

    assert [isinstance(run, UnreadableCase) for run in runs] == [False, True, True, True, False]
    assert [run.where for run in runs[1:4]] == ["runs.jsonl:2", "runs.jsonl:3", "runs.jsonl:4"]
    assert "no known format has these fields: foo; known are: case with agent_run" in runs[2].problem
    assert "ATIF-v2.0 is not known; give ATIF-v1.0 or ATIF-v1.1" in runs[3].problem
    assert runs[4].case["case_id"] == "runs.jsonl:6"


def test_subagents_of_a_trajectory_are_runs_and_copied_steps_are_no_work(tmp_path):
    parent = FORMATS["ATIF"]
    copied = [{**step, "is_copied_context": True} for step in parent["steps"]]
    child = {**parent, "trajectory_id": "child", "steps": copied}

    runs = list(read_runs(write(tmp_path, {**parent, "subagent_trajectories": [child]})))

    assert [run.case["case_id"] for run in runs] == ["s1", "child"]
    assert runs[1].case["agent_run"]["tool_calls"] == []


def test_a_file_without_runs_says_so(subtests, tmp_path):
    for content in ["", "\n \n", "[]", "3"]:
        with subtests.test(content=content):
            file = tmp_path / "empty.json"
            file.write_text(content)

            assert all(isinstance(run, UnreadableCase) for run in read_runs(file))


def test_a_broken_first_line_is_named_and_the_others_are_read(tmp_path):
    (tmp_path / "runs.jsonl").write_text(f"{{broken\n{json.dumps({'messages': OPENAI})}\n")
    broken, run = read_runs(tmp_path / "runs.jsonl")

    assert (broken.where, type(run)) == ("runs.jsonl:1", RecordedRun)
