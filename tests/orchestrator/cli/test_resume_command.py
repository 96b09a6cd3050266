import json
import sqlite3

import pytest

from tests.fakes.chat_server import plan, verdict

TWO_STEPS = {"plans": [plan("first step", "second step")], "steps": ["one", "two"]}


@pytest.fixture
def begin(cli, served, db):
    """Begin the run "t": `begin("--json", steps=[...])`."""

    def run(*options, mode="human", **script):
        served(**script)
        where = ("--db", str(db), "--thread", "t", "--supervise", mode)
        return cli("run", "the task", "--model", "openai:scripted", *where, *options)

    return run


@pytest.fixture
def resume(cli, db):
    """Go on with the run "t": `resume("--approve")`."""
    return lambda *options, thread="t": cli("resume", thread, "--db", str(db), *options)


def test_without_a_terminal_the_question_is_printed_with_the_command_that_answers_it(begin, db):
    waiting = begin(**TWO_STEPS)

    assert (waiting.exit_code, waiting.stdout) == (3, "")
    assert waiting.stderr.endswith(
        "Step 1, attempt 1, waits for an answer\n│ first step\n"
        "Question:\n│ Do you accept the output of step 1?\n"
        "Output:\n│ one\n"
        f"continue with\norchestrator resume t --db {db} --approve | --correct TEXT | --deny REASON\n"
    )


def test_a_correction_has_the_step_done_again_and_a_denial_ends_the_run(begin, resume):
    begin(steps=["one", "better"])

    again, denied = resume("--correct", "make it better"), resume("--deny", "off the mark")

    assert again.exit_code == 3
    assert "Step 1, attempt 2, waits for an answer" in again.stderr
    assert "│ better" in again.stderr
    assert denied.exit_code == 1
    assert "\nfailed: denied: step 1: denied by " in denied.stderr
    assert "off the mark" in denied.stderr.splitlines()[-2]


def test_the_options_of_a_run_stay_with_it_over_many_answers(begin, resume):
    begin("--max-calls", "12", plans=[plan("first step", "second step", "third step")])  # 13 are needed
    resume("--approve")

    state = json.loads(resume("--approve", "--json").stdout)

    assert (state["failure"]["kind"], state["failure"]["step_index"]) == ("budget_exceeded", 2)


# What cannot be resumed


def refused(ended, sentence):
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("orchestrator: ")
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_options_that_this_version_does_not_know_are_refused(begin, resume, db):
    begin()
    with sqlite3.connect(db) as connection:
        changed = "json_set(CAST(metadata AS TEXT), '$.orchestrator_command.warp', 9)"
        connection.execute(f"UPDATE checkpoints SET metadata = {changed}")

    refused(resume("--approve"), "options that this version does not accept (warp)")


def test_a_file_that_is_lost_in_the_middle_of_a_run_is_one_sentence_and_exit_status_1(begin, db):
    def break_it():
        with sqlite3.connect(db) as connection:
            connection.execute("DROP TABLE checkpoints")
        return "one"

    ended = begin(mode="none", steps=[break_it])

    assert (ended.exit_code, ended.stdout) == (1, "")
    sentence = f"orchestrator: {db} failed (no such table: checkpoints); fix that, then try again or resume"
    assert ended.stderr.splitlines()[-1] == sentence


# Where runs are kept


def test_a_run_is_in_the_users_data_folder_and_its_command_names_no_file(cli, served, tmp_path):
    served()

    said = cli("run", "x", "--model", "openai:scripted", "--thread", "a b", "--supervise", "human").stderr

    assert said.endswith("\norchestrator resume 'a b' --approve | --correct TEXT | --deny REASON\n")
    assert (tmp_path / "data" / "plan-execute-monitor" / "runs.sqlite").exists()


def test_a_run_that_waits_is_not_overwritten(begin, resume, db):
    begin(**TWO_STEPS)
    before = db.read_bytes()
    again = begin(**TWO_STEPS)

    refused(again, "thread 't' has a run (waiting); give another name, or resume or delete that run")
    assert db.read_bytes() == before
    assert "Step 1, attempt 1" in resume().stderr


def test_a_run_that_could_not_be_judged_is_judged_again_without_executing_it(cli, served, db):
    server = served(steps=["one"], verdicts=["?", "?", verdict(True, "good")])
    where = ("--db", str(db))
    failed = cli("run", "the task", "--model", "openai:scripted", "--thread", "t", *where)
    listed, shown = cli("runs", *where), cli("show", "t", *where)

    judged = cli("resume", "t", *where)

    assert (failed.exit_code, f"continue with\norchestrator resume t --db {db}" in failed.stderr) == (1, True)
    assert listed.stdout.rstrip().endswith("the task (`resume` judges it again)")
    assert f"type: orchestrator resume t --db {db}" in shown.stdout
    assert (judged.exit_code, judged.stdout, len(server.asked)) == (0, "one\n", 5)
    assert cli("resume", "t", *where).exit_code == 2


@pytest.fixture
def begun(begin):
    begin(mode="none", **TWO_STEPS)


@pytest.fixture
def fork(cli, db):
    """Fork the run "t": `fork("--step", "2")`."""
    return lambda *options, thread="t": cli("fork", thread, "--db", str(db), *options)


def test_a_fork_goes_on_with_another_model_from_before_the_step_beside_the_run(begun, fork, served, cli, db):
    other = served(steps=["otherwise"])
    ended = fork("--step", "2", "--model", "openai:other", "--thread", "new")
    listed = cli("runs", "--json", "--db", str(db)).stdout

    assert (ended.exit_code, ended.stdout) == (0, "otherwise\n")
    assert ended.stderr.startswith(f"thread new, stored in {db}\n")
    assert (set(other.models), other.asked) == ({"other"}, ["step", "verdict"] * 2)
    assert [run["thread_id"] for run in json.loads(listed)] == ["new", "t"]
    assert "Result\ntwo" in cli("show", "t", "--db", str(db)).stdout


def test_a_fork_may_ask(begun, fork, served, cli, db):
    served(steps=["otherwise"])
    ended = fork("--step", "2", "--thread", "new", "--supervise", "human")

    command = f"orchestrator resume new --db {db} --approve | --correct TEXT | --deny REASON\n"
    assert ended.exit_code == 3
    assert ended.stderr.endswith(command)
    assert cli("resume", "new", "--db", str(db), "--approve").exit_code == 0
