"""Copies the caller's data as plain JSON, and describes the values that are no JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Final, Protocol, TypeGuard, runtime_checkable

from pydantic_core import from_json, to_json

from agents.parsing.surrogates import replace_surrogates
from evaluation.sensitive.json_values import encode_json
from evaluation.validation.field_paths import Path
from evaluation.validation.input_model import InputModel
from evaluation.validation.problems import format_path

MAX_DEPTH: Final = 100
"""Most levels of nesting in a case; the recursive parts of the evaluation rely on it."""
_NESTING: Final = (dict, list)


def copy_json(value: object) -> tuple[object, bytes] | None:
    """Copy a value by way of its JSON text, and return both; None if it is not JSON or nested too deep."""
    try:
        # Null differs from NaN, so a value with NaN goes to the strict writer below, which refuses it.
        text = to_json(value, inf_nan_mode="null")
        plain: object = from_json(text, cache_strings="keys")
    except (ValueError, RecursionError):
        return _copy_strictly(value)
    # This writer is several times as fast as the strict one, but it also accepts dates and sets.
    if plain != value:
        return _copy_strictly(value)
    is_deep = text.count(b"{") + text.count(b"[") > MAX_DEPTH and _depth(plain) > MAX_DEPTH
    return None if is_deep else (plain, text)


def _copy_strictly(value: object) -> tuple[object, bytes] | None:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=_as_json)
        # Models write lone surrogates when they cut an emoji, and UTF-8 cannot hold them.
        plain: object = json.loads(replace_surrogates(text))
    except (TypeError, ValueError, RecursionError):
        return None
    return (plain, encode_json(plain)) if _depth(plain) <= MAX_DEPTH else None


def _as_json(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, InputModel):
        # Only fields that are set: a default that is written out would count as a demand of the contract.
        return value.model_dump(exclude_unset=True, warnings=False)
    if is_scalar(value):
        return value.item()
    raise TypeError(type(value).__name__)


@runtime_checkable
class _Scalar(Protocol):
    """One number of NumPy, such as ``int64``: users compute measurements with it."""

    shape: tuple[int, ...]

    def item(self) -> object:
        """Return the value as Python's own type."""
        ...


def is_scalar(value: object) -> TypeGuard[_Scalar]:
    """Return whether ``value`` is one number or flag of NumPy."""
    return isinstance(value, _Scalar) and value.shape == ()


def _depth(plain: object) -> int:
    """Count the levels of nesting, up to one more than ``MAX_DEPTH``."""
    level, depth = [plain] if isinstance(plain, _NESTING) else [], 0
    while level and depth <= MAX_DEPTH:
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [part for parts in inner for part in parts if isinstance(part, _NESTING)]
        depth += 1
    return depth


def find_odd_values(value: object, path: Path) -> Iterator[str]:
    """Describe each value that is not JSON, by its path."""
    problem = _describe_oddness(value, len(path))
    if problem is not None:
        yield f"{format_path(path)}: {problem}"
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from find_odd_values(part, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from find_odd_values(part, (*path, index))


def _describe_oddness(value: object, depth: int) -> str | None:
    if depth >= MAX_DEPTH and isinstance(value, Mapping | list | tuple):
        return f"more than {MAX_DEPTH} levels of nesting"
    value = value.item() if is_scalar(value) else value
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a JSON number; leave the field out if the value is not known"
    if value is None or isinstance(value, str | bool | int | float | Mapping | list | tuple):
        return None
    return f"{type(value).__name__} is not a JSON value; convert it to a text, number, list or object"
