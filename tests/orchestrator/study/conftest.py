"""A study of simulated tasks: its specification, and its search."""

import json

import pytest

from orchestrator.study.tune import search
from orchestrator.study.tune_spec import TuneSpec, build_space, read_tasks
from tests.fakes.simulated_runner import SimulatedRunner

CHANCES = {"first": 0.2, "feedback": 0.05, "resample": 0.6}
RESAMPLE = {"strategies": [[{"use": "resample"}]]}
FRESH = "strategies=[resample]"
CONTRACT = {"required_content": [{"text": "a"}]}


@pytest.fixture
def make_spec(tmp_path):
    """Build a specification on tasks like "Write 3 words.", with a policy of new samples."""

    def build(count=8, **changes):
        cases = [
            {"name": f"task {n}", "task": f"Write {n} words.", "contract": CONTRACT} for n in range(count)
        ]
        file = tmp_path / "tasks.json"
        file.write_text(json.dumps({"version": 1, "cases": cases}))
        return TuneSpec(**{"tasks": str(file), "space": RESAMPLE, "planning": False, **changes})

    return build


@pytest.fixture
def run_tune():
    def run(spec, runner=None, **options):
        run_task = runner or SimulatedRunner(CHANCES)
        return search(spec, build_space(spec), read_tasks(spec), run_task, **options)

    return run
