"""The splits of the prompts, and the official checkers as their judge."""

from __future__ import annotations

import json

import pytest

from benchmarks.effect.prompts import Prompt, is_right, read_prompts
from tests.evaluation.checks.ifeval import find_official

NO_COMMA = ("punctuation:no_comma", {})


def write_prompts(path, *instructions):
    lines = [
        {"key": key, "prompt": f"Prompt {key}.", "instruction_id_list": [name], "kwargs": [arguments]}
        for key, (name, arguments) in enumerate(instructions)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path):
    return write_prompts(tmp_path / "prompts.jsonl", *[NO_COMMA] * 300)


def test_the_splits_have_no_prompt_in_common(path):
    tuning = {prompt.key for prompt in read_prompts(path, "tuning", 300).chosen}
    held_out = {prompt.key for prompt in read_prompts(path, "held-out", 300).chosen}

    assert (tuning, held_out) == ({*range(200)}, {*range(200, 300)})


def test_an_output_is_right_if_it_fulfils_every_instruction():
    find_official()
    prompt = Prompt(1, "Two sentences.", (NO_COMMA, ("detectable_format:title", {})))

    assert is_right(prompt, "<<Title>> without the mark")
    assert not is_right(prompt, "<<Title>>, with the mark")
    assert not is_right(prompt, "")
