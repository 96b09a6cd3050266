"""A recorded run has one verdict, from Python and from the command."""

from pathlib import Path

from evaluation import evaluate_many, read_cases
from evaluation.recordings.run_files import read_runs
from orchestrator.study.recorded_evaluation import RecordedEvaluation

PEERS = Path(__file__).parents[2] / "data" / "peers"
FILES = [
    "claude-code/one-call.jsonl", "inspect/one-call.json", "atif/cline.json", "otel/genai-openai.json",
    "swe-agent/text-commands.traj",
]  # fmt: skip


def test_a_file_has_the_verdicts_of_the_command_in_python(subtests):
    for name in FILES:
        with subtests.test(file=name):
            of_command = [each.report for each in RecordedEvaluation(None).evaluate(read_runs(PEERS / name))]

            reports = evaluate_many(read_cases(PEERS / name))

            assert [report.model_dump(mode="json") for report in reports] == of_command
