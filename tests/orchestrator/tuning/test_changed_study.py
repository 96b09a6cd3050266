"""A study measures anew what was changed since, or refuses it: no run stands for another."""

from __future__ import annotations

import json
from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration

from agents.testing import ScriptedChatModel
from orchestrator.tuning.recorded_replies import RecordedReplies
from orchestrator.tuning.tune import load_recorded_runs, tune
from orchestrator.tuning.tune_spec import TuneSpec
from tests.fakes.simulated_runner import SimulatedRunner

CHANCES = {"first": 0.2, "feedback": 0.05, "resample": 0.6}
CONTRACT = {"required_content": [{"text": "a"}]}
PRICES = {"scripted": {"input_usd": 1.0, "output_usd": 2.0}}


def make_spec(folder, changes=None, **values):
    cases = [{"name": f"task {n}", "task": f"Write {n} words.", "contract": CONTRACT} for n in range(6)]
    cases[0].update(changes or {})
    file = folder / "tasks.json"
    file.write_text(json.dumps({"version": 1, "cases": cases}))
    return TuneSpec(
        **{"tasks": str(file), "policies": {"none": {"max_retries": 0}}, "planning": False, **values}
    )


@pytest.mark.parametrize(
    "changes", [{"task": "Write 100 words."}, {"contract": {"required_content": [{"text": "b"}]}}]
)
def test_a_changed_task_is_measured_anew_and_no_other(tmp_path, changes):
    tune(make_spec(tmp_path), folder=tmp_path, runner=SimulatedRunner(CHANCES))
    runner = SimulatedRunner(CHANCES)
    tune(make_spec(tmp_path, changes), folder=tmp_path, runner=runner)

    assert {task for _, task in runner.calls} == {"task 0"}


def test_a_task_that_is_changed_back_costs_nothing(tmp_path):
    for changes in (None, {"task": "Write 100 words."}):
        tune(make_spec(tmp_path, changes), folder=tmp_path, runner=SimulatedRunner(CHANCES))
    runner = SimulatedRunner(CHANCES)
    tune(make_spec(tmp_path), folder=tmp_path, runner=runner)

    assert runner.calls == []


def test_runs_of_a_task_before_its_change_are_not_replayed(tmp_path):
    for changes in (None, {"task": "Write 100 words."}):
        spec = make_spec(tmp_path, changes)
        tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))
    runs = load_recorded_runs(spec, tmp_path)

    first = [run.steps[0].attempts[0].output for run in runs if run.task == "task 0"]
    assert set(first) == {"Write 100 words.0 first 0"}


def run_models(spec, folder, **changes):
    model = ScriptedChatModel(lambda prompt: "word", usage=(5, 5)).model_copy(update=changes)
    return tune(spec, folder=folder, load=lambda name: model), model


@pytest.mark.parametrize("changes", [{"temperature": 0.5}, {"seed": 3}])
def test_a_model_with_other_settings_is_measured_anew(tmp_path, changes):
    spec = make_spec(tmp_path)
    run_models(spec, tmp_path)
    _, model = run_models(spec, tmp_path, **changes)

    assert model.prompts


class Named(SimulatedRunner):
    identity = "a runner with tools"


@pytest.mark.parametrize(("runner", "changes"), [(Named, {}), (SimulatedRunner, {"prices": PRICES})])
def test_another_runner_or_other_prices_are_measured_anew(tmp_path, runner, changes):
    tune(make_spec(tmp_path), folder=tmp_path, runner=SimulatedRunner(CHANCES))
    second = runner(CHANCES)
    tune(make_spec(tmp_path, **changes), folder=tmp_path, runner=second)

    assert len(second.calls) == 8


def test_a_larger_budget_and_another_objective_go_on_with_the_same_runs(tmp_path):
    tune(make_spec(tmp_path), folder=tmp_path, runner=SimulatedRunner(CHANCES))
    runner = SimulatedRunner(CHANCES)
    spec = make_spec(tmp_path, budget={"trials": 50}, objective={"against": "attempts"})
    tune(spec, folder=tmp_path, runner=runner)

    assert runner.calls == []


def test_samples_of_two_temperatures_are_different_replies(tmp_path):
    numbers = count()
    model = ScriptedChatModel(lambda prompt: f"word {next(numbers)}", usage=(5, 5))
    rules = {str(t): {"strategies": [{"use": "resample", "temperature": t}]} for t in (0.2, 1.0)}
    tune(make_spec(tmp_path, policies=rules, models=["scripted"]), folder=tmp_path, load=lambda name: model)

    assert {temperature for temperature, _ in model.samplings} == {None, 0.2, 0.7, 1.0}


def test_replies_of_an_embedded_model_are_found_again_at_another_port(tmp_path):
    def open_at(port):
        return RecordedReplies(tmp_path / "replies.sqlite", {f"http://127.0.0.1:{port}/v1": "sha256:1"}), port

    def ask(replies, port):
        replies.begin("task")
        return replies.lookup("Hi", f'{{"base_url": "http://127.0.0.1:{port}/v1"}}')

    first, port = open_at(4001)
    assert ask(first, port) is None
    reply = [ChatGeneration(message=AIMessage("Hello"))]
    first.update("Hi", f'{{"base_url": "http://127.0.0.1:{port}/v1"}}', reply)

    assert ask(*open_at(5002))[0].text == "Hello"


def test_the_models_of_escalations_are_loaded_first_and_their_replies_are_kept(tmp_path):
    loaded = {}

    def load(name):
        loaded[name] = ScriptedChatModel(lambda prompt: "word", usage=(5, 5))
        return loaded[name]

    strong = {"strategies": [{"use": "escalate", "model": "strong"}]}
    spec = make_spec(tmp_path, policies={"strong": strong})
    result = tune(spec, folder=tmp_path, load=load)
    assert list(loaded) == ["local", "strong"]
    assert loaded["strong"].prompts
    lines = [json.loads(line) for line in (tmp_path / "tuning" / "runs.jsonl").read_text().splitlines()]
    asked = sum(len(model.prompts) for model in loaded.values())
    assert sum(line["run"]["spent_calls"] for line in lines) == asked
    assert result.trials[1].candidate.name == "strong"
