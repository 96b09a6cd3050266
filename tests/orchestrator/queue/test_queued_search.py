"""Workers execute the runs of a search, which goes on after an interruption."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agents.testing import ScriptedChatModel
from evaluation import TaskCase, read_case_set
from orchestrator import RetryPolicy, TuneSpec, tune
from orchestrator.cli.app import app
from orchestrator.errors import ConfigurationError, RunFailedError, StoreError, ThreadBusyError
from orchestrator.queue.queued_job import QueuedJob, build_key
from orchestrator.queue.queued_study import QueuedRunner, QueuedStudy, StudyApp
from tests.orchestrator.queue.conftest import Bench, describe_search

TASKS = 6
SPACE = {"max_retries": [0, 6]}
RUNS = 3 * 4 + 2 * 2
"""Three policies on the tasks of the search, and two of them on those that are held out."""


@pytest.fixture
def make_spec(tmp_path: Path):
    """Build a specification on tasks like "Write 3 words."."""

    def build(**changes) -> TuneSpec:
        contract = {"required_content": [{"text": "a"}]}
        cases = [
            {"name": f"task {n}", "task": f"Write {n} words.", "contract": contract} for n in range(TASKS)
        ]
        file = tmp_path / "tasks.json"
        file.write_text(json.dumps({"version": 1, "cases": cases}))
        return TuneSpec(**{"tasks": str(file), "space": SPACE, "planning": False, **changes})

    return build


def scripted(answer=None) -> ScriptedChatModel:
    """A model that succeeds or fails by the prompt alone, in any process and any order."""

    def reply(messages) -> str:
        if "success" in messages[0].text:
            return '{"success": true, "feedback": "good"}'
        digest = hashlib.sha256(messages[-1].text.encode()).digest()
        return "a" if digest[0] % 5 == 0 else "word"

    return ScriptedChatModel(answer or reply, usage=(5, 5))


def search(bench: Bench, spec: TuneSpec):
    return tune(spec, runner=QueuedRunner(bench.queue, QueuedStudy(spec)), folder=bench.folder / "none")


def study_worker(bench: Bench, study: QueuedStudy, model: ScriptedChatModel, **options):
    worker = bench.worker(**options)
    worker.apps = {study.app: StudyApp(study, bench.queue.store, lambda _: model)}
    return worker


async def search_with_worker(bench: Bench, spec: TuneSpec, model: ScriptedChatModel, **options):
    async with bench.working(study_worker(bench, QueuedStudy(spec), model, **options)):
        return await asyncio.to_thread(search, bench, spec)


def test_the_result_is_that_of_the_same_search_without_a_queue(bench, make_spec):
    alone, shared = scripted(), scripted()
    queued = asyncio.run(search_with_worker(bench, make_spec(), shared, concurrency=4))
    single = tune(make_spec(), folder=bench.folder, load=lambda _: alone)

    assert describe_search(queued) == describe_search(single)
    assert queued.recommendation.difference is not None
    # Each way asked its own model, for the same replies, each once.
    assert len(shared.prompts) == len(alone.prompts) > TASKS
    threads = [run.thread_id for run in bench.queue.store.history.runs()]
    assert (len(threads), {thread[:12] for thread in threads}) == (RUNS, {"tune-tuning-"})


def call_tune(bench: Bench, spec: TuneSpec, *words: str):
    file = bench.folder / "tuning.yaml"
    file.write_text(spec.model_copy(update={"tasks": "tasks.json"}).model_dump_json())
    return CliRunner().invoke(app, ["tune", str(file), "--folder", str(bench.folder), "--json", *words])


def test_a_search_that_is_started_again_executes_nothing_again(bench, postgres_url, make_spec):
    first = asyncio.run(search_with_worker(bench, make_spec(), scripted()))
    again = call_tune(bench, make_spec(), "--db", postgres_url, "--queue", "default")  # no worker is left

    assert again.exit_code == 0, again.output
    document = json.loads(again.stdout)
    assert [trial["success"] for trial in document["trials"]] == [trial.success for trial in first.trials]
    assert document["sentence"] == first.recommendation.sentence


def test_runs_that_their_worker_leaves_get_their_recorded_replies_in_another(bench, make_spec):
    model, spec = scripted(), make_spec()

    async def change_workers():
        searching = asyncio.create_task(asyncio.to_thread(search, bench, spec))
        for number in (3, 9, 1000):
            async with bench.working(study_worker(bench, QueuedStudy(spec), model, grace_s=0.0)):
                await bench.reach(lambda number=number: len(model.prompts) >= number or searching.done())
        return await searching

    alone = scripted()
    single = tune(spec, folder=bench.folder, load=lambda _: alone)

    assert describe_search(asyncio.run(change_workers())) == describe_search(single)
    # Each of two workers left at most two calls.
    assert len(model.prompts) <= len(alone.prompts) + 4


@pytest.mark.soak
def test_the_budget_counts_the_replies_of_all_workers_and_a_greater_one_goes_on(bench, make_spec):
    model = scripted()
    small, great = (make_spec(budget={"model_calls": number}) for number in (18, 1000))
    stopped = asyncio.run(search_with_worker(bench, small, model, concurrency=1))
    spent = len(model.prompts)
    ended = asyncio.run(search_with_worker(bench, great, model))

    assert stopped.stopped.startswith("the budget of 18 model_calls is spent")
    assert spent == 18
    assert ended.stopped is None


@pytest.mark.soak
def test_a_run_that_says_nothing_about_its_policy_is_executed_by_the_next_search(bench, make_spec):
    broken = scripted(lambda _: OSError("the server is away"))
    with pytest.raises(RunFailedError, match="the server is away"):
        asyncio.run(search_with_worker(bench, make_spec(), broken))

    assert asyncio.run(search_with_worker(bench, make_spec(), scripted())).stopped is None


@pytest.mark.soak
def test_a_run_under_way_that_is_cancelled_ends_the_search(bench, make_spec):
    def cancel(_) -> str:
        for run in bench.queue.store.history.runs():
            bench.queue.cancel(run.thread_id)
        time.sleep(1)
        return "word"

    with pytest.raises(RunFailedError, match="cancelled in the queue"):
        asyncio.run(search_with_worker(bench, make_spec(), scripted(cancel)))


def test_a_search_takes_no_run_from_one_of_its_name_with_other_files(bench, make_spec):
    spec, other = make_spec(), QueuedStudy(make_spec(budget={"model_calls": 90}))
    cases = read_case_set(spec.tasks).cases
    jobs = [(other.name_run(case, RetryPolicy()), case.task) for case in cases]
    for name, task in jobs:
        bench.queue.engine.enqueue(QueuedJob(queue="default", app=other.app, task=task, thread_id=name))

    with pytest.raises(ConfigurationError, match="is queued with another app"):
        search(bench, spec)

    assert [bench.queue.engine.find(build_key(name)).app for name, _ in jobs] == [other.app] * TASKS


async def test_a_job_executes_only_runs_of_the_study_of_its_worker(bench, make_spec):
    study = QueuedStudy(make_spec())
    name = study.name_run(TaskCase(task="Delete everything."), RetryPolicy())
    with pytest.raises(ConfigurationError, match="is no run of study:tuning"):
        await StudyApp(study, bench.queue.store, lambda _: scripted()).arun_once("Delete everything.", name)


async def test_runs_of_one_task_never_share_its_replies_at_the_same_time(bench, make_spec):
    asked, goes_on = threading.Event(), threading.Event()

    def wait(_) -> str:
        asked.set()
        goes_on.wait(60)
        return "word"

    study = QueuedStudy(make_spec())
    names = [
        study.name_run(read_case_set(study.spec.tasks).cases[0], each.policy)
        for each in study.space.everything
    ]
    runs = StudyApp(study, bench.queue.store, lambda _: scripted(wait))
    first = asyncio.create_task(runs.arun_once("", names[0]))
    await asyncio.to_thread(asked.wait, 60)
    with pytest.raises(ThreadBusyError):
        await runs.arun_once("", names[1])
    goes_on.set()
    assert (await first)["status"] == "failed"


def test_a_worker_with_other_files_leaves_the_runs_and_both_say_so(bench, make_spec, caplog):
    spec, other = make_spec(), QueuedStudy(make_spec(seed=1))
    with ThreadPoolExecutor(1) as pool:
        searching = pool.submit(search, bench, spec)
        asyncio.run(_serve_until_left(bench, other, caplog))
        bench.queue.store.saver.change("DELETE FROM orchestrator_pgqueuer", [()])
        with pytest.raises(StoreError, match="was cancelled before it began; start the search again"):
            searching.result(60)


def test_a_task_that_no_worker_takes_is_refused_before_the_first_run(bench, postgres_url, make_spec):
    spec = make_spec()
    file = Path(spec.tasks)
    file.write_text(file.read_text().replace("Write 5 words.", "a" * 200_001))
    ended = call_tune(bench, spec, "--db", postgres_url, "--queue", "default")

    assert ended.exit_code == 2
    assert (
        f"tasks: 'task 5' in '{file}': a task of 200,001 characters is too long for a queue" in ended.stderr
    )
    assert bench.count().total() == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--db", "URL"), "--db names the database of a queue; give --queue NAME, or leave it out"),
        (("--db", "URL", "--queue", "a b"), "queue is 'a b'; give a name"),
        (("--db", "runs.sqlite", "--queue", "default"), "a queue needs a database, and no file"),
    ],
)
def test_options_that_contradict_each_other_are_one_sentence(bench, postgres_url, make_spec, words, sentence):
    ended = call_tune(bench, make_spec(), *(postgres_url if word == "URL" else word for word in words))

    assert ended.exit_code == 2, ended.output
    assert sentence in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert bench.count().total() == 0


async def _serve_until_left(bench: Bench, study: QueuedStudy, caplog) -> None:
    async with bench.working(study_worker(bench, study, scripted())):
        await bench.reach(lambda: "no worker takes them" in caplog.text)
        await bench.reach(lambda: any("no worker takes them" in line for line in bench.reports))
    assert bench.queue.store.history.runs() == []
