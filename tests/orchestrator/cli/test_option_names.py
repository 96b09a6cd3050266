"""An error of the library names the option that was typed, not the argument in Python."""

from __future__ import annotations

import pytest
import typer

from orchestrator import ConfigurationError
from orchestrator.cli.process.exits import report_bad_input


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("thread_id is ' '; give a text", "--thread is ' '; give a text"),
        ("approve_tools names 'sned'; did you mean", "--approve-tools names 'sned'; did you mean"),
        ("once_tools names 'sned'; did you mean", "--once-tools names 'sned'; did you mean"),
        ("task is ''; give a text", "task is ''; give a text"),
        ("thread 'once_tools is' has ended", "thread 'once_tools is' has ended"),
    ],
)
def test_the_option_is_named(capsys, message, shown):
    with pytest.raises(typer.Exit), report_bad_input():
        raise ConfigurationError(message)

    assert capsys.readouterr().err == f"orchestrator: {shown}\n"
