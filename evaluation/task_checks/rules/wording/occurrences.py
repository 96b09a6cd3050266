"""How often words and letters have to appear, and whether they may not."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand
from evaluation.task_checks.language.words import TEXT
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import NUMBER, Bounds, find_quantities
from evaluation.task_checks.sentences import Sentence

_NEGATED: Final = regex.compile(
    r"(?:\b(?:not|never|no(?! (?:more|less|fewer|longer|shorter|later))|avoid(?:s|ing)?|without|"
    r"refrain(?:s|ing)?|exclud(?:e|es|ing)|"
    r"forbidden|banned|taboo|no-go|prohibited|off-limits|omit(?:s|ting)?|"
    r"leaves? out|leaving out|skip(?:s|ping)?|cannot|neither|nor|abstain|stay away|steer clear|"
    r"free of|except)\b|n't\b)"
    r"[^.;:]{0,60}$"
)
_NEGATED_AFTER: Final = regex.compile(
    r"^[^.;:]{0,30}?(?:\b(?:not|never|cannot|forbidden|banned|prohibited|excluded|avoided|"
    r"omitted|left out|off[- ]limits|taboo)\b|n't\b)"
)
_TURNS: Final = regex.compile(
    r"\b(?:but|instead|, (?:must|should|has to|needs to|ought to)(?! not)|"
    r"(?:it|you|response|answer|text) (?:must|should|has to|needs to)(?! not)|"
    r"and (?:include|use|do|mention|add|make|contain|in|have|also|(?:should|must|has to)(?! not))|rather|"
    r"just|"
    r", (?:use|include|mention))\b"
)
APPEARS: Final = regex.compile(
    r"^ ?(?:both |all |each |never |not )?(?:(?:is|are) (?:the |a )?(?:key)?words? (?:that|"
    r"which) )?(?:in your (?:response|"
    r"answer) )?(?:(?:should|must|has to|have to|needs? to|shall|may|"
    r"does not|doesn't|do not|don't|can|ought to|is to|are to|cannot|will|shouldn't|mustn't|"
    r"to(?= (?:be|appear|occur|show)\b)|can't)(?: (?:not|only|also|never|"
    r"all|each|both))*(?: be)?|appears?|occurs?|shows? up|(?:is|are)(?: not)? (?:forbidden|"
    r"banned|prohibited|required|not allowed|off[- ]limits|allowed|included|used|mentioned|"
    r"present|taboo))"
)
_APPEARANCE: Final = regex.compile(
    r"\b(?:(?:one|part|among|two|three)? ?(?:of )?(?:the|your) (?:key)?words|in (?:your|the|it)|part of|"
    r"appears?|occurs?|shows?|used|included|mentioned|present|"
    r"(?:come|crop|pop|turn|show) up|found|figure|surface|make an appearance|be (?:seen|heard|said|spoken|"
    r"named)|"
    r"feature|forbidden|banned|prohibited|required|allowed|off[- ]limits|repeated|avoided|"
    r"excluded|omitted|left out|contained|taboo|written|featured|there|stay|remain|kept|given|stated)\b"
)
TIMES: Final = regex.compile(
    r"(?P<pre>at least|at most|exactly|no more than|not more than|no less than|no fewer than|"
    r"not less than|more than|"
    r"less than|fewer than|only|just|a minimum of|a maximum of|up to|over|under|precisely|"
    r"minimum|maximum|between|from)? ?"
    rf"(?:(?P<word>once|twice|thrice)|(?P<number>{NUMBER})(?: ?(?:-|to|or|"
    rf"and) ?(?P<high>{NUMBER}))?(?P<mid> or more| or less| or fewer| ?\+)? ?"
    r"(?:times?|x|occurrences?|instances?|mentions?|appearances?|uses)\b(?: each)?)(?P<post> or (?:more|"
    r"less|fewer)|"
    r" at (?:the )?(?:least|most|"
    r"minimum|maximum)| minimum| maximum| exactly)?(?!\w)"
)
_ELSEWHERE: Final = regex.compile(
    r" ?(?:appears?|occurs?|shows? up|(?:is|are) (?:used|mentioned|found)) in "
    rf"(?:the|my|our|his|her|this|that) (?!(?:entire |whole )?{TEXT}\b)"
)
"""Appearance in another text: "the word appears in the exam"."""
_AND_TIMES: Final = regex.compile(r"^,? ?(?:but|and|and also|or)? ?$")
_BUT: Final = regex.compile(r",? ?(?:but|and) ?")
_NO_NOUN: Final = regex.compile(r" ?(?:$|[,.;)]|(?:in|of|on|about|throughout|for|to)\b)")
_BEFORE_WORD: Final = regex.compile(
    r"^[ ,]*(?:times )?(?:the|of|use|using|include|contain|mention|repeat|with)?[ ]*(?:of )?(?:the )?$"
)
_NOT_BEFORE: Final = regex.compile(r"(?:\b(?:not|never|cannot|no)|n't)\b[^.;,]{0,40}$")
_MAY: Final = regex.compile(r" (?:may|can)\b(?!.*\b(?:only|not)\b)")
_LIMITS: Final = regex.compile(
    r"\b(?:limit|restrict|cap|reduce)\b[^.;]{0,40}\bto ?$|\bcap\b[^.;]{0,40}\bat ?$"
)
_SPACES: Final = regex.compile(r"\s+")
_MENTIONS: Final = regex.compile(
    r"\b(?:says|said|claims|told|why|how|whether|asks|asked|because|if|explain)\b"
)
_TIMES_END: Final = regex.compile(
    r"[.;:]|,? (?:and|but) (?:the |include|use|do|make|mention|contain|with|avoid|not|in|"
    rf"at least \w+ (?:words|sent|para))|{QUOTED}|, (?!at (?:least|most) |exactly |"
    r"no (?:more|less|fewer) |but (?:at|no|not|fewer|less) )"
)
_LONGEST_GAP: Final = 45


def read_times(before: str, after: str) -> tuple[Bounds | None, int]:
    """Read how often: after the word, or directly before it."""
    end = _TIMES_END.search(after)
    near = after[: end.start() if end else len(after)]
    matches = [match for match in TIMES.finditer(near) if match.start() <= _LONGEST_GAP]
    if matches:
        return _join_times(matches, before, near)
    head = before[-_LONGEST_GAP:]
    last = next(reversed(list(TIMES.finditer(head))), None)
    if last and _BEFORE_WORD.match(head[last.end() :]):
        return _read_frequency(last, before[: len(before) - len(head) + last.start()]), 0
    return None, 0


def _join_times(matches: list[regex.Match[str]], before: str, near: str) -> tuple[Bounds, int]:
    """Join "more than five times but fewer than ten times"."""
    first = matches[0]
    bounds, end = _read_frequency(first, f"{before} {near[: first.start()]}"), first.end()
    if _MAY.match(near, 0, first.start()) and not first["pre"]:
        bounds = Bounds(None, bounds.most)
    for match in matches[1:]:
        if not _AND_TIMES.match(near[end : match.start()]):
            break
        other = _read_frequency(match, "")
        bounds = Bounds(bounds.least or other.least, bounds.most or other.most)
        end = match.end()
    return _join_bound(bounds, near, end)


def _join_bound(bounds: Bounds, near: str, end: int) -> tuple[Bounds, int]:
    """Join a second bound without "times": "at least 2 times but no more than 4"."""
    rest = near[end:]
    second = next(iter(find_quantities(rest)), None)
    if second is None or not second.bounds.is_stated or not _BUT.fullmatch(rest[: second.start]):
        return bounds, end
    if not _NO_NOUN.match(rest[second.end :]) or None not in (bounds.least, bounds.most):
        return bounds, end
    joined = Bounds(bounds.least or second.bounds.least, bounds.most or second.bounds.most)
    return joined, end + second.end


def _read_frequency(match: regex.Match[str], before: str) -> Bounds:
    if match["word"]:
        text = {"once": "1", "twice": "2", "thrice": "3"}[match["word"]]
    else:
        text = match["number"] + (f" to {match['high']}" if match["high"] else "")
    head = "not " if _NOT_BEFORE.search(before) else "at most " if _LIMITS.search(before) else ""
    pre = "" if match["high"] else match["pre"] or ""
    phrase = f"{head}{pre} {text}{match['post'] or match['mid'] or ''}"
    quantity = next(iter(find_quantities(_SPACES.sub(" ", phrase))), None)
    return quantity.bounds if quantity else Bounds(1, None)


def is_negated(before: str, after: str) -> bool:
    """Check whether words are forbidden, by the words before or after them."""
    match = _NEGATED.search(before)
    if match and not _TURNS.search(match.group()):
        return True
    return bool(APPEARS.match(after) and _NEGATED_AFTER.match(after))


def states_appearance(sentence: Sentence, before: str, after: str) -> bool:
    """Check a statement of which the word is the subject: "The word X must appear"."""
    appears = None if _ELSEWHERE.match(after) else _APPEARANCE.search(after[:80])
    return appears is not None and can_demand(sentence) and not _MENTIONS.search(before)
