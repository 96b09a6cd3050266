"""Files that other people recorded load with the counts of their README; they are not in the repository."""

import os
from pathlib import Path

import pytest

from evaluation.importers.conversation import ends_run, read_conversation
from evaluation.recordings.run_files import read_runs

DATA = Path(os.environ.get("EVALUATION_DATA", Path(__file__).parents[4] / "shared" / "data")) / "run-files"
ROWS = {
    # The messages of each run, the calls, whether it ends with an answer, and a part of the warnings.
    "adk/customer-service.session.json": ([34], [6], True, ""),
    "adk/eval_data1.evalset.json": ([16], [10], True, "10 of 10 calls have no answer"),
    # Ten of the fifty events only change the state.
    "adk/text_search_floral_dress.session.json": ([40], [12], True, ""),
    "claude-code/edge_cases.jsonl": ([13], [3], False, "entries that are no objects are not read (3)"),
    "claude-code/representative_messages.jsonl": ([11], [2], None, ""),
    "claude-code/sample_session.json": ([33], [12], True, ""),
    "inspect/log_read_sample.json": ([3], [0], True, ""),
    "inspect/log_tool_call_error.json": ([11], [0], False, "11 answers belong to no call"),
    "inspect/popularity.json": ([3, 3, 3], [0, 0, 0], True, ""),
    "mini-swe-agent/github_issue.traj.json": ([22], [10], True, ""),
    "mini-swe-agent/local.traj.json": ([6], [2], None, ""),
    "openhands/basic.json": ([4], [1], True, ""),
    "openhands/output.jsonl": ([8, 44], [3, 21], True, ""),
    "openhands/wrong_initial_state.json": ([8], [3], True, ""),
    "swe-agent/function_calling_simple.traj": ([12], [5], True, ""),
    "swe-agent/humanevalfix-python-0.traj": ([11], [5], True, ""),
    "swe-agent/test-repo-i1.traj": ([11], [5], True, "demonstrations are no part of the run (1)"),
    "tau2/airline-task-8.json": ([26], [7], None, ""),
    "tau2/mock-update-task-1.json": ([8], [1], True, ""),
    "tau2/retail-task-0.json": ([20], [5], True, ""),
    "toolbench/G1_59.json": ([11], [5], True, ""),
    "toolbench/G2_127.json": ([8], [3], None, ""),
    "toolbench/G3_21.json": ([9], [4], True, ""),
    # The last message is the sign of the end.
    "who-and-when/algorithm-generated-101.json": ([7], [0], True, "signs that the agents have ended"),
    "who-and-when/hand-crafted-32.json": ([12], [0], True, "parts of the type thinking"),
    "who-and-when/hand-crafted-4.json": ([17], [0], None, "parts of the type thinking"),
}
"""None: whether a question, an empty submission or a text without an answer is one, a reader cannot know."""

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs the files of $EVALUATION_DATA/run-files")


def has_end(conversation):
    last = conversation.last_calls[-1].call.name if conversation.calls else ""
    return conversation.has_reply or (conversation.ends_with_call and ends_run(last))


def test_a_file_has_the_messages_and_calls_of_its_readme(subtests):
    for name, (messages, calls, ends, warning) in ROWS.items():
        with subtests.test(name=name):
            runs = list(read_runs(DATA / name))
            read = [read_conversation(run.case["agent_run"]["messages"]) for run in runs]

            assert [len(each.messages) for each in read] == messages
            assert [len(run.case["agent_run"]["tool_calls"]) for run in runs] == calls
            assert ends is None or {*map(has_end, read)} == {ends}
            assert any(warning in text for run in runs for text in (*run.warnings, ""))


def test_no_text_call_or_error_of_these_files_is_lost(subtests):
    for name in ROWS:
        with subtests.test(name=name):
            warnings = [text for run in read_runs(DATA / name) for text in run.warnings]

            assert not any(" in the file, " in text for text in warnings)


def test_marks_of_errors_are_failed_calls(subtests):
    for name, failed in [
        ("claude-code/edge_cases.jsonl", 1),
        ("claude-code/sample_session.json", 1),
        ("toolbench/G3_21.json", 1),
    ]:
        with subtests.test(name=name):
            [run] = read_runs(DATA / name)

            assert sum(call["error"] for call in run.case["agent_run"]["tool_calls"]) == failed
