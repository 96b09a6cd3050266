"""Options that ``acting_tools`` replaces are refused in one sentence that says what to write."""

from __future__ import annotations

import pytest

from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator
from orchestrator.cli.stored_runs import read_stored_options
from orchestrator.errors import StoreError
from orchestrator.persistence import open_store

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


def test_a_stored_run_of_an_old_option_of_the_command_line_is_refused_with_the_new_one(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        store.keep({"model": "local", "approve_tools": ["send"]})
        LangGraphOrchestrator.from_model(
            ScriptedChatModel(["done", '{"success": true, "feedback": "good"}']), checkpointer=store
        ).run("Greet", "old")

        with pytest.raises(StoreError, match=r"approve_tools, now --acting-tools NAME:approve\); resume"):
            read_stored_options(store, "old", {})
