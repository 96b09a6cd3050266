"""Writes the types of plain inputs, evaluation/plain_types: python -m tests.evaluation.inputs.plain_types."""

from __future__ import annotations

import inspect
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from evaluation.checks import CHECKS
from evaluation.checks.base import CheckModel
from evaluation.checks.context import Unit
from evaluation.checks.registry import NamedCheck
from evaluation.evalset.task_case import TaskCase
from evaluation.inputs.contract import EvaluationCase
from evaluation.inputs.run import ActionKind
from evaluation.validation.described_model import read_field_texts
from evaluation.validation.input_model import InputModel, ListOrRange, NameOrObject
from evaluation.values import Severity

Model = type[InputModel]
FOLDER = Path(__file__).parents[3] / "evaluation" / "plain_types"
_CHECKS: tuple[Model, ...] = (*CHECKS.values(), NamedCheck)
_ROOTS = (InputModel, CheckModel)
_SHORT_FORMS = {NameOrObject: "str", ListOrRange: "Sequence[float]"}
_OVERRIDES = {"messages": "Sequence[object]"}
"""The fields that accept more than their models say: messages may be the objects of LangChain."""
_ALIASES = {Severity: "Severity", Unit: "Unit", ActionKind: "ActionKind"}
_HEAD = '''"""{title}.

``python -m tests.evaluation.inputs.plain_types`` writes this file from the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Required, TypeAlias

from typing_extensions import TypedDict

from evaluation.checks.base import CheckModel
from evaluation.checks.context import Unit
from evaluation.inputs.run import ActionKind, RunMetadata
from evaluation.values import Severity
{imports}
'''


def build_files() -> dict[str, str]:
    """Build each module of the folder as text, by file name."""
    members = " | ".join(map(_name_type, _CHECKS))
    union = f'CheckDict: TypeAlias = {members}\n"""One check of a contract."""\n'
    imports = "from evaluation.plain_types.checks import CheckDict"
    cases = [model for root in (EvaluationCase, TaskCase) for model in _walk(root)]
    return {
        "checks.py": _write_module("Types of the checks of a contract as dicts", _CHECKS, end=union),
        "case.py": _write_module("Types of a case and its parts as dicts", cases, start=imports),
    }


def _walk(model: Model) -> Iterator[Model]:
    """Yield a model and all models within, except checks; the inner ones first."""
    for field in model.model_fields.values():
        for inner in _list_models(field.annotation):
            if inner is not model and not issubclass(inner, CheckModel):
                yield from _walk(inner)
    if not _has_free_fields(model):
        yield model


def _list_models(annotation: object) -> Iterator[Model]:
    if isinstance(annotation, type) and issubclass(annotation, InputModel):
        yield annotation
    for part in get_args(annotation):
        yield from _list_models(part)


def _write_module(title: str, models: Iterable[Model], *, start: str = "", end: str = "") -> str:
    bases = (base for model in models for base in reversed(model.__mro__) if issubclass(base, InputModel))
    classes = [_write_class(model) for model in dict.fromkeys(bases) if model not in _ROOTS]
    head = _HEAD.format(title=title, imports=_write_imports(models))
    return _format("\n\n".join([head + start, *classes, end]))


def _write_class(model: Model) -> str:
    (base,) = model.__bases__
    parent = "TypedDict" if base in _ROOTS else _name_type(base)
    lines = [f"class {_name_type(model)}({parent}, total=False):", _quote(inspect.getdoc(model)), ""]
    for name, field in model.model_fields.items():
        if name in inspect.get_annotations(model):
            text = _write_field(name, field, read_field_texts(model).get(name))
            choices = getattr(field.validation_alias, "choices", [name])
            lines += [f"{alias}: {text}" for alias in choices]
    return "\n    ".join("\n".join(lines).splitlines())


def _quote(text: str) -> str:
    """Write a docstring; the closing quotes of a long one have their own line."""
    return f'"""{text}\n"""' if "\n\n" in text else f'"""{text}"""'


def _write_field(name: str, field: FieldInfo, description: str | None) -> str:
    values = (field.json_schema_extra or {}).get("enum")
    annotation = Literal[tuple(values)] if values else Annotated[(field.annotation, None, *field.metadata)]
    text = _OVERRIDES.get(name) or _write_type(annotation)
    is_required = field.is_required() or name == "check"
    described = f"\n{_quote(description)}" if description else ""
    return (f"Required[{text}]" if is_required else text) + described


def _write_type(annotation: object) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        short = [_SHORT_FORMS[type(note)] for note in arguments[1:] if type(note) in _SHORT_FORMS]
        return " | ".join([*short, _write_type(arguments[0])])
    if origin in {Union, UnionType}:
        return " | ".join(dict.fromkeys(map(_write_type, arguments)))
    if origin is Literal:
        return _ALIASES.get(annotation, f"Literal[{', '.join(map(repr, arguments))}]")
    if origin is list:
        inner = _write_type(arguments[0])
        # A text is a sequence of texts, too.
        return "list[str]" if inner == "str" else f"Sequence[{inner}]"
    return f"Mapping[str, {_write_type(arguments[1])}]" if origin is dict else _write_name(annotation)


def _write_name(annotation: type) -> str:
    if not issubclass(annotation, InputModel):
        return "None" if annotation is NoneType else annotation.__name__
    if issubclass(annotation, CheckModel):
        return "CheckModel | CheckDict"
    plain = "Mapping[str, object]" if _has_free_fields(annotation) else _name_type(annotation)
    return f"{annotation.__name__} | {plain}"


def _name_type(model: Model) -> str:
    return f"{model.__name__.removeprefix('_')}Dict"


def _has_free_fields(model: Model) -> bool:
    return model.model_config.get("extra") == "allow"


def _write_imports(models: Iterable[Model]) -> str:
    return "\n".join({f"from {model.__module__} import {model.__name__}" for model in models})


def _format(code: str) -> str:
    # Ruff removes the imports that are not used, and wraps long lines.
    for command in (["check", "--fix", "--select", "F401,I"], ["format"]):
        ruff = ["ruff", *command, "--quiet", "--stdin-filename", str(FOLDER / "case.py"), "-"]
        code = subprocess.run(ruff, input=code, capture_output=True, text=True, check=True).stdout
    return re.sub(r"(?m)[ ]+$", "", code)


if __name__ == "__main__":
    for name, text in build_files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
