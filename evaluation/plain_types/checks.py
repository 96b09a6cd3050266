"""Types of the checks of a contract as dicts.

``python -m tests.evaluation.inputs.plain_types`` writes this file from the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Required, TypeAlias

from typing_extensions import TypedDict

from evaluation.checks.context import Unit
from evaluation.values import Severity


class BaseCheckDict(TypedDict, total=False):
    """One requirement on an output, which a pure function decides."""

    severity: Severity
    quote: str | None
    """The words of the task that state the requirement."""


class CountCheckDict(BaseCheckDict, total=False):
    """A number of things: ``exactly``, or between ``min`` and ``max``, both included."""

    min: int | None
    max: int | None
    exactly: int | None
    each: Unit | None
    """Count in each line, sentence, paragraph or list item. Default: in the whole text."""


class WordCountDict(CountCheckDict, total=False):
    """The number of words; how they are counted depends on the script."""

    check: Required[Literal["word_count"]]


class UniqueWordCountDict(CountCheckDict, total=False):
    """The number of different words, whatever their letter case."""

    check: Required[Literal["unique_word_count"]]


class SentenceCountDict(CountCheckDict, total=False):
    """The number of sentences."""

    check: Required[Literal["sentence_count"]]


class ParagraphCountDict(CountCheckDict, total=False):
    """The number of paragraphs: the parts between blank lines."""

    check: Required[Literal["paragraph_count"]]


class LineCountDict(CountCheckDict, total=False):
    """The number of lines that are not blank."""

    check: Required[Literal["line_count"]]


class CharacterCountDict(CountCheckDict, total=False):
    """The number of characters that a reader sees, with spaces unless ``spaces`` is false."""

    check: Required[Literal["character_count"]]
    spaces: bool


class LetterCountDict(CountCheckDict, total=False):
    """How often a letter or another character occurs, in any letter case."""

    check: Required[Literal["letter_count"]]
    letter: Required[str]


class OccurrencesDict(CountCheckDict, total=False):
    """How often a word or phrase occurs, in any letter case."""

    check: Required[Literal["occurrences"]]
    text: Required[str]
    whole_words: bool
    """If false, also inside of other words."""


class LineSyllablesDict(BaseCheckDict, total=False):
    """The number of English syllables of each line: 5, 7, 5 for a haiku."""

    check: Required[Literal["line_syllables"]]
    syllables: Required[Sequence[int]]


class ToolCallsDict(CountCheckDict, total=False):
    """How often a tool was called without an error; a call that failed counts for ``max`` alone."""

    check: Required[Literal["tool_calls"]]
    tool: Required[str]


class PhraseCheckDict(BaseCheckDict, total=False):
    """A search for phrases."""

    texts: Required[list[str]]
    whole_words: bool
    """If false, also inside of other words."""
    ignore_case: bool


class ContainsDict(PhraseCheckDict, total=False):
    """The text has these words or phrases: all of them, or ``at_least`` a number of them."""

    check: Required[Literal["contains"]]
    at_least: int | None
    """How many different ones are enough. Default: all."""
    sentence: int | None
    """The number of the sentence that has to have them. Default: anywhere."""


class ExcludesDict(PhraseCheckDict, total=False):
    """The text has none of these words, phrases or marks, nor a disguise of one."""

    check: Required[Literal["excludes"]]


class OneOfDict(BaseCheckDict, total=False):
    """The answer is one of several alternatives."""

    check: Required[Literal["one_of"]]
    options: Required[list[str]]
    alone: bool
    """Whether the text has to be the alternative and nothing else."""


class WordAtDict(BaseCheckDict, total=False):
    """The word at a place of the text, or of one of its lines, sentences or paragraphs."""

    check: Required[Literal["word_at"]]
    word: Required[str]
    position: Required[int]
    """From 1; -1 is the last word."""
    unit: Unit | None
    """The unit that ``number`` counts. Default: the whole text."""
    number: int


class WordRepetitionDict(BaseCheckDict, total=False):
    """No word occurs more often than ``max`` times, in any letter case."""

    check: Required[Literal["word_repetition"]]
    max: Required[int]


class RelatedWordsDict(BaseCheckDict, total=False):
    """A rule for neighbouring words, or for the words at the start and end of parts."""

    check: Required[Literal["related_words"]]
    rule: Required[
        Literal["next_letter", "different_first_letters", "paragraph_ends_as_it_starts", "sentences_linked"]
    ]
    """``next_letter``: each word starts with the letter after that of the word before, with A after Z;
    ``sentences_linked``: each sentence starts with the last word of the sentence before."""


class ListedWordCountDict(CountCheckDict, total=False):
    """How many of the words of the text are in a list, such as pronouns or conjunctions."""

    check: Required[Literal["listed_word_count"]]
    words: Required[list[str]]


class StartsWithDict(BaseCheckDict, total=False):
    """The text, or each of its parts, starts with a word or phrase."""

    check: Required[Literal["starts_with"]]
    text: Required[str]
    each: Unit | None


class EndsWithDict(BaseCheckDict, total=False):
    """The text, or each of its parts, ends with exactly these words; quotation marks may follow."""

    check: Required[Literal["ends_with"]]
    text: Required[str]
    each: Unit | None


class QuotedDict(BaseCheckDict, total=False):
    """The whole text stands in quotation marks."""

    check: Required[Literal["quoted"]]
    style: Literal["any", "double"]
    """``double``: only the straight double quotation mark."""


class PostscriptDict(BaseCheckDict, total=False):
    """The text has a postscript: a line or sentence that starts with the marker."""

    check: Required[Literal["postscript"]]
    marker: str


class RepeatsRequestDict(BaseCheckDict, total=False):
    """The text starts with the request, word for word, before it answers."""

    check: Required[Literal["repeats_request"]]
    text: str | None
    """The text to repeat. Default: the whole task."""
    answer_follows: bool
    """If false, nothing has to follow; the repeated text may be all."""


class FirstLettersDict(BaseCheckDict, total=False):
    """The first letters of the sentences, lines or paragraphs follow the alphabet, or spell a word."""

    check: Required[Literal["first_letters"]]
    letters: Required[str]
    """One letter for each part: the word of an acrostic, or the alphabet."""
    unit: Unit


class LetterCaseDict(BaseCheckDict, total=False):
    """All letters are capital or small, or each major word starts with a capital letter."""

    check: Required[Literal["letter_case"]]
    style: Required[Literal["upper", "lower", "title"]]


class CapitalWordCountDict(CountCheckDict, total=False):
    """The number of words in which all letters are capital; "I" and "A" are such words."""

    check: Required[Literal["capital_word_count"]]


class LanguageDict(BaseCheckDict, total=False):
    """The text is in one language; short names and quotations in others are accepted."""

    check: Required[Literal["language"]]
    code: Required[
        Literal[
            "ar",
            "bg",
            "bn",
            "bs",
            "ca",
            "cs",
            "cy",
            "da",
            "de",
            "el",
            "en",
            "eo",
            "es",
            "et",
            "eu",
            "fa",
            "fi",
            "fr",
            "ga",
            "gl",
            "gu",
            "he",
            "hi",
            "hr",
            "hu",
            "hy",
            "id",
            "is",
            "it",
            "ja",
            "ka",
            "kk",
            "km",
            "kn",
            "ko",
            "la",
            "lo",
            "lt",
            "lv",
            "mk",
            "ml",
            "mn",
            "mr",
            "ms",
            "my",
            "ne",
            "nl",
            "no",
            "pa",
            "pl",
            "pt",
            "ro",
            "ru",
            "sk",
            "sl",
            "sq",
            "sr",
            "sv",
            "sw",
            "ta",
            "te",
            "th",
            "tl",
            "tr",
            "uk",
            "ur",
            "uz",
            "vi",
            "yi",
            "zh",
        ]
    ]


class PunctuationDict(BaseCheckDict, total=False):
    """A mark is absent, present, or at the end of the text or of each sentence."""

    check: Required[Literal["punctuation"]]
    mark: Required[str]
    use: Literal["absent", "present", "end_of_text", "end_of_sentences"]


class EmojiDict(BaseCheckDict, total=False):
    """Emoji are absent, present, or at the end of each sentence."""

    check: Required[Literal["emoji"]]
    use: Required[Literal["absent", "present", "end_of_sentences"]]


class NoWhitespaceDict(BaseCheckDict, total=False):
    """The text has no white space between its first and its last character."""

    check: Required[Literal["no_whitespace"]]


class HeadingCountDict(CountCheckDict, total=False):
    """The number of Markdown headings, of one level or of any."""

    check: Required[Literal["heading_count"]]
    level: int | None


class ListItemCountDict(CountCheckDict, total=False):
    """The number of items of lists."""

    check: Required[Literal["list_item_count"]]
    marker: str
    """``bullet``, ``number``, ``any``, or a text that starts each item, such as "- " or "!?!?"."""


class ItemCountDict(CountCheckDict, total=False):
    """The number of items, such as questions, reasons or names: list items, headings, table rows or lines."""

    check: Required[Literal["item_count"]]


class HighlightCountDict(CountCheckDict, total=False):
    """The number of highlighted parts: bold, italic, or both together."""

    check: Required[Literal["highlight_count"]]
    style: Literal["any", "bold", "italic"]


class SectionCountDict(CountCheckDict, total=False):
    """The number of different sections that a marker with a number starts, such as "SECTION 1"."""

    check: Required[Literal["section_count"]]
    marker: Required[str]


class PlaceholderCountDict(CountCheckDict, total=False):
    """The number of placeholders in square brackets, such as [address]; links and check boxes are none."""

    check: Required[Literal["placeholder_count"]]


class PartCountDict(CountCheckDict, total=False):
    """The number of parts between separators; a separator at the start or end separates nothing."""

    check: Required[Literal["part_count"]]
    separator: Required[str]
    different: bool
    """Whether no two parts may be equal."""


class CodeBlockCountDict(CountCheckDict, total=False):
    """The number of fenced blocks of code."""

    check: Required[Literal["code_block_count"]]


class TitleDict(BaseCheckDict, total=False):
    """The text has a title: in double angle brackets, as Markdown heading, or either."""

    check: Required[Literal["title"]]
    style: Literal["any", "angle_brackets", "heading"]


class TemplateDict(BaseCheckDict, total=False):
    """The text has these labels in this order, each followed by something else than the next label."""

    check: Required[Literal["template"]]
    labels: Required[list[str]]


class MarkdownDict(BaseCheckDict, total=False):
    """The text has Markdown markup, or none; numbered lines, bare addresses and HTML tags are none."""

    check: Required[Literal["markdown"]]
    use: Required[Literal["present", "absent"]]
    """``present`` needs markup beyond doubt; ``absent`` refuses all that a renderer shows as markup."""


class JsonDict(BaseCheckDict, total=False):
    """The whole text is JSON; a code fence around it is accepted unless ``fence`` is false."""

    check: Required[Literal["json"]]
    root: Literal["any", "object", "array"]
    keys: list[str]
    """Keys that the object, or each object of the array, has to have."""
    fence: bool


class JsonSchemaDict(BaseCheckDict, total=False):
    """The whole text, or with ``alone: false`` each fenced block, is JSON that fulfils a JSON Schema."""

    check: Required[Literal["schema"]]
    json_schema: Required[Mapping[str, object] | bool]
    alone: bool
    """Whether the text has to be the JSON and nothing else, except for a fence around it."""
    matches: bool
    """If false, no JSON in the text may fulfil the schema, also in prose and behind disguises."""


class CsvDict(BaseCheckDict, total=False):
    """The whole text is CSV in which all rows have equally many fields."""

    check: Required[Literal["csv"]]
    delimiter: Literal[",", ";", "\t", "|"]
    columns: list[str] | None
    """The header. Default: any."""
    rows: int | None
    """The number of rows, without the header if ``columns`` is given."""
    quoted: bool
    """Whether each field stands in double quotation marks."""


class TableDict(BaseCheckDict, total=False):
    """The text has a Markdown table, or no table of any notation."""

    check: Required[Literal["table"]]
    use: Literal["present", "absent"]
    columns: int | None
    rows: int | None
    """Without the header."""
    header: list[str] | None


class CodeDict(BaseCheckDict, total=False):
    """The code in the fenced blocks parses, or the whole text if it has no block."""

    check: Required[Literal["code"]]
    language: Literal["python", "json"]


class NumberCountDict(CountCheckDict, total=False):
    """The number of numbers in digits; 1,000.50 and 25 % are one each, A4 and 3D are none."""

    check: Required[Literal["number_count"]]


class UrlCountDict(CountCheckDict, total=False):
    """The number of web addresses."""

    check: Required[Literal["url_count"]]


class EmailCountDict(CountCheckDict, total=False):
    """The number of e-mail addresses."""

    check: Required[Literal["email_count"]]


class DateCountDict(CountCheckDict, total=False):
    """The number of dates that exist in the calendar, in one notation or in any."""

    check: Required[Literal["date_count"]]
    notation: Literal["any", "YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"]


class PatternDict(BaseCheckDict, total=False):
    """A regular expression (RE2) matches somewhere in the text, or nowhere, also behind no disguise."""

    check: Required[Literal["regex"]]
    pattern: Required[str]
    matches: bool


class StatesNumberDict(BaseCheckDict, total=False):
    """The text states a number, in any common notation, or does not state it."""

    check: Required[Literal["states_number"]]
    number: Required[float]
    tolerance: float
    """The greatest accepted difference."""
    present: bool


class NamedCheckDict(TypedDict, total=False):
    """A check of the user's code by its name: a function with ``@check``, or a command."""

    check: Required[Literal["function"]]
    name: Required[str]
    severity: Severity | None
    """Default: the severity of the check itself."""
    entry_points: bool
    """Whether an installed package may provide it; always false in a contract that a model wrote."""


