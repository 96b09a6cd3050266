"""A study is kept: no run is lost, repeated, or stands for another; one process at a time adds runs."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration

from agents.testing import ScriptedChatModel
from orchestrator.errors import ConfigurationError
from orchestrator.tuning.recorded_replies import RecordedReplies
from orchestrator.tuning.tune import load_recorded_runs, tune
from tests.fakes.simulated_runner import SimulatedRunner
from tests.orchestrator.tuning.conftest import CHANCES, RESAMPLE

LONGER = {"task": "Write 100 words."}
PRICES = {"scripted": {"input_usd": 1.0, "output_usd": 2.0}}
PROCESSES = multiprocessing.get_context("spawn")


def read_lines(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


class Waiting(SimulatedRunner):
    """Calls a function in the middle of its first run."""

    def __init__(self, during):
        super().__init__(CHANCES)
        self.during = during

    def run(self, case, candidate, repeat):
        if not self.calls:
            self.during()
        return super().run(case, candidate, repeat)


class Named(SimulatedRunner):
    identity = "a runner with tools"


@pytest.mark.parametrize(
    ("changes", "runner", "tasks"),
    [
        ({}, SimulatedRunner, set()),
        ({"budget": {"trials": 50}, "objective": {"against": "attempts"}}, SimulatedRunner, set()),
        ({"first": LONGER}, SimulatedRunner, {"task 0"}),
        ({"first": {"contract": {"required_content": [{"text": "b"}]}}}, SimulatedRunner, {"task 0"}),
        ({"prices": PRICES}, SimulatedRunner, {f"task {n}" for n in range(8)}),
        ({}, Named, {f"task {n}" for n in range(8)}),
    ],
    ids=["nothing", "budget and objective", "text", "contract", "prices", "runner"],
)
def test_what_was_changed_is_measured_anew_and_nothing_else(make_spec, run_tune, changes, runner, tasks):
    run_tune(make_spec())
    second = runner(CHANCES)
    run_tune(make_spec(**changes), second)

    assert {task for _, task in second.calls} == tasks


def test_a_task_that_is_changed_back_costs_nothing(make_spec, run_tune):
    for changes in (None, LONGER):
        run_tune(make_spec(first=changes))
    runner = SimulatedRunner(CHANCES)
    run_tune(make_spec(), runner)

    assert runner.calls == []


def test_a_study_is_replayed_without_the_runs_of_a_task_before_its_change(make_spec, run_tune, tmp_path):
    for changes in (None, LONGER):
        run_tune(spec := make_spec(first=changes))
    runs = load_recorded_runs(spec, tmp_path)

    first = [run.steps[0].attempts[0].output for run in runs if run.task == "task 0"]
    assert (len(runs), set(first)) == (16, {"Write 100 words.0 first 0"})
    assert load_recorded_runs(make_spec(name="other"), tmp_path) == []


@pytest.mark.parametrize("changes", [{"temperature": 0.5}, {"seed": 3}])
def test_a_model_with_other_settings_is_measured_anew(make_spec, tmp_path, changes):
    first = ScriptedChatModel(lambda prompt: "word", usage=(5, 5))
    second = ScriptedChatModel(lambda prompt: "word", usage=(5, 5)).model_copy(update=changes)
    for model in (first, second):
        tune(make_spec(), folder=tmp_path, load=lambda name, model=model: model)

    assert second.prompts


def test_models_answer_each_request_once_for_all_policies(make_spec, tmp_path):
    """Both policies share the first attempts: the policy without retries finds all its requests recorded."""
    model = ScriptedChatModel(lambda prompt: "word " * 30, usage=(5, 5))
    spec = make_spec(4, policies={"none": {"max_retries": 0}})
    default, none = tune(spec, folder=tmp_path, load=lambda name: model).trials

    assert default.mean("model_calls") > none.mean("model_calls") >= 1
    assert len(model.prompts) == default.mean("model_calls") * 4


def test_samples_of_two_temperatures_are_different_replies(make_spec, tmp_path):
    numbers = count()
    model = ScriptedChatModel(lambda prompt: f"word {next(numbers)}", usage=(5, 5))
    rules = {str(t): {"strategies": [{"use": "resample", "temperature": t}]} for t in (0.2, 1.0)}
    tune(make_spec(policies=rules, models=["scripted"]), folder=tmp_path, load=lambda name: model)

    assert {temperature for temperature, _ in model.samplings} == {None, 0.2, 0.7, 1.0}


def test_replies_of_an_embedded_model_are_found_again_at_another_port(tmp_path):
    def open_at(port):
        replies = RecordedReplies(tmp_path / "replies.sqlite", {f"http://127.0.0.1:{port}/v1": "sha256:1"})
        replies.begin("task")
        request = "Hi", f'{{"base_url": "http://127.0.0.1:{port}/v1"}}'
        return replies, request, replies.lookup(*request)

    first, request, reply = open_at(4001)
    assert reply is None
    first.update(*request, [ChatGeneration(message=AIMessage("Hello"))])

    assert open_at(5002)[2][0].text == "Hello"


def test_the_models_of_escalations_are_loaded_first_and_their_replies_are_kept(make_spec, tmp_path, log):
    loaded = {}

    def load(name):
        loaded[name] = ScriptedChatModel(lambda prompt: "word", usage=(5, 5))
        return loaded[name]

    strong = {"strategies": [{"use": "escalate", "model": "strong"}]}
    tune(make_spec(policies={"strong": strong}), folder=tmp_path, load=load)

    assert list(loaded) == ["local", "strong"]
    assert loaded["strong"].prompts
    asked = sum(len(model.prompts) for model in loaded.values())
    assert sum(line["run"]["spent_calls"] for line in read_lines(log)) == asked


def test_a_second_search_on_a_study_is_refused_and_reads_nothing(make_spec, run_tune, tmp_path):
    spec, second = make_spec(), SimulatedRunner(CHANCES)
    refusals = []

    def start_second():
        with pytest.raises(ConfigurationError) as caught:
            run_tune(spec, second)
        refusals.append(str(caught.value))

    run_tune(spec, Waiting(start_second))

    [refusal] = refusals
    assert refusal == (
        f"the study 'tuning' in {str(tmp_path)!r} is in use by another process; "
        "wait until it has ended, or give another name"
    )
    assert second.calls == []


def test_an_interrupted_search_goes_on_without_repeating_a_run(make_spec, run_tune):
    whole = run_tune(make_spec(60, name="whole"))
    first, second = SimulatedRunner(CHANCES, fail_after=50), SimulatedRunner(CHANCES)
    with pytest.raises(KeyboardInterrupt):
        run_tune(make_spec(60), first)
    resumed = run_tune(make_spec(60), second)

    assert not set(first.calls) & set(second.calls)
    assert len(first.calls) + len(second.calls) == 60 * 2
    assert resumed.recommendation.sentence == whole.recommendation.sentence


def test_a_search_by_optuna_that_was_cut_off_tries_the_same_policies(make_spec, run_tune):
    values = {"max_retries": [0, 1, 2, 3, 4], "strategies": [[{"use": "feedback"}], [{"use": "resample"}]]}
    changes = {"policies": {}, "space": values, "budget": {"trials": 4}}
    whole = run_tune(make_spec(12, name="whole", **changes))
    with pytest.raises(KeyboardInterrupt):
        run_tune(make_spec(12, **changes), SimulatedRunner(CHANCES, fail_after=20))
    resumed = run_tune(make_spec(12, **changes))

    names = [trial.candidate.name for trial in whole.trials]
    assert (len(names), len(set(names))) == (5, 5)
    assert [trial.candidate.name for trial in resumed.trials] == names


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_line_that_was_cut_off_is_replaced_by_a_whole_one(make_spec, run_tune, tmp_path, log, cut):
    run_tune(spec := make_spec())
    whole = log.read_bytes()
    log.write_bytes(half := whole[:-cut])
    load_recorded_runs(spec, tmp_path)
    assert log.read_bytes() == half
    runner = SimulatedRunner(CHANCES)
    run_tune(spec, runner)

    assert (len(runner.calls), log.read_bytes()) == (1, whole)


@pytest.mark.parametrize("altered", [b"NaN", b'"2"', b"1" + b"0" * 400, b"[" * 100_000])
def test_a_line_that_was_altered_is_one_sentence(make_spec, run_tune, log, altered):
    run_tune(spec := make_spec())
    log.write_bytes(re.sub(rb'"seconds":[^,}]*', b'"seconds":' + altered, log.read_bytes(), count=1))

    with pytest.raises(ConfigurationError, match="has a broken line 1; delete the line, or the folder"):
        run_tune(spec)


def test_recorded_replies_that_are_no_database_are_refused(tmp_path):
    (tmp_path / "replies.sqlite").write_bytes(b"no database, but long enough to be read as one" * 9)

    with pytest.raises(ConfigurationError, match="restore the file, or delete it to ask the models again"):
        RecordedReplies(tmp_path / "replies.sqlite")


def test_a_folder_that_cannot_be_written_is_one_sentence(make_spec, run_tune, tmp_path):
    (tmp_path / "tuning").write_text("a file")
    with pytest.raises(ConfigurationError, match="of the study cannot be written"):
        run_tune(make_spec())


def run_scripted(folder, spec, calls, kill_at=None):
    """Tunes with a scripted model that writes down each call, and kills its process in one of them."""

    def answer(prompt):
        with calls.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if kill_at is not None and len(calls.read_text().splitlines()) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return "word " * len(calls.read_text().splitlines())

    model = ScriptedChatModel(answer, usage=(5, 5))
    try:
        result = tune(spec, folder=folder, load=lambda name: model)
        (folder / "told").write_text(result.recommendation.sentence)
    except ConfigurationError as error:
        (folder / f"refused {os.getpid()}").write_text(str(error))


def start(*arguments):
    process = PROCESSES.Process(target=run_scripted, args=arguments)
    process.start()
    return process


@pytest.mark.faults
@pytest.mark.parametrize("kill_at", [1, pytest.param(6, marks=pytest.mark.sample), 17])
def test_a_search_that_was_killed_in_a_trial_goes_on_without_a_lost_or_repeated_run(
    make_spec, tmp_path, log, kill_at
):
    calls, spec = tmp_path / "calls", make_spec(policies={"fresh": {"max_retries": 1, **RESAMPLE}})
    killed = start(tmp_path, spec, calls, kill_at)
    killed.join()
    before = read_lines(log)
    run_scripted(tmp_path, spec, calls)

    assert killed.exitcode == -signal.SIGKILL
    lines = read_lines(log)
    assert lines[: len(before)] == before
    assert len({tuple(line["key"]) for line in lines}) == len(lines)
    # The call that was killed is the only one that was made twice.
    assert sum(line["run"]["spent_calls"] for line in lines) <= len(calls.read_text().splitlines()) - 1
    assert (tmp_path / "told").read_text()


@pytest.mark.faults
@pytest.mark.sample
def test_of_two_processes_on_one_study_the_second_is_refused(make_spec, tmp_path, log):
    calls, spec = tmp_path / "calls", make_spec()
    for process in [start(tmp_path, spec, calls), start(tmp_path, spec, calls)]:
        process.join()

    lines = read_lines(log)
    assert len({tuple(line["key"]) for line in lines}) == len(lines)
    for refusal in tmp_path.glob("refused *"):
        assert "in use by another process;" in refusal.read_text()
    assert (tmp_path / "told").read_text()
    assert load_recorded_runs(spec, tmp_path)
