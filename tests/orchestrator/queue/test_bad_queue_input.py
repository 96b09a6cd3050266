import json
import re
from pathlib import Path

import typer
import yaml
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.persistence import open_store
from tests.orchestrator.queue.workers import APP

MODULE = "tests.orchestrator.queue.worker_app"
TASK = ("submit", "Do all")


def call(*words: str):
    return CliRunner().invoke(app, [*words])


BAD = {
    "a queue name that is none": ((*TASK, "--app", APP, "--queue", "a b"), "queue is 'a b'; give a name"),
    "an app that is no name": ((*TASK, "--app", "module"), "'module' is not accepted; give MODULE:NAME"),
    "no orchestrator": ((*TASK, "--app", f"{MODULE}:build_nothing"), "returned str; give a function"),
    "no store": ((*TASK, "--app", f"{MODULE}:build_without_store"), "with checkpointer=store"),
    "a function that raises": ((*TASK, "--app", f"{MODULE}:fail"), "raised RuntimeError: no agents on"),
    "a task with a byte that is not UTF-8": (("submit", "a\udcff", "--app", APP), "in UTF-8"),
    "a task with NUL": (("submit", "a\0b", "--app", APP), "without NUL and surrogates"),
    "an empty task": (("submit", " ", "--app", APP), "task is"),
    "a name that is too long": ((*TASK, "--app", APP, "--thread", "a" * 501), "at most 500 characters"),
    "a worker of an app that is missing": (("worker", "--app", "no_such:build"), "ModuleNotFoundError"),
    "a worker of nothing": (("worker",), "Missing option '--app'"),
}


def test_bad_input_is_one_sentence_and_nothing_is_queued(subtests, bench, postgres_url):
    for case, (words, sentence) in BAD.items():
        with subtests.test(case):
            ended = call(*words, "--db", postgres_url)

            assert ended.exit_code == 2, ended.output
            assert sentence in ended.stderr
            assert len(ended.stderr.strip().splitlines()) == 1
            assert not bench.jobs()


SUBMIT = (*TASK, "--app", APP)
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
        ((*SUBMIT, "--db", "runs.sqlite"), 2, NO_DATABASE),
        (SUBMIT, 2, "or in the variable PEM_QUEUE_DB"),
        ((*SUBMIT, "--db", AWAY), 2, "cannot be reached"),
        ((*WORKER, "--db", AWAY), 1, "cannot be reached"),
    ]:
        with subtests.test(words=words):
            ended = call(*words)

            assert (ended.exit_code, sentence in ended.stderr) == (status, True)
            assert [file.name for file in tmp_path.iterdir()] == ["runs.sqlite"]


def test_the_database_may_be_an_environment_variable(bench, monkeypatch, postgres_url):
    monkeypatch.setenv("PEM_QUEUE_DB", postgres_url)

    printed = [call(*SUBMIT, "--thread", "run", *more).stdout for more in ((), ("--json",))]

    assert printed[0] == "queued: run in default\n"
    assert json.loads(printed[1]) == {"thread_id": "run", "queue": "default", "status": "queued before"}


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
