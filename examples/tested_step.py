"""A coding step whose check runs its tests: a retry reads the output of the test that failed.

The model is scripted, so the output is always the same. ``python examples/tested_step.py local`` uses the
embedded model instead; what it writes is run on this computer, with your rights.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from agents import ExecutionAgent, MonitoringAgent, load_model
from agents.testing import ScriptedChatModel
from evaluation import CheckContext, CheckOutcome, check
from orchestrator import LangGraphOrchestrator

TASK = (
    "Write a Python function is_leap(year) that says whether a year has 366 days. Reply with its code alone."
)
TESTS = """
import unittest
from answer import is_leap

class LeapYears(unittest.TestCase):
    def test_every_fourth_year_is_one(self):
        self.assertTrue(is_leap(2024))

    def test_a_century_is_none(self):
        self.assertFalse(is_leap(1900))

    def test_every_fourth_century_is_one(self):
        self.assertTrue(is_leap(2000))
"""
REPLIES = [
    "```python\ndef is_leap(year):\n    return year % 4 == 0\n```",
    "```python\ndef is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n```",
    '{"success": true, "feedback": "It is the rule of the Gregorian calendar."}',
]


class OneStep:
    """A planner that needs no model."""

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the task as its only step."""
        return [task]


model = load_model(sys.argv[1]) if sys.argv[1:] else ScriptedChatModel(REPLIES)
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "test_answer.py").write_text(TESTS, encoding="utf-8")

    @check(timeout=60)
    def passes_tests(context: CheckContext) -> CheckOutcome:
        """Write code that passes its tests."""
        Path(folder, "answer.py").write_text(context.code, encoding="utf-8")
        command = [sys.executable, "-B", "-m", "unittest", "test_answer"]
        ended = subprocess.run(  # noqa: S603 - the command is fixed
            command, cwd=folder, capture_output=True, text=True, timeout=50, env={}, check=False
        )
        return CheckOutcome(ended.returncode == 0, evidence=ended.stderr)

    orchestrator = LangGraphOrchestrator(
        OneStep(), ExecutionAgent(model), MonitoringAgent(model), checks=[passes_tests]
    )
    state = orchestrator.run(TASK)

for record in state["results"]:
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    print(f"attempt {record['attempt']}: {record['status']}\n{feedback}\n")
print(f"{state['status']}: {state['failure'] or state['output']}")
