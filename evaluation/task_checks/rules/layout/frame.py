"""The frame of the output: quotation marks and a postscript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.language.words import REQUIRING
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.layout.exact_words import WHOLE
from evaluation.task_checks.sentences import Sentence

_MARKS: Final = r"(?:quotation marks?|quotes|quote marks|inverted commas|quotations?)"
_QUOTED: Final = regex.compile(
    r"\b(?:(?:start|begin|open) and (?:end|finish|close)|"
    r"first and (?:the )?(?:very )?last characters?(?: of)?|"
    r"wrap|wrapped|enclose|enclosed|surround|"
    r"surrounded|put|place|placed|encase|encased|"
    r"set|be|is|contained|framed?|written|appears?|inside|"
    rf"embed(?:ded)?|(?:want|need|have)(?! it)|stands?|go(?:es)?|belongs?|comes?|"
    rf"sits?)\b(?: (?P<object>{WHOLE}))?(?:(?! (?:wrap|enclose|surround) )[^.;:]){{0,60}}?\b(?:in|with|"
    rf"within|inside|"
    rf"by|between|of|"
    r"using) (?:a pair of |a set of |two |an? |straight )?(?P<style>double |"
    rf"single )?{_MARKS}\b"
    rf"|\b(?P<style>double |single )?{_MARKS} (?:(?:should|must|have to|has to|need to|needs to) )?(?:be |"
    rf"go |stand )?"
    rf"(?:put |placed )?(?:around|surround|enclose|wrap|frame|to (?:wrap|enclose|surround)|"
    rf"at the (?:beginning|"
    rf"start) and (?:at )?(?:the )?end of) (?P<object>{WHOLE})"
)
_LONGEST_HEAD: Final = 60
_REFUSED: Final = regex.compile(r"\b(?:not|never|no)\b|n't\b")
_WITH_WHOLE: Final = regex.compile(
    r"\bwith (?:the|your) (?:whole|entire) (?:response|answer|reply|output|text) $"
)
_CLAUSE_END: Final = regex.compile(r"[,;:]| and | but ")
_NOT_WHOLE: Final = regex.compile(
    r"\b(?:title|name|word|words|phrase|term|terms|heading|dialogue|each|every|speech marks|"
    r"quote|sentence|first|last|keyword|keywords|names|line|direct)\b|^it$"
)
_IS_OUTPUT: Final = regex.compile(
    r"\b(?:response|answer|output|reply|text|everything|whole|entire|all|message|it|letter|essay|"
    r"poem|story|speech|joke|content|result|itinerary|article|post|summary|note)\b"
)
_POSTSCRIPT: Final = regex.compile(
    r"(?<![\w.])(?P<marker>p\.? ?p\.? ?s\b\.?|p\. ?s\b\.?|ps(?= ))|\bpost-?scripts?\b|\bpost scripts?\b"
)
_ADDS: Final = regex.compile(
    rf"\b(?:{REQUIRING}|with|write|contain|provide|followed by|give|needs?|must be|has to be|should be|"
    r"like|want|requires?)\b"
)
_MUST_BE: Final = regex.compile(
    r"\b(?:should|must|has to|needs to|ought to|is to) (?:be|come|follow|stand|appear)\b"
)


def find_quotation(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find whether the whole output has to stand in quotation marks."""
    for match in _QUOTED.finditer(sentence.text):
        before = sentence.text[: match.start()]
        head = _CLAUSE_END.split(before)[-1][-_LONGEST_HEAD:]
        if _REFUSED.search(f"{head}{match.group()}") or not _is_quotation_demanded(sentence, match, head):
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        what = match["object"]
        is_whole = _IS_OUTPUT.search(what or before) and not _NOT_WHOLE.search(what or head)
        style = "any" if "inverted" in match.group() and not match["style"] else "double"
        is_checked = is_whole and match["style"] != "single "
        yield Finding(start, end, {"check": "quoted", "style": style} if is_checked else None)


def _is_quotation_demanded(sentence: Sentence, match: regex.Match[str], head: str) -> bool:
    places = (match.start(), match.end() - 1)
    if any(is_demanded(sentence, place, match.end()) for place in places):
        return True
    # "..., with the whole response wrapped in quotation marks"
    return bool(_WITH_WHOLE.search(head)) and not sentence.is_data and not sentence.is_question


def find_postscript(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find whether the output has to have a postscript."""
    matches = list(_POSTSCRIPT.finditer(sentence.text))
    quoted = [
        mark
        for mark in reading.get_marks(sentence.start, sentence.start + len(sentence.text))
        if regex.fullmatch(r"\s*(?:P\.? ?)+S\b\.?:?\s*", mark.content, regex.I)
    ]
    if not matches and not (quoted and "post" in sentence.text):
        return
    first = matches[0] if matches else None
    place = first.start() if first else 0
    head = sentence.text[:place]
    if (
        first and (not _is_added(sentence.text, first) or not is_demanded(sentence, place, first.end()))
    ) or regex.search(r"\b(?:no|not|without|don't|never)\b[^,;]{0,25}$", head):
        return
    marker = quoted[0].content.strip() if quoted else _read_marker(sentence, reading, matches)
    end = matches[-1].end() if matches else len(sentence.text)
    yield Finding(
        sentence.start + place,
        sentence.start + end,
        {"check": "postscript", "marker": marker},
        is_default=not quoted and marker == "P.S.",
    )


def _is_added(text: str, postscript: regex.Match[str]) -> bool:
    before, after = text[: postscript.start()], text[postscript.end() :]
    return bool(_ADDS.search(before[-_LONGEST_HEAD:]) or _MUST_BE.search(after))


def _read_marker(sentence: Sentence, reading: Reading, matches: list[regex.Match[str]]) -> str:
    for match in matches:
        if match["marker"]:
            text = reading.quote(sentence.start + match.start(), sentence.start + match.end())
            return "P.S." if text.lower().strip(".") in {"ps", "p.s"} else text
    return "P.S."
