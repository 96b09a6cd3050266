"""JSON Lines are a stream; hostile values are refused."""

import json
import random
import tracemalloc
from pathlib import Path

from evaluation.contract.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs

PEERS = Path(__file__).parents[2] / "data" / "peers"
LINE = json.dumps(
    {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
)


def test_a_broken_line_is_named_by_its_number_wherever_it_is(subtests, tmp_path):
    for broken in [1, 2, 3]:
        with subtests.test(broken=broken):
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


def test_a_file_with_an_odd_value_is_read_or_refused(subtests, tmp_path):
    for kind in sorted(folder.name for folder in PEERS.iterdir() if folder.is_dir()):
        with subtests.test(kind=kind):
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
