"""The example of two workers, one of which is killed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path(__file__).parents[2] / "examples" / "workers" / "main.py"


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_200_runs_end_and_send_one_letter_each_although_a_worker_is_killed():
    printed = subprocess.check_output([sys.executable, str(MAIN)], text=True)

    assert re.search(r"killed a worker after \d+ letters\n200 results in \d+ s", printed)
    assert printed.endswith("200 letters to 200 customers\n")
