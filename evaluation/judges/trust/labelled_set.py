"""Reads the bundled set of outputs that are known to be right or wrong."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

from evaluation.judges.trust.figures import Kind

Half: TypeAlias = Literal["tuning", "held_out"]
_FILE: Final = Path(__file__).with_name("labelled_set.json")


class LabelledOutput(BaseModel):
    """An output with its task and its label: only the kind ``right`` is right.

    Attributes:
        id: The name of the pair.
        half: ``tuning`` if judges may be improved with it, ``held_out`` if they are only measured with it.
        kind: The label.
        fault: What is wrong, as one word; "none" for a right output.
        language: ISO 639-1 code of the task.
        task: What was asked for.
        output: The output to judge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str
    half: Half
    kind: Kind
    fault: str
    language: Literal["en", "de"]
    task: str
    output: str


_ADAPTER: Final = TypeAdapter(tuple[LabelledOutput, ...])


@lru_cache(maxsize=1)
def load_labelled_set() -> tuple[LabelledOutput, ...]:
    """Reads the set. The kinds are mixed evenly, so that its beginning is a fair sample."""
    return _ADAPTER.validate_json(_FILE.read_bytes())


@lru_cache(maxsize=1)
def get_set_version() -> str:
    """Returns a digest of the set's content: figures of another content are not comparable."""
    return sha256(_ADAPTER.dump_json(load_labelled_set())).hexdigest()[:12]
