import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from evaluation import evaluate
from evaluation.contract.intake import UnreadableCase
from evaluation.recordings import record_format
from evaluation.recordings.run_files import read_runs

PEERS = Path(__file__).parents[2] / "data" / "peers"
SESSIONS = (
    "claude-code/one-call.jsonl",
    "codex/one-call.jsonl",
    "codex/items.jsonl",
    "gemini-cli/lines.jsonl",
    "pi/one-call.jsonl",
)


def write(folder, text):
    file = folder / "run.data"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return file


def load(name):
    return json.loads((PEERS / name).read_text())


def test_a_session_that_is_still_being_written_is_read_up_to_its_last_whole_line(subtests, tmp_path):
    for name in SESSIONS:
        with subtests.test(name=name):
            [whole] = read_runs(PEERS / name)
            cut = (PEERS / name).read_text() + '{"type": "assistant", "mess'

            [run] = read_runs(write(tmp_path, cut))

            assert run.case["agent_run"] == whole.case["agent_run"]
            assert "the last line is cut" in " ".join(run.warnings)


def test_a_session_with_a_broken_line_within_is_not_read(tmp_path):
    first, *rest = (PEERS / SESSIONS[0]).read_text().splitlines(keepends=True)

    [broken] = read_runs(write(tmp_path, "".join([first, '{"type": \n', *rest])))

    assert isinstance(broken, UnreadableCase)
    assert broken.where == "run.data:2"


def test_two_sessions_in_one_file_are_two_runs(tmp_path):
    one = (PEERS / SESSIONS[0]).read_text()
    other = one.replace("5e0c", "77aa")

    runs = read_runs(write(tmp_path, one + other))

    assert [run.case["case_id"][:4] for run in runs] == ["5e0c", "77aa"]


def test_entries_in_no_known_form_are_counted(tmp_path):
    lines = (PEERS / SESSIONS[0]).read_text() + '3\nnull\n{"silly": 1}\n{"type": "user", "message": "oops"}\n'

    [run] = read_runs(write(tmp_path, lines))

    assert [text.removeprefix("run.data: ") for text in run.warnings] == [
        "entries that are no objects are not read (2)",
        "entries without a type are not read (1)",
        "entries of the type user in this form are not read (1)",
    ]


def test_records_without_a_message_are_no_run(subtests, tmp_path):
    for value in [
        [{"query": "price?", "reference": "12.5"}],
        [{"action": 1, "content": 2}],
        {"simulations": [{"messages": [{"role": "judge", "content": "fine"}]}]},
    ]:
        with subtests.test(value=value):
            assert all(isinstance(run, UnreadableCase) for run in read_runs(write(tmp_path, value)))


def test_an_unknown_version_is_refused(subtests, tmp_path):
    for name, path, version in [
        ("inspect/one-call.json", "version", 3),
        ("mini-swe-agent/object.json", "trajectory_format", "mini-swe-agent-2"),
        ("agents-sdk/state.json", "$schemaVersion", "2.0"),
    ]:
        with subtests.test(name=name):
            [run] = read_runs(write(tmp_path, {**load(name), path: version}))

            assert f"the version {version} is not known; give " in run.problem


def test_records_that_are_nested_too_deep_are_refused(subtests, tmp_path):
    for levels in [120, 900]:
        with subtests.test(levels=levels):
            log = (PEERS / "inspect/one-call.json").read_text()
            nested = log.replace('"content": "12.5"', f'"content": {"[" * levels}1{"]" * levels}')
            [run] = read_runs(write(tmp_path, nested))

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
            [run] = read_runs(PEERS / name)

            assert run.case["agent_run"]["error"] == error
            assert evaluate(run.case).status == "failed"


def test_a_run_whose_error_was_followed_by_messages_has_none(tmp_path):
    error = {"type": "event_msg", "payload": {"type": "error", "message": "overloaded"}}
    first, *rest = (PEERS / "codex/one-call.jsonl").read_text().splitlines()

    [run] = read_runs(write(tmp_path, "\n".join([first, json.dumps(error), *rest])))

    assert run.case["agent_run"]["error"] is None


def test_a_submission_or_a_finish_ends_a_run_and_a_result_in_another_form_is_no_loss(subtests):
    for name in [
        *("swe-agent/text-commands.traj", "mini-swe-agent/tool-calls.json", "toolbench/finish.json"),
        *("claude-code/structured-result.jsonl", "pydantic-ai/object-result.json"),
    ]:
        with subtests.test(name=name):
            [run] = read_runs(PEERS / name)

            assert not run.warnings
            assert "without a reply" not in evaluate(run.case).summary


