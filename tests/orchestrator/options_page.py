"""Writes the table of docs/reference/options.md: python -m tests.orchestrator.options_page."""

import ast
import inspect
import json
import re
from pathlib import Path
from typing import get_args

from orchestrator import OrchestratorOptions
from orchestrator.cli.run_options import RunOptions
from orchestrator.settings import RunSettings, read_sentences
from orchestrator.state import records

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "options.md"
_LISTED = ("PlanningMode", "Grounding", "Requirement", "SupervisionMode")
_TABLE = re.compile(r"(?<=<!-- options -->\n).*?(?=<!-- end -->)", re.DOTALL)


_TYPES = {"budget.PositiveCount": "int", "budget.Seconds": "float | None"}
_WRAPPED = re.compile(r"(?:InstanceOf|SkipValidation)\[(.*)\]")


def list_options():
    return {
        field.target.id: (*_read_annotation(field.annotation), read_sentences(model)[field.target.id])
        for model in (RunSettings, OrchestratorOptions)
        for field in ast.parse(inspect.getsource(model)).body[0].body[1::2]
    }


def _read_annotation(annotation):
    """The type and the default of ``Annotated[type, Field(default=...)]``, or of a type without a default."""
    kind, default = annotation, None
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        kind, field, *_ = annotation.slice.elts
        default = next(each for each in field.keywords if each.arg.startswith("default"))
    text = _WRAPPED.sub(r"\1", ast.unparse(kind))
    if default is None:
        return text, "()" if text.startswith("Sequence") else "None"
    value = ast.unparse(default.value).replace("'", '"')
    return _TYPES.get(text, text), f"{value}()" if default.arg == "default_factory" else value


def build_table():
    rows = [
        f"| `{name}` | `{_escape(_expand(kind))}` | `{default}` | {_escape(sentence).replace('``', '`')} |"
        for name, (kind, default, sentence) in list_options().items()
    ]
    return "\n".join(["| option | type | default | |", "|---|---|---|---|", *rows, ""])


def read_table():
    return _TABLE.search(PAGE.read_text(encoding="utf-8")).group()


def list_flags():
    return [name for name in RunOptions.model_fields if name in OrchestratorOptions.__annotations__]


def _expand(kind):
    """The values of a type that lists them, in place of its name."""
    names = vars(records)
    return re.sub(
        "|".join(_LISTED), lambda match: " | ".join(map(json.dumps, get_args(names[match[0]]))), kind
    )


def _escape(text):
    return text.replace("|", r"\|")


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: build_table(), page), encoding="utf-8")
