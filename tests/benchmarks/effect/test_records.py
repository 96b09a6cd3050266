"""The file of results: what was measured is kept, whatever ends the process, and never mixed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.effect.arms.unjudged import OneShot
from benchmarks.effect.measurement import Plan, measure
from benchmarks.effect.records import CacheError, open_records
from tests.benchmarks.effect.scripted import PROMPTS, SETTINGS, file_in, is_right, record, source

ROOT = Path(__file__).parents[3]
KILLED = """
import os, signal, sys
from pathlib import Path
from benchmarks.effect.arms.unjudged import OneShot
from benchmarks.effect.measurement import Plan, measure
from benchmarks.effect.records import open_records
from tests.benchmarks.effect.scripted import PROMPTS, SETTINGS, is_right, source

def reply(text):
    if "number 3" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    return "from the first process"

with open_records(Path(sys.argv[1]), SETTINGS) as file:
    measure(Plan([OneShot()], PROMPTS, 1, 3, judge=is_right), source(reply), file)
"""


@pytest.mark.soak
def test_a_killed_measurement_continues_with_the_answer_that_is_missing(tmp_path):
    path = file_in(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL

    asked = []
    with open_records(path, SETTINGS) as file:
        plan = Plan([OneShot()], PROMPTS, 1, 3, judge=is_right)
        measure(plan, source(lambda text: asked.append(text) or "from the second"), file)

    with open_records(path, SETTINGS) as file:
        outputs = [file.records["one-shot", prompt.key, 0].output for prompt in PROMPTS]
    assert asked == ["Write word number 3."]
    assert outputs == ["from the first process", "from the first process", "from the second"]


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


def test_a_file_that_is_no_file_of_results_is_refused_and_kept(tmp_path):
    path = file_in(tmp_path)
    path.write_text("name,value\na,1\n")

    with pytest.raises(CacheError, match="holds no results"), open_records(path, SETTINGS):
        pass
    assert path.read_text() == "name,value\na,1\n"


def test_a_file_inside_of_the_repository_is_refused():
    path = ROOT / "benchmarks" / "results.jsonl"

    with pytest.raises(CacheError, match="inside of the repository"), open_records(path, SETTINGS):
        pass
    assert not path.exists()


def test_two_processes_cannot_measure_into_one_file(tmp_path):
    path = file_in(tmp_path)

    with (
        open_records(path, SETTINGS),
        pytest.raises(CacheError, match="another process measures"),
        open_records(path, SETTINGS),
    ):
        pass


def test_an_answer_that_raised_is_measured_again(tmp_path):
    with open_records(file_in(tmp_path), SETTINGS) as file:
        file.add(record(error="TimeoutError"))
        assert not file.is_done(("one-shot", 1, 0))
        file.add(record())
        assert file.is_done(("one-shot", 1, 0))
