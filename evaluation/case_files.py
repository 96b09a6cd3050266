"""Reads cases from JSON and JSON Lines files; an unreadable case does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evaluation.inputs.intake import UnreadableCase
from evaluation.validation.json_data import parse_json

_LINES: Final = frozenset({".jsonl", ".ndjson"})


def read_cases(path: str | Path) -> Iterator[Any]:
    """Yield the cases of a file, for ``evaluate_many``.

    Args:
        path: A file in UTF-8: JSON Lines (``.jsonl``, ``.ndjson``) with one case in each line, read while the
            cases are taken; or JSON with one case or a list of cases.

    Returns:
        Cases that are not validated yet. A case without a ``case_id`` is named after its place:
        ``runs.jsonl:7`` is the seventh line, ``runs.json[6]`` the seventh item of a list. Anything but a JSON
        object leads to a report with status ``invalid`` that names the place.

    Raises:
        OSError: The file cannot be read; raised when the first case is taken.
    """
    file = Path(path)
    return _read_lines(file) if file.suffix.lower() in _LINES else _read_document(file)


def _read_lines(path: Path) -> Iterator[object]:
    # As bytes, because a line that is not UTF-8 must not end the reading of the others.
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path.name}:{number}"
                yield _add_name(_parse_json(line, where), where)


def _read_document(path: Path) -> Iterator[object]:
    value = _parse_json(path.read_bytes(), path.name)
    if isinstance(value, list):
        yield from (_add_name(item, f"{path.name}[{index}]") for index, item in enumerate(value))
    else:
        yield _add_name(value, path.name)


def _parse_json(data: bytes, where: str) -> object:
    try:
        return parse_json(data)
    except ValueError as error:
        return UnreadableCase(where, str(error))


def _add_name(value: object, where: str) -> object:
    if isinstance(value, UnreadableCase):
        return value
    if not isinstance(value, dict):
        return UnreadableCase(where, f"a case is an object, not a {type(value).__name__}")
    return value if value.get("case_id") is not None else {**value, "case_id": where}
