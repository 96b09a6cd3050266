"""The example runs from end to end with a server that speaks Ollama's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import OLLAMA_MODEL

EXAMPLE = Path(__file__).parents[2] / "examples" / "ollama_run.py"


def run_example(host: str) -> list[str]:
    process = subprocess.run(
        [sys.executable, str(EXAMPLE), OLLAMA_MODEL],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OLLAMA_HOST": host, "NO_PROXY": "127.0.0.1"},
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def test_the_example_uses_a_model_of_the_server(ollama_url):
    lines = run_example(ollama_url)

    assert lines[0] == f"model: {OLLAMA_MODEL}"
    assert any(line.startswith(("success, ", "failed, ")) for line in lines), lines
    assert any(line.startswith("step 1, attempt 1: ") for line in lines), lines
