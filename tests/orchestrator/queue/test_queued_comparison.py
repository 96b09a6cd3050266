"""`orchestrator compare --queue` lets workers execute the cases with each of their apps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from tests.orchestrator.queue.conftest import Bench
from tests.orchestrator.queue.worker_app import STEPS, build, build_once
from tests.orchestrator.queue.workers import APP, APP_ONCE

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
TARGETS = f"{APP}, {APP_ONCE}"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES)
    return file


def compare(cases: Path, db: str, *words: str):
    options = ("--queue", "default", "--db", db, "--targets", TARGETS, "--evaluation", "nightly", "--json")
    return CliRunner().invoke(app, ["compare", "--tasks", str(cases), *options, *words])


async def compare_with_worker(bench: Bench, cases: Path, db: str, *words: str):
    worker = bench.worker()
    worker.apps = {APP: build(bench.queue.store), APP_ONCE: build_once(bench.queue.store)}
    async with bench.working(worker):
        return await asyncio.to_thread(compare, cases, db, *words)


def test_workers_execute_the_cases_with_each_app(bench, postgres_url, cases):
    ended = asyncio.run(compare_with_worker(bench, cases, postgres_url))

    assert ended.exit_code == 0, ended.output
    arms = json.loads(ended.stdout)["arms"]
    assert [arm["arm"] for arm in arms] == [APP, APP_ONCE]
    assert len(bench.effects()) == 4 * STEPS


def test_a_comparison_of_the_same_name_executes_nothing_again(bench, postgres_url, cases):
    first = asyncio.run(compare_with_worker(bench, cases, postgres_url))
    again = compare(cases, postgres_url)  # no worker is left

    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert len(bench.effects()) == 4 * STEPS


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--targets", APP), "is not a comparison; give at least two different --targets"),
        (("--targets", f"{APP},{APP}"), "is not a comparison"),
        (("--targets", f"{APP},no_such:build"), "'no_such:build' raised ModuleNotFoundError"),
        (("--targets", ""), "--queue NAME, --targets and --tasks are given together"),
        (("--models", "ollama:a,ollama:b"), "without models, policies and a seed"),
        (("--seed", "3"), "without models, policies and a seed"),
        (("--calls-per-second", "3"), "leave it out, and start the workers with --limit"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_queued(bench, postgres_url, cases, words, sentence):
    ended = compare(cases, postgres_url, *words)

    assert ended.exit_code == 2, ended.output
    assert sentence in " ".join(ended.stderr.split())
    assert bench.count().total() == 0


def test_a_recorded_case_is_compared_as_it_is(bench, postgres_url, cases):
    cases.write_text("version: 1\ncases: [{name: one, task: Do all, agent_run: {final_output: part 3}}]")
    ended = compare(cases, postgres_url)

    assert ended.exit_code == 0, ended.output
    assert bench.count().total() == 0
