"""How a command ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from agents import ModelSetupError, ModelSpecError
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


def as_typed(message: str) -> str:
    """An error's sentence with the name that the argument has on the command line."""
    name, verb, rest = one_line(message).partition(" is ")
    if name not in _OPTIONS:
        return f"{name}{verb}{rest}"
    return f"{_OPTIONS[name]}{verb}{rest.replace(', or None for no bound', ', or leave it out for no bound')}"
