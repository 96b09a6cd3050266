"""How a command ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import typer

from agents import ModelSetupError, ModelSpecError
from orchestrator.cli.view.consoles import write_nowhere
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
    "step": "--step",
    "supervision": "--supervise",
    "max_retries": "--max-retries",
    "call_timeout": "--call-timeout",
    "step_timeout": "--step-timeout",
    "max_seconds": "--max-seconds",
    "max_total_tokens": "--max-tokens",
    "max_model_calls": "--max-calls",
    "keep_last": "--keep-last",
    "older_than": "--older-than",
    "status": "--status",
    "limit": "--limit",
}
_COMMANDS: Final = {
    "run()": "`orchestrator run`",
    "resume()": "`orchestrator resume`",
    '{"answer": "approve"}': "--approve",
    '{"answer": "correct", "text": "what to do otherwise"}': "--correct TEXT",
    '{"answer": "deny", "text": "why"}': "--deny REASON",
    "give another path": "give another with --db",
    "give the path of the run's store": "give the run's store with --db",
    "prune() has nothing to go by; give keep_last, older_than or both": "prune has nothing to go by; "
    "give --keep-last, --older-than or both",
    ", or None for no bound": ", or leave it out for no bound",
    ", or None to have one": ", or leave it out to have one",
    ", or None": ", or leave it out",
}
"""What is said to a program, and what to somebody at a command line."""


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Turn what the user can mend into one sentence on standard error and exit status 2."""
    try:
        yield
    except (ConfigurationError, ModelSpecError, ModelSetupError, ResumeError, StoreError) as error:
        typer.echo(f"orchestrator: {as_typed(str(error))}", err=True)
        raise typer.Exit(FAILED if isinstance(error, StoreLostError) else BAD_INPUT) from None


@contextmanager
def unwritten_exits() -> Iterator[None]:
    """Turn a standard output that cannot be written, as on a full disk, into one sentence and exit status 1.

    One that nobody reads is left to Typer, which says nothing.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError, ValueError):  # a stream in memory
            write_nowhere(sys.stdout.fileno())  # or its buffer fails again at exit
        typer.echo(f"orchestrator: the result cannot be written: {error.strerror or error}", err=True)
        raise typer.Exit(FAILED) from None


def as_typed(message: str) -> str:
    """An error's sentence in the words of the command line."""
    said = one_line(message)
    for word, typed in _COMMANDS.items():
        said = said.replace(word, typed)
    name, verb, rest = said.partition(" is ")
    return f"{_OPTIONS.get(name, name)}{verb}{rest}"
