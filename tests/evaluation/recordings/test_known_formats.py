"""Formats of installed packages are asked first; JSON Lines are a stream; hostile values are refused."""

import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from evaluation.contract.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs

PEERS = Path(__file__).parents[2] / "data" / "peers"
LINE = json.dumps(
    {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
)
LOG_FORMAT = """
from evaluation.recordings.recorded_run import RecordedRun

class LogFormat:
    name = "log of my bot"
    def recognises(self, value):
        return isinstance(value, dict) and "question" in value
    def read(self, value):
        yield RecordedRun({"case_id": "mine", "agent_run": {"input": value["question"], "final_output": "x"}})

LOG_FORMAT, NO_FORMAT = LogFormat(), 5
"""
PROGRAM = (
    "import sys; from evaluation import read_cases; print([c['case_id'] for c in read_cases(sys.argv[1])])"
)


@pytest.mark.parametrize(
    ("name", "output"),
    [("LOG_FORMAT", "['mine']"), ("NO_FORMAT", "the entry point log of plan_execute_monitor")],
)
def test_a_package_offers_a_format_as_an_entry_point(name, output, tmp_path):
    metadata = tmp_path / "my_bot-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: my-bot\nVersion: 1\n")
    entry = f"[plan_execute_monitor.run_formats]\nlog = my_bot:{name}\n"
    (metadata / "entry_points.txt").write_text(entry)
    (tmp_path / "my_bot.py").write_text(LOG_FORMAT)
    (tmp_path / "log.json").write_text('{"question": "Who?", "answer": "I"}')

    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {PROGRAM}"
    asked = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "log.json")],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip

    assert output in asked.stdout + asked.stderr


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_a_broken_line_is_named_by_its_number_wherever_it_is(broken, tmp_path):
    lines = ["{broken" if number == broken else LINE for number in (1, 2, 3)]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))

    runs = list(read_runs(tmp_path / "runs.jsonl"))

    assert [run.where for run in runs if isinstance(run, UnreadableCase)] == [f"runs.jsonl:{broken}"]
    assert [type(run) for run in runs].count(RecordedRun) == 2


def test_lines_are_read_in_flat_memory(tmp_path):
    (tmp_path / "runs.jsonl").write_text(f"{LINE}\n" * 2_000)
    runs = read_runs(tmp_path / "runs.jsonl")
    next(runs)
    tracemalloc.start()
    try:
        assert sum(1 for _ in runs) == 1_999
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1_000_000


ODD = [None, 5, -1.5, "x", "", [], {}, [1], {"a": 1}, True, [["a"]], "{", [None], {"text": 3}, float("inf")]


def list_paths(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from list_paths(inner, (*path, key))


@pytest.mark.parametrize("kind", sorted(folder.name for folder in PEERS.iterdir() if folder.is_dir()))
def test_a_file_with_an_odd_value_is_read_or_refused(kind, tmp_path):
    chance = random.Random(kind)
    lines = []
    for file in sorted((PEERS / kind).glob("*.json")):
        text = file.read_text()
        for *path, last in chance.choices([*list_paths(json.loads(text))], k=15):
            inner = value = json.loads(text)
            for key in path:
                inner = inner[key]
            inner[last] = chance.choice(ODD)
            lines.append(json.dumps({"x": value} if isinstance(value, list) and not value else value))
    (tmp_path / "runs.jsonl").write_text("\n".join([LINE, *lines]).replace("Infinity", "1e999"))

    assert len(list(read_runs(tmp_path / "runs.jsonl"))) > len(lines)
