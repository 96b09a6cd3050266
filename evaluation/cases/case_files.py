"""Reads and writes files in YAML or JSON: plain values, contracts and cases."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from evaluation.checks.check_model import Text
from evaluation.contract.contract import ContentRule, EvaluationContract, merge_rules
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import shorten
from evaluation.validation import InputModel, describe_errors, list_field_paths, parse_json
from evaluation.values import VersionOne, as_object

_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)"
_FRACTION: Final = rf"{_NUMBER}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_DIGITS: Final = [*"-0123456789"]
_STRING: Final = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    # YAML 1.1 would read the word "no" as false, 12:30 as a number and 2026-01-01 as a date.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - as the base class declares it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        """Build an object; refuse one that has a field twice, because YAML would drop the first silently."""
        names = set()
        for key, _ in node.value:
            if key.tag != _STRING:
                raise _refuse("a field name is no text; give each name as text", key)
            if key.value in names:
                raise _refuse(f"the field name {key.value!r:.80} is used twice; give each name once", key)
            names.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would not read as text."""


for _tag, _pattern, _first in (
    ("bool", "(?:true|false)$", ["t", "f"]),
    ("null", "(?:null|~)?$", ["n", "~", ""]),
    ("int", f"{_NUMBER}$", _DIGITS),
    ("float", f"{_FRACTION}$", _DIGITS),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def _write_text(dumper: _Dumper, text: str) -> yaml.Node:
    # YAML folds these breaks outside of double quotes.
    style = None if {"\x85", "\u2028", "\u2029"}.isdisjoint(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _write_text)


def parse_yaml(text: str) -> object:
    """Parse one YAML document of JSON values.

    Raises:
        ValueError: It is not such a document; the message begins with the line.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise ValueError(f"{where}this is not YAML of plain values: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a forbidden character, deep nesting
        raise ValueError(f"this is not YAML of plain values: {' '.join(str(error).split())}") from None


def format_yaml(value: object) -> str:
    """Write JSON values as YAML that ``parse_yaml`` and other readers read as the same values."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _refuse(problem: str, place: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


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
    # Opening a pipe would wait for somebody who writes.
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise ValueError("it is a pipe, a device or a socket; give a file")
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


def validate_values(model: type[_Model], data: object, file: Path, names: Sequence[str] = ()) -> _Model:
    """Validate values that ``read_values`` has read.

    Args:
        model: The model.
        data: The values.
        file: Their file.
        names: Names of fields to propose for one that is unknown. Default: the fields of the model.

    Raises:
        ContractError: One sentence for each wrong field, with the file and the path of the field.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = describe_errors(error, data, names or list_field_paths(model), "the file")
        raise ContractError(f"{file.name}: {'; '.join(problems)}") from None


def read_contract_file(file: Path) -> EvaluationContract:
    """Read a contract: its fields, or a file that has them below ``contract``.

    Raises:
        ValueError: The file has no contract.
        OSError: The file cannot be read.
    """
    data = read_values(file)
    fields = as_object(data).get("contract", data)
    # Anything else would be a contract that demands nothing, and lets every run pass.
    if not isinstance(fields, dict) or not fields:
        raise ValueError(f"it has no fields of a contract but {fields!r:.60}; give at least one field")
    return validate_values(EvaluationContract, fields, file)


FROM_TASK: Final = "from_task"


def _wrap_answer(value: object) -> object:
    if isinstance(value, str):
        return {"text": value}
    # The answers of data sets are plain numbers also where they mean a share.
    return {"number": value, "share": True} if isinstance(value, int | float) else value


Answer = Annotated[
    ContentRule, BeforeValidator(_wrap_answer, json_schema_input_type=str | float | ContentRule)
]


class CaseDefaults(InputModel):
    """The shared fields of the cases of a file; a case replaces a field, and adds to the contract."""

    contract: Literal["from_task"] | EvaluationContract = FROM_TASK
    """The contract, or "from_task": the contract is derived from the task when it is used."""
    repeat: Annotated[int, Field(ge=1)] | None = None
    """How often the case is executed."""


class TaskCase(CaseDefaults):
    """A task with the contract of its final output."""

    name: Text | None = None
    """Names the case in reports. Default: its task."""
    task: Text
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
    target: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] | None = None
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
    model = CaseSet if {"cases", "defaults", "target"} & as_object(data).keys() else SingleCase
    checked = validate_values(model, data, file, _FIELDS)
    if isinstance(checked, CaseSet):
        _check_names(checked, file)
        return checked.model_copy(
            update={"cases": [_add_defaults(case, checked.defaults) for case in checked.cases]}
        )
    fields = {name: getattr(checked, name) for name in checked.model_fields_set - {"version"}}
    return CaseSet(version=1, cases=[TaskCase(**fields)])


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
            raise ContractError(
                f"{file.name}: cases[{place}] has the name of cases[{first}], {shorten(case.title, 80)!r}; "
                "give each its own name"
            )


def _dump_case(case: TaskCase) -> dict[str, object]:
    plain: dict[str, object] = case.model_dump(mode="json", exclude_unset=True)
    # In the order of the model, whatever the order of the arguments was.
    return {name: plain[name] for name in TaskCase.model_fields if name in plain}
