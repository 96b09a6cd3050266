"""Templates: values that are made of a record of a file, described as data.

- A text is a path: ``message.role``. The first of ``a|b`` that has a value counts, ``0``, ``1``, ``-1`` are
  elements of a list, ``*`` is the only field of an object, and ``.`` is the record. ``path=default`` has a
  default, and ``=value`` is a constant.
- A list is filled part by part, and the parts that are lists are joined.
- An object is filled field by field. The field ``*`` adds the fields of another object, which those after it
  replace, and ``-`` takes fields out. With ``if``, there is no object unless that path has a value.
- An object with ``each`` is a list: ``make`` for each object of the list at that path that fulfils ``when``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from evaluation.importers.imported_message import UnknownFormatError, as_parts
from evaluation.values import JsonObject

Template: TypeAlias = "str | Sequence[Template] | Mapping[str, Template]"
When: TypeAlias = Mapping[str, str]
"""Paths and their values: ``a|b`` is one of two, ``~x`` has the pattern x, ``*`` is anything but null, and an
empty text is null."""


def fill(template: Template, record: object) -> object:
    """Returns the value that a template describes; None if there is none.

    Raises:
        UnknownFormatError: The record has no list of objects where the template needs one.
    """
    if isinstance(template, str):
        path, sign, default = template.partition("=")
        value = find(record, path) if path else None
        if path and value is None:
            _check_path(record, path)
        return default if sign and value is None else value
    if isinstance(template, Mapping):
        is_wanted = "if" not in template or find(record, str(template["if"]))
        fill_mapping = _fill_each if "each" in template else _fill_object
        return fill_mapping(template, record) if is_wanted else None
    return [part for each in template for part in as_parts(fill(each, record))]


def _fill_object(template: Mapping[str, Template], record: object) -> JsonObject:
    filled: dict[str, object] = {}
    for name, each in template.items():
        if name == "-":
            filled = {key: value for key, value in filled.items() if key not in each}
        elif name != "if" and (value := fill(each, record)) is not None:
            filled.update(_read_fields(value, each) if name == "*" else {name: value})
    return filled


def _read_fields(value: object, template: Template) -> JsonObject:
    if not isinstance(value, dict):
        raise UnknownFormatError(f"{template} is no object")
    return value


def _check_path(record: object, path: str) -> None:
    """Checks that nothing is on the way to a value that is missing.

    Raises:
        UnknownFormatError: A text or a number stands in the place of an object.
    """
    for names in _split(path):
        for count, name in enumerate(names):
            before = _follow(record, names[:count])
            is_list = isinstance(before, list) and name in _ELEMENTS
            if not is_list and not isinstance(before, dict | None):
                raise UnknownFormatError(f"{'.'.join(names[:count])} is no object")


def _fill_each(template: Mapping[str, Any], record: object) -> list[object]:
    when = template.get("when", {})
    kind = dict if when.keys().isdisjoint(_ELEMENTS) else list
    items = find_list(record, template["each"])
    if not all(isinstance(item, kind) for item in items):
        raise UnknownFormatError(f"{template['each']} has an element of a wrong type")
    return [fill(template["make"], item) for item in items if fulfils(item, when)]


def find(record: object, path: str) -> object:
    """Returns the value at the first of the paths that has one; None if there is none."""
    for each in _split(path):
        if (value := _follow(record, each)) is not None:
            return value
    return None


def find_list(record: object, path: str) -> list[object]:
    """Returns the list at a path; an empty one if nothing is there.

    Raises:
        UnknownFormatError: Something else is there.
    """
    values = find(record, path)
    if values is None:
        _check_path(record, path)
    if not isinstance(values, list | None):
        raise UnknownFormatError(f"{path.replace('|', ' or ')} is no list")
    return values or []


@cache
def _split(path: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(filter(None, each.split("."))) for each in path.split("|"))


_ELEMENTS: Final = {"0": 0, "1": 1, "-1": -1}


def _follow(value: object, names: Sequence[str]) -> object:
    for name in names:
        if isinstance(value, dict):
            value = next(iter(value.values())) if name == "*" and len(value) == 1 else value.get(name)
        elif isinstance(value, list) and name in _ELEMENTS:
            value = next(iter(value[_ELEMENTS[name] :]), None)
        else:
            return None
    return value


def fulfils(record: object, when: When) -> bool:
    """Returns whether a record fulfils a condition."""
    for path, values in when.items():  # noqa: SIM110 - a generator takes twice the time
        if not _fits(find(record, path), values):
            return False
    return True


def _fits(value: object, values: str) -> bool:
    if values in ("*", "") or not isinstance(value, str | int):
        return values == ("" if value is None else "*")
    if not values.startswith("~"):
        return str(value) in values.split("|")
    # A search for a beginning would look at every place of a long text.
    look = re.match if values.startswith("~^") and "|" not in values else re.search
    return look(values[1:], str(value)) is not None
