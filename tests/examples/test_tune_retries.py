"""The example of tuning ships attempts of its own tasks, and replays them without a model."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from evaluation.evalset.files import read_case_set
from orchestrator import load_recorded_runs

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("tune_retries", EXAMPLES / "tune_retries.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_recorded_attempts_are_of_the_bundled_tasks_as_they_are(example):
    tasks = {case.name for case in read_case_set(EXAMPLES / "tune_retries_tasks.yaml").cases}
    recorded = {run.task for run in load_recorded_runs(example.RECORDED, EXAMPLES)}
    assert recorded <= tasks
    assert len(recorded) >= 10


def test_other_policies_are_replayed_without_a_model(example, capsys):
    example.replay_recorded()
    assert capsys.readouterr().out.count("replayed ") == 4
