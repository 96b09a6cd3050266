"""Reads quantities: number words, digits, ranges, and the words that make them bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

import regex
from text_to_num import text2num

_ONES: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"
)
_WORDED: Final = rf"(?:{_ONES})\b(?:(?:[ -]|(?<=hundred) and (?!\w+ hundred))(?:{_ONES})\b){{0,6}}"
NUMBER: Final = (
    r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}k\b|\d{1,7}|half a dozen|(?:a|two|three) dozen|a couple(?: of)?|"
    rf"a (?:hundred|thousand)(?: and (?:{_ONES})\b(?:[ -](?:{_ONES})\b)?)?|"
    r"an?(?= (?:single )?(?:sentence|paragraph|line|word)\b)|"
    rf"a single|single|{_WORDED})"
)
_ARTICLE: Final = regex.compile(r"^a ")
_SPECIAL: Final = {
    "half a dozen": 6,
    "a dozen": 12,
    "two dozen": 24,
    "three dozen": 36,
    "a couple": 2,
    "a couple of": 2,
    "a hundred": 100,
    "a thousand": 1000,
    "a": 1,
    "an": 1,
    "a single": 1,
    "single": 1,
    "once": 1,
    "twice": 2,
    "thrice": 3,
}
_LEAST: Final = (
    r"at least|at the (?:very )?least|(?:no|not) (?:less|fewer) (?:than|as)|a minimum(?: length)? of|"
    r"minimum(?: of)?|min\.?(?: of)?|"
    r"not (?:less|fewer|below|under)|no shorter than|not be shorter than|upwards of|no fewer|"
    r"min(?:imum)? ?:|min(?:imum)?(?: length)? ?:|>=|≥"
)
_MOST: Final = (
    r"at most|at the (?:very )?most|(?:no|not)(?: any)? (?:more|longer|greater|larger|bigger|"
    r"higher) (?:than|as)|at or (?:under|below)|not (?:over|"
    r"above|exceed)|up to|"
    r"a maximum(?: length)? of|maximum(?: of)?|max\.?(?: of)?|(?:fits? )?within|fit(?:s|ting)? (?:in|into|"
    r"on|onto)|"
    r"(?:not|n't|never|cannot|without)(?: to)? exceed(?:ing)?|a limit of|limit of|limit(?:ed)? to|"
    r"(?:limit|budget|cap|ceiling) ?:?(?= ?\d)|"
    r"max(?:imum)?(?: length)? ?:|(?:limit|restrict|confin|hold|keep)(?:ed?|ing)? (?:yourself|"
    r"(?:your|the|each|every|its|my) \w+|it|this|that|them)(?: in|(?<!keep \w+) to| to(?! (?:an?|one|1)\b))|"
    r"as many as|cap(?:ped|ping)?(?: (?:it|them|this|(?:the|your) \w+(?: \w+)?))? at|exceeding|"
    r"exceed|(?<=(?:space|room|time) )for(?: only| just)?|<=|≤"
)
_MORE: Final = (
    r"more (?:than|as)|over|greater than|above|longer (?:than|as)|in excess of|exceeds?|beyond|past|>(?= ?\d)"
)
_LESS: Final = r"(?:less|fewer|shorter|lower|smaller) (?:than|as)|under|below|<(?= ?\d)"
_EXACT: Final = r"exactly|precisely|only|just|no more and no (?:less|fewer) than|a total of|total of"
_NEAR: Final = r"about|around|approximately|roughly|approx\.?|circa|ca\.|some|nearly|close to|~"
_IS_THE: Final = (
    r" (?:is|are|being|as|should be|must be) (?:the|an?|my|our|your)(?: (?:absolute|hard|strict|bare|very))?"
)
_ENDS: Final = r"(?=$|[.,;:!?)]| (?:please|pls|about|and|but|to)\b)"
"""After a bound that follows its number: "100 words, no more"."""
_AFTER: Final = (
    rf"(?P<after_exact>,? (?:and )?no more,? (?:and )?no (?:less|fewer)\b| exactly| precisely| sharp)"
    rf"|(?P<after_least>{_IS_THE} (?:minimum|min\b|least|shortest|lower limit)"
    r"| ?\+| or (?:more|longer|greater|above)| and (?:up|above|more)| at (?:a |"
    r"the )?(?:very )?(?:least|minimum)| minimum| min\b\.?"
    rf"|,? (?:and )?(?:no|not) (?:less|fewer|shorter){_ENDS}"
    rf"|, ?(?:at (?:the )?(?:very )?least|minimum|min\b\.?){_ENDS})"
    r"|(?P<after_near> or so\b| or thereabouts| ?-?ish\b|,? (?:give or take|plus or minus)| \(?(?:\+/-|±))"
    rf"(?: ?(?P<margin>{NUMBER})(?P<percent> ?%)?)?"
    r"|(?P<after_most> or (?:fewer|less|shorter|under|below)| at (?:a |the )?(?:very )?(?:most|"
    r"maximum|outside)| maximum| max\b\.?| tops| limit\b| cap\b"
    rf"|{_IS_THE} (?:maximum|max\b|(?:upper )?limit|most|ceiling|cap|longest)"
    rf"|,? (?:and )?(?:no|not) (?:more|longer){_ENDS}"
    rf"|, ?(?:at (?:the )?(?:very )?most|maximum|max\b\.?|tops){_ENDS})"
)
QUANTITY: Final = regex.compile(
    rf"(?<![\w.,#$€£-])(?:(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<more>{_MORE})|(?P<less>{_LESS})"
    rf"|(?P<exact>{_EXACT})|(?P<near>{_NEAR})|(?P<between>between|from|anywhere from|anywhere between))"
    r"(?: (?:exactly|only|a total of|about|the|of))? ?)?"
    rf"(?P<low>{NUMBER})(?:(?P<join> ?- ?| (?:up )?to | and | or (?!more|less|fewer|so))(?P<high>{NUMBER}))?"
    rf"(?:{_AFTER})?(?![\d%$€£:/])"
)
TIMES: Final = regex.compile(r"(?:once|twice|thrice)\b")
_NEGATION: Final = regex.compile(
    r"(?:\b(?:not|never|avoid|without|no|none|neither|nor|cannot|refrain)|n't)\b(?: (?!and\b|but\b|"
    r"then\b)\w+){0,5} ?$"
    r"|\b(?:no|none|neither)\b(?: (?!and\b|but\b|then\b)\w+){1,9} (?:may|must|should|can|has|have|is|are)"
    r"(?: (?:be|have|contain|exceed))? $"
)
AFTER_NOUN: Final = regex.compile(rf"(?:{_AFTER})(?!\w)")
_PRONOUN: Final = regex.compile(
    r"\b(?:each|every|this|that|any|which|first|second|third|last|next|other|"
    r"no) $"
)
"""Before "one" that is no number: "the first one"."""
_COMPARATORS: Final = ("least", "most", "more", "less")
"""Groups of words that make an article a number: "no more than a sentence"."""
_MOST_QUANTITIES: Final = 40
"""A sentence with more numbers is data; it bounds the time of long tasks."""
_FEW: Final = 20
_LONGEST_NEGATION: Final = 90
_NEAR_PART: Final = 10
_NEAR_LEAST: Final = 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """From ``least`` to ``most``, both included; None is no bound."""

    least: int | None = None
    most: int | None = None
    is_stated: bool = True
    """False for a bare number: "4 sections"."""
    is_near: bool = False

    def to_fields(self) -> dict[str, object]:
        """Return the fields of a check that counts."""
        if self.is_near:
            return self.widen().to_fields()
        if self.least == self.most:
            return {"exactly": self.least}
        fields = {"min": self.least, "max": self.most}
        return {name: value for name, value in fields.items() if value is not None}

    def widen(self) -> Bounds:
        """Return the bounds for a number that is only about right: a tenth less or more."""
        is_small = self.least is None or (self.least < _NEAR_LEAST and not self.is_near)
        if is_small or self.least is None or self.most is None:
            return replace(self, is_near=False)
        low, high = self.least - max(1, self.least // _NEAR_PART), self.most + max(1, self.most // _NEAR_PART)
        return replace(self, least=low, most=high, is_near=False)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Bounds with their place in a sentence."""

    start: int
    end: int
    bounds: Bounds


