"""The base class of the input models, and pydantic's errors in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Final, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from evaluation.errors import ContractError
from evaluation.sensitive.quoting import redact, shorten
from evaluation.validation.other_names import OTHER_NAMES

Path: TypeAlias = tuple[str | int, ...]
MAX_PROBLEMS: Final = 50
"""Most problems that are listed; the rest is counted."""
_LONGEST_PATH: Final = 200
_GREATEST_NUMBER: Final = 10**8
"""A greater one may be a telephone number, an account, or a PIN with a name that this text leaves out."""
_UNION_ERRORS: Final = frozenset({"union_tag_invalid", "union_tag_not_found"})
_EXPECTED: Final = "Input should be "
_ACCEPTED: Final = {
    "string_type": "a text", "int_type": "a whole number", "bool_type": "true or false",
    "string_pattern_mismatch": "a text that is not blank",
    "dict_type": "an object", "model_type": "an object", "model_attributes_type": "an object",
}  # fmt: skip
"""The accepted types in words that no reader of JSON has to look up; the rest is said in pydantic's."""
_CLOSE: Final = 0.75
"""How similar two names have to be, as a ratio of letters."""


def describe_errors(
    error: ValidationError,
    data: object,
    known_names: Sequence[str],
    root: str = "case",
    locate: Callable[[Path], str] = lambda _: "",
) -> list[str]:
    """Describe each wrong field of ``data`` in one sentence that begins with its path.

    Args:
        error: The error of validating ``data``.
        data: Plain JSON.
        known_names: Names or paths of fields, one of which is proposed for an unknown field that resembles
            it.
        root: Name of ``data`` itself.
        locate: Returns for a path the place in a file that stands before the sentence.

    Returns:
        At most ``MAX_PROBLEMS`` sentences, and the number of the others in a further one.
    """
    # One sentence for each place, although pydantic reports an error for each form that it accepts there.
    by_path: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        by_path.setdefault(_find_path(detail, data), []).append(detail)
    outer = {path[:length] for path in by_path for length in range(len(path))}
    # A location that is longer than the path names one of several accepted forms. If a value has problems
    # within it, it was meant to have their form.
    wrong = [
        path
        for path, details in by_path.items()
        if path not in outer or any(len(detail["loc"]) <= len(path) for detail in details)
    ]
    return limit_problems(
        [
            f"{locate(path)}{format_path(path, root)}: {_describe(path, by_path[path], known_names)}"
            for path in wrong
        ]
    )


def limit_problems(problems: Sequence[str]) -> list[str]:
    """Return the first ``MAX_PROBLEMS`` problems, and a sentence with the number of the others."""
    more = len(problems) - MAX_PROBLEMS
    return [*problems[:MAX_PROBLEMS], *([f"and {more} more problems"] if more > 0 else [])]


def format_path(path: Path, root: str = "case") -> str:
    """Write a path as code does: agent_run.tool_calls[2].args; an empty one is ``root``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return shorten(redact(text.removeprefix(".")), _LONGEST_PATH) or root


def find_similar(name: str, names: Iterable[str]) -> str | None:
    """Return the one of ``names`` that resembles ``name`` most."""
    return next(iter(get_close_matches(name, [*names], 1)), None)


@cache
def list_field_paths(model: type[BaseModel]) -> tuple[str, ...]:
    """List the fields of a model and of the models within, by path: ``trajectory.forbidden_tools``."""
    return tuple(dict.fromkeys(_walk_fields(model, "", ())))


def _walk_fields(model: type[BaseModel], prefix: str, outer: tuple[type[BaseModel], ...]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        inner = [each for each in _list_models(field.annotation) if each not in {*outer, model}]
        # A union of many models, such as the checks, has a field that tells them apart.
        for each in inner if len(inner) == 1 else ():
            yield from _walk_fields(each, f"{prefix}{name}.", (*outer, model))


def _list_models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _list_models(argument)


def _find_path(error: ErrorDetails, data: object) -> Path:
    """Leave out the parts of the location that name an accepted form (a class, "float"), not a place."""
    path: list[str | int] = []
    value = data
    for part in error["loc"]:
        if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            value = value[part]  # type: ignore[index] # a list has an index, and a dict any key
        elif error["type"] != "missing" or part != error["loc"][-1]:
            continue
        path.append(part)
    return (*path, _get_discriminator(error)) if error["type"] in _UNION_ERRORS else tuple(path)


def _get_discriminator(error: ErrorDetails) -> str:
    """Return the field whose value chooses the form of an object."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _describe(path: Path, details: Sequence[ErrorDetails], known_names: Sequence[str]) -> str:
    # A problem of a value in an accepted form says more than the list of the forms.
    error = next((each for each in details if not _names_form(each)), details[0])
    if error["type"] == "extra_forbidden":
        return _describe_unknown(path, known_names)
    if error["type"] in {"missing", "union_tag_not_found"}:
        return "is missing; add it"
    if error["type"] == "union_tag_invalid":
        kinds = error["ctx"]["expected_tags"].replace("'", "").split(", ")
        close = get_close_matches(error["ctx"]["tag"], kinds, 1)
        hint = f"write {close[0]!r} instead" if close else "the reference lists all names"
        return f"no {_get_discriminator(error)} has this name; {hint}"
    if error["type"] == "value_error":
        # pydantic puts "Value error, " before the sentence of a validator.
        return error["msg"].partition(", ")[2]
    if not _names_form(error):
        return error["msg"][0].lower() + error["msg"][1:]
    accepted = " or ".join(dict.fromkeys(map(_describe_accepted, details)))
    return f"give {accepted}, not {_describe_given(error['input'])}"


