"""Reads plain values, and contracts, from files in YAML or JSON, without dates and repeated fields."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError

from evaluation.contract.contract import EvaluationContract
from evaluation.errors import ContractError
from evaluation.validation import describe_errors, list_field_paths, parse_json
from evaluation.values import as_object

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


def parse_yaml(text: str) -> object:
    """Parse one YAML document of JSON values.

    Raises:
        ValueError: It is not such a document; the message begins with the line.
    """
    try:
        value: object = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise ValueError(f"{where}this is not YAML of plain values: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a forbidden character, deep nesting
        raise ValueError(f"this is not YAML of plain values: {' '.join(str(error).split())}") from None
    return value


def find_line(root: yaml.Node | None, path: Sequence[str | int]) -> int:
    """Return the line, from 1, of the field or item at a path, or of the nearest value around it.

    Args:
        root: What ``compose_yaml`` returned; None for the first line.
        path: The names of fields, and the positions in lists.
    """
    line = 0 if root is None else root.start_mark.line
    for part in path:
        children: dict[object, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(root, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in root.value}
        elif isinstance(root, yaml.SequenceNode):
            children = {place: (item, item) for place, item in enumerate(root.value)}
        if part not in children:
            break
        first, root = children[part]
        line = first.start_mark.line
    return line + 1


def compose_yaml(text: str) -> yaml.Node | None:
    """Return the nodes of a document of YAML or JSON, which know their lines; None if it is none."""
    try:
        # YAML takes no tab before a value; JSON, which comes here too, does.
        node: yaml.Node | None = yaml.compose(text.replace("\t", " "), _Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return node


def format_yaml(value: object) -> str:
    """Write JSON values as YAML that ``parse_yaml`` and other readers read as the same values."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _refuse(problem: str, place: yaml.Event | yaml.Node) -> yaml.MarkedYAMLError:
    mark = cast("yaml.error.Mark", place.start_mark)
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


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
        file: Their file.
        names: Names of fields to propose for one that is unknown. Default: those of the model.
        outer: The path of the values in the file.

    Raises:
        ContractError: One sentence for each wrong field, with the file and the line.
    """
    try:
        return model.model_validate(data)
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
