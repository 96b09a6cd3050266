import pytest

from agents import BaseAgent, MonitoringAgent
from agents.testing import ScriptedChatModel


def test_an_exception_in_the_script_is_raised():
    with pytest.raises(ConnectionError, match="refused"):
        ScriptedChatModel([ConnectionError("refused")]).invoke("x")


def test_a_script_that_has_run_out_says_who_asked():
    model = ScriptedChatModel(["yes"])
    BaseAgent(model, "You carry out one step. Reply briefly.").invoke("first")

    with pytest.raises(AssertionError) as raised:
        MonitoringAgent(model).evaluate("x", "y")

    assert str(raised.value).startswith(
        "the script has run out at call 2, where 'You check the work of another agent' asks: "
    )
    assert "objective" in str(raised.value)
