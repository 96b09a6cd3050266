"""Cases of tasks with their contracts, and the files in YAML or JSON that hold them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from evaluation.cases.value_files import (
    compose_yaml,
    find_line,
    format_yaml,
    read_values,
    validate_values,
)
from evaluation.contract.contract import ContentRule, EvaluationContract, merge_rules
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import shorten
from evaluation.validation import InputModel, list_field_paths
from evaluation.values import VersionOne, as_object

FROM_TASK: Final = "from_task"
FromTask: TypeAlias = Literal["from_task"]
NAMED_FUNCTION: Final = r"^[\w.]+:[\w.]+$"


def _wrap_answer(value: object) -> object:
    if isinstance(value, str):
        return {"text": value}
    return {"number": value} if isinstance(value, int | float) else value


CaseContract = FromTask | EvaluationContract
Answer = Annotated[
    ContentRule, BeforeValidator(_wrap_answer, json_schema_input_type=str | float | ContentRule)
]


Function = Annotated[str, Field(pattern=NAMED_FUNCTION)]


class CaseDefaults(InputModel):
    """The shared fields of the cases of a file; a case replaces a field, and adds to the contract."""

    contract: CaseContract = "from_task"
    """The contract, or "from_task": the contract is derived from the task when it is used."""
    repeat: Annotated[int, Field(ge=1)] | None = None
    """How often the case is executed."""


class TaskCase(CaseDefaults):
    """A task with the contract of its final output."""

    name: Annotated[str, Field(pattern=r"\S")] | None = None
    """Names the case in reports. Default: its task."""
    task: Annotated[str, Field(pattern=r"\S")]
    unchecked: list[str] = Field(default_factory=list)
    """Requirements of the task that the contract does not check, in the words of the task."""
    answer: Answer | None = None
    """The known right answer: a text or a number that the output has to contain, or a content rule. It
    decides nothing; it shows how often an accepted output is wrong."""
    agent_run: dict[str, object] | None = None
    """A recorded run, which is evaluated in place of an execution."""

    @property
    def title(self) -> str:
        """The name of the case in results."""
        return self.name or self.task


class CaseSet(InputModel):
    """Cases in their order."""

    version: VersionOne
    target: Function | None = None
    """What is executed: a function that gets the task, or an orchestrator."""
    defaults: CaseDefaults = Field(default_factory=CaseDefaults)
    cases: Annotated[list[TaskCase], Field(min_length=1)]


class SingleCase(TaskCase):
    """A file with one case: its fields beside the version."""

    version: VersionOne


_FIELDS: Final = (*CaseSet.model_fields, *TaskCase.model_fields, *list_field_paths(EvaluationContract))


def read_case_set(path: str | Path) -> CaseSet:
    """Read a file of cases, or of one case.

    Args:
        path: A file in UTF-8: JSON if its name ends in ``.json``, else YAML. It has ``version: 1``, and
            either the list ``cases`` with ``target`` and ``defaults``, or the fields of one ``TaskCase``.

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
        shared["contract"] = merge_rules(*contracts, is_closer=True)
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
