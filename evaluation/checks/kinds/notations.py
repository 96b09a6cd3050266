"""Checks of the parts of a text: numbers, dates, addresses, regular expressions, code that parses."""

from __future__ import annotations

import ast
import warnings
from typing import ClassVar, Final, Literal

from evaluation.checks.base import BaseCheck, CheckKind, Observation
from evaluation.checks.context import CheckContext
from evaluation.checks.search import any_true, has_number, has_pattern, shows_number, shows_pattern
from evaluation.checks.segmentation import CODE_BLOCK
from evaluation.patterns.regex import PatternText
from evaluation.sensitive.quoting import quote_text
from evaluation.values import Quantity

# Chinese and Japanese write a number and its unit together: 2024年5月 has two.


_WORDS: Final = (
    *(ast.Module, ast.Expr, ast.Name, ast.Load, ast.Constant, ast.Tuple),
    *(
        ast.BoolOp,
        ast.boolop,
        ast.UnaryOp,
        ast.Not,
        ast.Compare,
        ast.In,
        ast.NotIn,
        ast.Is,
        ast.IsNot,
        ast.IfExp,
    ),
)
"""What Python reads in a few words of English, which parse without being code."""


class Pattern(BaseCheck):
    """A regular expression (RE2) matches somewhere in the text, or nowhere, also behind no disguise."""

    check: Literal["regex"] = "regex"
    kind: ClassVar[CheckKind] = "content"

    pattern: PatternText
    matches: bool = True

    def _observe(self, context: CheckContext) -> Observation:
        search = has_pattern if self.matches else shows_pattern
        matched = any_true({search(text, self.pattern) for text in {context.raw, context.text}})
        if matched is None:
            return Observation(None, "the text is too long for the pattern")
        return Observation(
            matched == self.matches, f"the pattern matches {'a part' if matched else 'nothing'}"
        )

    def _describe(self) -> str:
        pattern = quote_text(self.pattern)
        return f"write a text that {'matches' if self.matches else 'does not match'} the pattern {pattern}"


class StatesNumber(BaseCheck):
    """The text states a number, in any common notation, or does not state it."""

    check: Literal["states_number"] = "states_number"
    kind: ClassVar[CheckKind] = "content"

    number: float
    tolerance: Quantity = 0.0
    """The greatest accepted difference."""
    present: bool = True

    def _observe(self, context: CheckContext) -> Observation:
        search = has_number if self.present else shows_number
        is_stated = search(context.raw, self.number, self.tolerance)
        return Observation(
            is_stated == self.present, f"the text {'states' if is_stated else 'does not state'} it"
        )

    def _describe(self) -> str:
        margin = f" +/- {self.tolerance:g}" if self.tolerance else ""
        return f"{'state' if self.present else 'do not state'} the number {self.number!r}{margin}"


class Code(BaseCheck):
    """The Python in the fenced blocks parses, or the whole text if it has no block."""

    check: Literal["code"] = "code"
    kind: ClassVar[CheckKind] = "format"

    def _observe(self, context: CheckContext) -> Observation:
        blocks = self._find_blocks(context.source)
        problems = [problem for block in blocks if (problem := _find_problem(block))]
        if not blocks:
            return Observation(False, "the text has no code in Python")
        return Observation(
            not problems, f"{problems[0]}{context.unseen_note}" if problems else "the code parses"
        )

    def _find_blocks(self, text: str) -> list[str]:
        blocks = [(name.strip().lower(), body) for name, body in CODE_BLOCK.findall(text)]
        return [body for name, body in blocks if name in {"", "python", "py"}] if blocks else [text]

    def _describe(self) -> str:
        return "write code in python that parses"


def _find_problem(code: str) -> str | None:
    try:
        # The parser warns of an escape such as "\d", which is valid.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _find_missing_code(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return f"the code does not parse{f' (line {line})' if line else ''}"


def _find_missing_code(tree: ast.Module) -> str | None:
    """Return a problem if nothing in a tree is code: comments, or words such as "yes" and "not yet"."""
    is_code = any(not isinstance(node, _WORDS) for node in ast.walk(tree))
    return None if is_code else "the text has no statement"
