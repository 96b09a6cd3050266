"""Matches the regular expressions and the JSON Schemas of users without the risk of hanging the process.

RE2 matches in time proportional to text times program; it does not backtrack, and refuses constructs that it
does not support. A ``$ref`` has to be a path into the schema itself: nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Final, NoReturn, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import unquote

import jsonschema_rs
import re2
from pydantic import AfterValidator
from pydantic_core import to_json

from agents.parsing.loose_json import replace_surrogates
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import quote_text, redact, shorten

MAX_STEPS: Final = 1_000_000_000
"""Greatest product of a text's bytes and a program's instructions: 17 s at worst, and mostly far less."""
_CACHED_PATTERNS: Final = 256
_ACCEPTED: Final = (
    "use the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), which has no lookahead or "
    "lookbehind, no back-reference, no possessive quantifier or atomic group, and at most 1000 repetitions"
)
_UNKNOWN_SIZE: Final = 3_000


class _Program(Protocol):
    programsize: int

    def search(self, text: bytes) -> object: ...


def check_pattern(text: str) -> str:
    """Return ``text`` if RE2 accepts it as a regular expression.

    Raises:
        ContractError: RE2 refuses it; the message says which syntax it accepts.
    """
    _compile_pattern(text)
    return text


def matches_pattern(pattern: str, text: str) -> bool | None:
    """Check whether ``pattern`` matches anywhere in ``text``; None if that may take more than ``MAX_STEPS``.

    Raises:
        ContractError: RE2 refuses the pattern.
    """
    program, data = _compile_pattern(pattern), replace_surrogates(text).encode()
    if program.programsize * len(data) > MAX_STEPS:
        return None
    return program.search(data) is not None


def _check_field(pattern: str) -> str:
    check_pattern(pattern)
    # An empty text and a letter that no contract names have nothing in common.
    if all(matches_pattern(pattern, text) for text in ("", "\ue000")):
        raise ValueError("the pattern matches every text, so it checks nothing; require a part of it")
    return pattern


PatternText: TypeAlias = Annotated[str, AfterValidator(_check_field)]
"""A regular expression in RE2's syntax that does not match every text."""


@lru_cache(_CACHED_PATTERNS)
def _compile_pattern(pattern: str) -> _Program:
    options = re2.Options()
    # RE2 would write a refused pattern to stderr.
    options.log_errors = False
    # Only whether a pattern matches is asked, which RE2 answers faster without groups.
    options.never_capture = True
    try:
        return cast("_Program", re2.compile(replace_surrogates(pattern).encode(), options))
    except re2.error:
        # Its message may quote the middle of a secret, which no search would recognise.
        quoted = quote_text(redact(pattern))
        raise ContractError(f"the pattern {quoted} cannot be used; {_ACCEPTED}") from None


def count_instructions(pattern: str) -> int:
    """Count the instructions of a pattern; those that only the engine of JSON Schemas knows count as many."""
    try:
        return _compile_pattern(pattern).programsize
    except ContractError:
        return _UNKNOWN_SIZE


JsonSchema: TypeAlias = dict[str, Any] | bool
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_BY_NAME: Final = frozenset({
    "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"
})  # fmt: skip
_NESTED: Final = frozenset({
    "allOf", "anyOf", "oneOf", "prefixItems", "not", "if", "then", "else", "contains", "propertyNames",
    "items", "additionalItems", "unevaluatedItems", "additionalProperties", "unevaluatedProperties",
})  # fmt: skip
"""Keywords whose value is a schema or a list of schemas."""
_KEYWORDS: Final = (
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor",
    "$recursiveRef", "$ref", "$schema", "$vocabulary", "additionalItems", "additionalProperties", "allOf",
    "anyOf", "const", "contains", "contentEncoding", "contentMediaType", "contentSchema", "default",
    "definitions", "dependencies", "dependentRequired", "dependentSchemas", "deprecated", "description",
    "else", "enum", "example", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "id", "if",
    "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems",
    "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern", "patternProperties",
    "prefixItems", "properties", "propertyNames", "readOnly", "required", "then", "title", "type",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly",
)  # fmt: skip
"""The keywords of the drafts 4 to 2020-12, and ``example`` of OpenAPI."""
_FORMATS: Final = (
    "binary", "byte", "date", "date-time", "double", "duration", "email", "float", "hostname", "idn-email",
    "idn-hostname", "int32", "int64", "ipv4", "ipv6", "iri", "iri-reference", "json-pointer", "password",
    "regex", "relative-json-pointer", "time", "uri", "uri-reference", "uri-template", "uuid",
)  # fmt: skip
_LEAST_RATIO: Final = 0.87
"""Least similarity of a misspelling: minLenght and minLength have 0.89, requiredIf and required 0.84."""
_SHORTEST: Final = 4


