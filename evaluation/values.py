"""Plain JSON values, and the numbers and texts that are accepted as such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object; what its values are is said by whoever reads them."""

Quantity = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Given(BaseModel):
    """Data that a caller hands in: exact types, no unknown field, never changed."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
