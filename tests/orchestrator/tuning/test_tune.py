"""tune: the search for a policy, its budget, its resumption and its recommendation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.errors import ModelSetupError
from agents.testing import ScriptedChatModel
from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.tuning.run_log import RunLog
from orchestrator.tuning.tune import load_recorded_runs, tune
from orchestrator.tuning.tune_spec import TuneSpec, read_spec
from tests.fakes.simulated_runner import SimulatedRunner

CHANCES = {"first": 0.2, "feedback": 0.05, "resample": 0.6}
RESAMPLE = {"strategies": [{"use": "resample"}]}
RETRY_ANEW = [{"use": "feedback", "times": 1}, {"use": "resample"}]


def write_tasks(folder, count):
    contract = {"required_content": [{"text": "a"}]}
    cases = [{"name": f"task {n}", "task": f"Write {n} words.", "contract": contract} for n in range(count)]
    file = folder / "tasks.json"
    file.write_text(json.dumps({"version": 1, "cases": cases}))
    return str(file)


@pytest.fixture
def make_spec(tmp_path):
    def build(count=60, **changes):
        values = {"policies": {"fresh": RESAMPLE}, **changes}
        return TuneSpec(tasks=write_tasks(tmp_path, count), **values)

    return build


@pytest.fixture
def run_tune(tmp_path):
    def run(spec, runner=None, **options):
        return tune(spec, folder=tmp_path, runner=runner or SimulatedRunner(CHANCES), **options)

    return run


def test_a_better_policy_is_recommended_with_its_held_out_figure(make_spec, run_tune):
    result = run_tune(make_spec())

    recommendation = result.recommendation
    assert recommendation.candidate.name == "fresh"
    assert recommendation.is_told_apart
    assert recommendation.sentence.startswith("Use fresh: its success rate differs from the default's by +0.")
    assert "24 held-out tasks" in recommendation.sentence
    assert RetryPolicy.from_yaml(result.policy_yaml) == RetryPolicy(**RESAMPLE)


def test_held_out_tasks_are_not_run_during_the_search(make_spec, run_tune):
    runner = SimulatedRunner(CHANCES)
    result = run_tune(make_spec(), runner)
    searched = set(result.trials[0].by_task)
    held_out = set(result.recommendation.held_out[0].by_task)
    assert not searched & held_out
    assert len(searched | held_out) == 60


def test_equal_policies_cannot_be_told_apart_and_the_default_is_recommended(make_spec, run_tune):
    result = run_tune(make_spec(), SimulatedRunner({"first": 0.3, "feedback": 0.3, "resample": 0.34}))
    assert result.recommendation.candidate.name == "default"
    assert not result.recommendation.is_told_apart
    assert "Keep the default" in result.recommendation.sentence


def test_too_few_tasks_tell_nothing_apart(make_spec, run_tune):
    result = run_tune(make_spec(12), SimulatedRunner({"first": 0.0, "feedback": 0.0, "resample": 1.0}))
    assert "nothing can be told apart with fewer than 10 held-out tasks (here 5)" in (
        result.recommendation.sentence
    )


def test_a_clearly_worse_policy_ends_early(make_spec, run_tune):
    spec = make_spec(100, policies={"none": {"max_retries": 0}, "fresh": RESAMPLE})
    runner = SimulatedRunner({"first": 0.05, "feedback": 0.9, "resample": 0.9})
    none = next(trial for trial in run_tune(spec, runner).trials if trial.candidate.name == "none")
    assert "clearly worse than default" in none.stopped
    assert len(none.by_task) < 30


def test_an_interrupted_search_goes_on_without_repeating_a_run(make_spec, run_tune):
    whole = run_tune(make_spec(name="whole"))
    first = SimulatedRunner(CHANCES, fail_after=50)
    with pytest.raises(KeyboardInterrupt):
        run_tune(make_spec(), first)
    second = SimulatedRunner(CHANCES)
    resumed = run_tune(make_spec(), second)

    assert not set(first.calls) & set(second.calls)
    assert len(first.calls) + len(second.calls) == 60 * 2
    assert resumed.recommendation.sentence == whole.recommendation.sentence


def test_a_line_that_a_kill_cut_off_is_run_again(make_spec, run_tune, tmp_path):
    spec = make_spec()
    run_tune(spec)
    log = tmp_path / "tuning" / "runs.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    runner = SimulatedRunner(CHANCES)
    run_tune(spec, runner)
    assert len(runner.calls) == 1


def test_a_finished_search_costs_nothing_a_second_time(make_spec, run_tune):
    run_tune(make_spec())
    again = SimulatedRunner(CHANCES)
    run_tune(make_spec(), again)
    assert again.calls == []


@pytest.mark.parametrize("budget", [{"model_calls": 130}, {"seconds": 130}])
def test_a_spent_budget_ends_the_search_and_keeps_what_was_found(make_spec, run_tune, budget):
    policies = {"none": {"max_retries": 0}, "fresh": RESAMPLE, "patient": {"max_retries": 5}}
    result = run_tune(make_spec(policies=policies, budget=budget))
    assert "is spent" in result.stopped
    assert len(result.trials) < 4


def test_a_budget_that_does_not_suffice_for_the_default_is_an_error(make_spec, run_tune):
    with pytest.raises(ConfigurationError, match="before the default policy had run on all 36 tasks"):
        run_tune(make_spec(budget={"model_calls": 10}))


def test_a_large_space_is_searched_within_the_number_of_trials(make_spec, run_tune):
    space = {"max_retries": [0, 1, 2, 3, 4], "strategies": [[{"use": "feedback"}], [{"use": "resample"}]]}
    result = run_tune(make_spec(30, policies={}, space=space, budget={"trials": 4}))
    assert len(result.trials) == 5
    assert len({trial.candidate.digest for trial in result.trials}) == 5


def test_combinations_that_the_policy_refuses_are_left_out(make_spec, run_tune):
    space = {
        "max_retries": [1, 3],
        "strategies": [
            [{"use": "feedback", "times": 1}, {"use": "resample"}],
            [{"use": "resample", "times": 0}],
        ],
    }
    result = run_tune(make_spec(10, policies={}, space=space))
    assert [trial.candidate.name for trial in result.trials[1:]] == [
        f"max_retries={n}, strategies=[feedback(times=1) then resample]" for n in (1, 3)
    ]


def test_the_front_holds_the_policies_that_no_other_beats(make_spec, run_tune):
    policies = {"none": {"max_retries": 0}, "fresh": RESAMPLE}
    result = run_tune(make_spec(policies=policies, budget={"trials": 2}))
    front = [trial.candidate.name for trial in result.front]
    assert front[-1] == "fresh"
    assert "default" not in front


def test_a_limit_excludes_a_policy(make_spec, run_tune):
    result = run_tune(
        make_spec(objective={"limits": {"attempts": 1.5}}, policies={"none": {"max_retries": 0}})
    )
    assert result.recommendation.candidate.name == "default"
    assert "none" in {trial.candidate.name for trial in result.trials}


def test_each_trial_is_reported_with_those_before(make_spec, run_tune):
    seen = []
    run_tune(make_spec(), on_trial=lambda trials: seen.append([each.candidate.name for each in trials]))
    assert seen == [["default"], ["default", "fresh"]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"policies": {}}, "nothing to search"),
        ({"policies": {}, "space": {"max_retries": []}}, "space.max_retries is empty"),
        ({"policies": {}, "space": {"retries": [1]}}, "space.retries is no field of RetryPolicy"),
        ({"policies": {}, "space": {"max_retries": [2]}}, "holds only the default"),
        ({"policies": {}, "space": {"max_retries": [-1]}}, "no combination is accepted; max_retries is -1"),
        ({"policies": {"bad": {"max_retries": -1}}}, "policies.bad: max_retries is -1"),
        ({"objective": {"against": "cost_usd"}}, "no run reports without prices"),
        ({"budget": {"cost_usd": 1}}, "no run reports without prices"),
        ({"objective": {"limits": {"luck": 1}}}, "limits"),
        ({"policies": {"ask": {"strategies": [{"use": "ask_human"}]}}}, "ask asks a person, and a search"),
        ({"policies": {"ask": {"needs_review": "human"}}}, "ask asks a person, and a search"),
        ({"policies": {}, "space": {"needs_review": ["human"]}}, "needs_review=human asks a person"),
        ({"budget": {"trial": 1}}, "budget: trial is not an argument of SearchBudget; give any of trials,"),
        ({"prices": {"m": {"input": 1}}}, "prices.m: input_usd is missing"),
        ({"hold_out": 1.5}, "hold_out is 1.5"),
        ({"count": 1}, "give at least 2"),
    ],
)
def test_bad_input_is_refused_before_anything_is_run(make_spec, run_tune, values, message):
    runner = SimulatedRunner(CHANCES)
    with pytest.raises(ConfigurationError, match=message):
        run_tune(make_spec(**values), runner)
    assert runner.calls == []


def test_tasks_without_any_check_are_refused(tmp_path):
    file = tmp_path / "tasks.json"
    tasks = [{"task": "Write exactly 3 words."}, {"task": "Be nice."}]
    file.write_text(json.dumps({"version": 1, "cases": tasks}))
    spec = TuneSpec(tasks=str(file), policies={"fresh": RESAMPLE})
    with pytest.raises(ConfigurationError, match="1 of 2 tasks have nothing to check"):
        tune(spec, folder=tmp_path, runner=SimulatedRunner(CHANCES))


def test_a_broken_log_is_refused(make_spec, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text('{"key": 1}\n')
    with pytest.raises(ConfigurationError, match="broken line 1"):
        RunLog(file, make_spec().budget)


def test_a_dict_in_place_of_a_specification_is_refused_with_the_call_that_accepts_it(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        tune({"tasks": "cases.yaml"}, folder=tmp_path)

    assert str(caught.value) == (
        "spec is {'tasks': 'cases.yaml'}; give TuneSpec(**spec), or the path of a YAML file"
    )


def test_a_path_object_is_no_text():
    with pytest.raises(ConfigurationError, match="give the path of a file of cases, as a text"):
        TuneSpec(tasks=Path("cases.yaml"), space={"max_retries": [0, 1]})


def test_a_specification_is_read_from_yaml_with_paths_relative_to_it(tmp_path):
    file = tmp_path / "retries.yaml"
    file.write_text("version: 1\ntasks: cases.yaml\nspace:\n  max_retries: [0, 1]\nbudget: {trials: 3}\n")
    spec = read_spec(file)
    assert spec.tasks == str(tmp_path / "cases.yaml")
    assert (spec.name, spec.budget.trials, list(spec.space["max_retries"])) == ("retries", 3, [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "holds no object"),
        ("version: 2", "only version 1"),
        ("version: true", "only version 1"),
        ("a: b: c", "not YAML"),
        ("{x: 1, tasks: a.yaml}", "x is not"),
    ],
)
def test_a_specification_that_cannot_be_used_is_refused(tmp_path, text, message):
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_spec(file)


def test_models_answer_each_request_once_for_all_policies(make_spec, tmp_path):
    """With one step a task, both policies share the first attempt: the second run asks for retries only."""
    replies = iter(["word " * 30] * 100)
    model = ScriptedChatModel(lambda prompt: next(replies), usage=(5, 5))
    spec = make_spec(4, planning=False, policies={"none": {"max_retries": 0}})
    result = tune(spec, folder=tmp_path, load=lambda name: model)

    default, none = result.trials
    assert default.mean("model_calls") > none.mean("model_calls") >= 1
    # The default asked for everything; the policy without retries found all of its requests recorded.
    assert len(model.prompts) == default.mean("model_calls") * 4


def test_the_attempts_of_a_study_can_be_replayed(make_spec, run_tune, tmp_path):
    spec = make_spec(20)
    run_tune(spec)
    runs = load_recorded_runs(spec, tmp_path)
    assert len(runs) == 40
    assert load_recorded_runs(make_spec(20, name="other"), tmp_path) == []


def test_a_model_that_does_not_load_is_reported_before_anything_is_spent(make_spec, tmp_path):
    loaded = ScriptedChatModel([])

    def load(name):
        if name == "missing":
            raise ModelSetupError("the model cannot be loaded")
        return loaded

    with pytest.raises(ModelSetupError):
        tune(make_spec(4, models=["present", "missing"]), folder=tmp_path, load=load)
    assert loaded.prompts == []
