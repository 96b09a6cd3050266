"""Matches the regular expressions and the JSON Schemas of users.

RE2 matches in time proportional to text times program; it does not backtrack, and refuses constructs that it
does not support. A ``$ref`` has to be a path into the schema itself: nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, NoReturn, TypeAlias, TypeVar
from urllib.parse import unquote

import jsonschema_rs
import re2
from pydantic import AfterValidator

from agents.parsing.loose_json import replace_surrogates
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import quote_text, redact, shorten
from evaluation.values import is_deep

_CACHED: Final = 256
_ACCEPTED: Final = (
    "use the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), which has no lookahead or "
    "lookbehind, no back-reference, no possessive quantifier or atomic group, and at most 1000 repetitions"
)


def matches_pattern(pattern: str, text: str) -> bool:
    """Check whether ``pattern`` matches anywhere in ``text``.

    Raises:
        ContractError: RE2 refuses the pattern; the message says which syntax it accepts.
    """
    return _compile_pattern(pattern).search(replace_surrogates(text).encode()) is not None


def _check_field(pattern: str) -> str:
    # An empty text and a letter that no contract names have nothing in common.
    if all(matches_pattern(pattern, text) for text in ("", "\ue000")):
        raise ValueError("the pattern matches every text, so it checks nothing; require a part of it")
    return pattern


PatternText: TypeAlias = Annotated[str, AfterValidator(_check_field)]
"""A regular expression in RE2's syntax that does not match every text."""


@lru_cache(_CACHED)
def _compile_pattern(pattern: str) -> Any:  # noqa: ANN401 - RE2 has no types
    options = re2.Options()
    # RE2 would write a refused pattern to stderr.
    options.log_errors = False
    # Only whether a pattern matches is asked, which RE2 answers faster without groups.
    options.never_capture = True
    try:
        return re2.compile(replace_surrogates(pattern).encode(), options)
    except re2.error:
        # Its message may quote the middle of a secret, which no search would recognise.
        quoted = quote_text(redact(pattern))
        raise ContractError(f"the pattern {quoted} cannot be used; {_ACCEPTED}") from None


_KEYWORDS: Final = frozenset({
    "$dynamicRef", "$recursiveRef", "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf",
    "const", "contains", "dependencies", "dependentRequired", "dependentSchemas", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "if", "items", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "prefixItems", "properties", "propertyNames", "required", "type",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
})  # fmt: skip
"""The keywords of the drafts 4 to 2020-12 that can refuse a value."""
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})
_MAX_PARTS: Final = 100_000
_MAX_PATTERN_BYTES: Final = 2**18
"""Size of a compiled pattern; it holds some thousand instructions."""
_LONGEST_PROBLEM: Final = 160
_MOST_LEVELS: Final = 8
"""Levels of a value up to which a problem is placed: the validator builds those of every alternative."""
SchemaT = TypeVar("SchemaT", bound="Mapping[str, object] | bool")


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
    """Check whether the JSON ``value`` matches; None if the validator cannot read the value.

    Raises:
        ContractError: The schema cannot be used.
    """
    try:
        return _compile(schema).is_valid(value)
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
        return "the value cannot be read as JSON"
    return None if matches else f"{_find_place(schema, value)} is not fulfilled"


def _find_place(schema: Mapping[str, object] | bool, value: object) -> str:
    if not is_deep(value, _MOST_LEVELS):
        try:
            _compile(schema).validate(value)
        except jsonschema_rs.ValidationError as problem:
            return _quote_place(problem.schema_path)
    return "the JSON Schema"


def _quote_place(path: Iterable[str | int]) -> str:
    return quote_text(redact("#/" + "/".join(map(str, path))), _LONGEST_PROBLEM)


def _compile(schema: object) -> jsonschema_rs.Validator:
    try:
        # As a text, because the cache needs a key that can be hashed.
        text = json.dumps(schema, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractError(f"the JSON Schema cannot be written as JSON ({type(error).__name__})") from None
    return _compile_text(text)


@lru_cache(_CACHED)
def _compile_text(text: str) -> jsonschema_rs.Validator:
    schema = json.loads(text)
    # An empty one accepts all on purpose.
    if isinstance(schema, dict) and schema and _KEYWORDS.isdisjoint(schema):
        raise ContractError("the JSON Schema has no keyword of JSON Schema that refuses; add type")
    try:
        validator = jsonschema_rs.validator_for(
            schema,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_MAX_PATTERN_BYTES),
            retriever=_refuse_reference,
            # Its messages would quote parts of the schema.
            mask="the value",
        )
    except jsonschema_rs.ValidationError as error:
        hint = "; a pattern may hold no lookaround and no back-reference" if "regex" in error.message else ""
        place, problem = _quote_place(error.instance_path), _shorten_problem(error.message)
        raise ContractError(f"the JSON Schema cannot be used, at {place}: {problem}{hint}") from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
        raise ContractError(f"the JSON Schema cannot be used: {_shorten_problem(str(error))}") from None
    if not _has_few_parts(schema):
        raise ContractError(
            f"the JSON Schema refers to its definitions so often that a value may be compared with more than "
            f"{_MAX_PARTS:,} parts; use fewer references within alternatives"
        )
    return validator


def _has_few_parts(schema: object) -> bool:
    try:
        return _count_parts(schema, dict(_list_places(schema, "#")), {}) <= _MAX_PARTS
    except RecursionError:
        return False


def _list_places(part: object, place: str) -> Iterator[tuple[str, object]]:
    """Yield each part of a schema with the path by which a ``$ref`` names it."""
    yield place, part
    if isinstance(part, dict | list):
        for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
            token = str(name).replace("~", "~0").replace("/", "~1")
            yield from _list_places(inner, f"{place}/{token}")


def _count_parts(part: object, places: Mapping[str, object], known: dict[str, int]) -> int:
    """Count the parts of a schema, each reference with the parts of its target, and once within itself.

    Definitions that refer to the next one twice double with each, and the validator follows all of them.
    """
    if not isinstance(part, dict):
        return sum(_count_parts(each, places, known) for each in part) if isinstance(part, list) else 0
    inner = [_count_parts(each, places, known) for name, each in part.items() if name not in _DEFINITIONS]
    references = [unquote(str(part[name])) for name in _REFERENCES & part.keys()]
    for reference in references:
        if reference not in known:
            known[reference] = 1
            known[reference] = _count_parts(places.get(reference), places, known)
    return 1 + sum(inner) + sum(known[reference] for reference in references)


def _refuse_reference(uri: str) -> NoReturn:
    raise ContractError(f"a $ref points outside of the schema; copy in {quote_text(redact(uri))}")


def _shorten_problem(text: str) -> str:
    # The error may reach a caller without a report, so it is redacted here.
    return shorten(redact(text), _LONGEST_PROBLEM)
