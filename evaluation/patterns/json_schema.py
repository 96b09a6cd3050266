"""Checks JSON values against the JSON Schemas of users without the risk of hanging the process.

Patterns are matched without backtracking, formats are checked, and a ``$ref`` has to be a path into the
schema itself: nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, NoReturn, TypeAlias, TypeVar

import jsonschema_rs
from pydantic import AfterValidator
from pydantic_core import to_json

from evaluation.errors import ContractError
from evaluation.patterns.regex import MAX_STEPS
from evaluation.patterns.schema_parts import (
    JsonSchema,
    StepCounter,
    UnknownTargetError,
    find_misspelt_keyword,
    has_keyword,
)
from evaluation.sensitive.quoting import quote_text, redact, shorten

MAX_SCHEMA_STEPS: Final = 20_000
"""Most steps of a schema for one part of a value: as many as its references may multiply."""
_MAX_ERRORS: Final = 20_000
"""Most errors that the validator may collect to name the first: 0.5 s and 150 MB at worst."""
_MAX_PATTERN_BYTES: Final = 2**18
"""Size of a compiled pattern; it holds some thousand instructions."""
_CACHED: Final = 256
_LONGEST_PROBLEM: Final = 160
SchemaT = TypeVar("SchemaT", bound="Mapping[str, object] | bool")


@dataclass(frozen=True, slots=True)
class _Schema:
    validator: jsonschema_rs.Validator
    steps: int
    is_recursive: bool


def check_schema(schema: SchemaT) -> SchemaT:
    """Return ``schema`` if it is a JSON Schema that can be used.

    Raises:
        ContractError: It cannot be used; the message says why.
    """
    _compile(schema)
    return schema


SchemaObject: TypeAlias = Annotated[dict[str, object], AfterValidator(check_schema)]
"""A JSON Schema that is an object."""
AnySchema: TypeAlias = Annotated[dict[str, object] | bool, AfterValidator(check_schema)]
"""A JSON Schema; ``True`` accepts every JSON value, and ``False`` none."""


def matches_schema(schema: Mapping[str, object] | bool, value: object) -> bool | None:
    """Check whether the JSON ``value`` matches; None if that cannot be decided.

    It cannot if the check may take more than ``MAX_STEPS``, or the validator cannot read the value.

    Raises:
        ContractError: The schema cannot be used.
    """
    compiled = _compile(schema)
    try:
        if compiled.steps * len(to_json(value)) > MAX_STEPS:
            return None
        return compiled.validator.is_valid(value)
    except ValueError:  # a lone surrogate, or deeper than the validator goes
        return None


def find_schema_problem(schema: Mapping[str, object] | bool, value: object) -> str | None:
    """Name the first part of ``schema`` that the JSON ``value`` does not match; None if it matches.

    The text names a place in the schema and quotes nothing of ``value``, which may be sensitive.

    Raises:
        ContractError: The schema cannot be used.
    """
    matches = matches_schema(schema, value)
    if matches is None:
        return "the value cannot be read as JSON, or is too large for the JSON Schema"
    return None if matches else f"{_find_place(_compile(schema), value)} is not fulfilled"


def _find_place(schema: _Schema, value: object) -> str:
    # To name one error, the validator builds those of every alternative, each with a copy of its value.
    text = to_json(value)
    parts = 1 + text.count(b"{") + text.count(b"[")
    if schema.is_recursive or schema.steps * parts > _MAX_ERRORS:
        return "the JSON Schema"
    try:
        schema.validator.validate(value)
    except jsonschema_rs.ValidationError as problem:
        return _quote_place(problem.schema_path)
    return "the JSON Schema"


def _quote_place(path: Iterable[str | int]) -> str:
    return quote_text(redact("#/" + "/".join(map(str, path))), _LONGEST_PROBLEM)


def _compile(schema: object) -> _Schema:
    try:
        # As a text, because the cache needs a key that can be hashed.
        text = json.dumps(schema, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractError(f"the JSON Schema cannot be written as JSON ({type(error).__name__})") from None
    return _compile_text(text)


@lru_cache(_CACHED)
def _compile_text(text: str) -> _Schema:
    schema = json.loads(text)
    validator, counter = _build_validator(schema), StepCounter(schema)
    try:
        steps = counter.count(schema)
    except RecursionError:
        raise ContractError("the JSON Schema is nested too deep; use fewer levels of references") from None
    except UnknownTargetError:
        raise ContractError(
            "the JSON Schema has a $ref whose target cannot be found; write it like #/$defs/name, "
            "and no part with an $id of its own"
        ) from None
    if steps > MAX_SCHEMA_STEPS:
        raise ContractError(
            f"the JSON Schema takes {steps:.3g} steps to check one value, because its parts refer to "
            f"each other many times or its patterns are long; use one of at most {MAX_SCHEMA_STEPS} steps"
        )
    _check_keywords(schema)
    return _Schema(validator, steps, counter.is_recursive)


def _check_keywords(schema: JsonSchema) -> None:
    """Refuse a schema whose keywords the validator ignores: it would check less than its author thinks."""
    misspelt = find_misspelt_keyword(schema)
    if misspelt is not None:
        word, meant = (quote_text(redact(each), _LONGEST_PROBLEM) for each in misspelt)
        raise ContractError(f"the JSON Schema has {word}, which checks nothing; write {meant}")
    if not has_keyword(schema):
        raise ContractError("the JSON Schema has no keyword of JSON Schema, so it checks nothing; add type")


def _build_validator(schema: JsonSchema) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            schema,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_MAX_PATTERN_BYTES),
            retriever=_refuse_reference,
            # Its messages would quote parts of the schema.
            mask="the value",
        )
    except jsonschema_rs.ValidationError as error:
        hint = "; a pattern may hold no lookaround and no back-reference" if "regex" in error.message else ""
        place = _quote_place(error.instance_path)
        raise ContractError(
            f"the JSON Schema cannot be used, at {place}: {_shorten_problem(error.message)}{hint}"
        ) from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
        raise ContractError(f"the JSON Schema cannot be used: {_shorten_problem(str(error))}") from None


def _refuse_reference(uri: str) -> NoReturn:
    raise ContractError(f"a $ref points outside of the schema; copy in {quote_text(redact(uri))}")


def _shorten_problem(text: str) -> str:
    # The error may reach a caller without a report, so it is redacted here.
    return shorten(redact(text), _LONGEST_PROBLEM)
