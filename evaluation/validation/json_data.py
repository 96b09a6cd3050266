"""Reads the caller's data as plain JSON, and describes values that are no JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeGuard

from pydantic import BaseModel
from pydantic_core import from_json, to_json, to_jsonable_python

from agents.parsing.loose_json import replace_surrogates
from evaluation.sensitive.quoting import shorten
from evaluation.validation.problems import InputModel, Path, format_path
from evaluation.values import is_deep

MAX_DEPTH: Final = 100
"""Most levels of nesting in a case; the recursive parts of the evaluation rely on it."""


def copy_json(value: object) -> tuple[object, str] | None:
    """Copy a value by way of its JSON text, and return both; None if it is not JSON or nested too deep."""
    copy = _copy_plain(value) or _copy_any(value)
    if copy is None:
        return None
    plain, text = copy
    # A text with few brackets is not deep, and counting them is cheap.
    may_be_deep = text.count("{") + text.count("[") > MAX_DEPTH
    return None if may_be_deep and is_deep(plain, MAX_DEPTH) else copy


def _copy_plain(value: object) -> tuple[object, str] | None:
    """Copy a value that is plain JSON already, three times as fast; None for any other."""
    with suppress(TypeError, ValueError, RecursionError):
        data = to_json(value)
        plain: object = from_json(data, cache_strings="keys", allow_inf_nan=False)
        # What is written in another form, such as a tuple, a date or a model, is not equal afterwards.
        return (plain, data.decode()) if plain == value else None
    return None


def _copy_any(value: object) -> tuple[object, str] | None:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_to_json)
        # Models write lone surrogates when they cut an emoji, and UTF-8 cannot hold them.
        text = replace_surrogates(text)
        return from_json(text, cache_strings="keys"), text
    except (TypeError, ValueError, RecursionError):
        return None


def _to_json(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, InputModel):
        # Only fields that are set: a default that is written out would count as a demand of the contract.
        return value.model_dump(exclude_unset=True, warnings=False)
    if isinstance(value, BaseModel):  # a message of LangChain or an SDK
        return to_jsonable_python(value, bytes_mode="base64", fallback=str)
    if is_scalar(value):
        return value.item()
    raise TypeError(type(value).__name__)


def is_scalar(value: object) -> TypeGuard[Any]:
    """Return whether ``value`` is one number or flag of NumPy: users compute measurements with it."""
    return hasattr(value, "item") and getattr(value, "shape", None) == ()


def find_odd_values(value: object, path: Path = ()) -> Iterator[str]:
    """Describe each value that is not JSON, by its path."""
    value = value.item() if is_scalar(value) else value
    value = value.model_dump(exclude_unset=True, warnings=False) if isinstance(value, InputModel) else value
    is_nested = isinstance(value, Mapping | list | tuple)
    if is_nested and len(path) >= MAX_DEPTH:
        yield f"{format_path(path)}: more than {MAX_DEPTH} levels of nesting"
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from find_odd_values(part, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from find_odd_values(part, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{format_path(path)}: {value} is not a JSON number; leave the field out if it is not known"
    elif not isinstance(value, str | bool | int | float | BaseModel | None):
        yield f"{format_path(path)}: {type(value).__name__} is not a JSON value; convert it"


def parse_json(data: bytes | str) -> object:
    """Parse one JSON document; an object with a field twice is refused, because JSON would drop the first.

    Raises:
        ValueError: It is not JSON; the message is a sentence without a full stop.
    """
    try:
        value: object = json.loads(data, object_pairs_hook=_build_object)
    except _RepeatedFieldError:
        raise
    except RecursionError:
        raise ValueError("the JSON is nested too deep; flatten it") from None
    except UnicodeDecodeError:
        raise ValueError("this is no text in UTF-8; decompress or convert it") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    except ValueError:  # Python limits the digits, because longer ones take the square of their number
        raise ValueError("an integer has more than 4,300 digits; shorten it, or write it as a text") from None
    return value


class _RepeatedFieldError(ValueError):
    """An object has a field twice."""


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _RepeatedFieldError(f"an object has the field {shorten(name)!r} twice; give it once")
    return value
