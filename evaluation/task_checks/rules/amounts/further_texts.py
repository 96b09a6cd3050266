"""Finds sizes that hold for one of several texts: "a title of at most 60 characters and an article"."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.language.words import PRODUCING

_TEXT: Final = (
    r"(?:articles?|essays?|stor(?:y|ies)|posts?|thread|bod(?:y|ies)|poems?|e-?mails?|letters?|descriptions?|"
    r"explanations?|summar(?:y|ies)|reports?|speech|review|script|songs?|haikus?|limericks?|sonnets?|"
    r"paragraphs?|"
    r"analysis|translations?|version|tweets?|press release|newsletter|biography|bio|commentary|comment|"
    r"abstract|caption|interpretation|"
    r"artikel|aufsatz|beitrag|gedicht|geschichte|erklärung|beschreibung|zusammenfassung|rede|bericht|"
    r"kommentar|übersetzung|deutung|brief|lied|mail|text)"
)
_SHORT: Final = (
    r"(?:subject(?: line)?|title|headline|heading|caption|tagline|slogan|motto|teaser|lead|hook|preview|"
    r"meta description|blurb|tl;?dr|signature|sign-off|greeting|opener|standfirst|byline|alt text|abstract|"
    r"introduction|intro|conclusion|teaser|untertitel|vorspann|einleitung|anrede|werbespruch)"
)
_WITH: Final = (
    r"(?: (?:of|in|with|using|within|under|over|about|is|be|has|have|should|must|may|can|may have|that|which|"
    r"stay|stays|keep|kept|not|to|von|aus)){0,4} ?$"
)
_OF_SHORT: Final = regex.compile(
    rf"\b(?:with|have|has|add|and|plus|start with|begin with|end with|keep|include|mit)(?: \w+)?? "
    rf"(?:an?|the|its|your|one)(?: \w+)?? {_SHORT}{_WITH}"
    rf"|(?:^|[\n.;,] ?)(?:the |an? |your )?{_SHORT} ?[:(-]+ ?(?:\w+ ){{0,2}}$"
)
"""A short text that belongs to a longer one has the size."""
_OF_ORDINAL: Final = regex.compile(
    r"\b(?:first|second|third|fourth|fifth|last|final|opening|closing|next|other)(?: \w+)?? "
    rf"(?:{_TEXT}|message|reply|answer|response|slide|entry|step|item|joke|name|question|part|chapter)"
    rf"{_WITH}|\b(?:start|begin|open|end|finish|close)s? with an? (?:\w+ )?{_TEXT}{_WITH}"
)
_AND_TEXT: Final = regex.compile(
    r"^[^.;:\n]{0,80}?(?:,(?! (?:two|three|several) paragraphs)|\band|\bplus|\bfollowed by|"
    r"\balong(?:side)?(?: with)?|\btogether with|\bas well as|"
    r"\bthen|\bnebst|\bsowie|\bgefolgt of)"
    rf"(?: (?:and|then|also|after that|afterwards|danach|anschließend|finally|{PRODUCING}))*"
    r" (?:an?|the|one|another|its|your|two|three|several)(?: (?!about|on|of|in|with|that|which)[\w-]+){0,3}? "
    rf"{_TEXT}\b(?! (?:must|should|has|have|is|are|needs?|may)\b)"
)
"""Another text is demanded after the size."""
_ARTICLE_BEFORE: Final = regex.compile(r"\b(?:an?|the|your|one)\b[^.;:\n]*$")
_TEXT_BEFORE: Final = regex.compile(
    rf"\b(?:{PRODUCING}|need|want)\b(?: \w+)?? (?:an?|the|one|two|three)(?: (?!about|on|of)[\w-]+){{0,4}}? "
    rf"{_TEXT}\b"
)
_COMMENTS: Final = regex.compile(
    r"\b(?:explain|describe|summari[sz]e|translate|discuss|analy[sz]e|interpret|comment(?: on)?|critique|"
    r"evaluate|outline|paraphrase|review|justify|recap|sum up|introduce|deute|kommentiere|analysiere)s?"
    r" (?:(?:briefly|shortly|also|then|to me|me) )*"
    rf"(?:it|them|this|its (?:\w+ ){{0,2}}?\w+|(?:the|your|this) (?:\w+ )?{_TEXT}|your (?:\w+ )?\w+)"
    r"(?: (?:then|briefly|afterwards|also|again|danach|anschließend|kurz))*"
    r"(?: (?:in|with|using|within|to|by|about|at most|exactly|only|just))* $"
)
"""The order of the size comments on a text that the output has, too."""
_THEN_COMMENTS: Final = regex.compile(
    r"^[^\n]{0,100}?(?:\bthen|\bafterwards,?|\bafter that,?|\bdanach|\banschließend)"
    r"(?: (?:please|also|briefly|write|you))* "
    r"(?:explain|describe|summari[sz]e|translate|discuss|analy[sz]e|interpret|comment|critique)\w* "
    rf"(?:(?:on|briefly) )*(?:it|them|this|its \w+|(?:the|your) (?:\w+ )?{_TEXT})\b"
)


def is_of_one_text(task_before: str, before: str, after: str) -> bool:
    """Return whether a size holds for one text of several; ``before`` and ``after`` surround it."""
    if _OF_SHORT.search(before) or _OF_ORDINAL.search(before):
        return True
    if _ARTICLE_BEFORE.search(before) and (_AND_TEXT.match(after) or _THEN_COMMENTS.match(after)):
        return True
    comment = _COMMENTS.search(before)
    end = len(task_before) - len(before) + comment.start() if comment else 0
    return comment is not None and _TEXT_BEFORE.search(task_before, 0, end) is not None
