"""Describes pydantic's errors in plain sentences: the place, the accepted and the given value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

Path: TypeAlias = tuple[str | int, ...]

_LONGEST_PATH: Final = 200
_LONGEST_WORD: Final = 40
_EXPECTED: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "string_pattern_mismatch": "a text that is not blank",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "greater_than_equal": "a number of at least {ge:g}",
    "greater_than": "a number greater than {gt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "less_than": "a number less than {lt:g}",
    "literal_error": "{expected}",
    "too_short": "a list of at least {min_length}",
}
_GIVEN: Final[Mapping[type, str]] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class _Problem(NamedTuple):
    path: Path
    is_alternative: bool
    """Whether the error is about one of several accepted forms."""
    error: ErrorDetails


def describe_errors(error: ValidationError, data: object, known_names: Sequence[str]) -> list[str]:
    """Describe each wrong field of ``data`` in one sentence that begins with its path.

    Args:
        error: The error of validating ``data``.
        data: Plain JSON.
        known_names: Names of fields, one of which is proposed for an unknown field that resembles it.
    """
    problems = [_locate(detail, data) for detail in error.errors(include_url=False)]
    # One sentence for each place, although pydantic reports an error for each form that it accepts there.
    by_path: dict[Path, list[_Problem]] = {}
    for problem in problems:
        by_path.setdefault(problem.path, []).append(problem)
    return [
        f"{format_path(path)}: {_describe(group, known_names)}"
        for path, group in by_path.items()
        if not _is_other_form(path, group, by_path)
    ]


def format_path(path: Path) -> str:
    """Write a path as code does: agent_run.tool_calls[2].args; the case itself is "case"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")[:_LONGEST_PATH] or "case"


def _locate(error: ErrorDetails, data: object) -> _Problem:
    """Leave out the parts of the location that name an accepted form (a class, "float"), not a place."""
    path: list[str | int] = []
    value = data
    for part in error["loc"]:
        inner = _get_part(value, part)
        if inner is not None:
            (value,) = inner
        elif error["type"] != "missing" or part != error["loc"][-1]:
            continue
        path.append(part)
    return _Problem(tuple(path), len(path) < len(error["loc"]), error)


def _get_part(value: object, part: str | int) -> tuple[object] | None:
    if isinstance(value, dict):
        return (value[part],) if part in value else None
    return (value[part],) if isinstance(value, list) and isinstance(part, int) else None


def _is_other_form(path: Path, group: list[_Problem], by_path: Mapping[Path, object]) -> bool:
    """Check whether the value was clearly meant to have another form, whose problem lies deeper in it."""
    deeper = any(other[: len(path)] == path and len(other) > len(path) for other in by_path)
    return deeper and all(problem.is_alternative for problem in group)


def _describe(group: Sequence[_Problem], known_names: Sequence[str]) -> str:
    error = group[0].error
    if error["type"] == "extra_forbidden":
        return _describe_unknown(str(group[0].path[-1]), known_names)
    if error["type"] == "missing":
        return "is missing; add it"
    if error["type"] in {"value_error", "assertion_error"}:
        return error["msg"].partition(", ")[2]
    accepted = " or ".join(dict.fromkeys(_describe_accepted(problem.error) for problem in group))
    return f"give {accepted}, not {_describe_given(error['input'])}"


def _describe_unknown(name: str, known_names: Sequence[str]) -> str:
    close = get_close_matches(name, known_names, 1)
    return f"is no known field; {f'did you mean {close[0]!r}?' if close else 'leave it out'}"


def _describe_accepted(error: ErrorDetails) -> str:
    text = _EXPECTED.get(error["type"])
    return text.format(**error.get("ctx", {})) if text else error["msg"].removeprefix("Input should be ")


def _describe_given(value: object) -> str:
    # A long text may be a whole output, so only a short one is quoted.
    if isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _LONGEST_WORD):
        return repr(value)
    return "an empty list" if value == [] else _GIVEN.get(type(value), f"a {type(value).__name__}")
