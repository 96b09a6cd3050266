"""Reads plain values, and contracts, from files in YAML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from evaluation.evalset.yaml_text import parse_yaml
from evaluation.inputs.contract import EvaluationContract
from evaluation.validation.json_data import parse_json
from evaluation.values import as_object

MAX_BYTES: Final = 2_000_000
"""Greatest size of a file."""


def read_values(file: Path) -> object:
    """Read plain values from a file in UTF-8: JSON if its name ends in ``.json``, else YAML.

    Raises:
        ValueError: It is too large, or no such text.
        OSError: It cannot be read.
    """
    with file.open("rb") as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"the file is larger than {MAX_BYTES / 1e6:g} MB; split it")
    if file.suffix.lower() == ".json":
        return parse_json(data)
    try:
        return parse_yaml(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is not in UTF-8 ({error.reason} at byte {error.start})") from None


def read_contract_file(file: Path) -> EvaluationContract:
    """Read a contract: its fields, or a file that has them below ``contract``.

    Raises:
        ValueError: The file has no contract.
        OSError: The file cannot be read.
    """
    data = read_values(file)
    fields: Any = as_object(data).get("contract", data)
    # Anything else would be a contract that demands nothing, and lets every run pass.
    if not isinstance(fields, dict) or not fields:
        raise ValueError(f"it has no fields of a contract but {fields!r:.60}; give at least one field")
    return EvaluationContract(**fields)


def read_referenced_contract(name: str, folder: Path) -> EvaluationContract:
    """Read the contract that a file in ``folder`` names by its path.

    Raises:
        ValueError: The path leads out of the folder, there is no such file, or it has no contract.
    """
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} leads out of the folder of the file; give a path within it")
    try:
        return read_contract_file(path)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise ValueError(
            f"{name!r} cannot be used ({reason}); give 'from_task', an object, or the path of a contract"
        ) from None
