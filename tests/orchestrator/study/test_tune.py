import json

import pytest

from agents.errors import ModelSetupError
from agents.testing import ScriptedChatModel
from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.study.tune import tune
from orchestrator.study.tune_spec import TuneSpec, read_spec
from tests.fakes.simulated_runner import SimulatedRunner
from tests.orchestrator.study.conftest import CHANCES, FRESH, RESAMPLE

NEVER = {"max_retries": [0]}
FEW = "nothing can be told apart with fewer than 10 held-out tasks (here 5)"


def names(trials):
    return [trial.name for trial in trials]


def test_a_better_policy_is_recommended_with_its_figure_on_tasks_that_the_search_did_not_see(
    make_spec, run_tune
):
    result = run_tune(make_spec(60))

    assert result.name == FRESH
    assert result.sentence.startswith(f"Use {FRESH}: its success rate differs from the default's by +0.")
    assert "24 held-out tasks" in result.sentence
    assert result.policy == RetryPolicy(strategies=[{"use": "resample"}])
    searched, held_out = {*result.trials[0].states}, {*result.held_out[0].states}
    assert (searched & held_out, len(searched | held_out)) == (set(), 60)


@pytest.mark.parametrize(
    ("changes", "chances", "sentence"),
    [
        ({}, {"first": 0.3, "feedback": 0.3, "resample": 0.34}, "nothing can be told apart"),
        ({"count": 12}, {"first": 0.0, "feedback": 0.0, "resample": 1.0}, FEW),
        ({"space": NEVER}, CHANCES, "no policy was better on the tasks of the search"),
    ],
    ids=["equal policies", "few tasks", "a worse policy"],
)
def test_the_default_is_kept_if_nothing_better_is_known(make_spec, run_tune, changes, chances, sentence):
    spec = make_spec(**{"count": 60, **changes})
    result = run_tune(spec, SimulatedRunner(chances))

    assert result.name == "default"
    assert result.sentence.startswith("Keep the default: ")
    assert sentence in result.sentence


@pytest.mark.parametrize(("count", "hold_out", "is_told"), [(12, 0.4, True), (19, 0.5, False)])
def test_too_few_tasks_for_a_recommendation_are_told_before_the_first_run(  # noqa: PLR0917
    make_spec, run_tune, caplog, count, hold_out, is_told
):
    told, spec = [], make_spec(count, hold_out=hold_out)
    run_tune(spec, on_trial=lambda _: told.append([record.getMessage() for record in caplog.records]))

    words = "no policy is recommended with fewer than 10; give more"
    assert [text.endswith(words) for text in told[0]] == [True] * is_told


def test_a_space_is_tried_whole_and_its_policies_are_named_by_their_values(make_spec, run_tune):
    rules = [[{"use": "feedback", "times": 1}, {"use": "resample"}], [{"use": "escalate", "model": "m"}]]
    seen, spec = [], make_spec(10, space={"max_retries": [1], "strategies": rules})
    runner = SimulatedRunner({**CHANCES, "escalate": 0.5})
    run_tune(spec, runner, on_trial=lambda trials: seen.append(names(trials)))

    every = [
        "default",
        "max_retries=1, strategies=[feedback(times=1) then resample]",
        'max_retries=1, strategies=[escalate(model="m")]',
    ]
    assert seen == [every[:1], every[:2], every]


def test_of_a_large_space_different_policies_are_tried_the_same_ones_again(make_spec, run_tune):
    values = {"max_retries": [0, 1, 2, 3, 4], "strategies": [[{"use": "feedback"}], [{"use": "resample"}]]}
    spec = make_spec(12, space=values, trials=4)
    first, second = (names(run_tune(spec).trials) for _ in range(2))

    assert (len(first), len(set(first)), second) == (5, 5, first)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"space": {}}, "space is {}; give an object such as"),
        (
            {"space": {"max_retries": []}},
            r"space is \[\]; give an object such as .* with values for each field",
        ),
        ({"space": {"retries": [1]}}, "space: retries is not an argument of RetryPolicy; give any of"),
        ({"space": {"max_retries": [1, -1]}}, "space: max_retries is -1; give a whole number"),
        ({"space": {"seed": [*range(10_001)]}}, "more than 10000 combinations"),
        ({"space": {"strategies": [[{"use": "ask_human"}]]}}, "asks a person, and a search asks nobody"),
        ({"trial": 1}, "trial is not an argument of TuneSpec; give any of name,"),
        ({"count": 1}, "has 1 task; give at least two"),
    ],
)
def test_bad_input_is_refused_before_anything_is_run(make_spec, run_tune, values, message):
    runner = SimulatedRunner(CHANCES)
    with pytest.raises(ConfigurationError, match=message):
        run_tune(make_spec(**values), runner)
    assert runner.runs == 0


def test_all_tasks_that_cannot_be_used_are_named_at_once(tmp_path, run_tune):
    file = tmp_path / "tasks.json"
    tasks = ["Write exactly 3 words.", "Be nice.", "Be kind.", "Write exactly 4 words."]
    file.write_text(json.dumps({"version": 1, "cases": [{"task": task} for task in tasks]}))
    with pytest.raises(ConfigurationError) as caught:
        run_tune(TuneSpec(tasks=str(file), space=RESAMPLE))

    assert str(caught.value) == (
        "tasks: 2 of 4 tasks have nothing to check, and so nothing to tune by: 'Be nice.', 'Be kind.'; "
        "give them a contract, or leave them out"
    )


def test_a_specification_is_read_from_yaml_with_paths_relative_to_it(tmp_path):
    file = tmp_path / "retries.yaml"
    file.write_text("tasks: cases.yaml\nspace:\n  max_retries: [0, 1]\ntrials: 3\n")
    spec = read_spec(file)
    assert spec.tasks == str(tmp_path / "cases.yaml")
    assert (spec.name, spec.trials, list(spec.space["max_retries"])) == ("retries", 3, [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", r"is \[1\]; give an object such as"),
        ("a: b: c", "not YAML"),
        ("{x: 1, tasks: a.yaml, space: {seed: [1]}}", "x is not"),
        ("space: {max_retries: [0]}", "tasks is missing; give the path"),
        ("# " + "x" * 2_000_000, "larger than 2 MB"),
    ],
)
def test_a_specification_that_cannot_be_used_is_refused(tmp_path, text, message):
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_spec(file)


def test_a_model_that_does_not_load_is_reported_before_anything_is_spent(make_spec, tmp_path):
    loaded = ScriptedChatModel([])

    def load(name):
        if name == "missing":
            raise ModelSetupError("the model cannot be loaded")
        return loaded

    escalate = {"strategies": [[{"use": "escalate", "model": "missing"}]]}
    with pytest.raises(ModelSetupError):
        tune(make_spec(4, space=escalate), folder=tmp_path, load=load)
    assert loaded.prompts == []
