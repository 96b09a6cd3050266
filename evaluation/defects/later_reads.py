"""Not there afterwards: a later read shows another value than was set, or that the thing does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import product
from typing import Final
from unicodedata import normalize

from agents.parsing.tool_names import ACTING_VERBS
from evaluation.defects.claims import (
    find_claims,
    read_groups,
    read_pattern,
    read_states,
    read_words,
    states_plainly,
)
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Turn, names_any, names_value
from evaluation.defects.failed_calls import admits_failure
from evaluation.patterns import matches_pattern
from evaluation.sensitive.scanner import quote_text
from evaluation.texts.normal import split_stated
from evaluation.values import as_list, as_object

_STATES: Final = ("status", "state", "conclusion", "outcome", "phase", "stage")
_OPEN: Final = frozenset({"pending", "queued", "accepted", "scheduled", "processing", "in_progress"})
_SHORTEST_ID: Final = 3
_LONGEST_CODE: Final = 2
_LONGEST_NAME: Final = 4
_SAME_STATES: Final = read_groups("same_states")
_NAMES: Final = ACTING_VERBS | read_words("reading")


def find_missing_effects(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the reads after the last acting call that contradict it, and answers that leave the act open."""
    answer = evidence.answer
    calls = evidence.calls[: answer.known]
    # A tool without a verb that is surely known, such as k8s_scale, may act.
    acted = [call for call in calls if call.state == "acted" or (call.is_vague and call.families)]
    for call in acted if acted and not _admits_delay(answer.text) else ():
        after = calls[call.place + 1 :]
        # One tool for everything, such as ``run``, may do the next thing.
        later = [each for each in after if each.state in {"read", "missed"} and each.name != call.name]
        # A later act on the same thing may have changed it again.
        redone = any(other.acts and other.name == call.name for other in after)
        reads = [] if redone else [other for other in later if _reads_result(other, call)]
        for each in _list_differences(answer, call, reads[-1]) if reads else ():
            yield DefectFinding("not_there", "defect", answer.text, each, answer.place, reads[-1].place)
        states = (state for each in _list_objects(call.value) for state in _list_states(each))
        left = None if reads else next((state for state in states if state in _OPEN), None)
        if left and find_claims(answer.text):
            left = f"{call.name} answered {quote_text(left)}, and nothing shows that it was done"
            yield DefectFinding("left_open", "note", answer.text, left, answer.place, call.place)


def _admits_delay(text: str) -> bool:
    """Return whether a text says that something was not done, or shows only later."""
    return admits_failure(text) or read_pattern("deferred").search(text) is not None


def _reads_result(read: Call, call: Call) -> bool:
    asked = {str(leaf) for _, leaf in read.leaves} - {"", "None"}
    known = {str(leaf) for _, leaf in (*call.leaves, *call.answered)}
    if any(len(value) >= _SHORTEST_ID and not value.isalpha() for value in asked & known):
        return True
    is_same = not asked or any(field in call.leaves for field in read.leaves)
    return is_same and bool({*read.words} & {*call.words} - _NAMES)


def _list_differences(answer: Turn, call: Call, last: Call) -> Iterator[str]:
    """Yield what the last read shows otherwise than it was set."""
    if last.state == "missed" and read_pattern("absent").search(last.answer):
        yield f"{last.name} answered {last.quoted} after {call.name}"
        return
    fields = as_object(as_object(last.value).get("output", last.value))
    for name, value in call.args.items():
        shown = fields.get(name)
        is_told = shown != "" and names_value(answer.text, shown)
        if last.args and shown is not None and _differs(value, shown) and not is_told:
            values = f"{quote_text(str(value))}, and {last.name} shows {quote_text(str(shown))}"
            yield f"{call.name} set {name} to {values} afterwards"


