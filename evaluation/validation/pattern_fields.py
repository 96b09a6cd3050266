"""Fields that hold a regular expression or a JSON Schema."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from evaluation.patterns.json_schema import check_schema
from evaluation.patterns.regex import check_pattern, matches_pattern


def _check_pattern(pattern: str) -> str:
    check_pattern(pattern)
    # An empty text and a letter that no contract names have nothing in common.
    if all(matches_pattern(pattern, text) for text in ("", "\ue000")):
        raise ValueError("the pattern matches every text, so it checks nothing; require a part of it")
    return pattern


PatternText: TypeAlias = Annotated[str, AfterValidator(_check_pattern)]
"""A regular expression in RE2's syntax that does not match every text."""
SchemaObject: TypeAlias = Annotated[dict[str, object], AfterValidator(check_schema)]
"""A JSON Schema that is an object."""
AnySchema: TypeAlias = Annotated[dict[str, object] | bool, AfterValidator(check_schema)]
"""A JSON Schema; ``True`` accepts every JSON value, and ``False`` none."""
