"""Bad input is one sentence and status 2, and nothing is queued."""

import re
from pathlib import Path

import typer
import yaml
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.persistence import open_store
from tests.orchestrator.queue.worker_app import build
from tests.orchestrator.queue.workers import APP

MODULE = "tests.orchestrator.queue.worker_app"
TASK = ("submit", "Do all")


def call(*words: str):
    return CliRunner().invoke(app, [*words])


BAD = {
    "a queue name that is none": ((*TASK, "--app", APP, "--queue", "a b"), "queue is 'a b'; give a name"),
    "an app that is no name": ((*TASK, "--app", "module"), "app is 'module'; give MODULE:FUNCTION"),
    "a module that is missing": ((*TASK, "--app", "no_such:build"), "'no_such:build' raised ModuleNotFound"),
    "no orchestrator": ((*TASK, "--app", f"{MODULE}:build_nothing"), "returned str; give a function"),
    "no store": ((*TASK, "--app", f"{MODULE}:build_without_store"), "with checkpointer=store"),
    "a function that raises": ((*TASK, "--app", f"{MODULE}:fail"), "raised RuntimeError: no agents on"),
    "a task that is too large": (
        ("submit", "a" * 200_001, "--app", APP),
        "give at most 200,000 characters, such as a task that says where a longer text is",
    ),
    "a task with a byte that is not UTF-8": (("submit", "a\udcff", "--app", APP), "in UTF-8"),
    "a task with NUL": (("submit", "a\0b", "--app", APP), "without NUL and surrogates"),
    "an empty task": (("submit", " ", "--app", APP), "task is"),
    "a name that is too long": ((*TASK, "--app", APP, "--thread", "a" * 501), "at most 500 characters"),
    "an unknown run": (
        ("queue", "--cancel", "unknown"),
        "--cancel 'unknown' has no job in any queue; give the name of a run",
    ),
    "a worker of an app that is missing": (("worker", "--app", "no_such:build"), "ModuleNotFoundError"),
    "a worker of nothing": (("worker",), "Missing option '--app'"),
    "a worker of an app that raises": (("worker", "--app", f"{MODULE}:fail"), "raised RuntimeError"),
    "a worker of no queue": (("worker", "--app", APP, "--queue", ""), "queue is ''; give a name"),
}


def test_bad_input_is_one_sentence_and_nothing_is_queued(subtests, bench, postgres_url):
    for case, (words, sentence) in BAD.items():
        with subtests.test(case):
            ended = call(*words, "--db", postgres_url)

            assert ended.exit_code == 2, ended.output
            assert sentence in ended.stderr
            assert len(ended.stderr.strip().splitlines()) == 1
            assert bench.count().total() == 0


QUEUE_COMMANDS = {
    "submit": (*TASK, "--app", APP),
    "queue": ("queue",),
    "cancel": ("queue", "--cancel", "run"),
}


NO_DATABASE = "a queue needs a database, and no file; give it as --db postgresql://"
AWAY = "postgresql://nobody@127.0.0.1:1/none"
WORKER = ("worker", "--app", APP)


def test_a_database_that_cannot_be_used_is_named_and_leaves_no_file(tmp_path, monkeypatch, subtests):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEM_QUEUE_DB", raising=False)
    with open_store(tmp_path / "runs.sqlite"):
        pass
    for words, status, sentence in [
        ((*WORKER, "--db", "postgresql:/me@db/runs"), 2, NO_DATABASE),
        (("queue", "--db", "postgresql:/me@db/runs"), 2, NO_DATABASE),
        (("queue", "--db", "runs.sqlite"), 2, NO_DATABASE),
        *((words, 2, "or in the variable PEM_QUEUE_DB") for words in QUEUE_COMMANDS.values()),
        (("queue", "--db", AWAY), 2, "cannot be reached"),
        ((*WORKER, "--db", AWAY), 1, "cannot be reached"),
    ]:
        with subtests.test(words=words):
            ended = call(*words)

            assert (ended.exit_code, sentence in ended.stderr) == (status, True)
            assert [file.name for file in tmp_path.iterdir()] == ["runs.sqlite"]


def test_a_cancelled_job_is_confirmed_and_one_whose_run_has_ended_is_named(bench, postgres_url):
    bench.submit()
    cancelled = call("queue", "--cancel", "run", "--db", postgres_url)
    build(bench.queue.store).run("Do all", "ended")
    ended = call("queue", "--cancel", "ended", "--db", postgres_url)

    assert (cancelled.exit_code, cancelled.stderr) == (0, "cancelled: run\n")
    assert ended.exit_code == 2
    assert "--cancel 'ended' has no job in any queue" in ended.stderr


def test_the_database_may_be_an_environment_variable(monkeypatch, postgres_url):
    monkeypatch.setenv("PEM_QUEUE_DB", postgres_url)

    assert call("queue").stdout == "no job is queued\n0 live workers\n"


def test_the_commands_print_what_is_queued(bench, postgres_url):
    submitted = call(*TASK, "--app", APP, "--thread", "run", "--db", postgres_url)
    shown = call("queue", "--db", postgres_url)

    assert submitted.stdout == "queued: run in default\n"
    assert f"{APP}: 1 waiting, 0 running, 0 delayed, 0 failed; no live worker takes" in shown.stdout


DEPLOY = Path(__file__).parents[3] / "deploy"
OPTIONS = {option.opts[0] for option in typer.main.get_command(app).get_command(None, "worker").params}


def read_options(command: str) -> set[str]:
    assert "orchestrator worker" in command
    return set(re.findall(r"--[a-z-]+", command))


def test_the_unit_of_systemd_starts_a_worker_again_and_waits_for_longer_than_its_grace():
    unit = (DEPLOY / "orchestrator-worker.service").read_text()
    values = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and line[0] != "#")

    assert read_options(values["ExecStart"]) <= OPTIONS
    assert values["Restart"] == "always"
    assert int(values["TimeoutStopSec"]) > int(re.search(r"--grace (\d+)", values["ExecStart"])[1])


def test_the_compose_file_starts_workers_again_and_waits_for_longer_than_their_grace():
    worker = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["worker"]

    assert read_options(worker["command"]) <= OPTIONS
    assert worker["restart"] == "always"
    assert int(worker["stop_grace_period"][:-1]) > int(re.search(r"--grace (\d+)", worker["command"])[1])
