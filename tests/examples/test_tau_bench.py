"""The example on recorded runs of a benchmark: on runs of our own in its format, and on the public ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tau_bench import make_effects_case, measure

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).with_name("tau_bench_sample.json")
DATA = Path(os.environ.get("EVALUATION_DATA", ROOT.parent / "shared" / "data"))


def run_example(file: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tau_bench.py"), str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.soak
def test_refused_calls_extra_arguments_and_amounts_in_words_are_judged_as_the_benchmark_does():
    lines = run_example(SAMPLE)

    assert lines[0] == "4 runs, agreement with the official reward: 100.0%"
    assert "ours      pass^1 0.5000  pass^2 0.1667  pass^3 0.0000  pass^4 0.0000" in lines
    assert lines[-1] == "0 verdicts differ"


def find_published_runs() -> Path:
    files = sorted((DATA / "tau-bench").glob("*.json"))
    if not files:
        pytest.skip("needs the public runs of tau-bench in $EVALUATION_DATA/tau-bench")
    return files[0]


@pytest.mark.soak
def test_the_list_of_acting_tools_is_enough_to_judge_nearly_as_the_benchmark_does():
    runs = json.loads(find_published_runs().read_text(encoding="utf-8"))
    pairs = measure(runs, make_effects_case)

    assert pairs[True, True] + pairs[False, False] >= 0.95 * len(runs)
    assert pairs[False, True] <= 1


def test_the_published_runs_are_judged_as_the_benchmark_does():
    lines = run_example(find_published_runs())

    assert lines[0] == "100 runs, agreement with the official reward: 100.0%"
    assert "official  pass^1 0.3100  pass^2 0.1933  pass^3 0.1700  pass^4 0.1600" in lines
    assert "0 verdicts differ" in lines
