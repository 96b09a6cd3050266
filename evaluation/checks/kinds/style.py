"""Checks of the writing and the form: letter case, language, both ends, Markdown, JSON, tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self

import regex
from pydantic import Field, model_validator

from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, Text, join_quoted
from evaluation.checks.kinds.wording import CountCheck
from evaluation.checks.segmentation import (
    CONTENT,
    LANGUAGES,
    LanguageCode,
    find_list_items,
    find_other,
    guess_language,
    is_language,
)
from evaluation.findings import CheckKind
from evaluation.patterns import AnySchema, find_schema_problem, matches_schema
from evaluation.sensitive.scanner import quote_text
from evaluation.texts.json_texts import parse_json, read_json_values
from evaluation.texts.normal import normalize_text
from evaluation.values import Count

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_NAMED: Final = 2
"""Most sentences of another language that are named."""


class LetterCase(BaseCheck):
    """All letters are capital or small."""

    check: Literal["letter_case"] = "letter_case"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["upper", "lower"]

    def _observe(self, context: CheckContext) -> CheckOutcome:
        if not any(character.isupper() or character.islower() for character in context.text):
            return CheckOutcome(None, "the text has no letters that have a case")
        wrong = next(filter(self._is_wrong, context.text.split()), None)
        seen = f"the word {quote_text(wrong)} differs" if wrong else "all words fit"
        return CheckOutcome(wrong is None, seen)

    def _is_wrong(self, word: str) -> bool:
        tests = (str.islower,) if self.style == "upper" else (str.isupper, str.istitle)
        return any(test(letter) for test in tests for letter in word)

    def _describe(self) -> str:
        return "write all letters as capital letters" if self.style == "upper" else "use no capital letters"


class Language(BaseCheck):
    """The text is in one language; short names and quotations in others are accepted."""

    check: Literal["language"] = "language"
    kind: ClassVar[CheckKind] = "language"

    code: LanguageCode

    def _observe(self, context: CheckContext) -> CheckOutcome:
        passed = is_language(context.sentences, context.text, self.code)
        guess = guess_language(context.text)
        if guess is None:
            return CheckOutcome(passed, "the text has no letters")
        whole = f"the text is probably in {LANGUAGES.get(guess.code, repr(guess.code))}"
        if guess.code != self.code or not (other := find_other(context.sentences, self.code)):
            return CheckOutcome(passed, whole)
        named = " and ".join(map(quote_text, other[:_NAMED]))
        return CheckOutcome(passed, f"{whole}, but not {named}")

    def _describe(self) -> str:
        return f"write the whole text in {LANGUAGES[self.code]}"


_CONTENT: Final = regex.compile(CONTENT)
_MARKUP: Final[Mapping[str, str]] = {
    "heading_open": "a heading",
    "hr": "a horizontal rule",
    "bullet_list_open": "a bullet point",
    "blockquote_open": "a block quote",
    "fence": "a code block",
    "table_open": "a table",
    "link_open": "a link",
    "image": "an image",
    "code_inline": "text in backticks",
    "em_open": "bold or italic text",
    "strong_open": "bold or italic text",
    "s_open": "text that is struck through",
}
"""What a renderer shows as markup, by the parser's name of it."""
_FOOTNOTE: Final = regex.compile(r"\[\^[^\[\]\n]++\]")


class HeadingCount(CountCheck):
    """The number of Markdown headings."""

    check: Literal["heading_count"] = "heading_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("heading", "headings")

    def _count(self, context: CheckContext) -> int:
        tokens = _load_parser("inline").parse(context.text)
        inner = (after for token, after in pairwise(tokens) if token.type == "heading_open")
        return sum(_CONTENT.search(each.content) is not None for each in inner)


class ListItemCount(CountCheck):
    """The number of items of lists."""

    check: Literal["list_item_count"] = "list_item_count"
    kind: ClassVar[CheckKind] = "format"

    marker: Literal["any", "bullet", "number"] = "any"

    def _count(self, context: CheckContext) -> int:
        return len(find_list_items(context.text, self.marker))

    def _name_things(self) -> tuple[str, str]:
        name = {"any": "list item", "bullet": "bullet point", "number": "numbered item"}[self.marker]
        return name, f"{name}s"