class UnknownTargetError(Exception):
    """The target of a reference is no path into the schema."""


class StepCounter:
    """Counts the schemas and the instructions of patterns that apply to a value, and each reference once.

    The validator remembers the result of a definition that refers to itself, so its reference counts once.
    """

    def __init__(self, root: JsonSchema) -> None:
        self.is_recursive = False
        self._root = root
        self._targets: dict[str, int | None] = {}

    def count(self, schema: object) -> int:
        """Return the number of steps.

        Raises:
            UnknownTargetError: A reference is no path into the schema, such as ``#/$defs/name``.
        """
        if not isinstance(schema, dict):
            return 1
        if "$id" in schema and schema is not self._root:  # its references would be paths into this part
            raise UnknownTargetError
        references = (self._count_target(str(schema[name])) for name in _REFERENCES & schema.keys())
        parts = (
            self.count(part)
            for name, value in schema.items()
            if name not in {"$defs", "definitions"}
            for part in find_schemas(name, value)
        )
        return 1 + sum(references) + sum(parts) + sum(map(count_instructions, _find_patterns(schema)))

    def _count_target(self, reference: str) -> int:
        if reference not in self._targets:
            self._targets[reference] = None
            self._targets[reference] = self.count(_find_target(self._root, reference))
        steps = self._targets[reference]
        self.is_recursive |= steps is None
        return steps or 1


def _find_target(root: JsonSchema, reference: str) -> object:
    start, *tokens = unquote(reference).split("/")
    part: Any = root
    try:
        for token in tokens:
            name = token.replace("~1", "/").replace("~0", "~")
            part = part[int(name)] if isinstance(part, list) else part[name]
    except (KeyError, IndexError, ValueError, TypeError):
        raise UnknownTargetError from None
    if start != "#":
        raise UnknownTargetError
    return part


def find_schemas(keyword: str, value: object) -> Iterator[object]:
    """Yield the schemas in the value of a keyword."""
    if keyword in _BY_NAME and isinstance(value, Mapping):
        yield from value.values()
    elif keyword in _NESTED:
        yield from value if isinstance(value, list) else [value]


def _find_patterns(schema: Mapping[str, object]) -> Iterator[str]:
    if isinstance(pattern := schema.get("pattern"), str):
        yield pattern
    if isinstance(patterns := schema.get("patternProperties"), Mapping):
        yield from patterns


def find_misspelt_keyword(schema: object) -> tuple[str, str] | None:
    """Return the first keyword or format that resembles a known one, with that one; None if there is none."""
    if not isinstance(schema, Mapping):
        return None
    form = schema.get("format")
    words = [*((name, _KEYWORDS) for name in schema), *([(form, _FORMATS)] if isinstance(form, str) else [])]
    own = ((word, meant) for word, known in words if (meant := _find_resembling(word, known)) is not None)
    parts = (part for name, value in schema.items() for part in find_schemas(name, value))
    inner = (misspelt for part in parts if (misspelt := find_misspelt_keyword(part)) is not None)
    return next(chain(own, inner), None)


def has_keyword(schema: object) -> bool:
    """Return whether a schema has any keyword. An empty one accepts all on purpose, so it counts as well."""
    return not isinstance(schema, Mapping) or not schema or not schema.keys().isdisjoint(_KEYWORDS)


def _find_resembling(word: str, known: Iterable[str]) -> str | None:
    if word in known or len(word) < _SHORTEST or word.startswith("x-"):
        return None
    plain = {_plain(name): name for name in known}
    closest = get_close_matches(_plain(word), plain, 1, _LEAST_RATIO)
    return plain[closest[0]] if closest else None


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word)).casefold()


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
