"""Appends a case to a file of cases, and leaves the rest of its text as it is."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Final

from evaluation.errors import ContractError
from evaluation.evalset.files import format_values, read_case_set, validate_cases
from evaluation.evalset.task_case import TaskCase
from evaluation.evalset.yaml_text import parse_yaml
from evaluation.sensitive.quoting import shorten

_FIRST_ITEM: Final = re.compile(r"^cases:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*( *)- ", re.MULTILINE)


def append_case(path: Path, case: TaskCase) -> None:
    """Append a case to a file in YAML whose last field is the list ``cases``; a missing file is written.

    Raises:
        ContractError: The file has no such list, or it has a case of this name. It is unchanged.
        OSError: The file cannot be read or written.
    """
    plain = [case.model_dump(mode="json", exclude_unset=True)]
    if not path.exists():
        path.write_text(format_values(path, {"version": 1, "cases": plain}), encoding="utf-8")
        return
    cases, text = read_case_set(path).cases, path.read_text(encoding="utf-8")
    if case.title in {each.title for each in cases}:
        raise ContractError(
            f"{path.name} has a case {shorten(case.title)!r} already; rename that, or leave it"
        )
    first = _FIRST_ITEM.search(text)
    dashes = "" if first is None else first[1]
    changed = "\n".join([text.removesuffix("\n"), indent(format_values(path, plain), dashes)])
    try:
        is_appended = validate_cases(parse_yaml(changed), path).cases[:-1] == cases
    except ValueError:
        is_appended = False
    if not is_appended:
        raise ContractError(
            f"{path.name} does not end with a list of cases; give a file in YAML whose last field is `cases:`"
        )
    path.write_text(changed, encoding="utf-8")