_IDS: Final = ("id", "key", "name", "path", "number")
_CONTRADICTING: Final = read_states()
_ANY_STATE: Final = f"(?i){'|'.join(words.pattern for words in _CONTRADICTING)}"
_NUMBER: Final = re.compile(r"\d+")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def find_contradicted_states(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the states that a turn claims of a thing whose last read shows another state."""
    for turn in evidence.said:
        calls = evidence.calls[: turn.known]
        # Whatever acts later may change what was read.
        acted = max((call.place for call in calls if call.acts or call.is_open), default=-1)
        reads = (call for call in calls[acted + 1 :] if call.state == "read" and call.answer)
        last = {(call.name, call.args_text): call for call in reads}
        # RE2 takes a tenth of the time, and most turns state nothing.
        may_state = last and matches_pattern(_ANY_STATE, turn.text) and not _admits_delay(turn.text)
        stated = split_stated(turn.text) if may_state else ()
        for sentence, (words, contradicting) in product(stated, _CONTRADICTING.items()):
            said = words.search(sentence)
            if not said or not states_plainly(sentence, said):
                continue
            shown = [(read, state) for read in last.values() for state in _list_shown(read, sentence, calls)]
            # A sentence may be about several things.
            if shown and all(
                state in contradicting
                and state.replace("_", " ") not in sentence
                and not words.search(read.answer)
                for read, state in shown
            ):
                rule = "contradicted_fact" if acted < 0 else "not_there"
                read, state = shown[-1]
                seen = f"{read.name} shows {quote_text(state)}"
                yield DefectFinding(rule, "defect", sentence, seen, turn.place, read.place)


def _list_shown(read: Call, sentence: str, calls: Sequence[Call]) -> Iterator[str]:
    """Yield the states of the things in a read that a sentence names, or means as the only one."""
    things = [(thing, states) for thing in _list_objects(read.value) if (states := _list_states(thing))]
    is_only = len(things) == 1 and all(call.args == read.args for call in calls if call.name == read.name)
    is_meant = (
        is_only
        and all(number in read.text for number in _NUMBER.findall(sentence))
        and (
            names_any(sentence, {*read.words} - _NAMES)
            or any(_reads_result(read, call) for call in calls if call.acts)
        )
    )
    for thing, states in things:
        named = [value for name, value in thing.items() if name.lower().endswith(_IDS)]
        named += read.args.values() if is_only else ()
        if is_meant or any(value and names_value(sentence, value) for value in named):
            yield from states


def _list_objects(value: object) -> Iterator[Mapping[str, object]]:
    waiting = [value]
    for each in waiting:
        waiting += as_list(each) or as_object(each).values()
        yield as_object(each)


def _list_states(thing: Mapping[str, object]) -> list[str]:
    """Return the states that the fields of an object give."""
    states = (str(value) for name, value in thing.items() if name.lower().endswith(_STATES) and value)
    return [re.sub(r"[\s-]", "_", state.lower()) for state in states]


def _differs(value: object, shown: object) -> bool:
    """Return whether a value that was set is not in the value that is shown, in any notation."""
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        return any(name not in shown or _differs(inner, shown[name]) for name, inner in value.items())
    if type(value) is not type(shown) or not isinstance(value, str | int | float):
        return False
    if (_read_moment(value) and _read_moment(value) == _read_moment(shown)) or _is_same_word(value, shown):
        return False
    # Letters without their accents, which many systems leave out.
    plain = (normalize("NFKD", str(each).lower()) for each in (value, shown))
    first, second = ("".join(filter(str.isalnum, each)) for each in plain)
    if not (first and second):
        # Marks stand for a value that is kept secret.
        return bool(first) and not str(shown).strip()
    # A code such as DE or P1 may stand for a name, and a date for "tomorrow".
    is_code = min(len(first), len(second)) <= _LONGEST_CODE < max(len(first), len(second))
    is_other_form = is_code or bool(_DATE.match(str(value))) != bool(_DATE.match(str(shown)))
    return first not in second and second not in first and not is_other_form


def _is_same_word(value: object, shown: object) -> bool:
    """Return whether two values are words for one state, or one is the login of a person."""
    first, second = (str(each).lower().partition("@")[0] for each in (value, shown))
    states = {first.replace(" ", "_"), second.replace(" ", "_")}
    names, others = (re.findall(r"[^\W\d_]+", each) for each in (first, second))
    is_login = _is_made_of(others, names) or _is_made_of(names, others)
    return is_login or any(states <= group for group in _SAME_STATES)


def _is_made_of(words: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether words are the words of a short name in their order, or first letters of them."""
    is_name = 1 < len(name) <= _LONGEST_NAME
    logins = product(*((word, word[0]) for word in name)) if is_name else ()
    return any("".join(parts) == "".join(words) for parts in logins)


def _read_moment(value: object) -> datetime | None:
    """Return a text as a moment, if it states its time zone."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(str(value))
        return moment if moment.tzinfo else None
    return None