CheckDict: TypeAlias = (
    WordCountDict
    | UniqueWordCountDict
    | SentenceCountDict
    | ParagraphCountDict
    | LineCountDict
    | CharacterCountDict
    | LetterCountDict
    | OccurrencesDict
    | LineSyllablesDict
    | ToolCallsDict
    | ContainsDict
    | ExcludesDict
    | OneOfDict
    | WordAtDict
    | WordRepetitionDict
    | RelatedWordsDict
    | ListedWordCountDict
    | StartsWithDict
    | EndsWithDict
    | QuotedDict
    | PostscriptDict
    | RepeatsRequestDict
    | FirstLettersDict
    | LetterCaseDict
    | CapitalWordCountDict
    | LanguageDict
    | PunctuationDict
    | EmojiDict
    | NoWhitespaceDict
    | HeadingCountDict
    | ListItemCountDict
    | ItemCountDict
    | HighlightCountDict
    | SectionCountDict
    | PlaceholderCountDict
    | PartCountDict
    | CodeBlockCountDict
    | TitleDict
    | TemplateDict
    | MarkdownDict
    | JsonDict
    | JsonSchemaDict
    | CsvDict
    | TableDict
    | CodeDict
    | NumberCountDict
    | UrlCountDict
    | EmailCountDict
    | DateCountDict
    | PatternDict
    | StatesNumberDict
    | NamedCheckDict
)
"""One check of a contract."""
