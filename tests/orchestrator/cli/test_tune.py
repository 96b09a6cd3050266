"""``orchestrator tune``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.cli.app import app
from orchestrator.persistence import open_store

YES, NO = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'


@pytest.fixture(scope="module")
def stored_runs(tmp_path_factory):
    """Runs of four tasks: two pass at once, one after a retry, one never."""
    folder = tmp_path_factory.mktemp("stored")
    with open_store(folder / "runs.sqlite") as store:
        for number, verdicts in enumerate([[YES], [YES], [NO, YES], [NO, NO]]):
            replies = [part for verdict in verdicts for part in (f"Hello {len(verdict)}", verdict)]
            model = ScriptedChatModel(['{"plan": ["Say hello"]}', *replies], usage=(8, 2))
            orchestrator = LangGraphOrchestrator.from_model(
                model,
                retry_policy=RetryPolicy(max_retries=1),
                contract=None,
                checkpointer=store.saver,
            )
            orchestrator.run(f"Task {number}", f"run {number}")
    return folder


def invoke(folder, text, *options):
    spec = folder / "retries.yaml"
    spec.write_text(text)
    return CliRunner().invoke(app, ["tune", str(spec), "--folder", str(folder), *options])


def test_stored_runs_are_replayed_without_a_model(stored_runs):
    ended = invoke(stored_runs, "runs: runs.sqlite\nspace:\n  max_retries: [0, 1]\n", "--json")

    assert ended.exit_code == 0, ended.output
    document = json.loads(ended.stdout)
    assert document["recommended"] == "default"
    assert [trial["policy"] for trial in document["trials"]] == ["default", "max_retries=0", "max_retries=1"]
    assert (stored_runs / "retries" / "report.html").exists()
    assert RetryPolicy.from_yaml((stored_runs / "retries" / "policy.yaml").read_text()) == RetryPolicy()


def test_the_recommendation_and_the_files_are_printed(stored_runs):
    ended = invoke(stored_runs, "runs: runs.sqlite\npolicies:\n  never: {max_retries: 0}\n")

    assert ended.exit_code == 0
    assert "Keep the default" in ended.stdout
    assert "report.html" in ended.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("space: {}", "give either tasks"),
        ("runs: missing.sqlite\nspace:\n  max_retries: [0]\n", "missing.sqlite"),
        ("tasks: missing.yaml\nspace:\n  max_retries: [0]\n", "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_status_2(tmp_path, text, message):
    ended = invoke(tmp_path, text)
    assert (ended.exit_code, message in ended.stderr) == (2, True)
    assert ended.stderr.count("\n") == 1
