"""The files for supervisors start workers with options that exist, and start them again."""

from __future__ import annotations

import re
from pathlib import Path

import typer
import yaml

from orchestrator.cli.app import app

DEPLOY = Path(__file__).parents[3] / "deploy"
OPTIONS = {option.opts[0] for option in typer.main.get_command(app).get_command(None, "worker").params}


def read_options(command: str) -> set[str]:
    assert "orchestrator worker" in command
    return set(re.findall(r"--[a-z-]+", command))


def test_the_unit_of_systemd_starts_a_worker_again_and_waits_for_longer_than_its_grace():
    unit = (DEPLOY / "orchestrator-worker.service").read_text()
    values = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and line[0] != "#")

    assert read_options(values["ExecStart"]) <= OPTIONS
    assert values["Restart"] == "always"
    assert int(values["TimeoutStopSec"]) > int(re.search(r"--grace (\d+)", values["ExecStart"])[1])


def test_the_compose_file_starts_workers_again_and_waits_for_longer_than_their_grace():
    worker = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["worker"]

    assert read_options(worker["command"]) <= OPTIONS
    assert worker["restart"] == "always"
    assert int(worker["stop_grace_period"][:-1]) > int(re.search(r"--grace (\d+)", worker["command"])[1])
