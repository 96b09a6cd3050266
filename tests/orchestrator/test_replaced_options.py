"""Options that ``acting_tools`` replaces are refused in one sentence that says what to write."""

from __future__ import annotations

import pytest

from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator

TABLE = [
    ({"once_tools": ["pay"]}, "once_tools is no argument any more; write acting_tools=['pay']"),
    (
        {"approve_tools": ["send", "pay"]},
        "approve_tools is no argument any more; write acting_tools={'send': ActingTool(approve=True)}",
    ),
    (
        {"approve_tools": "all"},
        "approve_tools is no argument any more; write acting_tools={'NAME': ActingTool(approve=True)}",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), TABLE)
def test_an_old_argument_is_refused_with_what_to_write(options, sentence):
    with pytest.raises(ConfigurationError) as refused:
        LangGraphOrchestrator.from_model(ScriptedChatModel(["x"]), **options)

    assert str(refused.value) == sentence
