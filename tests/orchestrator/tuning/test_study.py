"""A study is kept: a kill loses no finished run, and one process at a time adds runs to it."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal

import pytest

from agents.testing import ScriptedChatModel
from evaluation.evalset.files import read_case_set
from orchestrator.errors import ConfigurationError
from orchestrator.tuning.recorded_replies import RecordedReplies
from orchestrator.tuning.run_log import RunLog
from orchestrator.tuning.tune import load_recorded_runs, tune
from orchestrator.tuning.tune_spec import TuneSpec
from tests.fakes.simulated_runner import SimulatedRunner

CHANCES = {"first": 0.2, "feedback": 0.05, "resample": 0.6}
RESAMPLE = {"max_retries": 1, "strategies": [{"use": "resample"}]}
SPACE = {"max_retries": [0, 1, 2, 3, 4], "strategies": [[{"use": "feedback"}], [{"use": "resample"}]]}
PROCESSES = multiprocessing.get_context("spawn")


def make_spec(folder, count=8, **values):
    contract = {"required_content": [{"text": "a"}]}
    cases = [{"name": f"task {n}", "task": f"Write {n} words.", "contract": contract} for n in range(count)]
    file = folder / "tasks.json"
    file.write_text(json.dumps({"version": 1, "cases": cases}))
    return TuneSpec(**{"tasks": str(file), "policies": {"fresh": RESAMPLE}, "planning": False, **values})


def count_lines(folder):
    return [json.loads(line) for line in (folder / "tuning" / "runs.jsonl").read_text().splitlines()]


class Waiting(SimulatedRunner):
    """Calls a function in the middle of its first run."""

    def __init__(self, during):
        super().__init__(CHANCES)
        self.during = during

    def run(self, case, candidate, repeat):
        if not self.calls:
            self.during()
        return super().run(case, candidate, repeat)


def test_a_second_search_on_a_study_is_refused_with_the_process_that_has_it(tmp_path):
    spec, second = make_spec(tmp_path), SimulatedRunner(CHANCES)
    refusals = []

    def start_second():
        with pytest.raises(ConfigurationError) as caught:
            tune(spec, folder=tmp_path, runner=second)
        refusals.append(str(caught.value))

    tune(spec, folder=tmp_path, runner=Waiting(start_second))

    [refusal] = refusals
    assert refusal == (
        f"the study 'tuning' in {str(tmp_path)!r} is in use by another process; "
        "wait until it has ended, or give another name"
    )
    assert second.calls == []


def test_a_study_that_was_refused_or_ended_is_free_again(tmp_path):
    spec = make_spec(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES, fail_after=3))
    runner = SimulatedRunner(CHANCES)
    tune(spec, folder=tmp_path, runner=runner)

    assert runner.calls


def test_reading_a_study_leaves_a_line_alone_that_is_being_written(tmp_path):
    spec = make_spec(tmp_path)
    tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))
    log = tmp_path / "tuning" / "runs.jsonl"
    log.write_bytes(half := log.read_bytes()[:-20])
    load_recorded_runs(spec, tmp_path)

    assert log.read_bytes() == half


@pytest.mark.parametrize(
    "altered",
    [
        b"NaN",
        b'"2"',
        b"1" + b"0" * 400,
        b"[" * 100_000,
    ],
    ids=["not a number", "a text", "too large", "too deep"],
)
def test_a_line_that_was_altered_is_one_sentence(tmp_path, altered):
    spec = make_spec(tmp_path)
    tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))
    log = tmp_path / "tuning" / "runs.jsonl"
    log.write_bytes(re.sub(rb'"seconds":[^,}]*', b'"seconds":' + altered, log.read_bytes(), count=1))

    with pytest.raises(ConfigurationError, match="has a broken line 1; delete the line, or the folder"):
        tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))


def test_recorded_replies_that_are_no_database_are_refused(tmp_path):
    (tmp_path / "replies.sqlite").write_bytes(b"no database, but long enough to be read as one" * 9)

    with pytest.raises(ConfigurationError, match="restore the file, or delete it to ask the models again"):
        RecordedReplies(tmp_path / "replies.sqlite")


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_line_that_was_cut_off_is_replaced_by_a_whole_one(tmp_path, cut):
    spec = make_spec(tmp_path)
    tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))
    log = tmp_path / "tuning" / "runs.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[:-cut])
    tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))

    assert log.read_bytes() == whole


def test_an_interrupted_search_of_a_large_space_proposes_the_same_policies(tmp_path):
    values = {"policies": {}, "space": SPACE, "budget": {"trials": 5}}
    whole = tune(
        make_spec(tmp_path, name="whole", **values), folder=tmp_path, runner=SimulatedRunner(CHANCES)
    )
    first, second = SimulatedRunner(CHANCES, fail_after=14), SimulatedRunner(CHANCES)
    with pytest.raises(KeyboardInterrupt):
        tune(make_spec(tmp_path, **values), folder=tmp_path, runner=first)
    resumed = tune(make_spec(tmp_path, **values), folder=tmp_path, runner=second)

    assert [trial.candidate.name for trial in resumed.trials] == [
        trial.candidate.name for trial in whole.trials
    ]
    assert not set(first.calls) & set(second.calls)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "tuning").write_text("a file")
    with pytest.raises(ConfigurationError, match="of the study cannot be written"):
        tune(make_spec(tmp_path), folder=tmp_path, runner=SimulatedRunner(CHANCES))


def run_scripted(folder, calls, kill_at=None):
    """Tunes with a scripted model that writes down each call, and kills its process in one of them."""

    def answer(prompt):
        with calls.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if kill_at is not None and len(calls.read_text().splitlines()) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return "word " * len(calls.read_text().splitlines())

    model = ScriptedChatModel(answer, usage=(5, 5))
    try:
        result = tune(make_spec(folder), folder=folder, load=lambda name: model)
        (folder / "told").write_text(result.recommendation.sentence)
    except ConfigurationError as error:
        (folder / f"refused {os.getpid()}").write_text(str(error))


def start(*arguments):
    process = PROCESSES.Process(target=run_scripted, args=arguments)
    process.start()
    return process


@pytest.mark.faults
@pytest.mark.parametrize("kill_at", [1, pytest.param(6, marks=pytest.mark.sample), 17])
def test_a_search_that_was_killed_in_a_trial_goes_on_without_a_lost_or_repeated_run(tmp_path, kill_at):
    calls = tmp_path / "calls"
    killed = start(tmp_path, calls, kill_at)
    killed.join()
    before = count_lines(tmp_path) if (tmp_path / "tuning" / "runs.jsonl").exists() else []
    run_scripted(tmp_path, calls)

    assert killed.exitcode == -signal.SIGKILL
    lines = count_lines(tmp_path)
    assert lines[: len(before)] == before
    assert len({tuple(line["key"]) for line in lines}) == len(lines)
    # The call that was killed is the only one that was made twice.
    assert sum(line["run"]["spent_calls"] for line in lines) <= len(calls.read_text().splitlines()) - 1
    assert (tmp_path / "told").read_text()


@pytest.mark.faults
@pytest.mark.sample
def test_of_two_processes_on_one_study_the_second_is_refused(tmp_path):
    calls = tmp_path / "calls"
    both = [start(tmp_path, calls), start(tmp_path, calls)]
    for process in both:
        process.join()

    lines = count_lines(tmp_path)
    assert len({tuple(line["key"]) for line in lines}) == len(lines)
    for refusal in tmp_path.glob("refused *"):
        assert "in use by another process;" in refusal.read_text()
    assert (tmp_path / "told").read_text()
    assert RunLog(tmp_path / "tuning" / "runs.jsonl", make_spec(tmp_path).budget).find_runs(
        read_case_set(tmp_path / "tasks.json").cases
    )