class Markdown(BaseCheck):
    """The text has no Markdown markup; numbered lines, bare addresses and HTML tags are none."""

    check: Literal["markdown"] = "markdown"
    kind: ClassVar[CheckKind] = "format"

    use: Literal["absent"] = "absent"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        name = _find_markup(context.text)
        return CheckOutcome(name is None, f"the text has {name or 'no Markdown markup'}")

    def _describe(self) -> str:
        return "write plain text without Markdown"


def _find_markup(text: str) -> str | None:
    """Return the name of something that a renderer shows as markup."""
    if _FOOTNOTE.search(text):
        return "a footnote"
    tokens = (inner for token in _load_parser().parse(text) for inner in (token, *(token.children or ())))
    return next((_MARKUP[token.type] for token in tokens if token.type in _MARKUP), None)


@cache
def _load_parser(*without: str) -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - on first use: it takes a quarter of a second

    # An indented line of plain text is no code, and a reader sees the backslash of an escape.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["code", "escape", *without])


_FENCED: Final = regex.compile(r"\A```[^\n`]*\n?(.*?)\n?[ \t]*```\Z", regex.S)
_SIGNS: Final = regex.compile(
    r"<table\b|^(?=[^\n]*\|)(?=[^\n]*-)[ \t>|:-]+$|^[ \t>]*\|[^\n]*\|[ \t]*\n[ \t>]*\|"
    r"|^[ \t>]*\+(?:[-=]+\+)+|[│┃║]",
    regex.M | regex.I,
)
"""Tables of HTML, and lines that look like rows of a table."""
_ROOTS: Final[Mapping[str, type | tuple[type, ...]]] = {"object": dict, "array": list, "any": object}


class Json(BaseCheck):
    """The whole text is JSON; a code fence around it is accepted unless ``fence`` is false."""

    check: Literal["json"] = "json"
    kind: ClassVar[CheckKind] = "format"

    root: Literal["any", "object", "array"] = "any"
    keys: Annotated[list[Text], Field(default_factory=list)]
    """Keys that the object, or each object of the array, has to have."""
    fence: bool = True

    def _observe(self, context: CheckContext) -> CheckOutcome:
        values = parse_json(_remove_fence(context.source) if self.fence else context.source)
        if not values:
            return CheckOutcome(False, "the text is not only JSON")
        value = values[0]
        if not isinstance(value, _ROOTS[self.root]):
            return CheckOutcome(False, f"the text is JSON, but no {self.root}")
        missing = self._find_missing(value)
        seen = f"{join_quoted(missing)} is missing" if missing else "the text is JSON"
        return CheckOutcome(not missing, seen)

    def _find_missing(self, value: object) -> list[str]:
        items = value if isinstance(value, list) else [value]
        with_key = {key: [isinstance(item, dict) and key in item for item in items] for key in self.keys}
        # An array without objects has no key.
        return [key for key, has_key in with_key.items() if not has_key or not all(has_key)]

    def _describe(self) -> str:
        root = "" if self.root == "any" else f" ({self.root})"
        keys = f" with the keys {join_quoted(self.keys)}" if self.keys else ""
        return f"write nothing but JSON{root}{keys}"


class JsonSchema(BaseCheck):
    """The whole text, or with ``alone: false`` each fenced block, is JSON that fulfils a JSON Schema."""

    check: Literal["schema"] = "schema"
    kind: ClassVar[CheckKind] = "format"

    json_schema: AnySchema
    alone: bool = True
    """Whether the text has to be the JSON and nothing else, except for a fence around it."""

    def _observe(self, context: CheckContext) -> CheckOutcome:
        values = parse_json(_remove_fence(context.source)) if self.alone else read_json_values(context.raw)
        if not values:
            return CheckOutcome(False, f"the text is {'not only' if self.alone else 'no'} JSON")
        # One value that fits does not outweigh another one that says something else.
        answers = {matches_schema(self.json_schema, value) for value in values}
        passed = False if False in answers else None if None in answers else True
        problem = next(filter(None, (find_schema_problem(self.json_schema, value) for value in values)), None)
        return CheckOutcome(passed, problem or "the JSON fulfils the schema")

    def _describe(self) -> str:
        return f"write {'nothing but ' if self.alone else ''}JSON that fulfils the JSON Schema"


