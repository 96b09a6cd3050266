"""The example with a rubric tells a good question from a biased and a vague one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "legal_survey_judge.py"


def test_the_good_question_passes_and_the_biased_and_the_vague_one_fail():
    process = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "good: passed",
        "biased: failed",
        "vague: failed",
    ]
    assert "  concern: 'surely' suggests the answer" in lines
    assert "  1  neutrality and bias" in lines
