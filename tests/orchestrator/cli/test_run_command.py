import json
from importlib.metadata import version

import pytest

from orchestrator.state.graph_state import OrchestratorState
from tests.fakes.chat_server import plan, verdict
from tests.fakes.protocol_server import ollama_reply

TWO_STEPS = {"plans": [plan("first step", "second step")], "steps": ["one", "two"]}
REFUSING = {"verdicts": [verdict(False, "too short")]}


def test_a_task_that_succeeds_exits_with_0_and_prints_the_result_alone(ask, subtests):
    for options in [[], ["--no-synthesis"]]:
        with subtests.test(options=options):
            done = ask(*options, **TWO_STEPS)

            assert (done.exit_code, done.stdout, "final answer" in done.stderr) == (0, "two\n", not options)


def test_a_name_may_be_longer_than_one_of_a_request_over_http(ask):
    assert ask("--thread", "x" * 300, **TWO_STEPS).exit_code == 0


def test_a_task_that_fails_exits_with_1_and_prints_the_cause_and_what_was_done(ask):
    verdicts = [verdict(True, "good"), verdict(False, "too short")]
    failed = ask("--max-retries", "1", **TWO_STEPS, verdicts=verdicts)

    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "\nBest attempt, which was not accepted\ntwo\n" in failed.stderr
    cause, command = failed.stderr.splitlines()[-2:]
    assert command.startswith("see every step: orchestrator show ")
    assert cause.startswith("failed: attempts_exhausted: step 2: refused 2 times")


def test_a_task_that_fails_shows_its_best_attempt(ask):
    script = {"plans": [["the task"]], "steps": ["long and wrong", "short", "tail"]}
    failed = ask("--planning", "never", "--max-retries", "2", **script, verdicts=[verdict(False, "no")] * 3)
    document = ask("--json", "--planning", "never", "--max-retries", "0", **REFUSING)

    assert "\nBest attempt, which was not accepted\nlong and wrong\n" in failed.stderr
    assert (json.loads(document.stdout)["output"], failed.stdout) == (None, "")
    assert json.loads(document.stdout)["best_attempt"]


def test_the_best_attempt_is_chosen_by_checks(ask):
    steps = ["Far Too Long", "two words", "Three Words Here"]
    failed = ask("--planning", "never", task="Name a fruit in one word, in lowercase.", steps=steps)

    assert "\nBest attempt, which was not accepted\ntwo words\n" in failed.stderr


@pytest.mark.parametrize(("script", "code"), [({}, 0), (REFUSING, 1)], ids=["success", "failure"])
def test_json_is_the_whole_state_and_nothing_else(ask, script, code):
    done = ask("--json", **script)
    added = {"thread_id", "best_attempt"} if code else {"thread_id"}

    assert done.exit_code == code
    assert set(json.loads(done.stdout)) == {*OrchestratorState.__annotations__, *added}


def test_a_budget_that_is_used_up_is_no_warning(ask):
    said = ask("--max-calls", "2").stderr

    assert ("max_model_calls is 2" in said, "warning" in said) == (True, False)


def test_a_warning_of_the_agents_goes_to_standard_error_as_text(ask):
    said = ask(plans=["no [red]plan[/red] \x1b[31m"])

    assert "warning (agents.planning): " in said.stderr
    assert "[red]plan[/red]" in said.stderr
    assert "\x1b" not in said.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_nothing_that_a_model_writes_commands_the_terminal(ask, options):
    hostile = "[bold]x[/]\x1b[2J\x9b31m\x07"

    done = ask(*options, plans=[plan(hostile)], steps=[hostile], verdicts=[verdict(True, hostile)])

    assert not set(done.output) & {"\x1b", "\x07"}
    assert "[bold]x[/]" in done.stdout


def test_the_version_is_printed(cli):
    asked = cli("--version")

    assert (asked.exit_code, asked.stdout) == (0, f"plan-execute-monitor {version('plan-execute-monitor')}\n")


def test_the_real_embedded_model_gives_a_judged_state(cli, endpoint):
    asked = cli("run", "List three uses of a brick", "--json")

    state = json.loads(asked.stdout)
    assert asked.exit_code == (0 if state["status"] == "success" else 1)
    assert set(state) - {"best_attempt"} == {*OrchestratorState.__annotations__, "thread_id"}
    assert any(record["verdict"] is not None for record in state["results"])


@pytest.fixture
def run(cli, chat, db):
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


def test_show_has_each_output_and_its_checks(cli, ask):
    ask("--thread", "t", task="Write exactly 3 words.", steps=["one two three"])
    shown = cli("show", "t").stdout

    assert "  | one two three\n" in shown
    assert "  check passed: use exactly 3 words (" in shown


def test_each_role_has_settings_of_its_own(cli, loopback, monkeypatch):
    judged = json.dumps({"feedback": "it is good", "success": True})
    ollama = loopback(answer=lambda body: ollama_reply(judged if "format" in body else "It is a doorstop."))
    monkeypatch.setenv("OLLAMA_HOST", ollama.url)
    models = ("ollama:m,reasoning=false,num_ctx=4096", "monitor=ollama:m,num_ctx=512,keep_alive=1h")
    options = [word for model in models for word in ("--model", model)]
    cli("run", "Name a use of a brick", *options, "--planning", "never")
    executor, monitor = ollama.bodies

    assert (executor["think"], "keep_alive" in executor) == (False, False)
    assert executor["options"]["num_ctx"] == 4096
    assert ("think" in monitor, monitor["options"]["num_ctx"], monitor["keep_alive"]) == (False, 512, "1h")
