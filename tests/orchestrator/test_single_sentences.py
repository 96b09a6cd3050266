"""A wrong input raises one error with one sentence: no chain of others in its traceback that adds nothing."""

from __future__ import annotations

import pytest

from agents import ExecutionAgent
from agents.errors import AgentError
from agents.models.embedded import check_weights
from agents.testing import ScriptedChatModel
from orchestrator import RetryPolicy
from orchestrator.persistence import open_store
from orchestrator.planning.plan import read_steps
from orchestrator.runtime.agent_methods import load_models
from tests.fakes.executor import FakeExecutor


def open_at(path):
    with open_store(path):
        pass


def without_docstring(item):
    return item


def write(path):
    path.write_text("no database, and long enough to be read as none of them")
    return path


def read_circle():
    read_steps([{"step": "a", "id": "1", "needs": ["2"]}, {"step": "b", "id": "2", "needs": ["1"]}], 9)


WRONG = {
    "weights that are missing": lambda folder: check_weights(folder / "none.gguf"),
    "a store in no folder": lambda folder: open_at(folder / "none" / "runs.sqlite"),
    "a store that is no database": lambda folder: open_at(write(folder / "notes.txt")),
    "an escalation to no model": lambda folder: load_models(
        RetryPolicy(strategies=[{"use": "escalate", "model": "nope:x"}]).escalations, {}, FakeExecutor()
    ),
    "a plan with a wrong contract": lambda folder: read_steps([{"step": "a", "contract": {"x": 1}}], 9),
    "a plan in a circle": lambda folder: read_circle(),
    "a tool without a docstring": lambda folder: ExecutionAgent(ScriptedChatModel([]), [without_docstring]),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_of_a_wrong_input_has_no_other_error_behind_it(name, tmp_path):
    with pytest.raises((ValueError, AgentError)) as caught:
        WRONG[name](tmp_path)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    assert "\n" not in str(error)
