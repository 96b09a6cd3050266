"""`--model` by role, `--last`, used threads and `-v`."""

import pytest

from tests.fakes.chat_server import plan


@pytest.fixture
def run(cli, chat, db):
    """Run a task with these options: the result of the command, and the server."""

    def start(*options, **script):
        server = chat(**script)
        command = ("run", "the task", "--model", "openai:all", "--db", str(db))
        return cli(*command, *options, env=server.environment), server

    return start


def models_by_kind(server):
    return dict(zip(server.asked, server.models, strict=True))


def test_each_role_can_have_its_own_model(run):
    _, server = run("--model", "planner=openai:plans", "--model", "monitor=openai:judges")

    assert models_by_kind(server) == {"plan": "plans", "step": "all", "verdict": "judges"}


def test_a_resumed_run_keeps_the_models_that_are_not_changed(run, cli, db):
    _, server = run(
        *("--model", "planner=openai:plans", "--supervise", "human", "--thread", "t"),
        plans=[plan("first step", "second step")],
    )
    resume = ("resume", "t", "--approve", "--db", str(db))
    cli(*resume, "--model", "executor=openai:other", env=server.environment)

    assert models_by_kind(server)["plan"] == "plans"
    assert server.models[-1] == "all"
    assert "other" in server.models


def test_a_thread_whose_run_ended_is_refused_with_what_to_do(run, db):
    first, _ = run("--thread", "t")
    second, server = run("--thread", "t")

    assert (first.exit_code, second.exit_code, server.asked) == (0, 2, [])
    assert second.stderr == (
        "orchestrator: thread 't' has a run (success); give another name, or resume or delete that run\n"
    )


def test_the_latest_run_that_waits_is_resumed(run, cli, db):
    run("--thread", "first")
    refused = cli("resume", "--last", "--db", str(db))
    _, server = run("--supervise", "human", "--thread", "waits")
    run("--thread", "ended")

    resumed = cli("resume", "--last", "--approve", "--db", str(db), env=server.environment)

    assert f"{db} has no run that can be resumed" in refused.stderr
    assert (resumed.exit_code, "thread waits, stored in" in resumed.stderr) == (0, True)


def test_show_has_each_output_and_its_checks(cli, chat):
    server = chat(steps=["one two three"])
    cli("run", "Write exactly 3 words.", "--model", "openai:m", env=server.environment)
    shown = cli("show", "--last").stdout

    assert "  | one two three\n" in shown
    assert "  check passed: use exactly 3 words (" in shown
