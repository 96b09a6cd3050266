"""Ends a command: exit statuses, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from agents.errors import ModelSetupError, ModelSpecError
from orchestrator.cli.view.text import one_line
from orchestrator.errors import ConfigurationError, ResumeError, StoreError, StoreLostError

FAILED: Final = 1
BAD_INPUT: Final = 2
WAITING: Final = 3
"""A run waits for a person's answer."""


_OPTIONS: Final = {
    "spec": "--model",
    "thread_id": "--thread",
    "new_thread_id": "--thread",
    "call_timeout": "--call-timeout",
    "step_timeout": "--step-timeout",
    "max_seconds": "--max-seconds",
}
_PHRASES: Final = {
    "run()": "`orchestrator run`",
    '{"answer": "approve"}': "--approve",
    '{"answer": "correct", "text": "what to do instead"}': "--correct TEXT",
    '{"answer": "deny", "text": "why"}': "--deny REASON",
    "give another path": "give another with --db",
    "give the path of the run's store": "give the run's store with --db",
    "prune() has nothing to go by; give keep_last, older_than or both": "prune has nothing to go by; "
    "give --keep-last, --older-than or both",
    ", or None": ", or leave it out",
}
"""Phrases of error messages that address programmers, and their replacements."""


@contextmanager
def report_bad_input() -> Iterator[None]:
    """Turn an error that the user can fix into one sentence on standard error and an exit status.

    Raises:
        typer.Exit: With status 2, or 1 if the store failed during a run.
    """
    try:
        yield
    except (ConfigurationError, ModelSpecError, ModelSetupError, ResumeError, StoreError) as error:
        typer.echo(f"orchestrator: {translate_message(str(error))}", err=True)
        # A store that fails during a run is not bad input: the same command may succeed later.
        raise typer.Exit(FAILED if isinstance(error, StoreLostError) else BAD_INPUT) from None


def translate_message(message: str) -> str:
    """Replace parameter names and Python calls in an error message by options and commands."""
    text = one_line(message)
    for phrase, typed in _PHRASES.items():
        text = text.replace(phrase, typed)
    name, verb, rest = text.partition(" is ")
    return f"{_OPTIONS.get(name, name)}{verb}{rest}"
