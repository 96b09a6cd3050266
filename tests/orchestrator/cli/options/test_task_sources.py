"""A task from the command line, from standard input and from a file."""

import json

import pytest

RUN = ("run", "--model", "openai:scripted", "--json")


@pytest.fixture
def ask(cli, chat):
    """Run with these words, and return the task of the run."""

    def run(*words, typed=None):
        ended = cli(*RUN, *words, env=chat().environment, typed=typed)
        return json.loads(ended.stdout)["task"]

    return run


@pytest.mark.parametrize("words", [["-"], ["--task-file", "-"]])
def test_a_dash_reads_the_task_from_standard_input(ask, words):
    assert ask(*words, typed="Write a haiku\nabout the sea\n") == "Write a haiku\nabout the sea"


def test_a_task_is_read_from_a_file(ask, tmp_path):
    (tmp_path / "task.txt").write_text("Write a haiku\n", encoding="utf-8-sig")

    assert ask("--task-file", str(tmp_path / "task.txt")) == "Write a haiku"


def test_checks_read_a_file_too(cli, tmp_path):
    (tmp_path / "task.txt").write_text("Write exactly 3 words.")

    assert "use exactly 3 words" in cli("checks", "--task-file", str(tmp_path / "task.txt")).stdout


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [(b"", "task is ''"), (b"\xff\xfe", "standard input cannot be read (it is no text in UTF-8)")],
)
def test_a_task_that_cannot_be_used_is_one_sentence(cli, typed, sentence):
    refused = cli("run", "-", typed=typed)

    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert sentence in refused.stderr
