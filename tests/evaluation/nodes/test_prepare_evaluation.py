import json

from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS
from tests.evaluation.sensitive.labelled.personal import PERSONAL

RUN = {"final_output": "All done.", "tool_calls": ["lookup"]}
PLACES = {
    "the output": lambda text: {"agent_run": {"final_output": text}},
    "an argument": lambda text: {"agent_run": {"tool_calls": [{"name": "a", "args": {"b": [text]}}]}},
    "a name": lambda text: {"agent_run": {**RUN, "metadata": {text: 1}}},
    "arguments as text": lambda text: {
        "agent_run": {"tool_calls": [{"name": "a", "args": json.dumps({"b": text})}]}
    },
    "the contract": lambda text: {"agent_run": RUN, "keywords": [text]},
    "text beside half a character": lambda text: {"agent_run": {"final_output": f"\ud800 {text}"}},
    "text in a tuple": lambda text: {"agent_run": {"final_output": text, "tool_calls": ("a",)}},
}


def test_a_case_with_a_labelled_value_anywhere_may_be_sensitive(subtests):
    for place, build in PLACES.items():
        with subtests.test(place=place):
            cases = [build(sample.text) for sample in [*CREDENTIALS, *PERSONAL]]

            assert all(prepare_evaluation(case, Plugins())["suspects"] for case in cases)


def test_a_case_with_nothing_like_it_is_known_to_be_harmless():
    assert prepare_evaluation({"agent_run": RUN}, Plugins())["suspects"] == []


def test_a_problem_quotes_no_value_that_another_part_of_the_case_shows_to_be_a_password():
    run = {"input": "password=hunter2secretX", "final_output": "o", "latency_ms": "hunter2secretX"}

    state = prepare_evaluation({"agent_run": run}, Plugins())

    assert state["errors"] == ["agent_run.latency_ms: give a number, not a text"]
    assert "hunter2" not in json.dumps(state["alerts"])


def test_a_case_that_is_not_accepted_is_not_known_to_be_harmless():
    assert prepare_evaluation({"unknown": 1}, Plugins())["suspects"] != []


def test_arguments_that_cannot_be_read_are_told_and_not_raised(subtests):
    for text in ['{"x": ', '{"x": NaN}', '{"x": -Infinity}', "[1]", "[" * 100_000]:
        with subtests.test(text=text):
            case = {"agent_run": {"tool_calls": [{"name": "a", "args": text}]}}
            (action,) = prepare_evaluation(case, Plugins())["actual_trajectory"]

            assert action["args"] is None
            assert action["args_error"] == "the arguments are not a JSON object"
