"""Reads the option ``--baseline``: the stored runs of the same task, or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.judging.options import EvaluationOptions
from orchestrator.persistence import Store
from orchestrator.state.plain_values import format_repr

STORED: Final = "stored"


def read_baseline(option: str | None, store: Store | None) -> EvaluationOptions:
    """Converts the option to the options of the evaluation.

    Args:
        option: "stored", the path of a JSON file with a report or with metrics by name, or None.
        store: The store of the run; None without one.

    Raises:
        ConfigurationError: The file cannot be read, or there is no store.
    """
    if option is None:
        return EvaluationOptions()
    if option != STORED:
        return EvaluationOptions(baseline=_read_file(option))
    if store is None:
        raise ConfigurationError("--baseline stored and --no-db contradict each other; leave one of them out")
    return EvaluationOptions(baseline=store.history.baseline)


def _read_file(path: str) -> Mapping[str, object]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"--baseline {format_repr(path, 200)} cannot be read ({error}); "
            "give 'stored', or a JSON file with a report"
        ) from error
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"--baseline {format_repr(path, 200)} holds a JSON {type(content).__name__}; "
            "give a report, or metrics by name"
        )
    return content
