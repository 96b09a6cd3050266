"""Several processes evaluate a file as one does: the same results, in the same order, none lost."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluation.recordings.line_ranges import read_range, split_lines
from evaluation.recordings.run_files import read_runs
from orchestrator.experiments.parallel_evaluation import ParallelEvaluation
from orchestrator.experiments.recorded_evaluation import RecordedEvaluation

CONTRACT = {"must_call": ["look_up"]}
RANGES = 3
PEAK = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
"""Prints what a command prints, and its peak of memory in kB."""


def write_line(number):
    name = "look_up" if number % 3 else "guess"
    run = {"final_output": "x" * 2_000, "tool_calls": [{"name": name, "args": {"number": number}}]}
    return json.dumps({"case_id": f"case {number % 150}", "agent_run": run})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Write a file of three ranges; a line is blank, one is no JSON, and the last one has no end."""
    file = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    lines = [write_line(number) for number in range(330)]
    file.write_text("\n".join([*lines[:200], "", "{broken", *lines[200:]]))
    return file


def in_one_process(file):
    evaluation = RecordedEvaluation(CONTRACT)
    return [*evaluation.evaluate(read_runs(file))], evaluation


def test_the_ranges_of_a_file_have_each_run_once(runs):
    ranges = [*split_lines(runs)]
    assert len(ranges) == RANGES
    assert [run for lines in ranges for run in read_range(lines)] == [*read_runs(runs)]


@pytest.mark.parametrize(
    "text", ["", "{}", '[{"a": 1},\n{"b": 2}]', '{"role": "user", "content": "a"}\n' * 2]
)
def test_a_file_without_a_run_in_each_line_has_no_ranges(tmp_path, text):
    file = tmp_path / "runs.json"
    file.write_text(text)
    assert split_lines(file) is None


def test_two_processes_give_the_results_of_one(runs):
    evaluation = RecordedEvaluation(CONTRACT)
    results = [*ParallelEvaluation(evaluation, 2).evaluate([runs, runs])]
    alone = RecordedEvaluation(CONTRACT)
    assert results == [*alone.evaluate(run for _ in range(2) for run in read_runs(runs))]
    assert (evaluation.unread, evaluation.ignored) == (alone.unread, alone.ignored)
    assert {result.trial for result in results} == {*range(6)}


@dataclass(slots=True)
class DyingEvaluation(RecordedEvaluation):
    """Ends its process at one of the lines, as often as the file ``deaths`` has bytes."""

    deaths: str = ""

    def evaluate_unnumbered(self, runs):
        runs = [*runs]
        left = Path(self.deaths).read_bytes()
        if left and any("'number': 170}" in str(getattr(run, "case", "")) for run in runs):
            Path(self.deaths).write_bytes(left[1:])
            os._exit(9)
        return RecordedEvaluation.evaluate_unnumbered(self, runs)


def evaluate_dying(runs, tmp_path, times):
    deaths = tmp_path / "deaths"
    deaths.write_bytes(b"x" * times)
    evaluation = DyingEvaluation(CONTRACT, deaths=str(deaths))
    return [*ParallelEvaluation(evaluation, 1).evaluate([runs])], evaluation


@pytest.mark.soak
def test_the_lines_of_a_process_that_ended_are_evaluated_again(runs, tmp_path):
    results, evaluation = evaluate_dying(runs, tmp_path, 1)
    expected, alone = in_one_process(runs)
    assert (results, evaluation.unread) == (expected, alone.unread)


@pytest.mark.soak
def test_lines_that_end_every_process_are_reported_and_the_others_are_evaluated(runs, tmp_path):
    results, evaluation = evaluate_dying(runs, tmp_path, 100)
    expected, _ = in_one_process(runs)
    assert [result.name for result in results] == [
        result.name for result in [*expected[:124], *expected[248:]]
    ]
    assert evaluation.unread[0].startswith("runs.jsonl:125-250: their process ended twice")


@pytest.mark.soak
def test_a_hundred_thousand_lines_take_less_than_400_mb(tmp_path):
    file = tmp_path / "runs.jsonl"
    with file.open("w") as stream:
        stream.writelines(f"{write_line(number)}\n" for number in range(100_000))
    # A process counts the memory of the one that started it, so a small one starts the command.
    command = [sys.executable, "-m", "orchestrator", "evaluate", str(file), "--processes", "2"]
    done = subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True)
    assert "100000 runs" in done.stderr
    assert int(done.stdout.split()[-1]) < 400 * 1024
