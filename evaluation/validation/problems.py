"""Describes pydantic's errors in plain sentences: the place, the accepted and the given value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evaluation.sensitive.quoting import redact, shorten
from evaluation.validation.field_paths import Path, propose_field

MAX_PROBLEMS: Final = 50
"""Most problems that are listed; the rest is counted."""
_LONGEST_PATH: Final = 200
_GREATEST_NUMBER: Final = 10**8
"""A greater one may be a telephone number, an account, or a PIN with a name that this text leaves out."""
_UNION_ERRORS: Final = frozenset({"union_tag_invalid", "union_tag_not_found"})
_OPTION: Final = re.compile("'([^']*)'")
_EXPECTED: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "string_pattern_mismatch": "a text that is not blank",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
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


def describe_errors(
    error: ValidationError,
    data: object,
    known_names: Sequence[str],
    root: str = "case",
    inner_names: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    """Describe each wrong field of ``data`` in one sentence that begins with its path.

    Args:
        error: The error of validating ``data``.
        data: Plain JSON.
        known_names: Names or paths of fields, one of which is proposed for an unknown field that resembles
            it.
        root: Name of ``data`` itself.
        inner_names: Names of the fields within a field of ``data``, in place of ``known_names``.

    Returns:
        At most ``MAX_PROBLEMS`` sentences, and the number of the others in a further one.
    """
    # One sentence for each place, although pydantic reports an error for each form that it accepts there.
    by_path: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        by_path.setdefault(_find_path(detail, data), []).append(detail)
    outer = {path[:length] for path in by_path for length in range(len(path))}
    wrong = [
        path for path, details in by_path.items() if not (path in outer and _is_other_form(path, details))
    ]
    problems = [
        f"{format_path(path, root)}: "
        f"{_describe(path, by_path[path], _list_names(path, known_names, inner_names))}"
        for path in wrong[:MAX_PROBLEMS]
    ]
    return [*problems, *count_left_out(wrong)]


def count_left_out(problems: Sequence[object]) -> list[str]:
    """Return a sentence with the number of problems after the first ``MAX_PROBLEMS``, if there are any."""
    more = len(problems) - MAX_PROBLEMS
    return [f"and {more} more problems"] if more > 0 else []


def _list_names(
    path: Path, known_names: Sequence[str], inner_names: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    return inner_names.get(str(path[0]), known_names) if path else known_names


def format_path(path: Path, root: str = "case") -> str:
    """Write a path as code does: agent_run.tool_calls[2].args; an empty one is ``root``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return shorten(redact(text.removeprefix(".")), _LONGEST_PATH) or root


def find_similar(name: str, names: Iterable[str]) -> str | None:
    """Return the one of ``names`` that resembles ``name`` most, if possible with a word in common."""
    words, known = {*name.split("_")}, [*names]
    related = [each for each in known if not words.isdisjoint(each.split("_"))]
    return next(iter(get_close_matches(name, related or known, 1)), None)


def _find_path(error: ErrorDetails, data: object) -> Path:
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
    return (*path, _get_discriminator(error)) if error["type"] in _UNION_ERRORS else tuple(path)


def _get_discriminator(error: ErrorDetails) -> str:
    """Return the field whose value chooses the form of an object."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _get_part(value: object, part: str | int) -> tuple[object] | None:
    if isinstance(value, dict):
        return (value[part],) if part in value else None
    return (value[part],) if isinstance(value, list) and isinstance(part, int) else None


def _is_other_form(path: Path, details: list[ErrorDetails]) -> bool:
    """Check whether a value with problems within it was clearly meant to have their form."""
    # A location that is longer than the path names one of several accepted forms.
    return all(len(detail["loc"]) > len(path) for detail in details)


def _describe(path: Path, details: Sequence[ErrorDetails], known_names: Sequence[str]) -> str:
    error = details[0]
    if error["type"] == "extra_forbidden":
        return _describe_unknown(path, known_names)
    if error["type"] in {"missing", "union_tag_not_found"}:
        return "is missing; add it"
    if error["type"] == "union_tag_invalid":
        return _describe_unknown_kind(error)
    if error["type"] == "value_error":
        # pydantic puts "Value error, " before the sentence of a validator.
        return error["msg"].partition(", ")[2]
    accepted = " or ".join(dict.fromkeys(map(_describe_accepted, details)))
    value = error["input"]
    return f"give {accepted}, not {_describe_given(value)}{_propose_option(accepted, value)}"


OTHER_NAMES: Final = {
    "tokens": "total_tokens", "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "model_name": "model", "actual_tools": "tool_calls", "tools_called": "tool_calls",
    "intermediate_messages": "messages", "output": "final_output", "actual_output": "final_output",
    "latency": "latency_ms", "duration": "latency_ms", "cost": "cost_usd", "tools": "tool_calls",
    "answer": "final_output", "response": "final_output", "prompt": "input", "question": "input",
    "expected_output": "reference_output", "expected_tools": "expected_trajectory",
    "score": "judge_score", "token_limit": "total_tokens", "safety": "audit", "compliance": "audit",
}  # fmt: skip
"""Our name of a field or a metric by the names that other tools give it."""


def _describe_unknown(path: Path, known_names: Sequence[str]) -> str:
    name = str(path[-1])
    similar = _find_own_name(name, known_names) or propose_field(path, known_names)
    similar = similar or find_similar(name, [known for known in known_names if "." not in known])
    if similar in {None, name}:
        return "no field has this name; leave it out"
    return f"no field has this name; write {similar!r} instead, or leave it out"


def _find_own_name(name: str, known: Iterable[str]) -> str | None:
    own = OTHER_NAMES.get(name)
    return own if own in {each.rpartition(".")[2] for each in known} else None


def _describe_unknown_kind(error: ErrorDetails) -> str:
    kinds = _OPTION.findall(error["ctx"]["expected_tags"])
    close = get_close_matches(error["ctx"]["tag"], kinds, 1)
    hint = f"write {close[0]!r} instead" if close else "the reference lists all names"
    return f"no {_get_discriminator(error)} has this name; {hint}"


def _describe_accepted(error: ErrorDetails) -> str:
    text = _EXPECTED.get(error["type"])
    return text.format(**error.get("ctx", {})) if text else error["msg"].removeprefix("Input should be ")


def _describe_given(value: object) -> str:
    # A text is not quoted: in the wrong field, nothing shows that it is a password.
    if isinstance(value, int | float):
        return repr(value) if abs(value) < _GREATEST_NUMBER else "a greater number"
    if isinstance(value, str) and not value.strip():
        return "a blank text"
    return "an empty list" if value == [] else _GIVEN.get(type(value), f"a {type(value).__name__}")


def _propose_option(accepted: str, value: object) -> str:
    """Name the accepted text that resembles ``value``."""
    close = get_close_matches(value, _OPTION.findall(accepted), 1) if isinstance(value, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""
