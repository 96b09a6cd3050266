"""Reads and writes files of cases in YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from evaluation.errors import ContractError
from evaluation.evalset.task_case import CaseSet, SingleCase, TaskCase
from evaluation.evalset.yaml_text import format_yaml, parse_yaml
from evaluation.inputs.contract import EvaluationContract
from evaluation.validation.json_data import parse_json
from evaluation.validation.problems import describe_errors, list_field_paths
from evaluation.values import as_object

MAX_BYTES: Final = 2_000_000
"""Greatest size of a file."""
_FIELDS: Final = (*CaseSet.model_fields, *TaskCase.model_fields, *list_field_paths(EvaluationContract))


def read_case_set(path: str | Path) -> CaseSet:
    """Read a file of cases, or of one case.

    Args:
        path: A file in UTF-8: JSON if its name ends in ``.json``, else YAML. It has ``version: 1``, and
            either the list ``cases``, or the fields of one case: ``task``, ``contract``, ``name``,
            ``unchecked``.

    Raises:
        ContractError: The file cannot be used; one sentence for each problem, with its line or path.
        OSError: The file cannot be read.
    """
    file = Path(path)
    try:
        data = read_values(file)
    except ValueError as error:
        raise ContractError(f"{file.name}: {error}") from None
    return _validate(data, file.name)


def write_case_set(path: str | Path, cases: Sequence[TaskCase]) -> None:
    """Write cases to a new file, in the form that ``read_case_set`` reads.

    Args:
        path: The file: JSON if its name ends in ``.json``, else YAML.
        cases: At least one case. One alone is written without a list.

    Raises:
        FileExistsError: The file exists, and may hold somebody's changes.
        OSError: The file cannot be written.
    """
    plain = [_dump_case(case) for case in cases]
    data = {"version": 1, **(plain[0] if len(plain) == 1 else {"cases": plain})}
    is_json = Path(path).suffix.lower() == ".json"
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n" if is_json else format_yaml(data)
    with Path(path).open("x", encoding="utf-8") as file:
        file.write(text)


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


def _validate(data: object, where: str) -> CaseSet:
    model = CaseSet if "cases" in as_object(data) else SingleCase
    try:
        checked = model.model_validate(data)
    except ValidationError as error:
        problems = describe_errors(error, data, _FIELDS, "the file")
        raise ContractError(f"{where}: {'; '.join(problems)}") from None
    if isinstance(checked, CaseSet):
        return checked
    fields = {name: getattr(checked, name) for name in checked.model_fields_set - {"version"}}
    return CaseSet(version=1, cases=[TaskCase(**fields)])


def _dump_case(case: TaskCase) -> dict[str, object]:
    plain: dict[str, object] = case.model_dump(mode="json", exclude_unset=True)
    # In the order of the model, whatever the order of the arguments was.
    return {name: plain[name] for name in TaskCase.model_fields if name in plain}
