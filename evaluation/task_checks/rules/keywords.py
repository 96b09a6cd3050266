"""Words and letters that the output has to have, may not have, or has a number of times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.finding import Finding
from evaluation.task_checks.marks import QUOTED, Mark
from evaluation.task_checks.moods import is_demanded
from evaluation.task_checks.quantities import NUMBER, Bounds, find_quantities, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_NEGATED: Final = regex.compile(
    r"\b(?:not|n't|never|no|avoid|without|refrain|exclude|forbidden|banned|excluding|omit|"
    r"leave out|skip|cannot|"
    r"can't|don't|doesn't|mustn't|shouldn't|neither|nor|abstain|forbidden|stay away|steer clear|"
    r"free of|except)\b[^.;:]{0,60}$|n't\b[^.;:]{0,60}$"
)
_NEGATED_AFTER: Final = regex.compile(
    r"^[^.;:]{0,30}?(?:\b(?:not|never|cannot|forbidden|banned|prohibited|excluded|avoided|"
    r"omitted|left out|off[- ]limits|taboo)\b|n't\b)"
)
_TURNS: Final = regex.compile(
    r"\b(?:but|instead|and (?:include|use|do|mention|add|make|contain|in|have|also)|rather|just|"
    r", (?:use|include|mention))\b"
)
_NOUN: Final = (
    r"(?:(?:each|all|any|both|either|every|one|some)(?: one)? of |(?:both|either|neither|all|any|"
    r"each) )?(?:the |these |those |this |of )?(?:(?:following|exact|specific|forbidden|given|"
    r"single|certain|literal|two|three|four|five|\d+|key|magic|required|banned) )*"
    r"(?:key ?-?words?|words?|terms?|phrases?|expressions?|strings?|text|exact words|names?|"
    r"verbs?|nouns?|adjectives?)\b(?: (?:such as|like))?(?: of)?(?: in this list| below|"
    r" listed (?:here|below)| to (?:avoid|use|include|exclude|skip|leave out))?:?\s?"
)
_JOIN: Final = (
    r"(?:, ?(?:and |or |and/or |nor )?| and | or | nor | as well as | and also | plus | & | / ?|/|"
    r" )(?:the (?:word|phrase|term|keyword)s? )?"
)
_QUOTES: Final = rf"[\[(]?{QUOTED}(?:{_JOIN}{QUOTED})*[\])]?"
_STOP: Final = (
    r"(?:should|must|has|have|had|may|can|in|at|with|exactly|only|once|twice|more|less|fewer|no|"
    r"not|for|to|as|is|are|be|on|of|"
    r"throughout|somewhere|appears?|occurs?|shows?|each|every|but|so|anywhere|limit|count|that|"
    r"which|from|than|within|the|a|an|"
    r"or|and|your|it|you|used?|between|before|after|when|while|instead|please|also|will|needs?|"
    r"if|starting|beginning|about|thrice|three|two|any|do|does|don't|shall|cannot|without|by|"
    r"long|per|order|choice|choices|limits|game|play|written|spelled|entirely|related|ending|"
    r"describing|associated|total|minimum|maximum|like|containing|whose|who|what|how|characters?|"
    r"sentences?|words?|wrapped|separated)"
)
_BARE: Final = rf"(?!{_STOP}\b)[\p{{L}}][\p{{L}}'-]*"
_BARE_LIST: Final = rf"{_BARE}(?:(?:, (?:and |or )?| and | or ){_BARE})*"
_PHRASE_LIST: Final = (
    rf"{_BARE}(?: {_BARE}){{0,3}}(?:,(?: and| or)? {_BARE}(?: {_BARE}){{0,3}})+(?:,? (?:and|"
    rf"or) {_BARE}(?: {_BARE}){{0,2}})?"
)
_VERB: Final = (
    r"(?:us(?:e|es|ed|ing)|includ(?:e|es|ed|ing)|contain(?:s|ing)?|mention(?:s|ing|ed)?|"
    r"incorporat(?:e|es|ing)|add(?:ing)?|ha(?:s|ve|ving)|featur(?:e|es|ing)|"
    r"insert(?:ing)?|employ(?:s|ing)?|work in|avoid(?:s|ing)?|exclud(?:e|es|ing)|omit(?:s|ting)?|"
    r"skip(?:ping)?|say(?:ing)?|writ(?:e|ing)|weave in|without|with|no|leave out|repeat(?:ing)?|"
    r"drop|sprinkle in|put)"
)
_FILL: Final = (
    r"(?: (?:in|into|to|from|throughout)? ?(?:your|the|it|its)? ?(?:entire |whole )?(?:response|"
    r"answer|text|reply|output|both|also|either|any of|at least|somewhere))?"
)
_USE: Final = regex.compile(
    rf"\b(?P<verb>{_VERB}){_FILL}:? (?P<noun>{_NOUN})?(?:(?P<quotes>{_QUOTES})|"
    rf"(?P<bare>(?(noun)(?<=\s)(?:{_PHRASE_LIST}|{_BARE_LIST})|(?!))))"
)
_COLON_LIST: Final = regex.compile(
    rf"(?P<noun>\b{_NOUN})(?P<modal>(?:should|must|has to|have to|needs? to|may|can|cannot|are|"
    rf"is)\b[^.;:{QUOTED}]{{0,60}}): ?"
    rf"(?:(?P<quotes>{_QUOTES})|(?P<bare>{_PHRASE_LIST}|{_BARE_LIST}))"
)
_WORD_FIRST: Final = regex.compile(
    rf"(?P<noun>\b{_NOUN})?(?:(?P<quotes>{_QUOTES})|(?P<bare>(?(noun)(?<=\s){_BARE_LIST}|(?!))))"
)
_APPEARS: Final = regex.compile(
    r"^ ?(?:(?:is|are) (?:the |a )?(?:key)?words? (?:that|which) )?(?:in your (?:response|"
    r"answer) )?(?:(?:should|must|has to|have to|needs? to|shall|may|"
    r"does not|doesn't|do not|don't|can|ought to|is to|are to|cannot|will|shouldn't|mustn't|"
    r"can't)(?: (?:not|only|also|never|"
    r"all|each|both))*(?: be)?|appears?|occurs?|shows? up|(?:is|are)(?: not)? (?:forbidden|"
    r"banned|prohibited|required|not allowed|off[- ]limits|allowed|included|used|mentioned|"
    r"present|taboo))"
)
_APPEARANCE: Final = regex.compile(
    r"\b(?:in (?:your|the|it)|appears?|occurs?|shows? up|show up|used|included|mentioned|present|"
    r"come up|found|"
    r"feature|forbidden|banned|prohibited|required|allowed|off[- ]limits|repeated|avoided|"
    r"excluded|omitted|left out|contained|taboo|written|featured|there)\b"
)
_EXISTS: Final = regex.compile(r"^ (?:in it|in the text|somewhere|in your (?:response|answer))?")
_TIMES: Final = regex.compile(
    r"(?P<pre>at least|at most|exactly|no more than|not more than|no less than|no fewer than|"
    r"not less than|more than|"
    r"less than|fewer than|only|just|a minimum of|a maximum of|up to|over|under|precisely|"
    r"minimum|maximum|between|from)? ?"
    rf"(?:(?P<word>once|twice|thrice)|(?P<number>{NUMBER})(?: ?(?:-|to|or|"
    rf"and) ?(?P<high>{NUMBER}))?(?P<mid> or more| or less| or fewer| ?\+)? ?"
    r"(?:times?|x|occurrences?|instances?)\b(?: each)?)(?P<post> or (?:more|less|fewer)|"
    r" at (?:the )?(?:least|most|"
    r"minimum|maximum)| minimum| maximum| exactly)?(?!\w)"
)
_AND_TIMES: Final = regex.compile(r"^,? ?(?:but|and|and also|or)? ?$")
_BEFORE_WORD: Final = regex.compile(
    r"^[ ,]*(?:times )?(?:the|of|use|using|include|contain|mention|repeat|with)?[ ]*(?:of )?(?:the )?$"
)
_NOT_BEFORE: Final = regex.compile(r"\b(?:not|n't|never|cannot|no)\b(?: \w+){0,5} ?$|n't\b[^.;]{0,40}$")
_SPACES: Final = regex.compile(r"\s+")
_LETTER: Final = regex.compile(
    r"\b(?:letters?|characters?|vowels?|consonants?|alphabet) (?:(?P<letter>[a-zäöüß])(?![\w'])|"
    rf"(?P<quotes>{QUOTED}))"
)
_NAMES_WORDS: Final = regex.compile(
    rf"{QUOTED}|\b(?:key ?-?words?|words?|terms?|phrases?|expressions?|strings?|text|names?|"
    r"verbs?|nouns?|adjectives?)\b"
)
"""Without one of these, a sentence names no words: the patterns below take longer."""
_PLACE: Final = regex.compile(
    r"\b(?:start|begin|end|finish|conclude|close|open)(?:s|ing|ning)?\b|\b(?:title|heading|"
    r"headline|first|last|second|third|final|opening|closing|each|every|beginning|start|"
    r"subject line|introduction|conclusion|before|after)\b"
)
_SENTENCE_PLACE: Final = regex.compile(r"\b(?:first|1st) sentence\b")
_ELLIPSIS: Final = regex.compile(rf"(?:\b(?:and|but|, )? ?(?P<noun>{_NOUN}))(?P<quotes>{_QUOTES})")
_LONGEST_GAP: Final = 45
_ANY: Final = regex.compile(r"\b(?:any|either|one|at least one)\b")
_SOME: Final = regex.compile(rf"\b(?P<number>{NUMBER}) (?:of|out of)\b")
_FORMAT: Final = regex.compile(r"^\W*$|^(?:section|paragraph|p\.p?\.?s|part)\b", regex.I)


def find_keywords(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words that a sentence requires or forbids."""
    if not _NAMES_WORDS.search(sentence.text):
        return
    taken: list[tuple[int, int]] = []
    for match in _list_matches(sentence):
        start, end = match.span("quotes" if match["quotes"] else "bare")
        if any(first < end and start < last for first, last in taken):
            continue
        texts = _read_texts(sentence, reading, match)
        if not texts:
            continue
        finding = _build(sentence, match, texts)
        if finding is not None:
            taken.append((start, end))
            yield finding


