import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from evaluation import evaluate
from evaluation.contract.intake import UnreadableCase
from evaluation.recordings import record_format
from evaluation.recordings.run_files import read_runs
from tests.evaluation.messages import said, user
from tests.evaluation.recordings.peers import PEERS, load, plant, read

SESSIONS = (
    *("claude-code/one-call.jsonl", "codex/one-call.jsonl", "codex/items.jsonl"),
    *("gemini-cli/lines.jsonl", "pi/one-call.jsonl"),
)


def test_a_session_that_is_still_being_written_is_read_up_to_its_last_whole_line(subtests, read_written):
    for name in SESSIONS:
        with subtests.test(name=name):
            [whole] = read(name)
            [run] = read_written((PEERS / name).read_text() + '{"type": "assistant", "mess')

            assert run.case["agent_run"] == whole.case["agent_run"]
            assert "the last line is cut" in " ".join(run.warnings)


def test_a_session_with_a_broken_line_within_is_not_read(read_written):
    first, *rest = (PEERS / SESSIONS[0]).read_text().splitlines(keepends=True)

    [broken] = read_written("".join([first, '{"type": \n', *rest]))

    assert isinstance(broken, UnreadableCase)
    assert broken.where == "run.data:2"


def test_two_sessions_in_one_file_are_two_runs(read_written):
    one = (PEERS / SESSIONS[0]).read_text()

    runs = read_written(one + one.replace("5e0c", "77aa"))

    assert [run.case["case_id"][:4] for run in runs] == ["5e0c", "77aa"]


def test_entries_in_no_known_form_are_counted(read_written):
    session = (PEERS / SESSIONS[0]).read_text().rstrip()

    [run] = read_written(session, 3, None, {"silly": 1}, {"type": "user", "message": "oops"})

    assert [text.removeprefix("run.data: ") for text in run.warnings] == [
        "entries that are no objects are not read (2)",
        "entries without a type are not read (1)",
        "entries of the type user in this form are not read (1)",
    ]


def test_records_without_a_message_are_no_run(subtests, read_written):
    for value in [
        [{"query": "price?", "reference": "12.5"}],
        [{"action": 1, "content": 2}],
        {"simulations": [{"messages": [{"role": "judge", "content": "fine"}]}]},
    ]:
        with subtests.test(value=value):
            assert all(isinstance(run, UnreadableCase) for run in read_written(value))


def test_an_unknown_version_is_refused(subtests, read_written):
    for name, path, version in [
        ("inspect/one-call.json", "version", 3),
        ("mini-swe-agent/object.json", "trajectory_format", "mini-swe-agent-2"),
        ("agents-sdk/state.json", "$schemaVersion", "2.0"),
    ]:
        with subtests.test(name=name):
            [run] = read_written({**load(name), path: version})

            assert f"the version {version} is not known; give " in run.problem


def test_records_that_are_nested_too_deep_are_refused(subtests, read_written):
    for levels in [120, 900]:
        with subtests.test(levels=levels):
            log = (PEERS / "inspect/one-call.json").read_text()
            nested = log.replace('"content": "12.5"', f'"content": {"[" * levels}1{"]" * levels}')
            [run] = read_written(nested)

            assert "nested in more than 100 levels" in run.problem


ENDS = [
    ("swe-agent/limit.traj", "info.exit_status is exit_cost"),
    ("mini-swe-agent/limit.json", "info.exit_status is LimitsExceeded"),
    ("tau2/missing-answer.json", "termination_reason is max_steps"),
    ("inspect/limit.json", "limit.type is message"),
    ("toolbench/give-up.json", "answer_generation.finish_type is give_up"),
    ("agentdojo/missing-answer.json", "the context is too long"),
    ("adk-session/error.json", "the call has no name"),
    ("codex-exec/failed.jsonl", "stream disconnected"),
    ("claude-code/api-error.jsonl", "API Error: 529 overloaded"),
    ("codex/error.jsonl", "stream disconnected before completion"),
    ("gemini-cli/error.json", "[API Error: quota exceeded]"),
    ("gemini-cli/error-alone.json", "[API Error: quota exceeded]"),
    ("swe-agent/submitted-at-limit.traj", "info.exit_status is submitted (exit_cost)"),
    ("pi/api-error.jsonl", "529 overloaded"),
    ("openhands/stuck.json", "stuck"),
    ("openhands/state-error.json", "AgentStuckInLoopError: Agent got stuck in a loop"),
    ("openhands/state-error-without-reason.json", "no reason is recorded"),
]


def test_a_run_that_was_ended_has_an_error_with_the_reason(subtests):
    for name, error in ENDS:
        with subtests.test(name=name):
            [run] = read(name)

            assert run.case["agent_run"]["error"] == error
            assert evaluate(run.case).status == "failed"


def test_a_run_whose_error_was_followed_by_messages_has_none(read_written):
    error = {"type": "event_msg", "payload": {"type": "error", "message": "overloaded"}}
    first, *rest = (PEERS / "codex/one-call.jsonl").read_text().splitlines()

    [run] = read_written(first, error, *rest)

    assert run.case["agent_run"]["error"] is None


