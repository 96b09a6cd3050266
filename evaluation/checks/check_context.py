"""The output to check, with the views of it that several checks need; each is computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from agents.parsing.loose_json import replace_surrogates
from evaluation.checks import segmentation
from evaluation.texts.normal import find_unseen, fold_letters, remove_unseen, unify_line_ends

NotRun = Literal["denied", "forbidden", "unknown"]
NOT_RUN_WORDS: Final[Mapping[NotRun, str]] = {
    "denied": "was denied",
    "forbidden": "was forbidden",
    "unknown": "was not made again",
}
"""Words for a call whose tool did not run."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool."""

    name: str
    args: Mapping[str, object] | None = None
    """None if they were not recorded, or are no JSON object."""
    result: object = None
    error: str | None = None
    """The text of the error; None if the call succeeded."""
    not_run: NotRun | None = None
    """Why the tool did not run; None if it did."""


@dataclass(frozen=True)
class CheckContext:
    """One output with the task that it answers."""

    output: str
    task: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    """The calls of tools, in order."""
    has_output: bool = True
    """False if the run has no final output; nothing about its text is known then."""
    has_calls: bool = True
    """False if the run does not record its tool calls."""
    probes: tuple[ToolUse, ...] = ()
    """The answers of tools that were asked after the run."""
    given: tuple[str, ...] = ()
    """Further texts that the output may take facts from: of the user, and the context of a step."""
    messages: tuple[tuple[str, ...], ...] = ()
    """The texts of each message of the assistant: one, or one for each part."""

    @cached_property
    def text(self) -> str:
        """The output as a reader sees it, without surrounding white space and invisible characters."""
        return remove_unseen(unify_line_ends(self.raw)).strip()

    @cached_property
    def raw(self) -> str:
        """The output with all its characters, in which every one can be encoded."""
        return replace_surrogates(self.output)

    @cached_property
    def source(self) -> str:
        """The output as a program reads it: with invisible characters, without white space around it."""
        return self.raw.replace("\r\n", "\n").strip(" \t\r\n")

    @cached_property
    def unseen_note(self) -> str:
        """A clause about the first invisible character, which no reader would find; empty without one."""
        unseen = find_unseen(self.source)
        return "" if unseen is None else f"; it has the invisible character {unseen}"

    @cached_property
    def folded(self) -> str:
        """The text in normal form (NFC), for comparisons that ignore the letter case."""
        return fold_letters(self.text)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that are not blank."""
        return tuple(line for line in self.text.split("\n") if line.strip())

    @cached_property
    def paragraphs(self) -> tuple[str, ...]:
        """The parts between blank lines that are not horizontal rules."""
        return segmentation.split_paragraphs(self.text)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences; a heading or list item without a full stop belongs to the next one."""
        return segmentation.split_sentences(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words; "well-known" has two, and each Chinese or Japanese character is one."""
        return segmentation.split_words(self.text)

    @cached_property
    def list_items(self) -> tuple[str, ...]:
        """The contents of bullet points and numbered items."""
        return segmentation.find_list_items(self.text)

    @cached_property
    def characters(self) -> int:
        """The number of characters that a reader sees: an emoji of several code points is one."""
        return segmentation.count_characters(self.text)

    @cached_property
    def word_amount(self) -> segmentation.Amount:
        """The number of words by the usual ways to count."""
        return segmentation.count_words(self.text)

    @cached_property
    def code(self) -> str:
        """The content of the only fenced block of code; the whole output if it has none, or several."""
        blocks = segmentation.CODE_BLOCK.findall(self.source)
        return blocks[0][1] if len(blocks) == 1 else self.source
