"""Reads and writes files of cases in YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluation.errors import ContractError
from evaluation.evalset.task_case import CaseDefaults, CaseSet, SingleCase, TaskCase
from evaluation.evalset.value_files import read_values, validate_values
from evaluation.evalset.yaml_text import compose_yaml, find_line, format_yaml
from evaluation.inputs.contract import EvaluationContract, merge_contracts
from evaluation.sensitive.quoting import shorten
from evaluation.validation.problems import list_field_paths
from evaluation.values import as_object

_FIELDS: Final = (*CaseSet.model_fields, *TaskCase.model_fields, *list_field_paths(EvaluationContract))


def read_case_set(path: str | Path) -> CaseSet:
    """Read a file of cases, or of one case.

    Args:
        path: A file in UTF-8: JSON if its name ends in ``.json``, else YAML. It has ``version: 1``, and
            either the list ``cases`` with ``target`` and ``defaults``, or the fields of one ``TaskCase``. A
            contract may be the path of a file within the folder of this file.

    Raises:
        ContractError: The file cannot be used; one sentence for each problem, with its line or path.
        OSError: The file cannot be read.
    """
    file = Path(path)
    try:
        data = read_values(file)
    except ValueError as error:
        raise ContractError(f"{file.name}: {error}") from None
    return validate_cases(data, file)


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
    with Path(path).open("x", encoding="utf-8") as file:
        file.write(format_values(Path(path), data))


def format_values(file: Path, data: object) -> str:
    """Write plain values as the text of a file: JSON if its name ends in ``.json``, else YAML."""
    is_json = file.suffix.lower() == ".json"
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n" if is_json else format_yaml(data)


def validate_cases(data: object, file: Path) -> CaseSet:
    """Read the values of a file of cases; raises ContractError as ``read_case_set`` does."""
    model = CaseSet if {"cases", "defaults", "target"} & as_object(data).keys() else SingleCase
    checked = validate_values(model, data, file, _FIELDS)
    if isinstance(checked, CaseSet):
        _check_names(checked, file)
        return checked.model_copy(
            update={"cases": [_add_defaults(case, checked.defaults) for case in checked.cases]}
        )
    fields = {name: getattr(checked, name) for name in checked.model_fields_set - {"version"}}
    return CaseSet(version=1, cases=[TaskCase(**fields)])


def _add_defaults(case: TaskCase, defaults: CaseDefaults) -> TaskCase:
    shared = {name: getattr(defaults, name) for name in defaults.model_fields_set - case.model_fields_set}
    contracts = [each.contract for each in (defaults, case) if isinstance(each.contract, EvaluationContract)]
    if len(contracts) > 1:
        shared["contract"] = merge_contracts(*contracts)
    return case.model_copy(update=shared)


def _check_names(cases: CaseSet, file: Path) -> None:
    places: dict[str, int] = {}
    for place, case in enumerate(cases.cases):
        if (first := places.setdefault(case.title, place)) != place:
            root, name = compose_yaml(file.read_text("utf-8-sig")), shorten(case.title, 80)
            line, before = (find_line(root, ("cases", each)) for each in (place, first))
            raise ContractError(
                f"{file.name}:{line}: the case {name!r} has the name of the one in line {before}; "
                "give each its own name"
            )


def _dump_case(case: TaskCase) -> dict[str, object]:
    plain: dict[str, object] = case.model_dump(mode="json", exclude_unset=True)
    # In the order of the model, whatever the order of the arguments was.
    return {name: plain[name] for name in TaskCase.model_fields if name in plain}
