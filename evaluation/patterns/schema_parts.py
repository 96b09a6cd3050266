"""Walks the parts of a JSON Schema: finds misspelt keywords, and counts the work of checking a value.

A validator ignores a misspelt keyword, so that it checks nothing. References can multiply the work without
end: if each of thirty definitions refers twice to the next one, a value is checked a thousand million times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from evaluation.patterns.regex import count_instructions

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
