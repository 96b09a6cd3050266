import json
import shutil

from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import UnknownFormat, read_folder, read_runs
from tests.evaluation.recordings.peers import PEERS

SESSION, TRAJECTORY = PEERS / "claude-code" / "one-call.jsonl", PEERS / "atif" / "cline.json"
TIMEOUT = "AgentTimeoutError: after 900 seconds"
RAISED = {"exception_type": "AgentTimeoutError", "exception_message": "after 900 seconds"}


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def write_trial(folder, raised=None):
    folder.mkdir(parents=True, exist_ok=True)
    result = {"trial_name": folder.name, "task_name": "prices", "exception_info": raised}
    (folder / "result.json").write_text(json.dumps(result))
    (folder / "config.json").write_text("{}")


def test_files_are_read_in_the_order_of_their_paths(tmp_path):
    copy(SESSION, tmp_path / "b.jsonl")
    copy(PEERS / "inspect" / "one-call.json", tmp_path / "a" / "z.json")
    copy(PEERS / "swe-agent" / "text-commands.traj", tmp_path / "c.traj")
    copy(SESSION, tmp_path / ".cache" / "d.jsonl")
    (tmp_path / "notes.txt").write_text("no run")

    assert [run.case["case_id"] for run in read_folder(tmp_path)] == ["prices", "5e0c", "c.traj"]


def test_a_file_without_runs_is_told_from_one_that_is_broken(tmp_path):
    (tmp_path / "config.json").write_text('{"agent": "clerk"}')
    (tmp_path / "cut.json").write_text("{")
    (tmp_path / "new.json").write_text('{"log": [{"role": "user", "content": "Hi"}]}')

    read = {run.where: isinstance(run, UnknownFormat) for run in read_folder(tmp_path)}

    assert read == {"config.json": True, "cut.json": False, "new.json": False}


def test_a_folder_with_one_event_of_openhands_in_each_file_is_a_run(subtests, tmp_path):
    for source, name in [("one-call.json", "{}.json"), ("version-1.json", "event-{:05}-5e0c.json")]:
        with subtests.test(source=source):
            [expected] = read_runs(PEERS / "openhands" / source)
            content = json.loads((PEERS / "openhands" / source).read_bytes())
            stored = content if isinstance(content, list) else content["events"]
            folder = tmp_path / source / "events"
            folder.mkdir(parents=True)
            for number, event in enumerate(stored, 8):
                (folder / name.format(number)).write_text(json.dumps(event))

            [run] = read_folder(folder.parent)

            assert run.case == {**expected.case, "case_id": "events"}


def test_a_run_that_lacks_an_event_is_not_read(tmp_path):
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "0.json").write_text('{"action": "message", "args": {"content": "Hi"}}')
    (tmp_path / "events" / "1.json").write_text('{"action": "mess')

    [run] = read_folder(tmp_path)

    assert run.where == "events/1.json"


def test_a_trial_of_harbor_is_its_trajectory_with_the_name_of_its_task(tmp_path):
    write_trial(tmp_path / "prices__a")
    copy(TRAJECTORY, tmp_path / "prices__a" / "agent" / "trajectory.json")
    copy(SESSION, tmp_path / "prices__a" / "agent" / "sessions" / "s.jsonl")

    [run] = read_folder(tmp_path)

    assert run.case["case_id"] == "prices"
    assert run.case["agent_run"]["tool_calls"]


def test_a_trial_without_a_trajectory_is_read_from_the_session_of_its_agent(tmp_path):
    write_trial(tmp_path / "prices__b", RAISED)
    copy(SESSION, tmp_path / "prices__b" / "agent" / "session.jsonl")

    [run] = read_folder(tmp_path)

    assert len(run.case["agent_run"]["tool_calls"]) == 1
    assert run.case["agent_run"]["error"] == TIMEOUT


def test_a_trial_that_was_killed_is_named_after_its_folder(tmp_path):
    copy(SESSION, tmp_path / "prices__e" / "agent" / "session.jsonl")
    (tmp_path / "prices__e" / "config.json").write_text(
        '{"trial_name": "prices__e", "task": {"path": "prices"}}'
    )

    [run] = read_folder(tmp_path)

    assert run.case["case_id"] == "prices__e"


def test_a_trial_that_recorded_nothing_is_a_failed_run(subtests, tmp_path):
    for raised, error in [(None, "the trial has no trajectory"), (RAISED, TIMEOUT)]:
        with subtests.test(error=error):
            write_trial(tmp_path / "prices__c", raised)

            [run] = read_folder(tmp_path)

            assert run.case["agent_run"]["error"] == error


def test_a_trajectory_that_cannot_be_read_is_told_once_and_ends_no_run(subtests, tmp_path):
    for raised, told in [(None, ["not read"]), (RAISED, [TIMEOUT, "not read"])]:
        with subtests.test(raised=raised):
            write_trial(tmp_path / "prices__d", raised)
            (tmp_path / "prices__d" / "agent").mkdir(exist_ok=True)
            (tmp_path / "prices__d" / "agent" / "trajectory.json").write_text('{"steps": [')

            read = [*read_folder(tmp_path)]

            assert told == [
                run.case["agent_run"]["error"] if isinstance(run, RecordedRun) else "not read" for run in read
            ]