def test_a_simulation_without_messages_is_a_failed_run(tmp_path):
    value = load("tau2/two-simulations.json")
    value["simulations"][1] = {**value["simulations"][1], "messages": []}

    first, second = read_runs(write(tmp_path, value))

    assert first.case["agent_run"]["error"] is None
    assert evaluate(second.case).status == "failed"


def test_entries_without_a_message_make_no_run_of_their_own():
    [run] = read_runs(PEERS / "claude-code/subagent-alone.jsonl")

    assert run.case["case_id"] == "5e0c/a17"


def test_parts_of_one_reply_count_once(tmp_path):
    [run] = read_runs(PEERS / "claude-code/parallel-calls.jsonl")

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
            [run] = read_runs(PEERS / name)

            assert run.case["agent_run"]["input"] == "What does Moby Dick cost?"
            assert warning in " ".join(run.warnings)


SAID = [("user", "Cancel order 7."), ("assistant", "I have cancelled order 7.")]
CANCELLED = "\n".join(
    json.dumps({"type": role, "message": {"role": role, "content": text}}) for role, text in SAID
)


def test_a_claim_of_before_the_summary_of_a_session_is_none_of_its_record(subtests, tmp_path):
    lines = (PEERS / "claude-code/continued.jsonl").read_text()
    for text, status in [
        (lines, "needs_review"),
        (lines.replace("isCompactSummary", "other"), "failed"),
        (lines + CANCELLED, "failed"),
    ]:
        with subtests.test(text=text):
            [run] = read_runs(write(tmp_path, text))

            assert evaluate(run.case).status == status


def test_every_file_of_a_format_is_known(subtests, tmp_path):
    [run] = read_runs(write(tmp_path, {"foo": 1}))

    for file in Path(record_format.__file__).with_name("formats").glob("*.json"):
        with subtests.test(file=file.name):
            form = json.loads(file.read_text())

            assert "name" not in form or form["name"] in run.problem


def test_the_messages_of_an_unknown_format_are_found(tmp_path):
    runs = {"batch": {"items": [{"log": []}, {"log": [{"role": "user", "content": "Hi"}]}]}}

    [run] = read_runs(write(tmp_path, runs))

    assert "the messages are under batch.items[1].log (1 such lists)" in run.problem


def test_the_place_of_the_messages_in_a_saved_state_is_told(tmp_path):
    thread = [{"source": "user", "content": "Refund order 884.", "type": "TextMessage"}]
    state = {"type": "TeamState", "agent_states": {"manager": {"agent_state": {"message_thread": thread}}}}

    [run] = read_runs(write(tmp_path, state))

    assert "the messages are under agent_states.manager.agent_state.message_thread" in run.problem


def test_the_tokens_of_a_sample_are_those_of_its_only_model(subtests, tmp_path):
    usage = {"input_tokens": 90, "output_tokens": 30}
    for used, total in [({"mockllm/model": usage}, 120), ({"mockllm/model": usage, "other": usage}, None)]:
        with subtests.test(used=used):
            log = load("inspect/one-call.json")
            log["samples"][0]["model_usage"] = used

            [run] = read_runs(write(tmp_path, log))

            assert run.case["agent_run"].get("total_tokens") == total


def test_a_zip_that_cannot_be_read_is_one_sentence(subtests, tmp_path):
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("other.txt", "x")
    for data in [file.read_bytes(), file.read_bytes()[:20]]:
        with subtests.test(data=data):
            file.write_bytes(data)
            [run] = read_runs(file)

            known = importlib.util.find_spec("inspect_ai") is not None
            assert (
                "this zip is no whole log of Inspect" if known else "needs inspect_ai: install it"
            ) in run.problem


def test_an_export_without_anything_in_it_is_told(tmp_path):
    [run] = read_runs(write(tmp_path, {"data": [], "total": 0}))

    assert "the list data is empty" in run.problem


def test_a_log_of_inspect_in_a_zip_is_read_by_inspect(tmp_path):
    log = pytest.importorskip("inspect_ai.log")
    log.write_eval_log(log.read_eval_log(str(PEERS / "inspect/one-call.json")), str(tmp_path / "log.eval"))

    [run] = read_runs(tmp_path / "log.eval")

    assert [call["name"] for call in run.case["agent_run"]["tool_calls"]] == ["price_of"]


def test_a_session_without_a_call_says_that_none_was_made(tmp_path):
    [run] = read_runs(write(tmp_path, CANCELLED))

    report = evaluate({**run.case, "audit": {"defects": "fail"}})

    assert [each["id"] for each in report.audit_findings] == ["defects.claimed_not_done"]
