"""Things that the output may not have: "without commas", "no lists or tables"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand, is_demanded, is_statement
from evaluation.task_checks.quantities import Bounds
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts.units import PART_AFTER, PART_BEFORE
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import BY_NAME, THING, Fields, get_thing

_NEVER: Final = r"under no circumstances?|at no point|in no case|by no means|nowhere|never"
_NOT: Final = (
    rf"{_NEVER}|do not|don't|dont|must not|mustn't|should not|shouldn't|cannot|can't|may not|not|n't"
)
_NO: Final = (
    rf"(?:(?:no|neither|without|zero|avoid(?:ing)?|refrain(?:ing)? from|free of|free from|devoid of|void of|"
    r"(?:forbidden|banned|prohibited|taboo|not allowed) ?:|skip(?:ping)?|omit(?:ting)?|exclud(?:e|ing)|"
    r"eliminat(?:e|ing)|leav(?:e|ing) out|stay away from|"
    rf"steer clear of|abstain from|ditch|drop|{_NOT})"
    r"(?:,? (?:us(?:e|es|ing|age)|includ(?:e|es|ing)|contain(?:s|ing)?|hav(?:e|ing)|has|add(?:ing)?|"
    r"insert|put|"
    r"employ|writ(?:e|ing)|want|wish|like|see|find|read|need|give|me|present|make|provide|show|feature|rely|"
    r"format|should|must|may|can|you|it|there|be|been|your \w+|the (?:response|answer|text|output|reply)|"
    r"allowed|permitted|supposed|to|of|on|in|with|from|at|ever|even|once|any|all|the|a|an|single|one|such))*)"
)
_PLACE_AFTER: Final = regex.compile(
    r"^ (?:after|before|between|within|inside|at the (?:start|end|beginning)|"
    r"in (?:the )?(?:titles?|headings?|first|last))\b"
)
_LIMITED: Final = regex.compile(
    r"(?: (?!and\b|but\b|not\b)[a-z]+){0,5} (?:(?:may|must|should|can|has to) (?:be|have|contain|exceed)|has|"
    r"have|is|are|exceeds?) (?:more|longer|over|\d+)\b"
)
"""A limit of each thing: "no bullet may have more than ten words"."""
_PURPOSE: Final = regex.compile(r" (?:to|in order to|for) ")
_OF_EACH: Final = regex.compile(
    r" (?:(?:may|must|should|can|shall)(?! (?:be (?:used|included|present|added|found)|appear|occur|"
    r"exist)\b)|"
    r"(?:ends?|starts?|begins?|contains?|has|have|repeats?|exceeds?|goes|runs?|consists?|uses?|mentions?|is|"
    r"above|over|under|below|with|longer|shorter|that|which|whose)\b(?! (?:allowed|wanted|used|needed)\b))"
)
"""After a thing of which a property is refused: "no bullet ends with a full stop"."""
_TOPIC_BEFORE: Final = regex.compile(
    r"\b(?:about|on|of|describing|where|how|who|what) [^.;:,(-]*[^.;:,( -] $"
)
"""A topic, to which the tables may belong: "a story about a café without tables"."""
_REFUSED: Final = regex.compile(r" (?:not|cannot|forbidden|banned|excluded|prohibited|off limits)\b")
_INVERTED: Final = regex.compile(rf"(?:{_NEVER})\b[^.;]*\b(?:should|must|may|can|do)\b")
_REFUSES: Final = regex.compile(
    r"\b(?:no|neither|not|never|without|zero|avoid|refrain|free of|skip|omit|exclude|excluded|leave out|"
    r"stay away|steer|abstain|"
    r"dont|cannot|forbidden|banned|prohibited|off limits|nowhere|void|devoid|ditch|drop)\b|n't\b"
    r"|\b(?:omitt|exclud|eliminat|leav|avoid|skipp|refrain)(?:ing|e)\b"
)
_NOT_ITSELF: Final = (
    r"word|letter|term|phrase|(?:double|triple|single|trailing|leading|extra|additional|unnecessary|"
    r"superfluous|more|"
    r"consecutive|other|further)\b"
)
"""Words before a thing of which only some are refused: "no trailing spaces"."""
_FORBIDDEN: Final = regex.compile(
    rf"(?<!\w)(?P<no>{_NO}) (?:a |an |the )?(?:(?!{_NOT_ITSELF})[a-z]+,? ){{0,1}}?{THING.pattern}"
)
_ALSO: Final = regex.compile(
    r"(?:,? ?(?:and|or|nor|&)(?: (?:no|any|from|of|from any|from using|without(?: any)?))?|"
    rf",)(?: the)? (?:any |no )?(?:{THING.pattern})"
)
_OTHER_ALSO: Final = regex.compile(
    r"(?:,|,? or|,? nor) (?P<thing>(?!(?:please|thanks|thank|but|and|or|nor|just|only|with|no)\b)"
    r"[a-z-]+)(?=,? (?:or|nor) )"
    r"|,? (?:or|nor)(?: (?:any|no))? (?P<thing>[a-z-]+(?: [a-z-]+)?)(?=$|[.,;:!?)])"
    r"|,? and (?P<thing>(?!please|thanks)[a-z-]{3,}s)(?=$|[.;:!?)])"
)
"""A further thing that is refused, for which there is no check: "no commas or slashes"."""
_PASSIVE: Final = regex.compile(
    rf"(?<!\w)(?:{THING.pattern})(?: of any kind)? (?:(?:is|are|be|should|must|may|shall|"
    r"can)(?: be)? )?(?:(?:not|cannot) (?:be )?(?:allowed|permitted|used|appear|occur|show up|feature|"
    r"exist|be used|"
    r"included|present|be included|accepted|part|found|there)|forbidden|banned|excluded|prohibited|"
    r"off limits|"
    r"not to be used)\b"
)
_JOINED: Final = regex.compile(rf"(?<![\w'])(?:{THING.pattern}),? (?:and|or|nor) $")
"""The first one of two things that are refused: "colons and commas are not wanted"."""
_BEFORE_NO: Final = regex.compile(
    r"\b(?:why|if|when|that|who|which|because|has|had|is|are|there (?:is|are))\b ?$"
)
_FORBIDDABLE: Final = frozenset(BY_NAME) - {
    "words",
    "sentences",
    "paragraphs",
    "stanzas",
    "lines",
    "characters",
    "items",
    "unique_words",
    "characters_without_spaces",
    "placeholders",
}

_STRUCTURES: Final = frozenset(
    {"bullets", "numbered", "headings", "second_headings", "code_blocks", "highlights", "tables"}
)


def find_forbidden(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the things that a sentence forbids: "without commas", "no lists or tables"."""
    if not _REFUSES.search(sentence.text):
        return
    for match in _FORBIDDEN.finditer(sentence.text):
        if not _is_forbidden(sentence, match) or (
            not match["no"].startswith("not") and _BEFORE_NO.search(sentence.text[: match.start()])
        ):
            continue
        yield from _forbid(sentence, match, match.start())
        yield from _find_further(sentence, match.start(), match.end())
    yield from _find_refused(sentence)


