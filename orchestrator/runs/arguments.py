"""Checks the arguments of runs and of their history."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from langchain_core.runnables import RunnableConfig

from evaluation.sensitive.quoting import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.runs.summary import STATUSES
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr, format_text


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


def check_filters(status: object, since: object, limit: object) -> None:
    """Checks the filters of a list of runs.

    Raises:
        ConfigurationError: A filter is not accepted.
    """
    if status is not None and status not in STATUSES:
        raise ConfigurationError(
            f"status is {format_repr(status, 40)}; give one of {', '.join(STATUSES)}, or None"
        )
    if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
        raise ConfigurationError(
            f"since is {shorten(format_text(since), 40)}; give a time with its zone, or None"
        )
    _check_count("limit", limit)


def check_retention(keep_last: object, older_than: object) -> None:
    """Checks the arguments of ``prune``.

    Raises:
        ConfigurationError: Both are missing, or one is not accepted.
    """
    if keep_last is None and older_than is None:
        raise ConfigurationError("neither keep_last nor older_than is given; give at least one of them")
    _check_count("keep_last", keep_last)
    if older_than is not None and (not isinstance(older_than, timedelta) or older_than < timedelta(0)):
        raise ConfigurationError(
            f"older_than is {shorten(format_text(older_than), 40)}; give a timedelta of at least 0, or None"
        )


def _check_count(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ConfigurationError(
            f"{name} is {format_repr(value, 40)}; give a whole number of at least 0, or None"
        )
