"""The file of results: what was measured is kept, whatever ends the process, and never mixed."""

from __future__ import annotations

import os

import pytest

from benchmarks.effect.records import CacheError, open_records
from tests.benchmarks.effect.scripted import SETTINGS, file_in, record


@pytest.mark.parametrize("kept", [1, 40])
def test_a_line_that_was_not_finished_is_measured_again(tmp_path, kept):
    path = file_in(tmp_path)
    with open_records(path, SETTINGS) as file:
        file.add(record(prompt=1))
        file.add(record(prompt=2))
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    os.truncate(path, len(whole) - len(last) + kept)

    with open_records(path, SETTINGS) as file:
        assert list(file.records) == [("one-shot", 1, 0)]
        file.add(record(prompt=2))
    with open_records(path, SETTINGS) as file:
        assert len(file.records) == 2


@pytest.mark.parametrize(
    ("field", "value"), [("temperature", 0.0), ("model", "other"), ("prompts", "def"), ("retries", 1)]
)
def test_a_file_of_other_settings_is_refused_with_the_difference(tmp_path, field, value):
    path = file_in(tmp_path)
    with open_records(path, SETTINGS) as file:
        file.add(record())

    other = SETTINGS.model_copy(update={field: value})
    with (
        pytest.raises(CacheError, match=f"{field} {getattr(SETTINGS, field)}, not {value}"),
        open_records(path, other),
    ):
        pass
    with open_records(path, SETTINGS) as file:
        assert len(file.records) == 1
