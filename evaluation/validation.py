"""The base class of the input models, errors of the caller's data in plain sentences, and its plain JSON."""

from __future__ import annotations

import ast
import inspect
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from itertools import chain, pairwise
from textwrap import dedent
from typing import Final, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, from_json, to_json, to_jsonable_python

from agents.parsing.loose_json import replace_surrogates
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import redact, shorten
from evaluation.values import group_by, is_deep

OTHER_NAMES: Final = {
    "tokens": "total_tokens", "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "model_name": "model", "actual_tools": "tool_calls", "tools_called": "tool_calls",
    "intermediate_messages": "messages", "output": "final_output", "actual_output": "final_output",
    "latency": "latency_ms", "duration": "latency_ms", "cost": "cost_usd", "tools": "tool_calls",
    "answer": "final_output", "response": "final_output", "prompt": "input", "question": "input",
    "result": "final_output", "text": "final_output", "completion": "final_output",
    "final_answer": "final_output", "query": "input", "request": "input", "tool_uses": "tool_calls",
    "steps": "tool_calls", "history": "messages", "conversation": "messages",
    "duration_ms": "latency_ms", "response_time": "latency_ms", "total_cost": "cost_usd",
    "tokens_used": "total_tokens", "token_usage": "total_tokens", "documents": "sources",
    "retrieval_context": "sources", "exception": "error", "expected_answer": "reference_output",
    "ground_truth": "reference_output", "expected_tool_calls": "expected_trajectory",
    "must_include": "required_content", "must_not_call": "forbidden_tools",
    "expected_output": "reference_output", "expected_tools": "expected_trajectory",
    "score": "judge_score", "safety": "audit", "compliance": "audit", "mode": "trajectory_match_mode",
    "writing_tools": "trajectory.acting_tools", "acting_tools": "trajectory.acting_tools",
    "token_limit": "thresholds.total_tokens", "latency_limit_ms": "thresholds.latency_ms",
    "latency_limit": "thresholds.latency_ms", "cost_limit": "thresholds.cost_usd",
    "required_tool": "must_call", "required_tools": "must_call",
    "expected_final_response": "reference_output", "expected_response": "reference_output",
}  # fmt: skip
"""Our name of a field or a metric, or the path of a bound, by the names that other tools give it."""


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
_MOST_NAMES: Final = 8
"""Most fields of an object that a sentence names."""
_CLOSE: Final = 0.75
"""How similar two names have to be, as a ratio of letters."""


def describe_errors(
    error: ValidationError,
    data: object,
    known_names: Sequence[str],
    root: str = "case",
) -> list[str]:
    """Describe each wrong field of ``data`` in one sentence that begins with its path.

    Args:
        error: The error of validating ``data``.
        data: Plain JSON.
        known_names: Names or paths of fields, one of which is proposed for an unknown field that resembles
            it.
        root: Name of ``data`` itself.

    Returns:
        At most ``MAX_PROBLEMS`` sentences, and the number of the others in a further one.
    """
    # One sentence for each place, although pydantic reports an error for each form that it accepts there.
    by_path = group_by(error.errors(include_url=False), lambda detail: _find_path(detail, data))
    outer = {path[:length] for path in by_path for length in range(len(path))}
    # A location that is longer than the path names one of several accepted forms. If a value has problems
    # within it, it was meant to have their form.
    wrong = [
        path
        for path, details in by_path.items()
        if path not in outer or any(len(detail["loc"]) <= len(path) for detail in details)
    ]
    return limit_problems(
        [f"{format_path(path, root)}: {_describe(path, by_path[path], known_names)}" for path in wrong]
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
    prefix = _join_names(path)
    names = _list_inner(prefix, known_names) if prefix and accepted == "an object" else []
    listed = ", ".join((*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])))
    fields = f" (fields: {listed})" if listed else ""
    return f"give {accepted}{fields}, not {_describe_given(error['input'])}"


def _join_names(path: Path) -> str:
    """Write the names of a path before the name of a field: ``trajectory.``; places in lists are left out."""
    return "".join(f"{part}." for part in path if isinstance(part, str))


def _list_inner(prefix: str, known_names: Sequence[str]) -> list[str]:
    """List the names of the fields of the object at a path."""
    inner = (each.removeprefix(prefix) for each in known_names if each.startswith(prefix))
    return [each for each in inner if "." not in each]


def _names_form(error: ErrorDetails) -> bool:
    return error["type"] in _ACCEPTED or error["msg"].startswith(_EXPECTED)


def _describe_unknown(path: Path, known_names: Sequence[str]) -> str:
    *place, name = [part for part in path if isinstance(part, str)]
    prefix = _join_names((*place,))
    # The fields of a check are those of its kind; elsewhere, the shortest path to a name comes first.
    anywhere = [] if place[-1:] == ["checks"] else sorted(known_names, key=len, reverse=True)
    paths = {each.rpartition(".")[2]: each for each in anywhere}
    paths |= {each: each for each in _list_inner(prefix, known_names)}
    own = OTHER_NAMES.get(name, "")
    close = [own] if own in paths else get_close_matches(name, paths, 1, _CLOSE)
    # A bound is a key of an object, which has no path of its own.
    is_bound = "." in own and own.partition(".")[0] in known_names
    similar = own if is_bound else paths[close[0]] if close else name
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
    )

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            problems = describe_errors(error, fields, list_field_paths(type(self)), type(self).__name__)
            raise ContractError("; ".join(problems)) from None

    # Without this mark, pydantic would call this method for each model inside of another one.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # With use_attribute_docstrings, each start would read the source of all models.
        schema = handler(core_schema)
        fields = handler.resolve_ref_schema(schema).get("properties", {})
        models = [each for each in cls.__mro__ if issubclass(each, InputModel)]
        for name, text in chain.from_iterable(_read_field_texts(each).items() for each in models):
            if name in fields:
                fields[name].setdefault("description", text)
        return schema


@cache
def _read_field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Returns the text below each field that the class states; none if somebody typed it at a prompt."""
    texts: dict[str, str] = {}
    with suppress(OSError):
        statement = ast.parse(dedent(inspect.getsource(model))).body[0]
        for pair in pairwise(statement.body if isinstance(statement, ast.ClassDef) else ()):
            match pair:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = inspect.cleandoc(text)
    return texts


def wrap_name(value: object) -> object:
    """Read a name alone as an object with that name."""
    return {"name": value} if isinstance(value, str) else value


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
    raise TypeError(type(value).__name__)


def find_odd_values(value: object, path: Path = ()) -> Iterator[str]:
    """Describe each value that is not JSON, by its path."""
    value = value.model_dump(exclude_unset=True, warnings=False) if isinstance(value, InputModel) else value
    if isinstance(value, Mapping | list | tuple):
        if len(path) >= MAX_DEPTH:
            yield f"{format_path(path)}: more than {MAX_DEPTH} levels of nesting"
            return
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from find_odd_values(part, (*path, key if isinstance(key, int) else str(key)))
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
    except ContractError:
        raise
    except RecursionError:
        raise ValueError("the JSON is nested too deep; flatten it") from None
    except UnicodeDecodeError:
        raise ValueError("this is no text in UTF-8, so no JSON; if it is compressed, unpack it") from None
    except ValueError as error:  # also of a number with too many digits
        raise ValueError(f"this is not JSON: {error}") from None
    return value


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ContractError(f"an object has the field {shorten(name)!r} twice; give it once")
    return value
