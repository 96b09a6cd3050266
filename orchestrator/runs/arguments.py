"""Checks the arguments of a run history and of a store."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.runs.summary import STATUSES
from orchestrator.state.plain_values import plain_text

_NUL: Final = re.compile(r"(?<!\\)(\\\\)*\\u0000")
"""The JSON escape of NUL, after an even number of backslashes."""


def check_filters(status: object, since: object, task: object, limit: object) -> None:
    """Checks the filters of a list of runs.

    Raises:
        ConfigurationError: A filter is not accepted.
    """
    if status is not None and status not in STATUSES:
        raise ConfigurationError(f"status is {status!r:.40}; give one of {', '.join(STATUSES)}, or None")
    if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
        raise ConfigurationError(f"since is {since!s:.40}; give a time with its zone, or None")
    if task is not None and not isinstance(task, str):
        raise ConfigurationError(f"task is {task!r:.40}; give a text, or None")
    _check_count("limit", limit)


def check_labels(command: object) -> None:
    """Checks that a command can be stored with each checkpoint.

    Raises:
        ConfigurationError: It is not JSON, or contains a text that PostgreSQL cannot store.
    """
    try:
        encoded = json.dumps(command, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"command is no JSON ({error!s:.80}); give JSON values") from None
    if _NUL.search(encoded) or plain_text(encoded) != encoded:
        raise ConfigurationError("command holds a text with NUL or a surrogate; give one without")


def check_retention(keep_last: object, older_than: object) -> None:
    """Checks the arguments of ``prune``.

    Raises:
        ConfigurationError: Both are missing, or one is not accepted.
    """
    if keep_last is None and older_than is None:
        raise ConfigurationError("nothing says which runs to keep; give how many, how old, or both")
    _check_count("keep_last", keep_last)
    if older_than is not None and (not isinstance(older_than, timedelta) or older_than < timedelta(0)):
        raise ConfigurationError(f"older_than is {older_than!s:.40}; give a timedelta of at least 0, or None")


def _check_count(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ConfigurationError(f"{name} is {value!r:.40}; give a whole number of at least 0, or None")
