"""`orchestrator fork`."""

import json

import pytest

from tests.fakes.chat_server import plan


@pytest.fixture
def begun(cli, served, db):
    """A run "t" of two steps."""
    served(plans=[plan("first step", "second step")], steps=["one", "two"])
    cli("run", "the task", "--model", "openai:scripted", "--db", str(db), "--thread", "t")


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

    assert ended.exit_code == 3
    assert ended.stderr.endswith(
        f"orchestrator resume new --db {db} --approve | --correct TEXT | --deny REASON\n"
    )
    assert cli("resume", "new", "--db", str(db), "--approve").exit_code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--step", "4"], "thread 't' never reached step 4"),
        (["--step", "1", "--thread", "t"], "thread 't' is in use; give another name"),
    ],
)
def test_a_refused_fork_is_one_sentence_and_changes_nothing(begun, fork, db, options, sentence):
    before = db.read_bytes()
    ended = fork(*options)

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert sentence in ended.stderr.splitlines()[-1]
    assert db.read_bytes() == before
