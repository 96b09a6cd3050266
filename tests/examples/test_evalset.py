"""The example sets: one passes, one fails, one is flaky; every command runs on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app

SETS = Path(__file__).parents[2] / "examples" / "evalset"


def evaluate(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("passing", 0, "2 of 2 runs accepted (2 passed)\nwhat the accepted ones rest on: 2 checked"),
        ("failing", 1, "0 of 1 run accepted (1 failed)"),
        ("flaky", 1, "by verdict: 1 of 1 cases are flaky: guessed price (2 of 4)"),
    ],
)
def test_a_set_ends_as_its_name_says(name, status, message):
    asked = evaluate(SETS / f"{name}.yaml")

    assert (asked.exit_code, message in asked.stderr) == (status, True)


def test_results_are_stored_scored_again_and_compared(tmp_path):
    out, baseline = tmp_path / "results.jsonl", tmp_path / "baseline.yaml"
    contract = SETS / "contracts" / "priced.yaml"
    cases = SETS / "passing.yaml"

    commands = [
        (cases, "--out", out, "--save-baseline", baseline, "--repeat", 2, "--concurrency", 2),
        (cases, "--out", out, "--baseline", baseline, "--repeat", 2),
        (out, "--contract", contract, "--require", "checked"),
        (out, "--junit", tmp_path / "r.xml", "--markdown", tmp_path / "r.md", "--csv", tmp_path / "r.csv"),
    ]

    assert [evaluate(*command).exit_code for command in commands] == [0, 0, 0, 0]
