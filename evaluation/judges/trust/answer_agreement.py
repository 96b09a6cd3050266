"""Compares several answers of a model to one task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from evaluation.texts.json_texts import read_json_values
from evaluation.texts.normal import split_words
from evaluation.texts.numbers import read_amounts, spell_in_digits

NormalForm: TypeAlias = tuple[str, ...]


def count_agreeing(task: str, output: str, answers: Sequence[str]) -> int:
    """Counts the answers that say the same as an output.

    Two JSON objects or lists are the same if their values are. Other texts are the same if their words and
    numbers are, apart from the words of the task: "The capital of Peru is Lima." and "Lima". So only short
    answers can agree. Source: Wang et al. (2023), Self-consistency improves chain of thought reasoning in
    language models, ICLR.
    """
    wanted = _normalize_answer(task, output)
    return sum(_normalize_answer(task, answer) == wanted for answer in answers) if wanted else 0


def _normalize_answer(task: str, text: str) -> NormalForm:
    values = [value for value in read_json_values(text) if isinstance(value, dict | list)]
    if len(values) == 1:
        return ("json", json.dumps(values[0], sort_keys=True))
    words, known = [*_split_answer(text)], {*_split_answer(task)}
    # An answer that the task offers has no other words.
    return tuple(word for word in words if word not in known) or tuple(words)


def _split_answer(text: str) -> Iterator[str]:
    """Yields the words of a text and its numbers, each in one notation."""
    plain, _ = spell_in_digits(text)
    end = 0
    for (start, stop), readings in read_amounts(plain):
        yield from split_words(plain[end:start])
        yield from (format(value.normalize(), "f") for value in readings[0][:1])
        end = stop
    yield from split_words(plain[end:])