class Table(BaseCheck):
    """The text has a Markdown table, or no table of any notation."""

    check: Literal["table"] = "table"
    kind: ClassVar[CheckKind] = "format"

    use: Literal["present", "absent"] = "present"
    columns: Count | None = None
    rows: Count | None = None
    """Without the header."""

    @model_validator(mode="after")
    def _refuse_size(self) -> Self:
        if self.use == "absent" and (self.columns, self.rows) != (None, None):
            raise ValueError("a table that is absent has no size; leave out 'columns' and 'rows'")
        return self

    def _observe(self, context: CheckContext) -> CheckOutcome:
        tables = _find_tables(context.text)
        if self.use == "absent":
            found = bool(tables) or _SIGNS.search(context.text) is not None
            return CheckOutcome(not found, f"the text has {'a' if found else 'no'} table")
        fits = any(self.columns in {None, size[0]} and self.rows in {None, size[1]} for size in tables)
        sizes = ", ".join(f"{columns} columns and {rows} rows" for columns, rows in tables)
        return CheckOutcome(fits, f"the text has a table with {sizes}" if sizes else "the text has no table")

    def _describe(self) -> str:
        if self.use == "absent":
            return "write no table"
        columns = "" if self.columns is None else f" with {self.columns} columns"
        rows = "" if self.rows is None else f" with {self.rows} rows below the header"
        return f"write a Markdown table{columns}{rows}"


def _remove_fence(text: str) -> str:
    """Return the contents of the one fenced block that a text is; any other text as it is."""
    match = _FENCED.match(text)
    return regex.sub(r"\Ajson\b\s*", "", match.group(1).strip(), flags=regex.I) if match else text


def _find_tables(text: str) -> list[tuple[int, int]]:
    """Return the number of columns and of rows below the header of each Markdown table."""
    kinds = " ".join(token.type for token in _load_parser("inline").parse(text))
    tables = kinds.split("table_open")[1:]
    return [(each.count("th_open"), each.count("tr_open") - 1) for each in tables]


_MARKS: Final = " \n\"'“”„«»*_`"
_CONTINUES: Final = regex.compile(r"[\p{L}\p{M}\p{N}]")
_SEEN: Final = 30


class _EdgeCheck(BaseCheck):
    """The words at one end of the text."""

    kind: ClassVar[CheckKind] = "content"
    verb: ClassVar[str]
    step: ClassVar[int]
    """1 to read forwards, -1 to read backwards."""

    text: Text

    def _observe(self, context: CheckContext) -> CheckOutcome:
        whole, part = map(normalize_text, (context.text, self.text))
        text, wanted = (each[:: self.step].lstrip(_MARKS) for each in (whole, part))
        # Words are written apart there; in Chinese, say, they are not.
        is_letter = wanted[-1:].isascii() and wanted[-1:].isalnum()
        is_cut = is_letter and _CONTINUES.match(text, len(wanted)) is not None
        shown = context.text[:_SEEN] if self.step > 0 else context.text[-_SEEN:]
        passed = text.startswith(wanted) and not is_cut
        return CheckOutcome(passed, f"it {self.verb}s with {quote_text(shown)}")

    def _describe(self) -> str:
        return f"{self.verb} the text with {quote_text(self.text)}"


class StartsWith(_EdgeCheck):
    """The text starts with a word or phrase."""

    check: Literal["starts_with"] = "starts_with"
    verb: ClassVar[str] = "start"
    step: ClassVar[int] = 1


class EndsWith(_EdgeCheck):
    """The text ends with exactly these words; quotation marks may follow."""

    check: Literal["ends_with"] = "ends_with"
    verb: ClassVar[str] = "end"
    step: ClassVar[int] = -1

    def _describe(self) -> str:
        return f"{super()._describe()} and nothing after it"
