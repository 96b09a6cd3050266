"""How a command ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import typer

from agents import ModelSetupError, ModelSpecError
from orchestrator.cli.streams import write_nowhere
from orchestrator.cli.text import one_line
from orchestrator.errors import ConfigurationError

FAILED: Final = 1
BAD_INPUT: Final = 2

_OPTIONS: Final = {
    "spec": "--model",
    "max_retries": "--max-retries",
    "call_timeout": "--call-timeout",
    "step_timeout": "--step-timeout",
    "max_seconds": "--max-seconds",
    "max_total_tokens": "--max-tokens",
    "max_model_calls": "--max-calls",
}


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Turn what the user can mend into one sentence on standard error and exit status 2."""
    try:
        yield
    except (ConfigurationError, ModelSpecError, ModelSetupError) as error:
        typer.echo(f"orchestrator: {as_typed(str(error))}", err=True)
        raise typer.Exit(BAD_INPUT) from None


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
    """An error's sentence with the name that the argument has on the command line."""
    name, verb, rest = one_line(message).partition(" is ")
    if name not in _OPTIONS:
        return f"{name}{verb}{rest}"
    return f"{_OPTIONS[name]}{verb}{rest.replace(', or None for no bound', ', or leave it out for no bound')}"
