"""Decides whether words of a sentence demand something of the output, or only mention it.

A demand has a governor before it, an order, a wish, or a statement of what the output must have; or it is a
fragment without a verb.
"""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.demands.fragments import REPORT, is_fragment
from evaluation.task_checks.demands.governors import OTHERS, find_governor
from evaluation.task_checks.demands.reach import reaches
from evaluation.task_checks.language.words import EXPLAINING
from evaluation.task_checks.sentences import Sentence

_REQUEST: Final = regex.compile(r"(?:can|could|would|will) you")
_MENTIONS: Final = regex.compile(rf"\b(?:{EXPLAINING})\b[^,;:]*$|\b(?:about|whether)\b[^,;:]*$")
_LABEL_BEFORE: Final = regex.compile(
    r"[,;.)] (?:length|word count|language|format|tone|limit|maximum|minimum) ?: ?$"
)
_CONTINUES: Final = regex.compile(
    r"^ ?(?:letters?|text|words?)? ?(?:is|are|was|were|has(?! to\b)|had|do|does|did|makes?|seems?|"
    r"looks?|means?|became|cost)\b(?! (?:allowed|required|enough|fine|ok|forbidden|the (?:limit|"
    r"maximum|minimum)|permitted|a must|needed|acceptable|not allowed|preferred|to be|"
    r"too (?:long|short|much|many|few)|not (?:accepted|ok|used)))"
)
_SAID_AFTER: Final = regex.compile(
    r"[^.;:]{0,40}?, (?:(?:said|says|wrote|writes|asked) |(?:people|they|he|she|some) (?:say|said|says)\b|"
    r"(?:my|our|the|his|her) [a-z]+ (?:said|says|always said|told)\b|(?:we|i) (?:were|was) (?:taught|told)\b)"
    r"|[^.;:]{0,30}: (?:this|that) (?:is|was)\b"
)
"""Who said the words before: "No verbs, said my professor"."""
_NONE_USED: Final = regex.compile(
    r"^(?:no|not|zero)[ ,]*(?:letters?|text|words?)? ?(?:is|are) (?:used|included|present)\b"
)
_WHY: Final = regex.compile(
    r"(?:why|when|where|who|whose|which)\b|(?:what|how) (?:do|does|did|is|are|was|were|has|have|many|much|"
    r"often|long)\b"
    r"|(?:do|does|did|is|are|was|were|has|have|any(?:one|body)) "
)
_WHY_WRITES: Final = regex.compile(
    r"(?:why|how come|what makes)\b[^,;:(]* (?:answer|reply|respond|write|speak|talk|format|end|start|begin|"
    r"use|post|text)(?:s|ing)?(?: (?:only|always|so|everything|me|us|them|it|in|with|using|to|\w+ly|all|an?)"
    r")* ?"
)
"""A question about how others write: "Why do lawyers answer in capital letters?"."""
_CONTRAST: Final = regex.compile(
    r", (?:but|so|yet) (?:(?:for now|now|right now|today|here|this time|first),? )?"
    r"(?:i|we)(?:'d| would)? (?:just |only )?(?:need|want|like|have to|must)\b"
)
"""The wish of the user after that of another one: "my boss wants a report, but I need ..."."""
_ASIDE: Final = regex.compile(r"[,;:(]| - |\b(?:please|in|using|with|within|under)\b")
_YES_OR_NO: Final = regex.compile(r"(?:do|does|did|is|are|was|were|has|have|any(?:one|body)) ")
_SET_OFF: Final = regex.compile(r"[,;:(]| - |\bplease\b")
_WITHIN: Final = regex.compile(r"\b(?:in|using|within|under)(?: (?:a|an|the|your|only|just))* ?$")
_SIZE: Final = regex.compile(
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|exactly|at (?:most|least)|no more|"
    r"fewer|less|single)\b"
)
_IN_CONDITION: Final = regex.compile(r"\bif (?!possible\b|you\b)[^,;:.]*$")
"""Within a condition: "if the motion has to begin with ..., what happens?"."""


def is_demanded(sentence: Sentence, start: int, end: int) -> bool:
    """Check whether the words between two places of a sentence demand something of the output."""
    before = sentence.text[:start]
    if sentence.is_data or _is_subject(sentence.text, start, end) or _is_asked(sentence, before):
        return False
    if _SAID_AFTER.match(sentence.text, end):
        return False
    governor = find_governor(sentence.text, start)
    if _LABEL_BEFORE.search(before):
        return True
    if governor is None:
        return is_fragment(sentence, before, end)
    contrast = next(reversed(list(_CONTRAST.finditer(before))), None)
    is_reported = REPORT.search(before, contrast.start() if contrast else 0)
    return not is_reported and reaches(governor, sentence.text, start, end)


def _is_asked(sentence: Sentence, before: str) -> bool:
    """Check for the words of a question: "Why do letters end with a name?"."""
    if not sentence.is_question:
        return False
    if _WHY_WRITES.fullmatch(before):
        return True
    if _IN_CONDITION.search(before):
        return True
    if _YES_OR_NO.match(sentence.text):
        is_size = _WITHIN.search(before) and _SIZE.match(sentence.text, len(before))
        return not (is_size or _SET_OFF.search(before))
    return bool(_WHY.match(sentence.text)) and not _ASIDE.search(before)


def _is_subject(text: str, start: int, end: int) -> bool:
    """Check whether a statement follows: "two words are enough for him". "No commas are used" is a demand."""
    if _NONE_USED.match(f"{text[start:end].split(' ', 1)[0]}{text[end:]}"):
        return False
    return bool(_CONTINUES.match(text[end:]))


def can_demand(sentence: Sentence) -> bool:
    """Check whether a sentence is no text to work on, and no question except "could you ..."."""
    return not sentence.is_data and (not sentence.is_question or bool(_REQUEST.match(sentence.text)))


def is_statement(sentence: Sentence, start: int) -> bool:
    """Check whether a place may be the subject of a statement of what the output must have."""
    before = sentence.text[:start]
    mentions = (OTHERS, REPORT, _MENTIONS)
    return can_demand(sentence) and not any(pattern.search(before) for pattern in mentions)
