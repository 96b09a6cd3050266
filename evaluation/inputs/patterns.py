"""Users' patterns and schemas, which cannot hang the process: linear matching, and nothing is fetched.

RE2 and the regex engine behind the schemas match in time proportional to text times program; neither
backtracks. What they do not support is refused when the contract is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NoReturn, Protocol, TypeVar, cast

import jsonschema_rs
import re2

from evaluation.errors import ContractError

MAX_STEPS: Final = 1_000_000_000
"""Greatest product of a text's bytes and a program's instructions: 17 s at worst, and mostly far less."""
_CACHED: Final = 256
MAX_SHOWN: Final = 80
"""Characters of a rule that a sentence quotes."""
_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode
_ACCEPTED: Final = (
    "accepted is the syntax of RE2 (https://github.com/google/re2/wiki/Syntax): no lookahead or lookbehind, "
    "no back-reference, no possessive quantifier or atomic group, at most 1000 repetitions"
)
SchemaT = TypeVar("SchemaT", bound="Mapping[str, object] | bool")


class _Program(Protocol):
    programsize: int

    def search(self, text: bytes) -> object: ...


def check_pattern(text: str) -> str:
    """Give ``text`` back if RE2 accepts it as a regular expression.

    Raises:
        ContractError: It does not; the message says what it does accept.
    """
    _compiled(text)
    return text


def matches_pattern(pattern: str, text: str) -> bool | None:
    """Say whether ``pattern`` matches anywhere in ``text``; None where that may take more than ``MAX_STEPS``.

    Raises:
        ContractError: The pattern is none that RE2 accepts.
    """
    program, data = _compiled(pattern), _bytes(text)
    if program.programsize * len(data) > MAX_STEPS:
        return None
    return program.search(data) is not None


@lru_cache(_CACHED)
def _compiled(pattern: str) -> _Program:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return cast("_Program", re2.compile(_bytes(pattern), options))
    except re2.error as error:
        raise ContractError(_refusal(pattern, error)) from None


def _refusal(pattern: str, error: Exception) -> str:
    cause = error.args[0] if error.args else ""
    said = cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)
    return f"the pattern {quote_text(pattern)} cannot be used ({said[:MAX_SHOWN]}); {_ACCEPTED}"


def _bytes(text: str) -> bytes:
    """Encode ``text``; half a surrogate pair, which UTF-8 does not have, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def check_schema(schema: SchemaT) -> SchemaT:
    """Give ``schema`` back if it is a JSON Schema that can be used as it stands.

    Its patterns are matched without backtracking, its formats are checked, and a ``$ref`` may only point into
    the schema itself or at a published draft.

    Raises:
        ContractError: It cannot be used; the message says why.
    """
    _validator(_canonical(schema))
    return schema


def find_schema_problem(schema: Mapping[str, object] | bool, value: object) -> str | None:
    """Say which part of ``schema`` the JSON ``value`` does not fulfil; None if it fulfils all.

    The text names a place in the schema and quotes nothing of ``value``.

    Raises:
        ContractError: The schema cannot be used.
    """
    validator = _validator(_canonical(schema))
    try:
        problem = next(iter(validator.iter_errors(value)), None)
    except ValueError:  # a lone surrogate, or deeper than the validator goes
        return "the value cannot be read as JSON"
    return None if problem is None else f"{_location(problem)} is not fulfilled"


def _location(problem: jsonschema_rs.ValidationError) -> str:
    path = "/".join(str(part) for part in problem.schema_path)
    return quote_text(f"#/{path}")


def _canonical(schema: object) -> str:
    try:
        return json.dumps(schema, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractError(f"the JSON Schema cannot be written as JSON ({type(error).__name__})") from None


@lru_cache(_CACHED)
def _validator(schema: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            json.loads(schema),
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            retriever=_refuse,
        )
    except jsonschema_rs.ValidationError as error:
        raise ContractError(_schema_refusal(error)) from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
        raise ContractError(f"the JSON Schema cannot be used: {_bounded(str(error))}") from None


def _schema_refusal(error: jsonschema_rs.ValidationError) -> str:
    place = quote_text("#/" + "/".join(str(part) for part in error.instance_path))
    hint = "; a pattern may hold no lookaround and no back-reference" if "regex" in error.message else ""
    return f"the JSON Schema cannot be used, at {place}: {_bounded(error.message)}{hint}"


def _refuse(uri: str) -> NoReturn:
    raise ContractError(f"a $ref may not leave the schema: {quote_text(uri)}")


def _bounded(text: str) -> str:
    return text if len(text) <= 2 * MAX_SHOWN else f"{text[: 2 * MAX_SHOWN]}…"


def quote_text(text: str, limit: int = MAX_SHOWN) -> str:
    """Quote at most ``limit`` characters of a rule, on one line."""
    return _quoted(text if len(text) <= limit else f"{text[:limit]}…")