def find_letters(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the letters that a sentence counts or forbids."""
    for match in _LETTER.finditer(sentence.text):
        letter = match["letter"] or _get_content(sentence, reading, match.start("quotes"))
        before, after = sentence.text[: match.start()], sentence.text[match.end() :]
        if len(letter) != 1 or (
            regex.search(r"\b(?:first|last|start|begin|end|the) (?:with )?(?:a )?$", before)
            and regex.search(r"\b(?:start|begin|end)s?\w* ", before[-30:])
        ):
            continue
        if not _is_required(sentence, match, before, after):
            continue
        bounds, length = _read_times(before, after)
        if bounds is None:
            if not _is_negated(before, after):
                continue
            bounds = Bounds(None, 0)
        fields: Fields = {"check": "letter_count", "letter": letter, **bounds.to_fields()}
        scoped = _PLACE.search(before[-40:]) or regex.match(
            r"[^.;]{0,40}\b(?:each|every) (?:sentence|line|word|paragraph)", after
        )
        yield Finding(
            sentence.start + match.start(), sentence.start + match.end() + length, None if scoped else fields
        )


def _list_matches(sentence: Sentence) -> Iterator[regex.Match[str]]:
    yield from _USE.finditer(sentence.text)
    for match in _WORD_FIRST.finditer(sentence.text):
        if _APPEARS.match(sentence.text[match.end() :]) or _is_list_item(sentence, match):
            yield match
    yield from _COLON_LIST.finditer(sentence.text)
    for match in _ELLIPSIS.finditer(sentence.text):
        if regex.match(rf"^[^.;,]{{0,30}}?(?:{_TIMES.pattern})", sentence.text[match.end() :]):
            yield match


def _is_list_item(sentence: Sentence, match: regex.Match[str]) -> bool:
    """Check for a label: "Forbidden words: a, b"."""
    return bool(
        regex.match(
            r"(?:required|forbidden|banned|must-have|mandatory|avoid(?:ed)?)?\s*$",
            sentence.text[: match.start()],
        )
    ) and bool(match["noun"] and ":" in match["noun"] and match["quotes"])


def _read_texts(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> list[str]:
    if match["quotes"]:
        start = sentence.start + match.start("quotes")
        marks = reading.get_marks(start, sentence.start + match.end("quotes"))
        texts = [_clean(mark, len(marks)) for mark in marks if mark.character == QUOTED]
        return [text for text in texts if not _FORMAT.match(text)] if all(texts) else []
    place = sentence.start + match.start("bare")
    text = reading.quote(place, sentence.start + match.end("bare"))
    return [part for part in regex.split(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+", text) if part.strip()]


def _clean(mark: Mark, number: int) -> str:
    """Drop the comma that American English puts inside of quotation marks."""
    text = mark.content.strip()
    return text.rstrip(",.;") if text.endswith((",", ";")) or (number > 1 and text.endswith(".")) else text


def _build(sentence: Sentence, match: regex.Match[str], texts: list[str]) -> Finding | None:
    before, after = sentence.text[: match.start()], sentence.text[match.end() :]
    lead = before + (match.groupdict().get("verb") or "") + " "
    if not _is_required(sentence, match, lead, after):
        return None
    start, end = sentence.start + match.start(), sentence.start + match.end()
    near = f"{lead[-30:]} {regex.split(r'[.;:]', after)[0][:40]}"
    bounds, length = _read_times(lead, after)
    negated = _is_negated(_join_lead(lead, match), after)
    if _PLACE.search(near) and not _PLACE.search(match.group()):
        return _build_at_place(sentence, match, texts, near, negated=negated)
    end += length
    if negated and bounds is None:
        return Finding(start, end, {"check": "excludes", "texts": texts})
    return _build_required(Finding(start, end), sentence, match, texts, bounds)


def _join_lead(lead: str, match: regex.Match[str]) -> str:
    """Join the words before a list in which a negation may stand: "words to avoid: ..."."""
    return f"{lead}{match['noun'] or ''}{match.groupdict().get('modal') or ''}".replace(":", " ")


def _build_at_place(
    sentence: Sentence, match: regex.Match[str], texts: list[str], near: str, *, negated: bool
) -> Finding | None:
    start, end = sentence.start + match.start(), sentence.start + match.end()
    if _SENTENCE_PLACE.search(near) and not negated and not regex.search(r"\b(?:start|begin|end)", near):
        return Finding(start, end, {"check": "contains", "texts": texts, "sentence": 1, "whole_words": False})
    # The rules for the start and the end of texts read these.
    return (
        None if regex.search(r"\b(?:start|begin|end|first|last|finish|title)", near) else Finding(start, end)
    )


def _build_required(
    place: Finding, sentence: Sentence, match: regex.Match[str], texts: list[str], bounds: Bounds | None
) -> Finding | None:
    if bounds is None or bounds == Bounds(1, None):
        number = _read_enough(sentence.text[max(0, match.start() - 20) : match.end()], len(texts))
        fields: Fields = {"check": "contains", "texts": texts, "whole_words": False}
        if number:
            fields["at_least"] = number
        return Finding(place.start, place.end, fields)
    if len(texts) > 1:
        return Finding(place.start, place.end, None)
    return Finding(
        place.start,
        place.end,
        {"check": "occurrences", "text": texts[0], "whole_words": False, **bounds.to_fields()},
    )


def _read_enough(words: str, number: int) -> int | None:
    """Read how many of the words are enough: "any of", "at least two of"."""
    if some := _SOME.search(words):
        return read_number(some["number"])
    is_choice = _ANY.search(words) or regex.search(rf"{QUOTED},? or (?:the word )?{QUOTED}", words)
    return 1 if is_choice and number > 1 else None


def _is_required(sentence: Sentence, match: regex.Match[str], before: str, after: str) -> bool:
    if "verb" in match.re.groupindex:
        verb = match["verb"]
        quoted_only = match["noun"] is None
        if quoted_only and verb in {
            "with",
            "without",
            "has",
            "have",
            "having",
            "no",
            *(() if _is_negated(before, "") else ("say", "saying", "write", "writing")),
            "repeat",
            "put",
            "add",
            "repeating",
        }:
            return False
        return is_demanded(sentence, match.end("verb") + 1, match.end()) or is_demanded(
            sentence, match.start(), match.end()
        )
    if "modal" in match.re.groupindex:
        return _is_statement(sentence, before, match["modal"])
    appears = bool(_APPEARS.match(after))
    return (
        _is_statement(sentence, before, after)
        if appears
        else is_demanded(sentence, match.start(), match.end())
    )


def _is_statement(sentence: Sentence, before: str, after: str) -> bool:
    """Check a statement of which the word is the subject: "The word X must appear"."""
    if sentence.is_data or not _APPEARANCE.search(after[:80]):
        return False
    if sentence.is_question and not regex.match(r"(?:can|could|would|will) you", sentence.text):
        return False
    return not regex.search(
        r"\b(?:says|said|claims|told|why|how|whether|asks|asked|because|if|explain)\b", before
    )


def _is_negated(before: str, after: str) -> bool:
    match = _NEGATED.search(before)
    if match and not _TURNS.search(match.group()):
        return True
    return bool(_APPEARS.match(after) and _NEGATED_AFTER.match(after))


def _read_times(before: str, after: str) -> tuple[Bounds | None, int]:
    """Read how often: after the word, or directly before it."""
    end = regex.search(
        r"[.;:]|,? (?:and|but) (?:the |include|use|do|make|mention|contain|with|avoid|not|in|"
        rf"at least \w+ (?:words|sent|para))|{QUOTED}|, ",
        after,
    )
    near = after[: end.start() if end else len(after)]
    matches = [match for match in _TIMES.finditer(near) if match.start() <= _LONGEST_GAP]
    if matches:
        return _join_times(matches, before, near)
    head = before[-_LONGEST_GAP:]
    last = next(reversed(list(_TIMES.finditer(head))), None)
    if last and _BEFORE_WORD.match(head[last.end() :]):
        return _read_frequency(last, before[: len(before) - len(head) + last.start()]), 0
    return None, 0


def _join_times(matches: list[regex.Match[str]], before: str, near: str) -> tuple[Bounds, int]:
    """Join "more than five times but fewer than ten times"."""
    first = matches[0]
    bounds, end = _read_frequency(first, f"{before} {near[: first.start()]}"), first.end()
    for match in matches[1:]:
        if not _AND_TIMES.match(near[end : match.start()]):
            break
        other = _read_frequency(match, "")
        bounds = Bounds(bounds.least or other.least, bounds.most or other.most)
        end = match.end()
    return bounds, end


def _read_frequency(match: regex.Match[str], before: str) -> Bounds:
    if match["word"]:
        text = {"once": "1", "twice": "2", "thrice": "3"}[match["word"]]
    else:
        text = match["number"] + (f" to {match['high']}" if match["high"] else "")
    head = "not " if _NOT_BEFORE.search(before) else ""
    pre = "" if match["high"] else match["pre"] or ""
    phrase = f"{head}{pre} {text}{match['post'] or match['mid'] or ''}"
    quantity = next(iter(find_quantities(_SPACES.sub(" ", phrase))), None)
    return quantity.bounds if quantity else Bounds(1, None)


def _get_content(sentence: Sentence, reading: Reading, place: int) -> str:
    mark = reading.marks.get(sentence.start + place)
    return mark.content.strip() if mark else ""
