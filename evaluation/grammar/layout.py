"""The layout of a reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from evaluation.grammar.alphabet import ANY_CHARACTER, Alphabet


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the body; each is one line or more.

    Attributes:
        starts: The beginning of each part that has to be there.
        optional_starts: The beginning of each part that may follow.
        can_go_on: Whether any number of parts without a beginning of their own may follow these.
        separator: The text between two parts.
        more_lines: Maximum number of lines of a part after its first.
        has_blank_lines: Whether these lines may have blank lines between them.
        end: The marks of which each part ends with one; empty if it may end with any character.
        is_list: Whether prose may stand before and after the parts.
        is_whole: Whether a title, an opening or a closing would count as a part.
    """

    starts: tuple[str, ...] = ("",)
    optional_starts: tuple[str, ...] = ()
    can_go_on: bool = False
    separator: str = "\n"
    more_lines: int = 0
    has_blank_lines: bool = True
    end: str = ""
    is_list: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a reply.

    Attributes:
        alphabet: The characters that the checks allow.
        reserved: Characters that only the layout itself may use.
        guarded: The longest run of a mark that the writer may use; empty if none is bounded.
        fit_case: Changes the texts of the layout to the letter case of the reply.
        opening: The text at the start.
        gap: What follows the opening.
        is_body_optional: Whether nothing has to follow the opening.
        title: What stands before and after the title; None if there is no title.
        parts: The parts of the body; None if it is free.
        highlight: The mark of highlighted parts.
        highlights: Number of highlighted parts.
        placeholders: Number of placeholders in square brackets.
        postscript: The marker of the postscript; empty if there is none.
        closing: The text at the end.
        is_quoted: Whether the reply stands in double quotation marks.
        words: The least number of words of a body without parts, and whether there may be more; None if the
            words are not counted.
        options: The answers to choose from; empty if the reply is free.
        is_option_alone: Whether nothing may stand beside the answer.
    """

    alphabet: Alphabet = ANY_CHARACTER
    reserved: str = ""
    guarded: str = ""
    fit_case: Callable[[str], str] = str
    opening: str = ""
    gap: str = ""
    is_body_optional: bool = False
    title: tuple[str, str] | None = None
    parts: Parts | None = None
    highlight: str = "*"
    highlights: int = 0
    placeholders: int = 0
    postscript: str = ""
    closing: str = ""
    is_quoted: bool = False
    words: tuple[int, bool] | None = None
    options: tuple[str, ...] = ()
    is_option_alone: bool = True

    @property
    def is_free(self) -> bool:
        """Whether any reply has this layout."""
        return replace(self, fit_case=str) == Layout()

    @property
    def has_frame(self) -> bool:
        """Whether there is text around the body."""
        return bool(self.opening or self.title or self.postscript or self.closing)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the layout itself writes."""
        parts = self.parts or Parts()
        marks = self.highlight * bool(self.highlights) + "[]" * bool(self.placeholders) + '"' * self.is_quoted
        frame = (self.opening, *(self.title or ()), self.postscript, self.closing, marks)
        return (*frame, *parts.starts, *parts.optional_starts, parts.separator, *self.options)