def _names_form(error: ErrorDetails) -> bool:
    return error["type"] in _ACCEPTED or error["msg"].startswith(_EXPECTED)


def _describe_unknown(path: Path, known_names: Sequence[str]) -> str:
    *place, name = [part for part in path if isinstance(part, str)]
    prefix = "".join(f"{part}." for part in place)
    near = [each.removeprefix(prefix) for each in known_names if each.startswith(prefix)]
    # The shortest path comes first. The fields of a check are those of its kind.
    far = [] if place[-1:] == ["checks"] else sorted(known_names, key=len, reverse=True)
    paths = {
        **{each.rpartition(".")[2]: each for each in far},
        **{each: each for each in near if "." not in each},
    }
    own = OTHER_NAMES.get(name)
    close = [own] if own in paths else get_close_matches(name, paths, 1, _CLOSE)
    similar = paths[close[0]] if close else name
    if similar in {name, prefix + name}:
        return "no field has this name; leave it out"
    return f"no field has this name; write {similar!r} instead, or leave it out"


def _describe_accepted(error: ErrorDetails) -> str:
    text = error["msg"].removeprefix(_EXPECTED).replace("a valid ", "a ")
    text = _ACCEPTED.get(error["type"], text)
    return f"a number {text}" if text.startswith(("greater", "less")) else text


def _describe_given(value: object) -> str:
    # A text is not quoted: in the wrong field, nothing shows that it is a password.
    if isinstance(value, int | float):
        return repr(value) if abs(value) < _GREATEST_NUMBER else "a greater number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "a text" if value.strip() else "a blank text"
    return "a list" if isinstance(value, list) else "an object"


class InputModel(BaseModel):
    """Base of the input models: strict types, no unknown fields, immutable.

    Raises:
        ContractError: A field is wrong; one sentence for each, which begins with its path.
    """

    # Strict: pydantic would read the text "12" and the flag true as numbers and hide a mistake.
    # The input stays out of error texts, because a case may contain a credential.
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            problems = describe_errors(error, fields, list_field_paths(type(self)), type(self).__name__)
            raise ContractError("; ".join(problems)) from None

    # Without this mark, pydantic would call this method for each model inside of another one.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def describe_idle_bound(name: str, value: float | None, least: int, other: float | None) -> str | None:
    """Describe a minimum that every output keeps which is not empty; None if an output can break it.

    Args:
        name: Name of the minimum.
        value: The minimum; None if there is none.
        least: The amount in every output that is not empty.
        other: The maximum that goes with it; None if there is none.
    """
    if value is None or value > least or other is not None:
        return None
    return (
        f"{name!r} is {value:g}, which no output can break; "
        f"give a greater {name!r}, or a {name.replace('min', 'max')!r}"
    )


def wrap_name(value: object) -> object:
    """Read a name alone as an object with that name."""
    return {"name": value} if isinstance(value, str) else value
