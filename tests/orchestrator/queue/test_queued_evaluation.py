"""`orchestrator evaluate --queue` lets workers execute the cases, and goes on after an interruption."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from tests.orchestrator.queue.conftest import Bench
from tests.orchestrator.queue.worker_app import build_asking
from tests.orchestrator.queue.workers import APP

CASES = """
version: 1
cases:
  - name: one
    task: Do all
    contract: {required_content: [{text: part 3}]}
  - name: two
    task: Do all again
    contract: {required_content: [{text: nothing of it}]}
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES)
    return file


def evaluate(cases: Path, db: str, *words: str):
    options = ("--queue", "default", "--db", db, "--target", APP, "--evaluation", "nightly", "--json")
    return CliRunner().invoke(app, ["evaluate", str(cases), *options, *words])


async def evaluate_with_worker(bench: Bench, cases: Path, db: str, *words: str, worker=None):
    async with bench.working(worker):
        return await asyncio.to_thread(evaluate, cases, db, *words)


def test_workers_execute_the_cases_and_the_results_come_in_their_order(bench, postgres_url, cases):
    ended = asyncio.run(evaluate_with_worker(bench, cases, postgres_url))

    assert ended.exit_code == 1, ended.output
    assert "2 runs" in ended.stderr or "1 of 2" in ended.stderr, ended.stderr
    assert len(bench.effects()) == 6
    runs = bench.queue.store.history.runs()
    assert [run.thread_id.startswith("evaluation-nightly-") for run in runs] == [True, True]


def test_an_evaluation_of_the_same_name_executes_nothing_again(bench, postgres_url, cases):
    first = asyncio.run(evaluate_with_worker(bench, cases, postgres_url))
    again = evaluate(cases, postgres_url)  # no worker is left

    assert again.exit_code == 1
    assert sorted(again.stdout.splitlines()) == sorted(first.stdout.splitlines())
    assert len(bench.effects()) == 6


def test_cases_that_were_queued_before_an_interruption_stay_queued(bench, postgres_url, cases):
    interrupted = threading.Thread(target=evaluate, args=(cases, postgres_url), daemon=True)
    interrupted.start()
    asyncio.run(bench.reach(lambda: bench.count()["waiting"] == 2))
    ended = asyncio.run(evaluate_with_worker(bench, cases, postgres_url, "--repeat", "2"))

    assert ended.exit_code == 1, ended.output
    assert len(bench.effects()) == 12
    interrupted.join(60)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--calls-per-second", "3"), "leave it out, and start the workers with --limit"),
        (("--concurrency", "4"), "leave it out, and start the workers with --concurrency"),
        (("--model", "local"), "--target executes the cases without --model"),
        (("--target", "no_such:build"), "'no_such:build' raised ModuleNotFoundError"),
        (("--queue", "a b"), "queue is 'a b'; give a name"),
        (("--evaluation", "a" * 490), "at most 500 characters"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_queued(bench, postgres_url, cases, words, sentence):
    ended = evaluate(cases, postgres_url, *words)

    assert ended.exit_code == 2, ended.output
    assert sentence in ended.stderr
    assert bench.count().total() == 0


def test_a_case_with_a_hook_is_refused(bench, postgres_url, cases):
    cases.write_text(CASES.replace("task: Do all\n", "task: Do all\n    before: [echo, hello]\n"))
    ended = evaluate(cases, postgres_url)

    assert ended.exit_code == 2, ended.output
    assert "has a hook before or after it, which no worker runs" in ended.stderr
    assert bench.count().total() == 0


def test_the_hint_of_how_to_go_on_quotes_the_name(bench, postgres_url, cases):
    ended = asyncio.run(evaluate_with_worker(bench, cases, postgres_url, "--evaluation", "a b"))

    assert "--evaluation 'a b' continues it" in ended.stderr


def test_a_run_that_waits_for_a_person_is_not_accepted_and_the_others_go_on(bench, postgres_url, cases):
    asking = bench.worker(app=build_asking(bench.queue.store))
    ended = asyncio.run(evaluate_with_worker(bench, cases, postgres_url, worker=asking))

    assert ended.exit_code == 1, ended.output
    assert "2 runs" in ended.stderr
    assert "waits for a person; answer with resume('evaluation-nightly-" in ended.output


async def lose_jobs(bench: Bench, cases: Path, db: str):
    evaluation = asyncio.create_task(asyncio.to_thread(evaluate, cases, db))
    async with bench.working(bench.worker(grace_s=0.0)):
        await bench.reach(lambda: len(bench.effects()) >= 2)
    bench.queue.store.saver.change("DELETE FROM orchestrator_pgqueuer", [()])
    return await evaluation


def test_an_interrupted_run_whose_job_is_gone_is_not_waited_for(bench, postgres_url, cases, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.5")
    ended = asyncio.run(lose_jobs(bench, cases, postgres_url))

    assert ended.exit_code == 1, ended.output
    assert "has no job any more; --evaluation nightly queues it again" in ended.output


def test_a_queue_needs_a_target(bench, postgres_url, cases):
    words = ["evaluate", str(cases), "--queue", "default", "--db", postgres_url]

    assert "give --target MODULE:FUNCTION" in CliRunner().invoke(app, words).stderr


def test_a_job_that_fails_ends_the_evaluation(bench, postgres_url, cases):
    evaluation = threading.Thread(target=lambda: ended.append(evaluate(cases, postgres_url)))
    ended: list = []
    evaluation.start()
    asyncio.run(bench.reach(lambda: bench.count()["waiting"] == 2))
    bench.queue.store.saver.change("UPDATE orchestrator_pgqueuer SET status = 'failed'", [()])
    evaluation.join(60)

    assert ended[0].exit_code == 2
    assert "the workers cannot execute case 'one'" in ended[0].stderr
