import multiprocessing
import os
import signal
from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration

from agents.testing import ScriptedChatModel
from orchestrator import RetryPolicy, replay
from orchestrator.errors import ConfigurationError
from orchestrator.study.tune import RecordedReplies, tune
from tests.orchestrator.study.conftest import RESAMPLE

PROCESSES = multiprocessing.get_context("spawn")


@pytest.fixture
def tune_scripted(make_spec, tmp_path):
    """Search with a scripted model: `tune_scripted(model, count, space={...})`."""

    def run(model, count=8, **changes):
        return tune(make_spec(count, **changes), folder=tmp_path, load=lambda name: model)

    return run


def say_word(**changes):
    return ScriptedChatModel(lambda prompt: "word", usage=(5, 5)).model_copy(update=changes)


@pytest.mark.thorough
@pytest.mark.parametrize("changes", [{}, {"temperature": 0.5}, {"seed": 3}])
def test_only_a_model_with_other_settings_is_asked_anew(tune_scripted, changes):
    tune_scripted(say_word())
    second = say_word(prompts=[], **changes)
    tune_scripted(second)

    assert bool(second.prompts) == bool(changes)


def test_models_answer_each_request_once_for_all_policies(tune_scripted):
    """Both policies share the first attempts: the policy without retries finds all its requests recorded."""
    model = ScriptedChatModel(lambda prompt: "word " * 30, usage=(5, 5))
    default, none = tune_scripted(model, 4, space={"max_retries": [0]}).trials

    assert default.tokens > none.tokens > 0
    assert 10 * len(model.prompts) == 4 * default.tokens


@pytest.mark.thorough
def test_samples_of_two_temperatures_are_different_replies(tune_scripted):
    numbers = count()
    model = ScriptedChatModel(lambda prompt: f"word {next(numbers)}", usage=(5, 5))
    rules = [[{"use": "resample", "temperature": t}] for t in (0.2, 1.0)]
    tune_scripted(model, space={"strategies": rules})

    assert {temperature for temperature, _ in model.samplings} == {None, 0.2, 0.7, 1.0}


def test_replies_of_an_embedded_model_are_found_again_at_another_port(tmp_path):
    file = tmp_path / "replies.sqlite"

    def name(port):
        return "Hi", f'{{"base_url": "http://127.0.0.1:{port}/v1"}}'

    replies = RecordedReplies(file)
    assert replies.lookup(*name(4001)) is None
    replies.update(*name(4001), [ChatGeneration(message=AIMessage("Hello"))])

    assert RecordedReplies(file).lookup(*name(5002))[0].text == "Hello"


def test_the_models_of_escalations_are_loaded_first(make_spec, tmp_path):
    loaded = {}

    def load(name):
        loaded[name] = say_word(prompts=[])
        return loaded[name]

    strong = [[{"use": "escalate", "model": "strong"}]]
    tune(make_spec(4, space={"strategies": strong}), folder=tmp_path, load=load)

    assert list(loaded) == ["local", "strong"]
    assert loaded["strong"].prompts


def test_the_recorded_attempts_of_a_search_are_replayed(tune_scripted):
    result = tune_scripted(say_word(), 4, space={"max_retries": [0]})
    [replayed] = replay(result.states, {"one": RetryPolicy(max_retries=1)})

    assert (replayed.runs, replayed.failed, replayed.not_recorded) == (4, 2, 2)


@pytest.mark.parametrize("is_folder", [True, False])
def test_recorded_replies_that_cannot_be_used_are_refused(tmp_path, is_folder):
    file = tmp_path / "study" / "replies.sqlite"
    if is_folder:
        (tmp_path / "study").write_text("a file")
    else:
        file.parent.mkdir()
        file.write_bytes(b"no database, but long enough to be read as one" * 9)

    told = r"cannot be used .* delete the file to ask the models again"
    with pytest.raises(ConfigurationError, match=told):
        RecordedReplies(file)


def run_scripted(folder, spec, calls, kill_at=None):
    """Tunes with a scripted model that writes down each call, and kills its process in one of them."""

    def answer(prompt):
        with calls.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if kill_at is not None and len(calls.read_text().splitlines()) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return "word"

    model = ScriptedChatModel(answer, usage=(5, 5))
    return tune(spec, folder=folder, load=lambda name: model)


@pytest.mark.faults
@pytest.mark.parametrize("kill_at", [1, 6, 17])
def test_a_search_that_was_killed_goes_on_without_asking_twice(make_spec, tmp_path, kill_at):
    calls, spec = tmp_path / "calls", make_spec(space={"max_retries": [1], **RESAMPLE})
    whole = run_scripted(tmp_path / "whole", spec, tmp_path / "other")
    killed = PROCESSES.Process(target=run_scripted, args=(tmp_path, spec, calls, kill_at))
    killed.start()
    killed.join()
    resumed = run_scripted(tmp_path, spec, calls)

    assert killed.exitcode == -signal.SIGKILL
    assert resumed.sentence == whole.sentence
    # The call that was killed is the only one that was made twice.
    assert len(calls.read_text().splitlines()) == len((tmp_path / "other").read_text().splitlines()) + 1