def _find_further(sentence: Sentence, start: int, end: int) -> Iterator[Finding]:
    """Find the things that the words at the start forbid, too: "no lists, tables or slashes"."""
    while also := _ALSO.match(sentence.text, end) or _OTHER_ALSO.match(sentence.text, end):
        if also.re is _ALSO:
            yield from _forbid(sentence, also, start)
        else:
            yield Finding(sentence.start + also.start("thing"), sentence.start + also.end("thing"))
        end = also.end()


def _find_refused(sentence: Sentence) -> Iterator[Finding]:
    """Find things of which a statement says that they are unwanted: "commas are forbidden"."""
    if not _REFUSED.search(sentence.text):
        return
    for match in _PASSIVE.finditer(sentence.text):
        if is_demanded(sentence, match.start(), match.end()) or is_statement(sentence, match.start()):
            yield from _forbid(sentence, match, match.start())
            if joined := _JOINED.search(sentence.text[: match.start()]):
                yield from _forbid(sentence, joined, joined.start())


def _is_forbidden(sentence: Sentence, match: regex.Match[str]) -> bool:
    if _INVERTED.match(match["no"]) and can_demand(sentence):
        return True
    thing = match.start(get_thing(match).name)
    return is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, thing, match.end())


def _forbid(sentence: Sentence, match: regex.Match[str], start: int) -> Iterator[Finding]:
    thing = get_thing(match)
    if thing.name not in _FORBIDDABLE or _PURPOSE.match(sentence.text, match.end()):
        return
    is_structure = thing.name in _STRUCTURES and _OF_EACH.match(sentence.text, match.end())
    if is_structure or _LIMITED.match(sentence.text, match.end()):
        return
    scoped = (
        _PLACE_AFTER.match(sentence.text[match.end() :])
        or PART_BEFORE.search(sentence.text[:start])
        or PART_AFTER.match(sentence.text[match.end() :])
    )
    is_furniture = thing.name == "tables" and _TOPIC_BEFORE.search(sentence.text, 0, start)
    check = None if scoped or is_furniture else thing.build(Bounds(0, 0))
    yield Finding(sentence.start + start, sentence.start + match.end(), _bound_by_zero(check))


def _bound_by_zero(check: Fields | None) -> Fields | None:
    """Say "at most 0" for "exactly 0", which reads better in messages."""
    if check is None or check.get("exactly") != 0:
        return check
    return {**{name: value for name, value in check.items() if name != "exactly"}, "max": 0}
