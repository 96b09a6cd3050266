"""Reads plain values, and contracts, from files in YAML or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.errors import ContractError
from evaluation.evalset.yaml_text import compose_yaml, find_line, parse_yaml
from evaluation.inputs.contract import EvaluationContract
from evaluation.validation.json_data import parse_json
from evaluation.validation.problems import describe_errors, list_field_paths
from evaluation.values import as_object

_Model = TypeVar("_Model", bound=BaseModel)

MAX_BYTES: Final = 2_000_000
"""Greatest size of a file."""
YAML_SUFFIXES: Final = frozenset({".yaml", ".yml"})


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


def validate_values(
    model: type[_Model],
    data: object,
    file: Path,
    names: Sequence[str] = (),
    outer: Sequence[str] = (),
) -> _Model:
    """Validate values that ``read_values`` has read.

    Args:
        model: The model.
        data: The values.
        file: Their file; contracts that they name by a path are in its folder.
        names: Names of fields to propose for one that is unknown. Default: those of the model.
        outer: The path of the values in the file.

    Raises:
        ContractError: One sentence for each wrong field, with the file and the line.
    """
    try:
        return model.model_validate(data, context={"folder": file.parent})
    except ValidationError as error:
        root = compose_yaml(file.read_text("utf-8-sig"))
        problems = describe_errors(
            error,
            data,
            names or list_field_paths(model),
            "the file",
            lambda path: f"{file.name}:{find_line(root, (*outer, *path))}: ",
        )
        raise ContractError("; ".join(problems)) from None


def read_contract_file(file: Path) -> EvaluationContract:
    """Read a contract: its fields, or a file that has them below ``contract``.

    Raises:
        ValueError: The file has no contract.
        OSError: The file cannot be read.
    """
    data = read_values(file)
    is_inner = "contract" in as_object(data)
    fields = as_object(data)["contract"] if is_inner else data
    # Anything else would be a contract that demands nothing, and lets every run pass.
    if not isinstance(fields, dict) or not fields:
        raise ValueError(f"it has no fields of a contract but {fields!r:.60}; give at least one field")
    return validate_values(EvaluationContract, fields, file, outer=("contract",) if is_inner else ())


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
