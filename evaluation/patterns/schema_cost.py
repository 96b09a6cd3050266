"""Counts the work of checking a value against a JSON Schema, which references can multiply without end.

If each of thirty definitions refers twice to the next one, a value is checked a thousand million times. The
validator remembers the result of a definition that refers to itself, so such a reference counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from evaluation.patterns.regex import count_instructions

JsonSchema: TypeAlias = dict[str, Any] | bool
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ONE_APPLIES: Final = frozenset({"properties", "prefixItems"})
"""Keywords of which at most one schema applies to one part of a value."""
_BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE: Final = frozenset(
    {
        *("not", "if", "then", "else", "contains", "propertyNames"),
        *("items", "additionalItems", "unevaluatedItems", "additionalProperties", "unevaluatedProperties"),
    }
)


class UnknownTargetError(Exception):
    """The target of a reference is no path into the schema."""


@dataclass(frozen=True, slots=True)
class SchemaCost:
    """The work of checking one part of a value."""

    steps: int
    """Greatest number of schemas that apply, plus the instructions of their patterns."""
    is_recursive: bool
    """Whether a definition refers to itself."""


def measure_schema(schema: JsonSchema) -> SchemaCost:
    """Measure a JSON Schema that the validator accepts; takes time proportional to its size.

    Raises:
        UnknownTargetError: A reference is no path into the schema, such as ``#/$defs/name``.
    """
    counter = _StepCounter(schema)
    return SchemaCost(counter.count(schema), counter.is_recursive)


@dataclass(slots=True)
class _StepCounter:
    """Counts the steps of schemas, and each target of a reference once."""

    root: JsonSchema
    is_recursive: bool = False
    steps: dict[str, int | None] = field(default_factory=dict)
    """By reference; None while its target is being counted."""

    def count(self, schema: object) -> int:
        if not isinstance(schema, dict):
            return 1
        if "$id" in schema and schema is not self.root:  # its references would be paths into this part
            raise UnknownTargetError
        return 1 + sum(self._count_keyword(keyword, value) for keyword, value in schema.items())

    def _count_keyword(self, keyword: str, value: object) -> int:
        if keyword in _REFERENCES:
            return self._count_target(str(value))
        join = max if keyword in _ONE_APPLIES else sum
        parts = [self.count(part) for part in find_schemas(keyword, value)]
        return (join(parts) if parts else 0) + sum(map(count_instructions, _find_patterns(keyword, value)))

    def _count_target(self, reference: str) -> int:
        if reference not in self.steps:
            self.steps[reference] = None
            self.steps[reference] = self.count(_find_target(self.root, reference))
        steps = self.steps[reference]
        self.is_recursive |= steps is None
        return steps or 1


def _find_target(root: JsonSchema, reference: str) -> object:
    start, *tokens = unquote(reference).split("/")
    if start != "#":
        raise UnknownTargetError
    part: Any = root
    for token in tokens:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            part = part[int(name)] if isinstance(part, list) else part[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise UnknownTargetError from None
    return part


def find_schemas(keyword: str, value: object) -> Iterator[object]:
    """Yield the schemas in the value of a keyword that apply to a value or to parts of it."""
    if keyword in _BY_NAME and isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list) and (keyword in _LISTS or keyword == "items"):
        yield from value
    elif keyword in _SINGLE:
        yield value


def _find_patterns(keyword: str, value: object) -> Iterator[str]:
    if keyword == "pattern" and isinstance(value, str):
        yield value
    elif keyword == "patternProperties" and isinstance(value, Mapping):
        yield from value
