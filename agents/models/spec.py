"""What a model specification says: text in, a frozen value out, nothing built."""

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
        kind: Which adapter builds the model.
        name: The model's name for that adapter, or the path of a weights file; empty for ``local``.
    """

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        """The specification as a user writes it."""
        return f"{self.kind}:{self.name}" if self.name else self.kind


def parse_spec(spec: str) -> ModelSpec:
    """Read a model specification.

    Args:
        spec: ``local``, ``ollama:NAME`` (the name may hold colons), ``gguf:PATH`` or ``openai:NAME``.

    Raises:
        ModelSpecError: Anything else.
    """
    if not isinstance(spec, str):
        raise ModelSpecError(f"spec is {spec!r}, a {type(spec).__name__}; give a text: {ACCEPTED}")
    kind, _, name = spec.strip().partition(":")
    name = name.strip()
    if spec.strip() == "local":
        return ModelSpec("local")
    for known in get_args(Kind):
        if kind == known and kind in _NAMED and name:
            return ModelSpec(known, name)
    raise ModelSpecError(f"spec is {spec!r}, which names no model; give {ACCEPTED}")
