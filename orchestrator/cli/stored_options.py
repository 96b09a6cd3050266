"""Converts run options to settings, and to the values that are stored with a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from orchestrator.cli.commands.options import RunOptions
from orchestrator.errors import StoreError
from orchestrator.runtime.budget import Budget
from orchestrator.settings import Settings

_READER: TypeAdapter[RunOptions] = TypeAdapter(with_config(ConfigDict(extra="forbid"))(RunOptions))


def build_settings(options: RunOptions) -> Settings:
    """Convert options to settings.

    Raises:
        ConfigurationError: A value is not accepted.
    """
    budget = Budget(
        max_seconds=options.max_seconds,
        max_total_tokens=options.max_tokens,
        max_model_calls=options.max_calls,
    )
    return Settings(
        max_retries=options.max_retries,
        call_timeout=options.call_timeout,
        step_timeout=options.step_timeout,
        budget=budget,
        supervision=options.supervise,
    )


def changed_options(options: RunOptions) -> dict[str, object]:
    """Return the options that differ from the defaults, which are stored with a run."""
    defaults = asdict(RunOptions())
    return {name: value for name, value in asdict(options).items() if value != defaults[name]}


def parse_options(values: Mapping[str, object]) -> RunOptions:
    """Build options from values by name; defaults for the others."""
    return _READER.validate_python(values)


def read_options(stored: Mapping[str, object], thread_id: str) -> RunOptions:
    """Read the options that were stored with a run.

    Raises:
        StoreError: This version does not know one of them, or its value.
    """
    try:
        return parse_options(stored)
    except ValidationError as error:
        names = ", ".join(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
        raise StoreError(
            f"thread {thread_id!r:.80} was started with options that this version does not accept ({names}); "
            "resume it with the version that started it"
        ) from error
