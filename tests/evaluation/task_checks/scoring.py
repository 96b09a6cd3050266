"""Compares derived checks with expected ones: by kind and arguments, however they are written.

A label "at least 4" agrees with the check "exactly 4" of a prompt that says "4 sections", and a label "at
least 100 words" with 90 to 110 words for "a 100-word text": the official labels have no bare numbers.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.checks import Check

_ONE_VALUE = {"letter_case": "style", "language": "code"}
_IGNORED = {"quote", "severity", "min", "max", "exactly", "whole_words", "ignore_case", "different", "alone"}


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    """Of a kind that is labelled, with other arguments."""
    beyond: int = 0
    """Of a kind that has no label, and that no reading has found right."""
    missed: int = 0
    tasks: int = 0


def normalize(checks: Iterable[Check]) -> dict[tuple, tuple]:
    """Return the requirements: of equal kind and arguments as one, with the stricter bounds."""
    result: dict[tuple, tuple] = {}
    for check in checks:
        for key, value in _split(check):
            known = result.get(key)
            result[key] = _join(known, value) if known is not None else value
    return result


def compare(expected: Iterable[Check], derived: Iterable[Check], accepted: Iterable[str] = ()) -> Score:
    """Compare one task; ``accepted``: kinds that are right although no label has them."""
    wanted, actual = normalize(expected), normalize(derived)
    if ("letter_case", ()) in wanted and ("language", ()) not in actual:
        wanted.pop(("language", ()), None)
    accepted = set(accepted)
    labelled = {key[0] for key in wanted}
    score = Score(tasks=1)
    for key, value in actual.items():
        if key in wanted and _agree(wanted[key], value):
            score.right += 1
        elif key[0] in accepted:
            score.right += 1
            if key in wanted:
                wanted.pop(key)
        elif key[0] in labelled:
            score.wrong += 1
        else:
            score.beyond += 1
    score.missed = sum(key not in actual or not _agree(value, actual[key]) for key, value in wanted.items())
    return score


def add(first: Score, second: Score) -> Score:
    return Score(
        **{name: getattr(first, name) + getattr(second, name) for name in Score.__dataclass_fields__}
    )


def _split(check: Check) -> list[tuple[tuple, tuple]]:
    name = check.check
    texts = _read_texts(check)
    if texts is not None:
        return [((name if name == "excludes" else "contains", ()), ("texts", frozenset(map(_fold, texts))))]
    if name in _ONE_VALUE:
        return [((name, ()), ("value", getattr(check, _ONE_VALUE[name])))]
    plain = check.model_dump(exclude=_IGNORED)
    arguments = tuple(
        sorted((key, _freeze(value)) for key, value in plain.items() if value is not None and key != "check")
    )
    if not hasattr(check, "exactly"):
        return [((name, arguments), ("value", True))]
    low = check.exactly if check.exactly is not None else check.min or 0
    return [((name, arguments), ("bounds", low, check.max if check.exactly is None else check.exactly))]


def _read_texts(check: Check) -> list[str] | None:
    """Return the words that have to be there, or may not be there, wherever and however often."""
    is_plain = check.check == "contains" and check.at_least is None
    if is_plain or check.check == "excludes":
        return check.texts
    is_once = check.check == "occurrences" and (check.min, check.max, check.exactly) == (1, None, None)
    return [check.text] if is_once else None


def _freeze(value):
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return tuple(map(_fold, value)) if isinstance(value, list) else _fold(value)


def _fold(value):
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


def _join(first: tuple, second: tuple) -> tuple:
    if first[0] == "texts":
        return ("texts", first[1] | second[1])
    if first[0] == "bounds":
        most = [value for value in (first[2], second[2]) if value is not None]
        return ("bounds", max(first[1], second[1]), min(most) if most else None)
    return first


def _agree(expected: tuple, actual: tuple) -> bool:
    """Compare values; a label "at least 4" stands for the bare "4 sections" of a prompt, too."""
    if expected == actual:
        return True
    if expected[0] != "bounds" or expected[2] is not None or actual[2] is None:
        return False
    middle = (actual[1] + actual[2]) / 2
    return expected[1] == round(middle) and actual[2] - actual[1] <= expected[1] / 4