@lru_cache(1024)
def read_number(text: str) -> int | None:
    """Read a number in digits or English words; None if it is none."""
    text = text.strip()
    if text in _SPECIAL:
        return _SPECIAL[text]
    if text.endswith("k"):
        return int(text[:-1]) * 1000
    digits = text.replace(",", "")
    if digits.isdecimal():
        return int(digits)
    try:
        return int(text2num(_ARTICLE.sub("one ", text.replace("-", " ")), "en"))
    except ValueError:
        return None


@lru_cache(1024)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Find the quantities of a sentence in order; several rules ask for the same sentence."""
    found = ((match, _read_bounds(match, text)) for match in QUANTITY.finditer(text))
    quantities = (Quantity(match.start(), match.end(), bounds) for match, bounds in found if bounds)
    return tuple(islice(quantities, _MOST_QUANTITIES))


def apply_after(bounds: Bounds, match: regex.Match[str] | None) -> Bounds:
    """Apply words that follow the noun: "5 sentences at most"."""
    if match is not None and match["margin"] and bounds.least == bounds.most:
        return _apply_margin(bounds, match)
    if match is None or bounds.is_stated:
        return bounds
    if match["after_least"]:
        return Bounds(bounds.least, None)
    if match["after_near"]:
        return replace(bounds, is_near=True)
    return Bounds(None, bounds.most) if match["after_most"] else replace(bounds, is_stated=True)


def _apply_margin(bounds: Bounds, match: regex.Match[str]) -> Bounds:
    """Read "150 words, give or take ten" and "200 words (±5%)"."""
    number, margin = bounds.least, read_number(match["margin"])
    if number is None or margin is None:
        return bounds
    margin = number * margin // 100 if match["percent"] else margin
    return Bounds(max(0, number - margin), number + margin)


def _read_bounds(match: regex.Match[str], text: str) -> Bounds | None:
    if match["low"] in {"one", "single"} and _PRONOUN.search(text, max(0, match.start() - 10), match.start()):
        return None
    is_number = match["exact"] == "exactly" or any(match[name] for name in _COMPARATORS)
    if match["low"] in {"a", "an"} and not is_number:
        return None
    low = read_number(match["low"])
    high = read_number(match["high"]) if match["high"] else None
    if low is None or (match["high"] and high is None):
        return None
    if high is not None:
        return _read_range(match, low, high)
    negated = bool(_NEGATION.search(text[max(0, match.start() - _LONGEST_NEGATION) : match.start()]))
    return _read_single(match, low, negated=negated)


def _read_range(match: regex.Match[str], low: int, high: int) -> Bounds | None:
    # "Two to three hundred": the first number has the magnitude of the second.
    if low < _FEW <= high and high % 100 == 0 and match["high"].endswith(("hundred", "thousand")):
        low *= 1000 if match["high"].endswith("thousand") else 100
    if low > high or (match["join"] == " and " and not match["between"]):
        return None
    if match["least"] or match["more"]:
        return Bounds(low + bool(match["more"]), high)
    return Bounds(low, high)


def _read_single(match: regex.Match[str], number: int, *, negated: bool) -> Bounds:
    if match["between"] or match["low"] in {"a couple", "a couple of"}:
        return Bounds(number, number, is_stated=False)
    if match["more"]:
        return Bounds(None, number) if negated else Bounds(number + 1, None)
    if match["less"]:
        return Bounds(number, None) if negated else Bounds(None, max(0, number - 1))
    return _read_inclusive(match, number, negated=negated)


def _read_inclusive(match: regex.Match[str], number: int, *, negated: bool) -> Bounds:
    if match["least"] or match["after_least"]:
        return Bounds(number, None)
    if match["most"] or match["after_most"]:
        return Bounds(None, number)
    if match["margin"]:
        return _apply_margin(Bounds(number, number), match)
    if match["near"] or match["after_near"]:
        return Bounds(number, number, is_near=True)
    is_stated = bool(match["exact"] or match["after_exact"])
    return Bounds(number, number, is_stated=is_stated and not negated)
