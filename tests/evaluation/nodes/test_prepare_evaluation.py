"""What the case is laid out as."""

import json

import pytest

from evaluation.injected import Injected
from evaluation.nodes.prepare_evaluation import prepare_evaluation
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


@pytest.mark.parametrize("place", PLACES)
def test_a_case_with_a_labelled_value_anywhere_may_be_sensitive(place):
    cases = [PLACES[place](sample.text) for sample in [*CREDENTIALS, *PERSONAL]]

    assert all(prepare_evaluation(case, Injected())["may_be_sensitive"] for case in cases)


def test_a_case_with_nothing_like_it_is_known_to_be_harmless():
    assert prepare_evaluation({"agent_run": RUN}, Injected())["may_be_sensitive"] is False


def test_a_case_that_is_not_accepted_is_not_known_to_be_harmless():
    assert prepare_evaluation({"unknown": 1}, Injected())["may_be_sensitive"] is True
