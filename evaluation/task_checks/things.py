"""The things that tasks count or forbid, each with the check that counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import regex

from evaluation.task_checks.language.words import ALONE, FORMATTING
from evaluation.task_checks.quantities import Bounds

Fields: TypeAlias = dict[str, object]
"""A check as plain data."""
_FEWEST_CHARACTERS: Final = 40
"""Fewer characters are the people of a story."""
_CAPITAL: Final = r"(?:all[- ])?(?:capital(?:i[sz]ed)?|upper ?-?case|all[- ]caps|caps|fully capitali[sz]ed)"
_IN_CAPITALS: Final = (
    r"(?:(?:(?:that |which )?are |must be |should be |may be |can be |have to be |need to be |"
    r"be )?(?:written |spelled |typed )?(?:entirely |all |completely |fully )?"
    r"(?:in|with|using) (?:all )?(?:entirely )?(?:capitals?|upper ?-?case|caps|all[- ]caps)(?: letters?)?"
    r"|by (?:writing|putting|typing|setting|printing) (?:them|these|it) (?:entirely |all |completely |"
    r"fully )?"
    r"(?:in|with) (?:all )?(?:capitals?|upper ?-?case|caps|all[- ]caps)(?: letters?)?"
    r"|(?:(?:that|which) )?(?:are|be|must be|should be|have to be|need to be) (?:fully |completely |"
    r"entirely |all )*"
    r"(?:capitali[sz]ed|upper-?cased|capitals))"
)


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing by the words that name it."""

    name: str
    pattern: str
    build: Callable[[Bounds], Fields | None]
    """The check for a number of them; None if there is none."""
    can_repeat: bool = False
    """Whether the check can count in each line, sentence, paragraph or list item."""


def _count(check: str, **fields: object) -> Callable[[Bounds], Fields]:
    return lambda bounds: {"check": check, **fields, **bounds.to_fields()}


def _mark(mark: str) -> Callable[[Bounds], Fields]:
    def build(bounds: Bounds) -> Fields:
        if bounds.most == 0:
            return {"check": "punctuation", "mark": mark, "use": "absent"}
        return {"check": "letter_count", "letter": mark, **bounds.to_fields()}

    return build


def _build_words(bounds: Bounds) -> Fields:
    return {"check": "word_count", **(bounds if bounds.is_stated else bounds.widen()).to_fields()}


def _build_characters(bounds: Bounds) -> Fields | None:
    if max(bounds.least or 0, bounds.most or 0) < _FEWEST_CHARACTERS:
        return None
    return {"check": "character_count", **bounds.to_fields()}


def _build_characters_without_spaces(bounds: Bounds) -> Fields | None:
    fields = _build_characters(bounds)
    return fields and {**fields, "spaces": False}


def _build_emoji(bounds: Bounds) -> Fields | None:
    if bounds.most == 0:
        return {"check": "emoji", "use": "absent"}
    return {"check": "emoji", "use": "present"} if (bounds.least, bounds.most) == (1, None) else None


def _forbid_only(fields: Fields) -> Callable[[Bounds], Fields | None]:
    return lambda bounds: fields if bounds.most == 0 else None


