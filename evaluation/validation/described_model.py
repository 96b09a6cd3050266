"""Base class of models whose JSON Schema describes each field by the text below it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic_core import CoreSchema


class DescribedModel(BaseModel):
    """A model that reads the texts below its fields when its JSON Schema is built.

    Pydantic's ``use_attribute_docstrings`` reads them when it makes the class: a fifth of an import's time.
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        """Add the descriptions to the schema that pydantic builds."""
        reference = handler(schema)
        fields = handler.resolve_ref_schema(reference).get("properties", {})
        for name, text in read_field_texts(cls).items():
            if name in fields:
                fields[name].setdefault("description", text)
        return reference


def read_field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Read the texts below the fields of a model from its source, by field."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, DescribedModel):
            texts.update(_read_module(base.__module__).get(base.__name__, {}))
    return texts


@cache
def _read_module(name: str) -> Mapping[str, Mapping[str, str]]:
    """Read the texts below the fields of each class of a module; none if its source is not installed."""
    try:
        source = inspect.getsource(sys.modules[name])
    except OSError:
        return {}
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return {node.name: dict(_read_class(node)) for node in classes}


def _read_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(node.body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, inspect.cleandoc(words)
