"""Writes the table of checks in docs/reference/checks.md: python -m tests.evaluation.checks.reference."""

import json
import re
from pathlib import Path
from typing import Literal, get_args, get_origin

from evaluation.checks import CHECKS, BaseCheck
from evaluation.checks.kinds.wording import CountCheck

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "checks.md"
_TABLE = re.compile(r"(?<=<!-- checks -->\n).*?(?=<!-- end -->)", re.DOTALL)
_COMMON = frozenset({"check", *BaseCheck.model_fields})


def build_table():
    rows = [
        f"| `{name}` | {_describe_fields(model)} | {_describe(model)} |" for name, model in CHECKS.items()
    ]
    return "\n".join(["| `check` | fields | requirement |", "|---|---|---|", *rows, ""])


def read_table():
    return _TABLE.search(PAGE.read_text(encoding="utf-8")).group()


def _describe(model):
    return " ".join(model.__doc__.split()).replace("``", "`")


def _describe_fields(model):
    counted = frozenset(CountCheck.model_fields) if issubclass(model, CountCheck) else frozenset()
    names = [
        (f"**`{name}`**" if field.is_required() else f"`{name}`") + _list_values(field.annotation)
        for name, field in model.model_fields.items()
        if name not in _COMMON | counted
    ]
    return ", ".join([*names, *(["number"] if counted else [])])


def _list_values(annotation):
    values = get_args(annotation) if get_origin(annotation) is Literal else ()
    return (
        f" ({', '.join(f'`{json.dumps(value)}`' for value in values)})".replace("|", r"\|") if values else ""
    )


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: build_table(), text), encoding="utf-8")
