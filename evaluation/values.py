"""Plain JSON values, and the numbers and texts that are accepted as such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object; what its values are is said by whoever reads them."""

Quantity = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def as_object(value: object) -> dict[str, object]:
    """Narrow a JSON value to an object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Narrow a JSON value to a list; anything else is an empty one."""
    return value if isinstance(value, list) else []


class InputModel(BaseModel):
    """Data that a caller hands in: exact types, no unknown field, never changed."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class NameOrObject:
    """Marks an object that a bare text may stand for: its name."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read a text as an object of that name."""
        return no_info_before_validator_function(_named, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        """Accept a text in the published schema as well, where the schema is of what goes in."""
        described = handler(schema)
        return described if handler.mode == "serialization" else {"anyOf": [{"type": "string"}, described]}


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value
