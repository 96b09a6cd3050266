"""Examples that evaluate: a set of cases, a rubric, tau-bench."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from benchmarks.tau_bench import make_effects_case, measure
from orchestrator.cli.app import app
from tests.fakes.protocol_server import ollama_reply

SETS = Path(__file__).parents[2] / "examples" / "evalset"


@pytest.fixture
def orchestrator(tmp_path, monkeypatch, loopback):
    """Type a command in a folder with the example sets, beside a scripted model."""
    folder = tmp_path / "evalset"
    shutil.copytree(SETS, folder)
    monkeypatch.chdir(folder)
    verdict = json.dumps({"feedback": "it is good", "success": True, "score": 5, "rationale": "good"})

    def answer(body):
        return ollama_reply(verdict if "format" in body else "The atlas costs 12.5 euros.")

    monkeypatch.setenv("OLLAMA_HOST", loopback(answer=answer).url)
    return lambda line: CliRunner().invoke(app, line.split(), catch_exceptions=False)


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("passing", 0, "2 of 2 runs verified (2 checked)"),
        ("failing", 1, "1 of 1 run not: 1 failed"),
        ("flaky", 1, "1 of 1 cases are flaky: guessed price (2 of 4)"),
    ],
)
def test_a_set_ends_as_its_name_says(orchestrator, name, status, message):
    asked = orchestrator(f"evaluate {name}.yaml")

    assert (asked.exit_code, message in asked.stderr) == (status, True)


COMMANDS = [
    # The exit status, and the command; each finds the files of those before it.
    (0, "evaluate passing.yaml --out good.jsonl --save-baseline baseline.yaml --repeat 2 --concurrency 2"),
    (0, "evaluate passing.yaml --out good.jsonl --baseline baseline.yaml --repeat 2"),
    (0, "evaluate good.jsonl --contract contracts/priced.yaml --require checked --fail-on warning"),
    (0, "evaluate passing.yaml --out good.jsonl --repeat 2 --html r.html --junit r.xml --json"),
    (1, "evaluate failing.yaml --html f.html --junit f.xml"),
    (2, "evaluate failing.yaml --baseline baseline.yaml"),
    (1, "evaluate passing.yaml --target clerk:guess --out guesses.jsonl"),
    (0, "evaluate passing.yaml --judge ollama:one"),
    (0, "compare good.jsonl guesses.jsonl --html c.html"),
    (0, "compare --tasks flaky.yaml --models ollama:one,ollama:two --db runs.sqlite --out c.jsonl"),
    (0, "compare --tasks flaky.yaml --models ollama:one,ollama:two --db runs.sqlite --out c.jsonl --json"),
    (0, "evaluate commented.yaml"),
]


def test_every_command_runs_on_the_sets(orchestrator):
    ended = [orchestrator(line) for _, line in COMMANDS]

    seen = {line: (each.exit_code, each.output) for each, (_, line) in zip(ended, COMMANDS, strict=True)}
    assert {line: code for line, (code, _) in seen.items()} == {line: code for code, line in COMMANDS}, seen


@pytest.mark.soak
def test_the_sets_are_tests_of_pytest_in_several_processes(orchestrator):
    files = [f"--evalset={name}.yaml" for name in ("passing", "failing", "flaky")]
    options = ["-n", "1", "--junitxml", "r.xml", "-q", "-p", "no:cacheprovider"]

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *files, *options],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    tests = {each.attrib["name"]: each.find("failure") for each in ET.parse("r.xml").iter("testcase")}
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout
    assert len(tests) == 7
    assert (tests["price"], tests["recorded price"]) == (None, None)
    assert "price_of(title=" in tests["price of the globe"].text


EXAMPLE = Path(__file__).parents[2] / "examples" / "legal_survey_judge.py"


def test_the_good_question_passes_and_the_biased_and_the_vague_one_fail(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [EXAMPLE.name])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "good: passed",
        "biased: failed",
        "vague: failed",
    ]
    assert "  concern: 'surely' suggests the answer" in lines
    assert "  1  neutrality and bias" in lines


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


@pytest.mark.soak
def test_the_published_runs_are_judged_as_the_benchmark_does():
    lines = run_example(find_published_runs())

    assert lines[0] == "100 runs, agreement with the official reward: 100.0%"
    assert "official  pass^1 0.3100  pass^2 0.1933  pass^3 0.1700  pass^4 0.1600" in lines
    assert "0 verdicts differ" in lines
