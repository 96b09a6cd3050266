"""Reads the contract of recorded runs: ``evaluate --contract``."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from evaluation import EvaluationContract
from evaluation.evalset.files import read_values
from evaluation.validation.field_paths import list_field_paths
from evaluation.validation.problems import describe_errors
from evaluation.values import JsonObject, as_object
from orchestrator.errors import ConfigurationError


def read_evaluation_contract(path: str | None) -> JsonObject | None:
    """Returns the fields of a contract, which hold for every run.

    Args:
        path: A file in YAML or JSON with the fields of a contract, or with them below ``contract``; None for
            none.

    Raises:
        ConfigurationError: The file cannot be read, or has no contract.
    """
    if path is None:
        return None
    try:
        data = as_object(read_values(Path(path)))
    except OSError as error:
        raise ConfigurationError(f"--contract {path!r} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ConfigurationError(f"--contract {path!r} cannot be read: {error}") from None
    fields = as_object(data["contract"]) if "contract" in data else data
    try:
        EvaluationContract.model_validate(fields)
    except ValidationError as error:
        problems = describe_errors(
            error, fields, [*list_field_paths(EvaluationContract)], root="the contract"
        )
        raise ConfigurationError(f"--contract {path!r}: {'; '.join(problems[:3])}") from None
    return fields