THINGS: Final = (
    Thing(
        "capital_words",
        rf"(?:{_CAPITAL} words?|words?(?: (?:or|and) phrases?)? {_IN_CAPITALS}|{_CAPITAL}-words?)",
        _count("capital_word_count"),
        can_repeat=True,
    ),
    Thing(
        "highlights",
        (
            r"(?:(?:highlighted|bold(?:ed)?|italici[sz]ed|italic|emphasi[sz]ed) "
            r"(?:sections?|parts?|words?|phrases?|texts?|passages?|key ?words?|terms?|sentences?|"
            r"portions?|areas?)"
            r"|(?:words?|phrases?|terms?|parts?|sentences?|passages?|key ?words?)(?: (?:must|"
            r"should|have to) be)? "
            r"(?:in )?(?:bold(?:face)?|italics?|highlighted|italici[sz]ed)(?: type| letters)?)"
        ),
        _count("highlight_count"),
    ),
    Thing(
        "unique_words", r"(?:unique|different|distinct) words", _count("unique_word_count"), can_repeat=True
    ),
    Thing(
        "words",
        (
            r"words?(?! (?:longer|shorter|problems?|games?|puzzles?|searche?s?|processors?|lists?|clouds?|"
            r"documents?)\b)(?: count| long| in length)?"
        ),
        _build_words,
        can_repeat=True,
    ),
    Thing("sentences", r"sentences?(?: long| in length)?", _count("sentence_count"), can_repeat=True),
    Thing("paragraphs", r"paragraphs?(?: long| in length)?", _count("paragraph_count"), can_repeat=True),
    Thing("stanzas", r"(?:stanzas?|verses?|quatrains?)", _count("paragraph_count")),
    Thing(
        "lines",
        r"(?<!spoken )lines?(?: long| in length)?(?! (?:of code|breaks?|managers?|items?|spacing|graph)\b)",
        _count("line_count"),
        can_repeat=True,
    ),
    Thing(
        "characters_without_spaces",
        (
            r"characters?(?: \(?(?:excluding|without|not counting|"
            r"not including) (?:the )?(?:white ?)?spaces?\)?)"
        ),
        _build_characters_without_spaces,
        can_repeat=True,
    ),
    Thing(
        "characters",
        (
            r"(?:characters?|chars?)(?: long| in length)?(?: \(?(?:including|with|"
            r"counting) (?:the )?spaces?\)?)?(?! (?:named|called|who|in the story|arcs?)\b)"
        ),
        _build_characters,
        can_repeat=True,
    ),
    Thing(
        "bullets",
        (
            r"(?:bullet(?:ed)?[ -]?(?:points?|items?|list items?|entries)|bullet(?:ed)?[ -]?lists?(?= 0)|"
            r"bullets?|bulletpoints?)(?! lists?)"
        ),
        _count("list_item_count", marker="bullet"),
    ),
    Thing(
        "numbered",
        r"numbered (?:list )?(?:items?|points?|steps?|entries|lines)",
        _count("list_item_count", marker="number"),
    ),
    Thing(
        "items",
        (
            r"(?:list items?|items in (?:a|the|your) list|list entries|items(?= (?:long|in total))|"
            r"item(?= (?:bulleted|numbered)? ?list))"
        ),
        _count("list_item_count"),
    ),
    Thing("placeholders", r"placeholders?", _count("placeholder_count")),
    Thing(
        "second_headings",
        r"(?:second[- ]level|level[- ](?:2|two)|h2|##) (?:sub-?)?(?:headings?|headers?)",
        _count("heading_count", level=2),
    ),
    Thing("headings", r"(?<!numbered )(?:sub-?)?(?:headings?|headers?)", _count("heading_count")),
    Thing("code_blocks", r"(?:fenced )?code ?-?(?:blocks?|fences?)", _count("code_block_count")),
    Thing("emails", r"e-?mail addresses", _count("email_count")),
    Thing("links", r"(?:web ?)?(?:links?|urls?|hyperlinks?|web addresses)", _count("url_count")),
    Thing("dates", r"(?:calendar )?dates", _count("date_count")),
    Thing(
        "numbers",
        r"(?:numbers|numerals|numeric values|numerical values)",
        _count("number_count"),
        can_repeat=True,
    ),
    Thing("digits", r"(?:digits?)", _forbid_only({"check": "regex", "pattern": "[0-9]", "matches": False})),
    Thing("hashtags", r"hash ?-?tags?", _count("letter_count", letter="#")),
    Thing("emojis", r"(?:emojis?|emoticons?)", _build_emoji),
    Thing("commas", r"commas?", _mark(",")),
    Thing("exclamations", r"(?:exclamation (?:marks?|points?)|exclamations)", _mark("!")),
    Thing("questions", r"question marks?", _mark("?")),
    Thing("semicolons", r"semi-?colons?", _mark(";")),
    Thing("colons", r"colons?", _mark(":")),
    Thing("full_stops", r"(?:periods|full stops?|period (?:marks?|signs?))", _mark(".")),
    Thing("em_dashes", r"em[ -]?dash(?:es)?", _mark("—")),
    Thing(
        "dashes",
        r"(?<!\ben[ -])(?:dashes|dash(?= (?:or|nor|and)\b|$|[.,;!]))",
        _forbid_only({"check": "regex", "pattern": r"[–—]|\S --? \S", "matches": False}),
    ),
    Thing("hyphens", r"hyphens?", _mark("-")),
    Thing(
        "asterisks",
        r"(?:asterisks?|asterisk symbols?)",
        _forbid_only({"check": "punctuation", "mark": "*", "use": "absent"}),
    ),
    Thing(
        "parentheses",
        r"(?:parenthes[ei]s|brackets)",
        _forbid_only({"check": "excludes", "texts": ["(", ")"], "whole_words": False}),
    ),
    Thing(
        "quotation_marks",
        r"quotation marks",
        _forbid_only({"check": "excludes", "texts": ['"', "“", "”"], "whole_words": False}),
    ),
    Thing(
        "capitals",
        (
            r"(?:any )?(?:capital(?:i[sz]ed)?(?: letters?)?|capitals|upper ?-?case(?: letters?|"
            r" characters?)?|capitali[sz]ation)(?! (?:words?|city|cities))"
        ),
        _forbid_only({"check": "letter_case", "style": "lower"}),
    ),
    Thing(
        "smalls",
        r"(?:lower ?-?case (?:letters?|characters?)|small letters)",
        _forbid_only({"check": "letter_case", "style": "upper"}),
    ),
    Thing("spaces", r"(?:white ?-?spaces?|spaces)", _forbid_only({"check": "no_whitespace"})),
    Thing(
        "line_breaks",
        r"(?<=\b(?:no|without|any|avoid|nor|or) )(?:line ?-?breaks?|newlines?)",
        _forbid_only({"check": "line_count", "exactly": 1}),
    ),
    Thing(
        "lists",
        r"(?:bullet(?:ed)?(?: point)? lists?|lists?|enumerations?)",
        _forbid_only({"check": "list_item_count", "marker": "any", "max": 0}),
    ),
    Thing("tables", rf"tables?{ALONE}", _forbid_only({"check": "table", "use": "absent"})),
    Thing("markdown", rf"{FORMATTING}{ALONE}", _forbid_only({"check": "markdown", "use": "absent"})),
)
_ADJECTIVE: Final = (
    r"(?:(?!and\b|or\b|of\b|the\b|in\b|to\b|for\b|with\b|is\b|are\b|that\b|by\b|per\b|a\b|an\b|"
    r"plus\b|rows?\b|columns?\b)[a-z'-]+ )"
)
_NAMES: Final = "|".join(f"(?P<{thing.name}>{thing.pattern})" for thing in THINGS)
THING: Final = regex.compile(rf"(?:{_NAMES})(?![\w'])")
AFTER_NUMBER: Final = regex.compile(rf"[ -](?:of (?:the )?)?{_ADJECTIVE}{{0,3}}?(?:{_NAMES})(?![\w'])")
BY_NAME: Final = {thing.name: thing for thing in THINGS}


def get_thing(match: regex.Match[str]) -> Thing:
    """Return the thing that a match of ``THING`` or ``AFTER_NUMBER`` names."""
    return next(BY_NAME[name] for name, text in match.groupdict().items() if text and name in BY_NAME)
