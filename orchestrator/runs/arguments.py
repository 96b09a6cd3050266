"""Checks the arguments of runs and of their history."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Annotated, Self, TypeAlias

from langchain_core.runnables import RunnableConfig
from pydantic import AwareDatetime, Field, model_validator

from orchestrator.errors import ConfigurationError
from orchestrator.runs.summary import STATUSES, StoredStatus
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr

_Limit: TypeAlias = Annotated[int | None, Field(ge=0, description="a whole number of at least 0, or None")]


def new_thread() -> str:
    """Returns the name of a thread that no run has."""
    return str(uuid.uuid4())


def read_thread(thread_id: str | None, config: RunnableConfig) -> str | None:
    """Returns the name of the thread: the argument, else the name in the config, else None.

    Raises:
        ConfigurationError: The two differ, or one is not accepted.
    """
    configured = config.get("configurable", {}).get("thread_id")
    check_thread_id(thread_id)
    check_thread_id(configured)
    if thread_id and configured and thread_id != configured:
        raise ConfigurationError(
            f"thread_id is {format_repr(thread_id, 80)} and the config names "
            f"{format_repr(configured, 80)}; give one of them"
        )
    return thread_id or configured


class RunFilter(SettingsModel):
    """The filters of a list of runs.

    Raises:
        ConfigurationError: A filter is not accepted.
    """

    status: Annotated[StoredStatus | None, Field(description=f"one of {', '.join(STATUSES)}, or None")] = None
    since: Annotated[AwareDatetime | None, Field(description="a time with its zone, or None")] = None
    task: Annotated[str | None, Field(description="a part of the task's text, or None")] = None
    limit: _Limit = None


class Retention(SettingsModel):
    """The runs that ``prune`` keeps.

    Raises:
        ConfigurationError: Both are missing, or one is not accepted.
    """

    keep_last: _Limit = None
    older_than: Annotated[
        timedelta | None, Field(ge=timedelta(0), description="a timedelta of at least 0, or None")
    ] = None

    @model_validator(mode="after")
    def _check_given(self) -> Self:
        if self.keep_last is None and self.older_than is None:
            raise ValueError("neither keep_last nor older_than is given; give at least one of them")
        return self
