"""Counts the work of checking a value against a JSON Schema, which references can multiply without end.

If each of thirty definitions refers twice to the next one, a value is checked a thousand million times. The
validator remembers the result of a definition that refers to itself, so such a reference counts once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from jsonschema_specifications import REGISTRY as DRAFTS
from referencing import Resource, Specification
from referencing.exceptions import NoSuchResource, Unresolvable
from referencing.jsonschema import DRAFT202012

from evaluation.patterns.regex import count_instructions

JsonSchema: TypeAlias = dict[str, Any] | bool
_NAMED: Final = re.compile(r'"(\$?id|\$anchor|\$dynamicAnchor)": "')
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
    """The target of a reference cannot be found."""


class _Resolver(Protocol):
    """Finds the target of a reference."""

    def lookup(self, ref: str) -> _Target: ...

    def in_subresource(self, subresource: Resource[JsonSchema]) -> _Resolver: ...


class _Target(Protocol):
    """A part of a schema, with the resolver for the references in it."""

    @property
    def contents(self) -> JsonSchema: ...

    @property
    def resolver(self) -> _Resolver: ...


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
        UnknownTargetError: The target of a reference is found neither in the schema nor in a published draft.
    """
    draft = DRAFT202012.detect(schema)
    resource = draft.create_resource(schema)
    address = resource.id() or ""
    registry = DRAFTS.with_resource(address, resource)
    if _NAMED.search(json.dumps(schema)):
        # Each lookup of a name would search the whole schema again. The search cannot read lists beside
        # schemas in `dependencies`; without a reference to a name that does not matter.
        with suppress(AttributeError):
            registry = registry.crawl()
    counter = _StepCounter(draft)
    try:
        return SchemaCost(counter.count(schema, registry.resolver(address)), counter.is_recursive)
    except (Unresolvable, NoSuchResource, AttributeError, TypeError) as error:
        # The last two: `referencing` does not check the types of keywords that belong to another draft.
        raise UnknownTargetError from error


@dataclass(slots=True)
class _StepCounter:
    """Counts the steps of schemas, and each target of a reference once."""

    draft: Specification[JsonSchema]
    is_recursive: bool = False
    steps: dict[int, int | None] = field(default_factory=dict)
    """By identity of the target in the schema; None while the target is being counted."""

    def count(self, schema: JsonSchema, resolver: _Resolver) -> int:
        if not isinstance(schema, dict):
            return 1
        return 1 + sum(self._count_keyword(keyword, value, resolver) for keyword, value in schema.items())

    def _count_keyword(self, keyword: str, value: object, resolver: _Resolver) -> int:
        if keyword in _REFERENCES:
            return self._count_target(str(value), resolver)
        join = max if keyword in _ONE_APPLIES else sum
        parts = [self._count_part(part, resolver) for part in find_schemas(keyword, value)]
        return (join(parts) if parts else 0) + sum(map(count_instructions, _find_patterns(keyword, value)))

    def _count_part(self, part: object, resolver: _Resolver) -> int:
        if not isinstance(part, dict):
            return 1
        # A part with an address of its own changes the base of the references in it.
        return self.count(part, resolver.in_subresource(self.draft.create_resource(part)))

    def _count_target(self, reference: str, resolver: _Resolver) -> int:
        target = resolver.lookup(reference)
        key = id(target.contents)
        if key not in self.steps:
            self.steps[key] = None
            self.steps[key] = self.count(target.contents, target.resolver)
        steps = self.steps[key]
        self.is_recursive |= steps is None
        return steps or 1


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
