"""Tells the roles of sentences in a task: questions, orders, wishes, demands, and stories of the user."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.language.words import EXPLAINING, PRODUCING, REQUIRING
from evaluation.task_checks.sentences import Sentence

_LEAD: Final = (
    r"(?:[-•>*(]? ?(?:please|kindly|pls|plz|also|and|so|then|now|first|next|finally|ok|okay|hi|hello|hey|"
    r"thanks|again|always|just|simply|only|(?:before|when|after|while) [^,.:]{1,30}[,:])(?![\w']),? ?)*"
)
_SUPPOSES: Final = (
    r"(?:picture|imagine|suppose|assume|consider|given|"
    r"say (?:that|i|we|you|somebody|there|(?:an?|the|my|your) [a-z]+ (?:[a-z]{3,}s|has|is)))\b"
)
_ORDERS: Final = regex.compile(
    rf"{_LEAD}(?!{_SUPPOSES})(?:{PRODUCING}|{REQUIRING}|no|without)\b(?!'| ?[:=(.]| (?:you|we|i|they)\b)"
)
_WORKS: Final = regex.compile(rf"{_LEAD}(?:{EXPLAINING})\b(?!'| ?[:=])")
_MENDS: Final = regex.compile(
    rf"{_LEAD}(?:rewrite|rephrase|paraphrase|proofread|correct|edit|fix|improve|polish|reword|revise) "
    r"(?:the [a-z]+ (?:of|in) )?(?:this|these|my|the (?:part|following))\b"
)
_CAN_YOU: Final = regex.compile(
    rf"{_LEAD}(?:can|could|would|will) (?:you|u)(?: (?:please|pls|also|kindly|maybe|just|quickly|possibly))* "
)
_PRODUCES: Final = regex.compile(
    rf"(?:help me (?:to )?)?(?!(?:{EXPLAINING})\b)(?:{PRODUCING}|{REQUIRING})\b|.*\b(?:{PRODUCING})$"
)
_WANTS_TO_KNOW: Final = (
    r"(?:(?:in|an|at|for|to|from|on|with|by) (?:which|what|whom)|what|whats|why|how|which|whos?|whose|whom|"
    r"(?:my|the) question (?:is|concerns)|i wonder|wondering|any(?:one|body)|"
    r"(?:can|could) (?:some|any)(?:one|body)|"
    r"(?:do|am) (?:you|i|they|we)|"
    r"(?:is|are|was|were|does|did|can|could) (?:any(?:one|body)|people|it|they|he|she|i|we|"
    r"this|that|these|those|the|"
    r"there))\b(?! (?:i|we)(?: do|'d| really)? (?:want|need|like))"
)
_ASKS: Final = regex.compile(_LEAD + _WANTS_TO_KNOW)
_QUESTION: Final = regex.compile(
    rf"{_LEAD}(?:{_WANTS_TO_KNOW}|when|where|is|are|was|were|do|does|did|has|have|am|isn't|aren't|doesn't|"
    r"don't|may|can|could|would|should|shall|must|will|might)\b"
)
_WISHES: Final = regex.compile(
    r"\b(?:i|we)(?:'d| would| do|'ll| will| don't| do not)? (?:really |only |just )*(?:want|need|like|love|"
    r"prefer|appreciate|have (?:room|space|time) for)\b"
    r"(?! to (?:write \d+|finish|run|publish|know|understand|learn|find|hear|check|make sure|be sure|ask|"
    r"see (?:if|whether|how|why|what))\b)"
    r"|\b(?:i|we) (?:won't|can't|cannot|will not) (?:read|take|use)\b"
    r"|\b(?:i'm|i am|we're|we are) (?:expecting|looking for|after)\b"
)
_ADDRESSES: Final = regex.compile(
    rf"\byour (?:[a-z]+ )?(?:response|answer|reply|output|explanation|text|list)\b|\bplease$"
    rf"|^(?:{_LEAD}(?:your\b|you (?:must|should|may|have to|need to)\b)|(?:and |also )?please\b)"
    rf"|, so (?:{REQUIRING})\b"
)
_MODAL: Final = regex.compile(r"\b(?:must|should|shall|needs?|ha(?:s|ve) to)\b")
_UNIT: Final = (
    r"(?:word|sentence|line|paragraph|letter|text|title|list|bullet|heading|part|section|placeholder|summary|"
    r"explanation|translation|version|language|tone|style|format|length)s?"
)
_TELLS: Final = regex.compile(
    rf"{_LEAD}(?:{_SUPPOSES}|(?:(?:back|once|yesterday|today|last|in) [^,;:]{{1,20}},? )?"
    r"(?:i|we|he|she|they|(?:(?:in|at) )?(?:my|our)|his|her|their|some(?:body|one))(?:'m|'ve|'re|'s)?\b"
    r"(?! (?:[a-z]+ )?(?:limit|max|answer|reply|response)))|[^:]*\b(?:said|says|reads|read|states|wrote):"
)
"""A story, or a report, of which the request is: "my function should return three lines"."""
_STATES: Final = regex.compile(
    r"(?:note that |nb:? |important:? |remember,? )?"
    rf"(?:in )?(?:the|an?|it|each|every|all|my|both|neither)\b[^,;:]{{0,60}}? {_UNIT}\b[^,;:]{{0,40}}? "
    r"(?:must|should|shall|ha(?:s|ve) to|needs? to)\b"
    r"|(?:there|it|everything|nothing) (?:must|should|has to|needs to)\b"
)
_OF_THE_REPLY: Final = regex.compile(
    r"\b(?:the|an?|any|each|every) (?:[a-z]+ )?(?:response|answer|reply|output)\b"
)
_PIECE: Final = (
    r"(?:[\w'-]+ ){0,3}(?:(?:max|min)\w*\.?(?= |$)|(?:[<>≤≥]=? ?\d+|at (?:most|least)|exactly|no|not|under|"
    r"within|in|only|without|up to|\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b)(?: [\w'-]+){0,7}"
)
_LABELLED: Final = regex.compile(
    r"(?:audience|tone|style|format|length|topic|language|rules?|constraints?|requirements?|include|exclude|avoid|use|"
    r"must (?:not )?(?:have|include|contain)|output|limit|lines|words|ending)\b ?:"
)
_OF_A_TEXT: Final = (
    r"(?:says?|said|asks?|wants?|requires?|told|wrote|reads?|states?|sent|got|letter|form|note|rules?|text|"
    r"message|prompt|e-?mail|essay|poem|words?|sentences?|lines?|paragraphs?)"
)
_SITUATION: Final = regex.compile(
    rf"(?!.*(?:\b{_OF_A_TEXT}\b|[:\ue000]))"
    r"(?:(?:ok(?:ay)? so|so|hey|hi|hello|well|imagine|suppose|pretend),? )?(?:(?:you(?:'re| are)|"
    r"i(?:'m| am|'ve| have| want| need| write| don't)|we(?:'re| are| have|'ve)|it(?:'s| is)|this is|"
    r"my [a-z ]{2,20} (?:is|are|isn't)|act as|to be|(?:school|home|office|quick|small|short) [a-z]+)"
    r"\b[^.:]{0,60})"
)
_ONLY_FORM: Final = regex.compile(
    r"(?!.*\b(?:is|are|was|were|has|had|have|\w+ed|says?|said|i|he|she|we|they|my|our)\b)"
    rf"{_PIECE}(?:[,;] {_PIECE}){{0,3}}"
    r"|(?:[a-z]+ )?(?:length|format|language|tone|style|rules|requirements|limit|(?:key)?words)"
    r"(?: to [a-z]+)? ?:[^.]*"
)
"""A demand without a verb, or with a label: "max 3 sentences", "language: Italian"."""


def asks_or_explains(sentence: Sentence) -> bool:
    """Check for a request about something that exists: a question, or an order to explain or to rework."""
    return asks_question(sentence, is_last=True) or _WORKS.match(sentence.text) is not None


def mends_text(sentence: Sentence) -> bool:
    """Check for an order to improve a text: "proofread this"."""
    return _MENDS.match(sentence.text) is not None


def asks_question(sentence: Sentence, *, is_last: bool = False) -> bool:
    """Check for a question that wants to know something, and does not ask for a text."""
    if _asks_for_text(sentence):
        return False
    pattern = _QUESTION if sentence.is_question else _ASKS
    return bool(pattern.match(sentence.text)) or (is_last and sentence.is_question)


def is_order(text: str) -> bool:
    """Check whether a sentence starts with an order for a text or a property of it."""
    return _ORDERS.match(text) is not None


def makes_request(sentence: Sentence) -> bool:
    """Check for a sentence that wants something: a question, an order or a wish."""
    return not sentence.is_data and (
        sentence.is_question
        or asks_question(sentence)
        or _WISHES.search(sentence.text) is not None
        or any(pattern.match(sentence.text) for pattern in (_ORDERS, _WORKS))
    )


def addresses_reply(sentence: Sentence) -> bool:
    """Check for a sentence that speaks to the one who replies: a question, a wish, a word on the reply."""
    patterns = (_WISHES, _ADDRESSES)
    return (
        sentence.is_data
        or asks_question(sentence)
        or any(pattern.search(sentence.text) for pattern in patterns)
    )


def states_demand(sentence: Sentence) -> bool:
    """Check for an order, a demand without a verb, or a statement about the reply: "Use no lists."."""
    return bool(
        _ORDERS.match(sentence.text)
        or _ONLY_FORM.fullmatch(sentence.text)
        or _LABELLED.match(sentence.text)
        or _STATES.match(sentence.text)
        or speaks_of_reply(sentence)
    )


def gives_situation(sentence: Sentence) -> bool:
    """Check for a situation of the user or a role of the model: "I'm writing a paper", "You are a chef"."""
    return _SITUATION.fullmatch(sentence.text) is not None


def describes(sentence: Sentence) -> bool:
    """Check for a sentence that states no demand and has no word such as "must"."""
    return not states_demand(sentence) and _MODAL.search(sentence.text) is None


def speaks_of_reply(sentence: Sentence) -> bool:
    """Check for words such as "the answer"."""
    return _OF_THE_REPLY.search(sentence.text) is not None


def tells_story(sentence: Sentence) -> bool:
    """Check for a story of the user, or a report."""
    return _TELLS.match(sentence.text) is not None and _WISHES.search(sentence.text) is None


def orders_text(sentence: Sentence) -> bool:
    """Check for an order or a wish that the reply fulfils with a text of its own."""
    is_order_or_wish = is_order(sentence.text) or _WISHES.search(sentence.text) is not None
    return is_order_or_wish or _asks_for_text(sentence)


def _asks_for_text(sentence: Sentence) -> bool:
    can_you = _CAN_YOU.match(sentence.text)
    return can_you is not None and _PRODUCES.match(sentence.text, can_you.end()) is not None
