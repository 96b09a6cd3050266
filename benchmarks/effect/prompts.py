"""Reads IFEval's prompts, and judges outputs with its official checkers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from tests.evaluation.checks.ifeval import check_officially, load_official, to_checks

Split = Literal["tuning", "held-out"]
_HELD_OUT_FROM: Final = 200
_NEEDS_TOKENIZER: Final = frozenset(
    {"length_constraints:number_sentences", "change_case:capital_word_frequency"}
)
"""Instructions whose official checkers read the file of a trained tokenizer from the network."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with the instructions that it contains, each with its arguments."""

    key: int
    text: str
    instructions: tuple[tuple[str, Mapping[str, Any]], ...]

    @property
    def can_be_checked(self) -> bool:
        """Whether the official checkers need no trained tokenizer and no random letter."""
        return all(
            name not in _NEEDS_TOKENIZER and str(arguments.get("letter") or "a").isalpha()
            for name, arguments in self.instructions
        )

    @property
    def official_checks(self) -> list[dict[str, Any]]:
        """The instructions as checks of a contract."""
        return [check for name, arguments in self.instructions for check in to_checks(name, arguments)]


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a split that can be checked.

    Attributes:
        chosen: The first of them.
        left_out: Number of prompts of the split that cannot be checked.
        digest: SHA-256 of the whole split.
    """

    chosen: tuple[Prompt, ...]
    left_out: int
    digest: str


def find_prompts() -> Path | None:
    """Return the file of prompts in $EVALUATION_DATA; None if there is none."""
    folder = os.environ.get("EVALUATION_DATA")
    path = Path(folder or "", "ifeval", "prompts-300.jsonl")
    return path if folder and path.exists() else None


def read_prompts(path: Path, split: Split, number: int) -> Prompts:
    """Read the first ``number`` prompts of a split that can be checked."""
    first, end = (0, _HELD_OUT_FROM) if split == "tuning" else (_HELD_OUT_FROM, None)
    with path.open(encoding="utf-8") as file:
        lines = list(islice(file, first, end))
    prompts = [_read_prompt(line) for line in lines]
    usable = [prompt for prompt in prompts if prompt.can_be_checked]
    digest = sha256("".join(lines).encode()).hexdigest()
    return Prompts(tuple(usable[:number]), len(prompts) - len(usable), digest)


def _read_prompt(line: str) -> Prompt:
    fields = json.loads(line)
    instructions = zip(fields["instruction_id_list"], fields["kwargs"], strict=True)
    return Prompt(fields["key"], fields["prompt"], tuple(instructions))


def is_right(prompt: Prompt, output: str) -> bool:
    """Return whether an output fulfils every instruction of its prompt, by the official checkers."""
    registry = load_official()
    return all(check_officially(registry, name, arguments, output) for name, arguments in prompt.instructions)
