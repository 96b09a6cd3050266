"""Parses a model specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from agents.errors import ModelSpecError

Kind = Literal["local", "ollama", "gguf", "openai"]

ACCEPTED: Final = '"local", "ollama:NAME", "gguf:PATH" or "openai:NAME"'
_NAMED: Final = frozenset(get_args(Kind)) - {"local"}


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed specification.

    Attributes:
        kind: The kind of model.
        name: The model's name or the path of a weights file; empty for ``local``.
    """

    kind: Kind
    name: str = ""


def parse_spec(spec: str) -> ModelSpec:
    """Parses a model specification.

    Args:
        spec: ``local``, ``ollama:NAME`` (the name may hold colons), ``gguf:PATH`` or ``openai:NAME``.

    Raises:
        ModelSpecError: The text has another form.
    """
    # os.environ.get may return None.
    if not isinstance(spec, str):
        raise ModelSpecError(
            f"the model specification is {spec!r}, a {type(spec).__name__}; give a text: {ACCEPTED}"
        )
    kind, _, name = spec.strip().partition(":")
    name = name.strip()
    if spec.strip() == "local":
        return ModelSpec("local")
    for known in get_args(Kind):
        if kind == known and kind in _NAMED and name:
            return ModelSpec(known, name)
    raise ModelSpecError(f"the model specification {spec!r} names no model; give {ACCEPTED}")
