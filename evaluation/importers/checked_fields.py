"""Reads the fields of a recorded file, and refuses a value of another type, which may hold a call."""

from __future__ import annotations

import json

from evaluation.errors import ContractError
from evaluation.values import JsonObject


class UnknownFormatError(ContractError):
    """A part of a recorded run is in no known format; the text says which one."""


def read_object(record: JsonObject, name: str, where: str = "") -> dict[str, object]:
    """Return the object in a field; an empty one if the field is absent or null.

    Raises:
        UnknownFormatError: The field holds anything else. ``where`` names the record.
    """
    value = record.get(name)
    if not isinstance(value, dict | None):
        raise UnknownFormatError(f"{where} has {name} that is no object".lstrip())
    return value or {}


def read_list(record: JsonObject, name: str, where: str = "") -> list[object]:
    """Return the list in a field; an empty one if the field is absent or null.

    Raises:
        UnknownFormatError: The field holds anything else. ``where`` names the record.
    """
    value = record.get(name)
    if not isinstance(value, list | None):
        raise UnknownFormatError(f"{where} has {name} that are no list".lstrip())
    return value or []


def read_objects(record: JsonObject, name: str, where: str = "") -> list[dict[str, object]]:
    """Return the objects that a field lists; none if the field is absent or null.

    Raises:
        UnknownFormatError: The field is no list, or an element is no object. ``where`` names the record.
    """
    value = record.get(name)
    objects = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    if value is not None and objects != value:
        raise UnknownFormatError(f"{where} has {name} that are no list of objects".lstrip())
    return objects


def read_run_error(record: JsonObject) -> dict[str, str]:
    """Return the field ``error`` of a run from the object around its messages; no field without an error."""
    error = record.get("error")
    if not error:
        return {}
    text = error.get("message") if isinstance(error, dict) else error
    return {"error": text if isinstance(text, str) and text else json.dumps(error, ensure_ascii=False)}