def test_a_submission_or_a_finish_ends_a_run_and_a_result_in_another_form_is_no_loss(subtests):
    for name in [
        *("swe-agent/text-commands.traj", "mini-swe-agent/tool-calls.json", "toolbench/finish.json"),
        *("claude-code/structured-result.jsonl", "pydantic-ai/object-result.json"),
    ]:
        with subtests.test(name=name):
            [run] = read(name)

            assert not run.warnings
            assert "without a reply" not in evaluate(run.case).summary


def test_a_simulation_without_messages_is_a_failed_run(read_written):
    first, second = read_written(plant("tau2/two-simulations.json", ("simulations", 1, "messages"), []))

    assert first.case["agent_run"]["error"] is None
    assert evaluate(second.case).status == "failed"


def test_entries_without_a_message_make_no_run_of_their_own():
    [run] = read("claude-code/subagent-alone.jsonl")

    assert run.case["case_id"] == "5e0c/a17"


def test_parts_of_one_reply_count_once():
    [run] = read("claude-code/parallel-calls.jsonl")

    calls = run.case["agent_run"]["tool_calls"]
    assert run.case["agent_run"]["input_tokens"] == 80
    assert [call["message"] for call in calls] == [1, 1]


def test_what_the_program_says_in_the_name_of_the_user_or_was_taken_back_is_not_the_task(subtests):
    left = "from which the user went back are no part of the run"
    for name, warning in [
        ("claude-code/meta-and-summary.jsonl", ""),
        ("codex/one-call.jsonl", ""),
        ("gemini-cli/rewound.jsonl", left),
        ("gemini-cli/rewound-unknown.jsonl", left),
    ]:
        with subtests.test(name=name):
            [run] = read(name)

            assert run.case["agent_run"]["input"] == "What does Moby Dick cost?"
            assert warning in " ".join(run.warnings)


CANCELLED = [
    {"type": message["role"], "message": message}
    for message in (user("Cancel order 7."), said("I have cancelled order 7."))
]


def test_a_claim_of_before_the_summary_of_a_session_is_none_of_its_record(subtests, read_written):
    text = (PEERS / "claude-code/continued.jsonl").read_text().rstrip()
    for *lines, status in [
        (text, "passed"),
        (text.replace("isCompactSummary", "other"), "failed"),
        (text, *CANCELLED, "failed"),
    ]:
        with subtests.test(lines=lines):
            [run] = read_written(*lines)

            assert evaluate(run.case).status == status


def test_every_file_of_a_format_is_known(subtests, read_written):
    [run] = read_written({"foo": 1})

    for file in Path(record_format.__file__).with_name("formats").glob("*.json"):
        with subtests.test(file=file.name):
            form = json.loads(file.read_text())

            assert "name" not in form or form["name"] in run.problem


def test_where_an_unknown_format_has_its_messages_is_told(subtests, read_written):
    thread = [{"source": "user", "content": "Refund order 884.", "type": "TextMessage"}]
    state = {"type": "TeamState", "agent_states": {"manager": {"agent_state": {"message_thread": thread}}}}
    for value, problem in [
        (
            {"items": [{"log": []}, {"log": [user("Hi")]}]},
            "the messages are under items[1].log (1 such lists)",
        ),
        (state, "the messages are under agent_states.manager.agent_state.message_thread"),
        ({"data": [], "total": 0}, "the list data is empty"),
    ]:
        with subtests.test(problem=problem):
            [run] = read_written(value)

            assert problem in run.problem


def test_the_tokens_of_a_sample_are_those_of_its_only_model(subtests, read_written):
    usage = {"input_tokens": 90, "output_tokens": 30}
    for used, total in [({"mockllm/model": usage}, 120), ({"mockllm/model": usage, "other": usage}, None)]:
        with subtests.test(used=used):
            [run] = read_written(plant("inspect/one-call.json", ("samples", 0, "model_usage"), used))

            assert run.case["agent_run"].get("total_tokens") == total


def test_a_zip_that_cannot_be_read_is_one_sentence(subtests, tmp_path):
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("other.txt", "x")
    known = importlib.util.find_spec("inspect_ai") is not None
    problem = "this zip is no whole log of Inspect" if known else "needs inspect_ai: install it"
    for data in [file.read_bytes(), file.read_bytes()[:20]]:
        with subtests.test(data=data):
            file.write_bytes(data)
            [run] = read_runs(file)

            assert problem in run.problem


def test_a_log_of_inspect_in_a_zip_is_read_by_inspect(tmp_path):
    log = pytest.importorskip("inspect_ai.log")
    log.write_eval_log(log.read_eval_log(str(PEERS / "inspect/one-call.json")), str(tmp_path / "log.eval"))

    [run] = read_runs(tmp_path / "log.eval")

    assert [call["name"] for call in run.case["agent_run"]["tool_calls"]] == ["price_of"]


def test_a_session_without_a_call_says_that_none_was_made(read_written):
    [run] = read_written(*CANCELLED)

    report = evaluate({**run.case, "audit": {"defects": "fail"}})

    assert [each["id"] for each in report.audit_findings] == ["defects.claimed_not_done"]
