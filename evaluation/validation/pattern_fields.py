"""Fields that hold a regular expression or a JSON Schema, and how the published schemas describe them."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict

from evaluation.patterns.json_schema import check_schema
from evaluation.patterns.regex import check_pattern, matches_pattern

_MISTAKES: Final[JsonDict] = {
    "not": {"pattern": r"^([*+?]|[^\[\\]*(\(\?(=|!|<=|<!|>)|\($|\[[^\]\\]*$))"},
}
"""The mistakes in patterns that JSON Schema can describe: lookaround, open brackets, nothing to repeat."""
_TYPES: Final[JsonDict] = {
    "enum": ["array", "boolean", "integer", "null", "number", "object", "string"],
}


def _check_pattern(pattern: str) -> str:
    check_pattern(pattern)
    # An empty text and a letter that no contract names have nothing in common.
    if all(matches_pattern(pattern, text) for text in ("", "\ue000")):
        raise ValueError("the pattern matches every text, so it checks nothing; require a part of it")
    return pattern


PatternText: TypeAlias = Annotated[str, AfterValidator(_check_pattern), Field(json_schema_extra=_MISTAKES)]
"""A regular expression in RE2's syntax that does not match every text."""
_SCHEMA: Final = Field(
    json_schema_extra={"properties": {"type": {"anyOf": [_TYPES, {"type": "array", "items": _TYPES}]}}}
)
SchemaObject: TypeAlias = Annotated[dict[str, object], AfterValidator(check_schema), _SCHEMA]
"""A JSON Schema that is an object."""
AnySchema: TypeAlias = Annotated[dict[str, object] | bool, AfterValidator(check_schema), _SCHEMA]
"""A JSON Schema; ``True`` accepts every JSON value, and ``False`` none."""
