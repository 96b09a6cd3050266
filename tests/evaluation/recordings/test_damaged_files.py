"""A file with one damaged place is refused, or has a new warning, or keeps its calls, errors and texts."""

import json
import random
from collections import Counter

import pytest

from evaluation import evaluate
from evaluation.importers.conversation import read_conversation
from tests.evaluation.recordings.peers import PEERS

FORMATS = sorted(folder.name for folder in PEERS.iterdir() if folder.is_dir())
DAMAGED = frozenset({
    "is_error", "tool_result_is_error", "error", "status", "outcome", "code", "key", "run_type", "type",
    "role", "name", "function_name", "source", "stringValue",
})  # fmt: skip
"""Marks of errors, and fields that tell what a part is."""
TEXTS = frozenset({"input", "contents", "content", "parts"})
"""Fields that may hold a text."""
VALUES = ("yes", 7, {"a": 1}, ["yes"])


def list_damages(value, path=()):
    """Yield the path of a place and a value of another type: of elements, of objects and lists, of marks."""
    fields = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, field in fields:
        is_part = isinstance(field, dict | list)
        if is_part or (key in DAMAGED and field is not None):
            name = path[-1] if path and isinstance(value, list) else key
            # Null in a field is an absent field.
            values = [None] if is_part and isinstance(value, list) else []
            values += [each for each in VALUES if each != "yes" or name not in TEXTS]
            yield from (((*path, key), each) for each in values if type(each) is not type(field))
        yield from list_damages(field, (*path, key))


def damage(value, path, wrong):
    if not path:
        return wrong
    copied = value.copy()
    copied[path[0]] = damage(value[path[0]], path[1:], wrong)
    return copied


def load(file):
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in file.read_text().splitlines()]
    return json.loads(file.read_bytes())


def summarize(runs):
    if not all(hasattr(run, "case") and evaluate(run.case).status != "invalid" for run in runs):
        return None
    return [run.case["agent_run"] for run in runs], {text for run in runs for text in run.warnings}


def list_facts(runs):
    facts = Counter("error of a run" for run in runs if run.get("error"))
    for run in runs:
        facts.update("call" for call in run["tool_calls"])
        facts.update("failed call" for call in run["tool_calls"] if call.get("error"))
        messages = read_conversation(run.get("messages", ())).messages
        facts.update(f"text of {each.role}" for each in messages if each.text and each.role != "tool")
    return facts


@pytest.mark.parametrize("sample", [10, pytest.param(30, marks=pytest.mark.thorough)])
def test_a_damaged_place_is_never_dropped_in_silence(subtests, read_written, sample):
    """So many damages of each format are tried, the same ones in each run."""
    for name in FORMATS:
        with subtests.test(name=name):
            values = [load(file) for file in sorted((PEERS / name).glob("*.*"))]
            damages = [(index, *each) for index, value in enumerate(values) for each in list_damages(value)]
            chosen = random.Random(0).sample(damages, sample)
            whole = {index: summarize(read_written(values[index])) for index, *_ in chosen}
            lost = []
            for index, path, wrong in chosen:
                runs, warnings = whole[index]
                damaged = summarize(read_written(damage(values[index], path, wrong)))
                if damaged and damaged[1] <= warnings and list_facts(runs) - list_facts(damaged[0]):
                    lost.append((path, wrong))

            assert not lost
