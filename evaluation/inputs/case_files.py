"""Cases out of a file: one that cannot be read is told by its place, and the rest is read all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.inputs.intake import UnreadableCase

_LINES: Final = frozenset({".jsonl", ".ndjson"})


def read_cases(path: str | Path) -> Iterator[object]:
    """Yield the cases of a file, for ``evaluate_many``.

    Args:
        path: JSON Lines (``.jsonl``, ``.ndjson``), one case a line, read as the cases are taken; or JSON, one
            case or a list of them. UTF-8.

    Returns:
        Objects that are not checked yet. A case without a ``case_id`` is named by its place: ``runs.jsonl:7``
        is the seventh line, ``runs.json[6]`` the seventh of a list. What is no JSON object gives a report
        with status ``invalid`` that names the place.

    Raises:
        OSError: The file cannot be read; raised when the first case is taken.
    """
    place = Path(path)
    return _of_lines(place) if place.suffix.lower() in _LINES else _of_document(place)


def _of_lines(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path.name}:{number}"
                yield _named(_read(line, where), where)


def _of_document(path: Path) -> Iterator[object]:
    value = _read(path.read_bytes(), path.name)
    if isinstance(value, list):
        yield from (_named(one, f"{path.name}[{index}]") for index, one in enumerate(value))
    else:
        yield _named(value, path.name)


def _read(data: bytes, where: str) -> object:
    try:
        value: object = json.loads(data)
    except RecursionError:
        return UnreadableCase(where, "the JSON is nested too deep")
    except ValueError as error:  # half a character, and an integer of thousands of digits, as well
        return UnreadableCase(where, f"this is no JSON: {error}")
    return value


def _named(value: object, where: str) -> object:
    if isinstance(value, UnreadableCase):
        return value
    if not isinstance(value, dict):
        return UnreadableCase(where, f"a case is an object, not a {type(value).__name__}")
    return value if value.get("case_id") is not None else {**value, "case_id": where}
